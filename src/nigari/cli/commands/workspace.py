"""`nigari workspace`: list, make, select, show and delete workspaces."""

from __future__ import annotations

from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_SWITCH, FLAG_TEXT, Command, Example, Flag
from nigari.cli.presenter import Presenter, presented
from nigari.cli.state_flags import LOCK_FLAGS, SAYING_FLAGS
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.cli.views.diagnostics import COMPACT_WARNINGS_FLAG, NO_COLOR_FLAG


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


LIST = Command(
    "workspace list",
    "Prints the names of the workspaces. An asterisk marks the selected one.",
    presented(_list),
    flags=(*VARIABLE_FLAGS, *SAYING_FLAGS),
    examples=(Example("nigari workspace list", ""),),
)


async def _new(presenter: Presenter) -> bool:
    from nigari.workspace.context.options import NO_STATE_FILES
    from nigari.workspace.states.state import read_state_file

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


def _quoted(name: str) -> str:
    """The name as OpenTofu quotes it."""
    from nigari.cty.go_text import go_quote

    return go_quote(name)


def workspace_name(presenter: Presenter) -> str:
    """The name on the command line."""
    if len(presenter.invocation.arguments) != 1:
        raise UsageError("The command needs the name of one workspace.")
    return presenter.invocation.arguments[0]


def say_created(presenter: Presenter, name: str) -> None:
    """Tell that a workspace was made."""
    note = "Its state is empty, so a plan there does not see the objects of other workspaces."
    presenter.say(
        f"Created and switched to workspace {_quoted(name)}!\n\n{presenter.prose(note)}",
        f"Created and switched to workspace {_quoted(name)}. {note}",
    )


NEW = Command(
    "workspace new",
    "Creates a workspace and selects it. A workspace is another state for the same configuration.",
    presented(_new),
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
        presenter.say(f"Switched to workspace {_quoted(name)}.")
    return True


SELECT = Command(
    "workspace select",
    "Selects the workspace that commands in this directory use from now on.",
    presented(_select),
    flags=(
        Flag("or-create", FLAG_SWITCH, "Create the workspace if it does not exist"),
        *VARIABLE_FLAGS,
        *SAYING_FLAGS,
    ),
    arguments="NAME",
    most_arguments=1,
    examples=(Example("nigari workspace select -or-create staging", ""),),
)


async def _show(presenter: Presenter) -> bool:
    selected = presenter.session.where.selected(presenter.diags)
    if presenter.diags.has_errors:
        return False
    presenter.say(selected.name)
    return True


SHOW = Command(
    "workspace show",
    "Prints the name of the selected workspace.",
    presented(_show),
    flags=(*VARIABLE_FLAGS, NO_COLOR_FLAG, COMPACT_WARNINGS_FLAG),
    examples=(Example("nigari workspace show", ""),),
)


async def _delete(presenter: Presenter) -> bool:
    name = workspace_name(presenter)
    workspaces = presenter.session.workspaces()
    if workspaces is None or presenter.diags.has_errors:
        return False
    is_forced = presenter.invocation.switch("force")
    lock = presenter.session.options.lock
    if not await workspaces.delete(name, lock, is_forced, presenter.diags):
        return False
    presenter.say(f"Deleted workspace {_quoted(name)}!", f"Deleted workspace {_quoted(name)}")
    return True


DELETE = Command(
    "workspace delete",
    "Deletes a workspace with its state. One that still tracks objects is not deleted without "
    "-force, which leaves them behind, unmanaged. Neither the selected workspace nor the default "
    "one can be deleted.",
    presented(_delete),
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
