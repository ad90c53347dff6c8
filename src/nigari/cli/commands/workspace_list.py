"""`nigari workspace list`: the workspaces, with a star beside the selected one."""

from __future__ import annotations

from nigari.cli.command import Command, Example, Invocation
from nigari.cli.stored_state import SAYING_FLAGS, OpenState, run_command
from nigari.cli.variables import VARIABLE_FLAGS


async def _list(state: OpenState) -> bool:
    workspaces = state.working.workspaces(state.diags)
    if workspaces is None:
        return False
    names = list(await workspaces.names(state.diags))
    selected = workspaces.selected(state.diags)
    if state.diags.has_errors:
        return False
    lines = [f"{'*' if name == selected.name else ' '} {name}\n" for name in names]
    members = {"type": "workspace_list", "workspaces": names, "current_workspace": selected.name}
    state.say("".join(lines), "list of workspaces", members)
    if selected.is_overridden:
        state.say("The environment variable TF_WORKSPACE sets the workspace.")
    return True


def run(invocation: Invocation) -> int:
    """Print the names."""
    return run_command(invocation, _list)


COMMAND = Command(
    "workspace list",
    "Prints the names of the workspaces. An asterisk marks the selected one.",
    run,
    flags=(*VARIABLE_FLAGS, *SAYING_FLAGS),
    examples=(Example("nigari workspace list", ""),),
)
