"""`nigari workspace delete`: delete a workspace that is no longer needed."""

from __future__ import annotations

from nigari.cli.command import FLAG_SWITCH, Command, Example, Flag, Invocation
from nigari.cli.commands.workspace_new import workspace_name
from nigari.cli.presenter import Presenter, run_command
from nigari.cli.state_flags import LOCK_FLAGS, SAYING_FLAGS
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.cty.go_text import go_quote


async def _delete(presenter: Presenter) -> bool:
    name = workspace_name(presenter)
    workspaces = presenter.session.workspaces()
    if workspaces is None or presenter.diags.has_errors:
        return False
    is_forced = presenter.invocation.switch("force")
    lock = presenter.session.options.lock
    if not await workspaces.delete(name, lock, is_forced, presenter.diags):
        return False
    presenter.say(f"Deleted workspace {go_quote(name)}!", f"Deleted workspace {go_quote(name)}")
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
