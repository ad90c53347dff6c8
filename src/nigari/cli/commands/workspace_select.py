"""`nigari workspace select`: the workspace that commands work in from now on."""

from __future__ import annotations

from nigari.cli.command import FLAG_SWITCH, Command, Example, Flag, Invocation
from nigari.cli.commands.workspace_new import say_created, workspace_name
from nigari.cli.presenter import Presenter, run_command
from nigari.cli.state_flags import SAYING_FLAGS
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.cty.go_text import go_quote


async def _select(presenter: Presenter) -> bool:
    name = workspace_name(presenter)
    workspaces = presenter.session.workspaces()
    if workspaces is None:
        return False
    is_new = name not in await workspaces.names(presenter.diags)
    before = workspaces.selected(presenter.diags).name
    or_create, session = presenter.invocation.switch("or-create"), presenter.session
    if not await workspaces.select(name, or_create, session.options.lock, presenter.diags):
        return False
    if is_new:
        say_created(presenter, name)
    elif name != before:
        presenter.say(f"Switched to workspace {go_quote(name)}.")
    return True


def run(invocation: Invocation) -> int:
    """Select the workspace."""
    return run_command(invocation, _select)


COMMAND = Command(
    "workspace select",
    "Selects the workspace that commands in this directory use from now on.",
    run,
    flags=(
        Flag("or-create", FLAG_SWITCH, "Create the workspace if it does not exist"),
        *VARIABLE_FLAGS,
        *SAYING_FLAGS,
    ),
    arguments="NAME",
    most_arguments=1,
    examples=(Example("nigari workspace select -or-create staging", ""),),
)
