"""`nigari state push`: store a state file as the current state."""

from __future__ import annotations

from nigari.backends.snapshots import Snapshots
from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_SWITCH, Command, Example, Flag, Invocation
from nigari.cli.stored_state import (
    LOCK_FLAGS,
    REMOTE_VERSION_FLAG,
    SAYING_FLAGS,
    OpenState,
    run_command,
)
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.workspace.state import parse_given_state, read_state_file


async def _push(state: OpenState) -> bool:
    if len(state.invocation.arguments) != 1:
        raise UsageError("The command needs the name of one state file, or - for standard input.")
    path = state.invocation.arguments[0]
    if path == "-":
        data = state.terminal.read_all()
        given = parse_given_state(data, "standard input", state.encryption, state.diags)
    else:
        given = read_state_file(path, state.encryption, state.diags)
    if given is None:
        return False
    pushed = given
    is_forced = state.invocation.switch("force")

    async def change(snapshots: Snapshots) -> bool:
        return await snapshots.put(pushed, is_forced, state.diags)

    snapshots = state.working.snapshots(state.encryption, state.diags)
    return await state.edit(snapshots, "state-push", change)


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
