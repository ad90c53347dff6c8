"""Tokens for service hosts: lookup and storage.

They come from the environment, from `credentials` blocks in CLI configuration files, or from a
helper program, in this order. `login` and `logout` only change one file, `credentials.tfrc.json`,
or the helper's storage. Deliberately unknown here: the use of tokens.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import Enum

from nigari.addrs.hostname import hostname_for_network, normalize_hostname, readable_hostname
from nigari.hcl.evaluation import as_sentence
from nigari.lang.versions import Version, parse_exact_version
from nigari.lazy import lazy_pattern
from nigari.packages.content.platforms import current_platform
from nigari.packages.hosts.cli_config import CliConfig
from nigari.packages.hosts.cli_config_files import config_directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from typing import Final


FILE_NAME: Final = "credentials.tfrc.json"
_VARIABLE: Final = "TF_TOKEN_"
_HELPER_WITHIN: Final = 60.0
_VERSION_PART: Final = lazy_pattern(r"(?:_v([^_]+))?(?:\.exe)?")


class CredentialsError(Exception):
    """Credentials that cannot be read or stored; the text is a full sentence."""


class TokenLocation(Enum):
    """Storage location of a host's credentials."""

    NOWHERE = "nowhere"
    OWN_FILE = "own file"
    OTHER_FILE = "other file"
    HELPER = "helper"


class HostCredentials:
    """The credentials of one user."""

    def __init__(
        self,
        config: CliConfig,
        environment: Mapping[str, str],
        answers: dict[str, str | None] | None = None,
    ) -> None:
        """Start with `answers`, the helper's earlier answers in this run, to which new ones are
        added.
        """
        self._environment = environment
        self._configured = config.credentials
        self._aliases = config.aliases
        self._variables = _from_environment(environment)
        directory = config_directory(environment)
        self.file: str = os.path.join(directory, FILE_NAME) if directory else ""
        self.helper: str = config.credentials_helper[0] if config.credentials_helper else ""
        self._helper_arguments = config.credentials_helper[1:]
        self._program = _find_helper(self.helper, environment) if self.helper else None
        self._answers: dict[str, str | None] = {} if answers is None else answers
        self._asking: dict[str, asyncio.Lock] = {}
        """Locks by host, so that the helper runs only once for each."""
        self.withheld: dict[str, str] = {}
        """Reasons why the credentials of hosts were not sent."""

    async def token(self, host: str) -> str | None:
        """Return the token for a host, if there is one."""
        host = self._aliases.get(host, host)
        if host in self._variables:
            return self._variables[host]
        if host in self._configured:
            return self._configured[host].token
        if self._program is None:
            return None
        import asyncio

        if host not in self._answers:
            async with self._asking.setdefault(host, asyncio.Lock()):
                if host not in self._answers:
                    self._answers[host] = await self._ask_helper(host)
        return self._answers[host]

    async def headers(self, host: str) -> Mapping[str, str]:
        """Build the authorization header of requests to a host."""
        token = await self.token(host)
        return {"authorization": f"Bearer {token}"} if token else {}

    def looked_in(self, host: str) -> str:
        """Describe the source of a host's credentials, or the places searched for them, as a
        sentence.
        """
        host = self._aliases.get(host, host)
        sent = self._sent(host)
        if sent and host in self.withheld:
            return f"The token {sent} was not sent, because {self.withheld[host]}."
        if sent:
            return f"The token {sent} was sent. Check that it is still valid and allows this."
        searched = [f"the environment variable {variable_name(host)}"]
        searched.append("credentials blocks in the CLI configuration")
        if self.helper:
            state = "" if self._program else ", which is not installed"
            searched.append(f"the credentials helper {self.helper}{state}")
        return (
            f"No credentials for {host} were found in {', '.join(searched[:-1])} or "
            f'{searched[-1]}. Run "nigari login {host}", or set the variable.'
        )

    def _sent(self, host: str) -> str:
        """Describe the source of a host's token; empty if there is none."""
        if host in self._variables:
            return f"in the environment variable {variable_name(host)}"
        if host in self._configured:
            return f"in {self._configured[host].file}"
        return f"of the credentials helper {self.helper}" if self._answers.get(host) else ""

    def location(self, host: str) -> TokenLocation:
        """Return the location for a new token of a host, regardless of the environment."""
        if host in self._configured:
            is_own = host in _hosts_in(self.file)
            return TokenLocation.OWN_FILE if is_own else TokenLocation.OTHER_FILE
        return TokenLocation.NOWHERE if self._program is None else TokenLocation.HELPER

    def other_file(self, host: str) -> str:
        """Return the file that has the credentials of a host."""
        return self._configured[host].file

    async def store(self, host: str, token: str) -> None:
        if self.location(host) is TokenLocation.HELPER:
            import json

            await self._run("store", host, json.dumps({"token": token}))
        else:
            self._rewrite(host, {"token": token})

    async def forget(self, host: str) -> None:
        if self.location(host) is TokenLocation.HELPER:
            await self._run("forget", host)
        else:
            self._rewrite(host, None)

    async def _ask_helper(self, host: str) -> str | None:
        import json

        output = await self._run("get", host)
        try:
            answer: object = json.loads(output)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise CredentialsError(
                f"The credentials helper {self._program} returned something other than a JSON "
                "object."
            )
        token = answer.get("token")
        return token if isinstance(token, str) else None

    async def _run(self, verb: str, host: str, given: str = "") -> str:
        from nigari.programs import run_program

        assert self._program is not None
        # Credentials helper protocol: get, store or forget, and the host in its ASCII form; JSON on
        # standard input and output.
        command = [self._program, *self._helper_arguments, verb, hostname_for_network(host)]
        try:
            done = await run_program(
                command, self._environment, given=given.encode(), within=_HELPER_WITHIN
            )
        except TimeoutError:
            raise CredentialsError(
                f"The credentials helper {self._program} did not answer within "
                f"{_HELPER_WITHIN:g} seconds."
            ) from None
        except OSError as error:
            raise CredentialsError(
                f"The credentials helper {self._program} cannot be started: {error.strerror}."
            ) from error
        if done.status:
            said = done.error_text or "it gave no reason"
            raise CredentialsError(
                f"The credentials helper {self._program} failed: {as_sentence(said)}"
            )
        return done.output.decode(errors="replace")

    def _rewrite(self, host: str, value: Mapping[str, str] | None) -> None:
        """Change one member of the file, preserving all others."""
        import json
        from pathlib import Path

        from nigari.packages.content.whole_file import make_directories, write_whole

        if not self.file:
            raise CredentialsError("The environment names no home directory (HOME).")
        try:
            document = _read(self.file)
        except ValueError:
            raise CredentialsError(f"{self.file} is not a valid JSON object.") from None
        members = document.setdefault("credentials", {})
        if not isinstance(members, dict):
            raise CredentialsError(f'The member "credentials" of {self.file} is not an object.')
        # One host may be in the file under several spellings.
        for name in [each for each in members if normalize_hostname(each) == host]:
            del members[name]
        if value is not None:
            members[host] = dict(value)
        text = json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False)
        try:
            make_directories(os.path.dirname(self.file))
            write_whole(Path(self.file), text.encode(), 0o600)
        except OSError as error:
            raise CredentialsError(f"{self.file} cannot be written: {error.strerror}.") from error


