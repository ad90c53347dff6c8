"""`nigari logout`: removes the stored token for a host."""

from __future__ import annotations

from nigari.cli.args import UsageError
from nigari.cli.command import Command, Example, Invocation
from nigari.cli.host_argument import host_argument, report_other_file
from nigari.cli.presenter import Presenter
from nigari.cli.prompt import INPUT_FLAG
from nigari.cli.state_flags import JSON_FLAG, JSON_INTO_FLAG
from nigari.cli.views.diagnostics import NO_COLOR_FLAG
from nigari.packages.hosts.host_credentials import CredentialsError, TokenLocation


def run(invocation: Invocation) -> int:
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
        "host if nobody needs it any more."
    )
    return presenter.end()


COMMAND = Command(
    "logout",
    "Removes the token that login has stored for a host. The token itself stays valid until it is "
    "revoked at the host.",
    run,
    flags=(INPUT_FLAG, JSON_FLAG, JSON_INTO_FLAG, NO_COLOR_FLAG),
    arguments="HOST",
    most_arguments=1,
    examples=(Example("nigari logout registry.example.com", ""),),
)
