"""`nigari state push`: store a state file as the current state."""

from __future__ import annotations

from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_SWITCH, Command, Example, Flag, Invocation
from nigari.cli.presenter import Presenter, run_command
from nigari.cli.state_flags import LOCK_FLAGS, REMOTE_VERSION_FLAG, SAYING_FLAGS
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.workspace.states.state import parse_given_state, read_state_file


async def _push(presenter: Presenter) -> bool:
    if len(presenter.invocation.arguments) != 1:
        raise UsageError("The command needs the name of one state file, or - for standard input.")
    path = presenter.invocation.arguments[0]
    if path == "-":
        data = presenter.terminal.read_all()
        given = parse_given_state(
            data, "standard input", presenter.session.encryption, presenter.diags
        )
    else:
        given = read_state_file(path, presenter.session.encryption, presenter.diags)
    if given is None:
        return False
    return await presenter.session.push(given, presenter.invocation.switch("force"))


def run(invocation: Invocation) -> int:
    """Store the file."""
    return run_command(invocation, _push)


COMMAND = Command(
    "state push",
    "Stores a state file as the current state of the selected workspace. A file that is older "
    "than the stored state, or that belongs to an unrelated state, is refused unless -force is "
    "given.",
    run,
    flags=(
        Flag("force", FLAG_SWITCH, "Store the file even if it is older or unrelated"),
        *LOCK_FLAGS,
        REMOTE_VERSION_FLAG,
        *VARIABLE_FLAGS,
        *SAYING_FLAGS,
    ),
    arguments="FILE",
    most_arguments=1,
    examples=(Example("nigari state pull | edit | nigari state push -", "through a pipe"),),
)
