"""`nigari login` and `logout`: get a token from a host and store it for later commands, and remove it.

Owns the questions and which kind of login is used; how a host gives a token is in `hosts.login`.
"""

from __future__ import annotations

from nigari.addrs.hostname import normalize_hostname
from nigari.cli.args import UsageError
from nigari.cli.command import Command, Example, Invocation
from nigari.cli.presenter import Presenter
from nigari.cli.prompt import INPUT_FLAG, Person
from nigari.cli.state_flags import JSON_FLAG, JSON_INTO_FLAG
from nigari.cli.views.diagnostics import NO_COLOR_FLAG
from nigari.diagnostics import Diagnostics
from nigari.hcl.quoting import quoted
from nigari.packages.hosts.cli_config import CliConfig
from nigari.packages.hosts.cli_config_files import load_cli_config
from nigari.packages.hosts.host_credentials import CredentialsError, HostCredentials, TokenLocation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.net.client import Client
    from nigari.packages.hosts.hosts import Host
    from nigari.packages.hosts.login import LoginService


_PASSWORD_HOST: Final = "app.terraform.io"
"""The only host whose users may be asked for their password."""
_ASKS_FOR_PASSWORD: Final = (
    "asks for your user name and password, which are used only for this and not stored"
)


def run(invocation: Invocation) -> int:
    """Log in to the host that the argument names."""
    from nigari.workspace.context.asyncio_bridge import run_to_end

    presenter = Presenter(invocation)
    if len(invocation.arguments) != 1:
        raise UsageError("The command needs one argument, the name of the host to log in to.")
    person = Person(presenter.terminal, invocation.switch("input"))
    if not person.can_prompt:
        presenter.diags.error(
            "Login requires input",
            "This command prompts, so it cannot be used with -input=false. Without a terminal, set an "
            "environment variable TF_TOKEN_… or write a credentials block into a CLI configuration "
            "file.",
        )
        return presenter.end(False)
    return presenter.end(run_to_end(_Login(presenter, person).begin()))


class _Login:
    def __init__(self, presenter: Presenter, person: Person) -> None:
        self._presenter = presenter
        self._person = person

    async def begin(self) -> bool:
        from nigari.net.client import Client
        from nigari.net.settings import read_settings
        from nigari.packages.hosts.hosts import HostError, Hosts
        from nigari.packages.hosts.login import LoginError

        presenter, environ = self._presenter, self._presenter.terminal.environ
        found = host_argument(presenter)
        if found is None:
            return False
        name, config, credentials = found
        async with Client(read_settings(environ)) as client:
            try:
                host = await Hosts(client, config, credentials).host(name)
                if credentials.location(name) is TokenLocation.OTHER_FILE:
                    report_other_file(name, credentials, "log in", presenter.diags)
                    return False
                token = await self._token(host, client, credentials)
                if token is None:
                    return False
                await credentials.store(name, token)
            except HostError as error:
                presenter.diags.error("Cannot log in", str(error))
                return False
            except LoginError as error:
                presenter.diags.error("Login failed", str(error))
                return False
            except CredentialsError as error:
                presenter.diags.error("Cannot store the token", str(error))
                return False
        presenter.say(f"\nYou are logged in to {name}: the token is stored.")
        return True

    async def _token(self, host: Host, client: Client, credentials: HostCredentials) -> str | None:
        from nigari.packages.hosts.hosts import ServiceMissing, VersionMissing
        from nigari.packages.hosts.login import CODE, PASSWORD, login_service

        try:
            service = login_service(host)
        except VersionMissing:
            raise
        except ServiceMissing:
            return await self._by_hand(host, client, credentials)
        if CODE in service.grants:
            if not self._agrees(host.name, credentials, "opens a page in your browser"):
                return None
            return await self._by_code(host.name, client, service)
        if PASSWORD in service.grants and host.name == _PASSWORD_HOST:
            if not self._agrees(host.name, credentials, _ASKS_FOR_PASSWORD):
                return None
            return await self._by_password(host.name, client, service)
        self._presenter.diags.error(
            "Cannot log in",
            f"{host.name} offers no kind of login that is supported.",
        )
        return None

    async def _by_code(self, name: str, client: Client, service: LoginService) -> str:
        from nigari.packages.hosts.login import CodeLogin, callback_server

        async with callback_server(service.ports) as server:
            login = CodeLogin(service, server.url)
            server.state = login.state
            self._open(name, login.url)
            self._presenter.text("\nWaiting for the host to confirm the login...")
            self._presenter.terminal.stdout.flush()
            code = await server.code
        return await login.token(client, code)

    async def _by_password(self, name: str, client: Client, service: LoginService) -> str | None:
        from nigari.packages.hosts.login import token_for_password

        user = self._person.text(f"User name for {name}", "", is_secret=False)
        word = None if user is None else self._person.text(f"Password for {name}", "", True)
        if user is None or word is None:
            self._report_no_answer()
            return None
        return await token_for_password(client, service, user, word)

    async def _by_hand(
        self, host: Host, client: Client, credentials: HostCredentials
    ) -> str | None:
        from nigari.packages.hosts.host_credentials import variable_name
        from nigari.packages.hosts.hosts import HostError, ServiceMissing
        from nigari.packages.hosts.login import tokens_page, user_name

        try:
            service = host.url("tfe.v2")
        except ServiceMissing:
            raise HostError(
                f"{host.name} has no login: it offers neither login.v1 nor tfe.v2. Where it needs a "
                f"token all the same, set {variable_name(host.name)}, or write it into a credentials "
                "block of the CLI configuration."
            ) from None
        if not self._agrees(host.name, credentials, "opens a page where you can create one"):
            return None
        self._open(host.name, tokens_page(service))
        given = self._person.text(f"Token for {host.name}", "Paste the token here.", True)
        if given is None:
            self._report_no_answer()
            return None
        token = given.strip()
        self._presenter.say(f"\nThe token belongs to {await user_name(client, service, token)}.")
        return token

    def _agrees(self, name: str, credentials: HostCredentials, how: str) -> bool:
        presenter = self._presenter
        if credentials.location(name) is TokenLocation.HELPER:
            where = f'given to the credentials helper "{credentials.helper}"'
        else:
            where = f"stored in plain text in {credentials.file}"
        presenter.text(
            presenter.prose(
                f"Login requests a token for {name} and {how}. The token will be {where}, for use "
                "by later commands."
            )
        )
        answer = self._person.text("Do you want to proceed?", 'Only "yes" is accepted.', False)
        if answer is not None and answer.strip().lower() == "yes":
            return True
        presenter.diags.error(
            "Login cancelled", "The login was not confirmed, so nothing was done."
        )
        return False

    def _open(self, name: str, url: str) -> None:
        from nigari.cli.browser import open_page

        if open_page(url, self._presenter.terminal.environ):
            text = (
                f"The login page of {name} opens in your browser. If it does not, open it yourself:"
            )
        else:
            text = f"Open this page of {name} in your browser:"
        self._presenter.say(f"\n{self._presenter.prose(text)}\n    {url}", f"{text} {url}")
        self._presenter.terminal.stdout.flush()

    def _report_no_answer(self) -> None:
        self._presenter.diags.error(
            "Login cancelled", "There was no answer, so nothing was stored."
        )


