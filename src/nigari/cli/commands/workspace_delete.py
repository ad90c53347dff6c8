"""`nigari workspace delete`: delete a workspace that is no longer needed."""

from __future__ import annotations

from nigari.cli.command import FLAG_SWITCH, Command, Example, Flag, Invocation
from nigari.cli.commands.workspace_new import workspace_name
from nigari.cli.stored_state import LOCK_FLAGS, SAYING_FLAGS, OpenState, run_command
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.cty.values import go_quote


async def _delete(state: OpenState) -> bool:
    name = workspace_name(state)
    workspaces, encryption = state.working.workspaces(state.diags), state.encryption
    if workspaces is None or state.diags.has_errors:
        return False
    is_forced = state.invocation.switch("force")
    if not await workspaces.delete(name, encryption, state.lock_options, is_forced, state.diags):
        return False
    state.say(f"Deleted workspace {go_quote(name)}!", f"Deleted workspace {go_quote(name)}")
    return True


def run(invocation: Invocation) -> int:
    """Delete the workspace."""
    return run_command(invocation, _delete)


COMMAND = Command(
    "workspace delete",
    "Deletes a workspace with its state. One that still tracks objects is not deleted without "
    "-force, which leaves them behind, unmanaged. Neither the selected workspace nor the default "
    "one can be deleted.",
    run,
    flags=(
        Flag("force", FLAG_SWITCH, "Delete the workspace even if it still tracks objects"),
        *LOCK_FLAGS,
        *VARIABLE_FLAGS,
        *SAYING_FLAGS,
    ),
    arguments="NAME",
    most_arguments=1,
    examples=(Example("nigari workspace delete staging", ""),),
)
