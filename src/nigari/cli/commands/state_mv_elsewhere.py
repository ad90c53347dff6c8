"""`nigari state mv -to` and `-to-workspace`: objects move to another state, whatever its backend."""

from __future__ import annotations

import json
import os

from nigari.addrs.absolute import resource_of
from nigari.addrs.resource import MANAGED
from nigari.cli.args import UsageError
from nigari.cli.presenter import Presenter
from nigari.cli.state_flags import given_variables, lock_options
from nigari.cty.go_text import go_quote
from nigari.hcl.quoting import quoted
from nigari.state.edit import MoveOutcome, move
from nigari.state.model import State
from nigari.workspace.context.environments import FILE_NAME, in_environment
from nigari.workspace.context.options import NO_VARIABLES, SessionOptions
from nigari.workspace.context.working_directory import WorkingDirectory
from nigari.workspace.session.session import Session


async def move_elsewhere(presenter: Presenter) -> bool:
    """Move what the addresses name to the state that the options name."""
    invocation = presenter.invocation
    if not invocation.arguments:
        raise UsageError("The command needs at least one address.")
    if invocation.text("state-out"):
        raise UsageError("The option -state-out cannot be used with -to or -to-workspace.")
    other = await _other(presenter)
    if other is None:
        return False
    is_rehearsal = invocation.switch("dry-run")
    moved: list[tuple[str, str]] = []
    states: list[State] = []

    def change(source: State, target: State | None) -> MoveOutcome | None:
        states.append(source)
        for each in presenter.targets():
            outcome = move(source, target, each, each, presenter.diags)
            if outcome is None:
                return None
            source, target = outcome.source, outcome.target
            moved.extend(outcome.moved)
        if presenter.diags.has_errors or target is None:
            return None
        states.append(source)
        for name, _ in moved:
            presenter.say(f"{'Would move' if is_rehearsal else 'Move'} {go_quote(name)}")
        return None if is_rehearsal else MoveOutcome(source, target, tuple(moved))

    if not await presenter.session.move_to(other, change):
        return False
    if not is_rehearsal:
        presenter.say(f"Successfully moved {len(moved)} object(s).")
        _show_blocks(presenter, *states)
    return True


async def _other(presenter: Presenter) -> Session | None:
    """The session of the other state; None after reporting why there is none."""
    other = _session(presenter)
    if other is None:
        return None
    found = other.workspaces()
    names = () if found is None else await found.names(other.diags)
    presenter.diags.extend(other.diags)
    if found is None or presenter.diags.has_errors:
        return None
    if other.selected not in names:
        presenter.diags.error(
            "No such workspace",
            f'There is no workspace "{other.selected}" there. Create it first.',
        )
        return None
    return other


def _session(presenter: Presenter) -> Session | None:
    """The session of the directory and workspace that the options name."""
    invocation, own = presenter.invocation, presenter.session.where
    directory, workspace = invocation.text("to"), invocation.text("to-workspace")
    root = os.path.abspath(directory) if directory else own.root
    if directory and not os.path.isdir(root):
        presenter.diags.error("No such directory", f"{directory} is not a directory.")
        return None
    where = own
    if directory:
        where = WorkingDirectory(own.environ, root=root, started_in=own.started_in)
        # What has no environments is in none.
        if own.environment is not None and os.path.exists(where.at(FILE_NAME)):
            where, _ = in_environment(where, own.environment.name, presenter.diags)
    if workspace:
        where = where.in_workspace(workspace)
    # The variables of one configuration say nothing about another.
    given = NO_VARIABLES if directory else given_variables(invocation)
    other = Session(where, given, SessionOptions(lock=lock_options(invocation)))
    is_same_place = os.path.realpath(where.path) == os.path.realpath(own.path)
    if is_same_place and other.selected == presenter.session.selected:
        raise UsageError("The other state is the same one: name another directory or workspace.")
    return other


def _show_blocks(presenter: Presenter, before: State, after: State) -> None:
    """Print the blocks that do the same in code, for those who review such moves."""
    removed: dict[str, None] = {}
    imports: list[str] = []
    for address, instance in before.instances():
        if after.instance(address) is not None or address.item.resource.mode is not MANAGED:
            continue
        removed[str(resource_of(address).unkeyed)] = None
        known = None if instance.current is None else json.loads(instance.current.attributes)
        id_ = known.get("id") if isinstance(known, dict) else None
        if isinstance(id_, str):
            imports.append(f"import {{\n  to = {address}\n  id = {quoted(id_)}\n}}\n")
    if not removed:
        return
    blocks = [
        f"removed {{\n  from = {name}\n\n  lifecycle {{\n    destroy = false\n  }}\n}}\n"
        for name in removed
    ]
    presenter.text("\nThe same in code, here:\n\n" + "\n".join(blocks))
    if imports:
        presenter.text("and there, where the provider can import it:\n\n" + "\n".join(imports))
