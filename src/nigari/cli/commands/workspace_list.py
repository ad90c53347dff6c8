"""`nigari workspace list`: the workspaces, with a star beside the selected one."""

from __future__ import annotations

from nigari.cli.command import Command, Example, Invocation
from nigari.cli.presenter import Presenter, run_command
from nigari.cli.state_flags import SAYING_FLAGS
from nigari.cli.variables import VARIABLE_FLAGS


async def _list(presenter: Presenter) -> bool:
    workspaces = presenter.session.workspaces()
    if workspaces is None:
        return False
    names = list(await workspaces.names(presenter.diags))
    selected = workspaces.selected(presenter.diags)
    if presenter.diags.has_errors:
        return False
    lines = [f"{'*' if name == selected.name else ' '} {name}\n" for name in names]
    members = {"type": "workspace_list", "workspaces": names, "current_workspace": selected.name}
    presenter.say("".join(lines), "list of workspaces", members)
    if selected.set_by:
        presenter.say(f"{selected.set_by} sets the workspace.")
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