COMMAND = Command(
    "login",
    "Gets a token from a host, such as a private registry, and stores it for later commands: with "
    "the configured credentials helper, or else in plain text in credentials.tfrc.json in the "
    "directory of your CLI configuration.",
    run,
    flags=(INPUT_FLAG, JSON_FLAG, JSON_INTO_FLAG, NO_COLOR_FLAG),
    arguments="HOST",
    most_arguments=1,
    examples=(Example("nigari login registry.example.com", ""),),
)


def run_logout(invocation: Invocation) -> int:
    """Remove the token of the host that the argument names."""
    from nigari.workspace.context.asyncio_bridge import run_to_end

    presenter = Presenter(invocation)
    if len(invocation.arguments) != 1:
        raise UsageError("The command needs one argument, the name of the host to log out of.")
    found = host_argument(presenter)
    if found is None:
        return presenter.end(False)
    name, _, credentials = found
    location = credentials.location(name)
    if location is TokenLocation.OTHER_FILE:
        report_other_file(name, credentials, "log out", presenter.diags)
        return presenter.end(False)
    if location is TokenLocation.NOWHERE:
        presenter.say(f"There is no stored token for {name}.")
        return presenter.end()
    try:
        run_to_end(credentials.forget(name))
    except CredentialsError as error:
        presenter.diags.error("Cannot remove the token", str(error))
        return presenter.end(False)
    presenter.say(
        f"The token for {name} is removed from this machine. It is still valid: revoke it at the "
        "host if it is no longer needed."
    )
    return presenter.end()


LOGOUT = Command(
    "logout",
    "Removes the token that login has stored for a host. The token itself stays valid until it is "
    "revoked at the host.",
    run_logout,
    flags=(INPUT_FLAG, JSON_FLAG, JSON_INTO_FLAG, NO_COLOR_FLAG),
    arguments="HOST",
    most_arguments=1,
    examples=(Example("nigari logout registry.example.com", ""),),
)


def host_argument(presenter: Presenter) -> tuple[str, CliConfig, HostCredentials] | None:
    """The host that the only argument names; None after reporting that it is no host."""
    (text,) = presenter.invocation.arguments
    name = normalize_hostname(text)
    if name is None:
        presenter.diags.error(
            "Invalid host name",
            f"{quoted(text)} is not the name of a host, such as registry.example.com.",
        )
        return None
    environ = presenter.terminal.environ
    config = load_cli_config(environ, presenter.diags)
    return name, config, HostCredentials(config, environ)


def report_other_file(
    name: str, credentials: HostCredentials, verb: str, diags: Diagnostics
) -> None:
    """Only one file is written by this program; what a person wrote stays."""
    diags.error(
        "Credentials are configured by hand",
        f"{credentials.other_file(name)} has a credentials block for {name}. To {verb}, remove "
        "that block first.",
    )
