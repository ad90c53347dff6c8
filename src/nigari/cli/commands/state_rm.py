"""`nigari state rm`: forget something without destroying it."""

from __future__ import annotations

from nigari.backends.snapshots import Snapshots
from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_SWITCH, Command, Example, Flag, Invocation
from nigari.cli.stored_state import EDITING_FLAGS, SAYING_FLAGS, OpenState, run_command
from nigari.state.edit import not_in_state, remove, select


async def _remove(state: OpenState) -> bool:
    if not state.invocation.arguments:
        raise UsageError("The command needs at least one address.")
    snapshots = state.working.edited_snapshots(state.encryption, state.diags, state.files)

    async def change(snapshots: Snapshots) -> bool:
        return await _forget(state, snapshots)

    return await state.edit(snapshots, "state-rm", change)


async def _forget(state: OpenState, snapshots: Snapshots) -> bool:
    targets = state.targets()
    if state.diags.has_errors:
        return False
    found = select(snapshots.state, targets, state.diags, allow_missing=True)
    is_rehearsal = state.invocation.switch("dry-run")
    for address in found:
        state.say(f"{'Would remove' if is_rehearsal else 'Removed'} {address}")
    if is_rehearsal:
        if not found:
            state.say("Would have removed nothing.")
        return True
    if not found:
        state.diags.append(not_in_state(targets[0], snapshots.state))
        return False
    if not await snapshots.write(remove(snapshots.state, found), state.diags):
        return False
    state.say(f"Successfully removed {len(found)} resource instance(s).")
    return True


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
