"""`nigari workspace new`: make a workspace and select it."""

from __future__ import annotations

from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_TEXT, Command, Example, Flag, Invocation
from nigari.cli.presenter import Presenter, run_command
from nigari.cli.state_flags import LOCK_FLAGS, SAYING_FLAGS
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.cty.go_text import go_quote
from nigari.workspace.context.options import NO_STATE_FILES
from nigari.workspace.states.state import read_state_file


async def _new(presenter: Presenter) -> bool:
    name = workspace_name(presenter)
    workspaces = presenter.session.workspaces()
    path = presenter.invocation.text("state")
    # All that can be wrong is reported before anything is made.
    file = read_state_file(path, presenter.session.encryption, presenter.diags) if path else None
    if workspaces is None or presenter.diags.has_errors:
        return False
    session = presenter.session
    if not await workspaces.create(name, session.options.lock, presenter.diags):
        return False
    say_created(presenter, name)
    if file is None:
        return True
    given = file.state
    new = session.in_workspace(name)
    return await new.edit("workspace-new", lambda _: given, files=NO_STATE_FILES)


def workspace_name(presenter: Presenter) -> str:
    """The name on the command line."""
    if len(presenter.invocation.arguments) != 1:
        raise UsageError("The command needs the name of one workspace.")
    return presenter.invocation.arguments[0]


def say_created(presenter: Presenter, name: str) -> None:
    """Tell that a workspace was made."""
    note = "Its state is empty, so a plan there does not see the objects of other workspaces."
    presenter.say(
        f"Created and switched to workspace {go_quote(name)}!\n\n{presenter.prose(note)}",
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