def variable_name(host: str) -> str:
    """Return the environment variable for a host, in the form that every shell supports."""
    # Shells accept neither dots nor dashes in names, so OpenTofu encodes them.
    name = hostname_for_network(host).replace("-", "__").replace(".", "_")
    return _VARIABLE + name


def _from_environment(environment: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in environment.items():
        if not name.startswith(_VARIABLE):
            continue
        # OpenTofu also accepts names with dots and dashes, which "env" can set.
        text = name[len(_VARIABLE) :].replace("__", "-").replace("_", ".")
        host = normalize_hostname(readable_hostname(text))
        if host is not None:
            found[host] = value
    return found


def _read(path: str) -> dict[str, object]:
    import json

    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise CredentialsError(f"{path} cannot be read: {error.strerror}.") from error
    document: object = json.loads(text) if text.strip() else {}
    if not isinstance(document, dict):
        raise ValueError
    return document


def _hosts_in(path: str) -> set[str | None]:
    try:
        members = _read(path).get("credentials")
    except (CredentialsError, ValueError):
        return set()
    return {normalize_hostname(each) for each in members} if isinstance(members, dict) else set()


def _find_helper(name: str, environment: Mapping[str, str]) -> str | None:
    """Find the newest installed program of a helper."""
    bases = []
    if home := environment.get("HOME"):
        bases.append(os.path.join(home, ".terraform.d"))
    if data := environment.get("XDG_DATA_HOME"):
        bases.append(os.path.join(data, "opentofu"))
    # Helpers are found like plugins, and the newest version is used.
    prefix = f"terraform-credentials-{name}"
    found: list[tuple[Version, str]] = []
    for base in bases:
        plugins = os.path.join(base, "plugins")
        for directory in (plugins, os.path.join(plugins, current_platform())):
            for entry in os.listdir(directory) if os.path.isdir(directory) else ():
                path = os.path.join(directory, entry)
                rest = entry.removeprefix(prefix)
                match = _VERSION_PART.fullmatch(rest) if rest != entry or not rest else None
                if match is not None and os.path.isfile(path):
                    version = parse_exact_version(match[1] or "0.0.0")
                    found += [(version, path)] if version is not None else []
    return max(found, key=lambda each: each[0])[1] if found else None
