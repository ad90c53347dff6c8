"""`nigari state rm`: forget something without destroying it."""

from __future__ import annotations

from collections.abc import Sequence

from nigari.addrs.absolute import AbsResourceInstance
from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_SWITCH, Command, Example, Flag, Invocation
from nigari.cli.presenter import Presenter, run_command
from nigari.cli.state_flags import EDITING_FLAGS, SAYING_FLAGS
from nigari.state.edit import remove
from nigari.state.model import State
from nigari.state.selection import not_in_state, select


async def _remove(presenter: Presenter) -> bool:
    if not presenter.invocation.arguments:
        raise UsageError("The command needs at least one address.")
    found: list[AbsResourceInstance] = []

    def forget(state: State) -> State | None:
        found.extend(_selected(presenter, state))
        is_rehearsal = presenter.invocation.switch("dry-run")
        return state if is_rehearsal or not found else remove(state, found)

    if not await presenter.session.edit("state-rm", forget, has_own_backup=True):
        return False
    if not presenter.invocation.switch("dry-run"):
        presenter.say(f"Successfully removed {len(found)} resource instance(s).")
    return True


def _selected(presenter: Presenter, state: State) -> Sequence[AbsResourceInstance]:
    """What the addresses name, told; an error where that is nothing, unless it is a rehearsal."""
    targets = presenter.targets()
    if presenter.diags.has_errors:
        return ()
    found = select(state, targets, presenter.diags, allow_missing=True)
    is_rehearsal = presenter.invocation.switch("dry-run")
    for address in found:
        presenter.say(f"{'Would remove' if is_rehearsal else 'Removed'} {address}")
    if not found and is_rehearsal:
        presenter.say("Would have removed nothing.")
    elif not found:
        presenter.diags.append(not_in_state(targets[0], state))
    return found


def run(invocation: Invocation) -> int:
    """Forget what the addresses name."""
    return run_command(invocation, _remove)


COMMAND = Command(
    "state rm",
    "Removes resource instances from the state. The real objects continue to exist, but are no "
    "longer managed. The address of a module stands for everything in it, and that of a resource "
    "for all of its instances. A backup of the state is written first.",
    run,
    flags=(
        Flag("dry-run", FLAG_SWITCH, "Only print what would be removed"),
        *EDITING_FLAGS,
        *SAYING_FLAGS,
    ),
    arguments="ADDRESS...",
    most_arguments=-1,
    examples=(
        Example("nigari state rm 'aws_instance.web[0]'", "one instance"),
        Example("nigari state rm -dry-run module.net", "what would be removed with a module"),
    ),
)
