"""`nigari state mv`: give something in the state another address, or another state."""

from __future__ import annotations

from nigari.backends.snapshots import Snapshots
from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_SWITCH, FLAG_TEXT, Command, Example, Flag, Invocation
from nigari.cli.stored_state import EDITING_FLAGS, SAYING_FLAGS, OpenState, run_command
from nigari.cty.values import go_quote
from nigari.state.edit import MoveOutcome, move
from nigari.workspace.state import StateFiles


async def _move(state: OpenState) -> bool:
    if len(state.invocation.arguments) != 2:
        raise UsageError("The command needs two addresses: the old one and the new one.")
    files = state.files
    source = state.working.edited_snapshots(
        state.encryption, state.diags, StateFiles(files.state, backup=files.backup)
    )

    async def change(snapshots: Snapshots) -> bool:
        if not files.state_out:
            return await _within(state, snapshots)
        backup = state.invocation.text("backup-out")
        target = state.working.edited_snapshots(
            state.encryption, state.diags, StateFiles(files.state_out, backup=backup)
        )

        async def arrive(target: Snapshots) -> bool:
            return await _between(state, snapshots, target)

        return await state.edit(target, "state-mv", arrive)

    return await state.edit(source, "state-mv", change)


async def _within(state: OpenState, snapshots: Snapshots) -> bool:
    outcome = _outcome(state, snapshots, None)
    if outcome is None or state.invocation.switch("dry-run"):
        return outcome is not None
    if not await snapshots.write(outcome.target, state.diags):
        return False
    state.say(f"Successfully moved {len(outcome.moved)} object(s).")
    return True


async def _between(state: OpenState, source: Snapshots, target: Snapshots) -> bool:
    """Move from one state to another; what arrives is stored before anything leaves."""
    outcome = _outcome(state, source, target)
    if outcome is None or state.invocation.switch("dry-run"):
        return outcome is not None
    if not await target.write(outcome.target, state.diags):
        return False
    if not await source.write(outcome.source, state.diags):
        return False
    state.say(f"Successfully moved {len(outcome.moved)} object(s).")
    return True


def _outcome(state: OpenState, source: Snapshots, target: Snapshots | None) -> MoveOutcome | None:
    targets = state.targets()
    if state.diags.has_errors:
        return None
    old, new = targets
    there = None if target is None else target.state
    outcome = move(source.state, there, old, new, state.diags)
    if outcome is not None:
        verb = "Would move" if state.invocation.switch("dry-run") else "Move"
        for was, becomes in outcome.moved:
            state.say(f"{verb} {go_quote(was)} to {go_quote(becomes)}")
    return outcome


def run(invocation: Invocation) -> int:
    """Move what the first address names to the second."""
    return run_command(invocation, _move)


COMMAND = Command(
    "state mv",
    "Moves a module, a resource or a resource instance to another address in the state, or with "
    "-state-out to another state file. Real objects are not touched. A backup of each changed "
    "state is written first. For moves that others must make too, add a moved block to the "
    "configuration instead.",
    run,
    flags=(
        Flag("dry-run", FLAG_SWITCH, "Only print what would be moved"),
        Flag("state-out", FLAG_TEXT, "Another state file to move to", "FILE"),
        Flag("backup-out", FLAG_TEXT, "Where the backup of the other state goes", "FILE"),
        *EDITING_FLAGS,
        *SAYING_FLAGS,
    ),
    arguments="SOURCE DESTINATION",
    most_arguments=2,
    examples=(
        Example("nigari state mv aws_instance.web aws_instance.app", "another name"),
        Example("nigari state mv module.app module.web", "a whole module"),
    ),
)
