"""`nigari workspace new`: make a workspace and select it."""

from __future__ import annotations

from nigari.backends.snapshots import Snapshots
from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_TEXT, Command, Example, Flag, Invocation
from nigari.cli.stored_state import LOCK_FLAGS, SAYING_FLAGS, OpenState, run_command
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.cty.values import go_quote
from nigari.state.model import StateFile
from nigari.workspace.state import read_state_file


async def _new(state: OpenState) -> bool:
    name = workspace_name(state)
    workspaces = state.working.workspaces(state.diags)
    path = state.invocation.text("state")
    # All that can be wrong is reported before anything is made.
    file = read_state_file(path, state.encryption, state.diags) if path else None
    if workspaces is None or state.diags.has_errors:
        return False
    if not await workspaces.create(name, state.diags):
        return False
    say_created(state, name)
    return file is None or await _fill(state, file)


async def _fill(state: OpenState, file: StateFile) -> bool:
    """Store a given state in the new workspace."""

    async def change(snapshots: Snapshots) -> bool:
        return await snapshots.write(file.state, state.diags)

    snapshots = state.working.snapshots(state.encryption, state.diags)
    return await state.edit(snapshots, "workspace-new", change)


def workspace_name(state: OpenState) -> str:
    """The name on the command line."""
    if len(state.invocation.arguments) != 1:
        raise UsageError("The command needs the name of one workspace.")
    return state.invocation.arguments[0]


def say_created(state: OpenState, name: str) -> None:
    """Tell that a workspace was made."""
    note = "It has a state of its own, which is empty, so a plan there finds nothing that exists."
    state.say(
        f"Created and switched to workspace {go_quote(name)}!\n\n{state.prose(note)}",
        f"Created and switched to workspace {go_quote(name)}. {note}",
    )


def run(invocation: Invocation) -> int:
    """Make the workspace."""
    return run_command(invocation, _new)


COMMAND = Command(
    "workspace new",
    "Creates a workspace and selects it. A workspace is another state for the same configuration.",
    run,
    flags=(
        Flag("state", FLAG_TEXT, "A state file to start with", "FILE"),
        *LOCK_FLAGS,
        *VARIABLE_FLAGS,
        *SAYING_FLAGS,
    ),
    arguments="NAME",
    most_arguments=1,
    examples=(Example("nigari workspace new staging", ""),),
)
