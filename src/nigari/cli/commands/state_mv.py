"""`nigari state mv`: give something in the state another address, or another state."""

from __future__ import annotations

from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_SWITCH, FLAG_TEXT, Command, Example, Flag, Invocation
from nigari.cli.presenter import Presenter, run_command
from nigari.cli.state_flags import EDITING_FLAGS, SAYING_FLAGS
from nigari.cty.go_text import go_quote
from nigari.state.edit import MoveOutcome, move
from nigari.state.model import State


async def _move(presenter: Presenter) -> bool:
    if presenter.invocation.text("to") or presenter.invocation.text("to-workspace"):
        from nigari.cli.commands.state_mv_elsewhere import move_elsewhere

        return await move_elsewhere(presenter)
    if len(presenter.invocation.arguments) != 2:
        raise UsageError("The command needs two addresses: the old one and the new one.")
    is_rehearsal = presenter.invocation.switch("dry-run")
    moved: list[tuple[str, str]] = []

    def change(source: State, target: State | None) -> MoveOutcome | None:
        targets = presenter.targets()
        if presenter.diags.has_errors:
            return None
        old, new = targets
        outcome = move(source, target, old, new, presenter.diags)
        if outcome is None:
            return None
        moved.extend(outcome.moved)
        verb = "Would move" if is_rehearsal else "Move"
        for was, becomes in outcome.moved:
            presenter.say(f"{verb} {go_quote(was)} to {go_quote(becomes)}")
        return None if is_rehearsal else outcome

    backup = presenter.invocation.text("backup-out")
    if not await presenter.session.move(change, backup):
        return False
    if not is_rehearsal:
        presenter.say(f"Successfully moved {len(moved)} object(s).")
    return True


def run(invocation: Invocation) -> int:
    """Move what the first address names to the second."""
    return run_command(invocation, _move)


COMMAND = Command(
    "state mv",
    "Moves a module, a resource or a resource instance to another address in the state, or with "
    "-state-out to another state file. Real objects are not touched. A backup of each changed "
    "state is written first. For moves that others must make too, add a moved block to the "
    "configuration instead.\n\nWith -to or -to-workspace, everything that the addresses name moves to "
    "another state and keeps its address there. Both states are locked, and both are changed or "
    "neither.",
    run,
    flags=(
        Flag("dry-run", FLAG_SWITCH, "Only print what would be moved"),
        Flag("state-out", FLAG_TEXT, "Another state file to move to", "FILE"),
        Flag("backup-out", FLAG_TEXT, "Where to write the backup of the other state", "FILE"),
        Flag(
            "to", FLAG_TEXT, "Move to the state of another directory, whatever its backend", "DIR"
        ),
        Flag("to-workspace", FLAG_TEXT, "Move to the state of another workspace", "NAME"),
        *EDITING_FLAGS,
        *SAYING_FLAGS,
    ),
    arguments="SOURCE DESTINATION | ADDRESS...",
    most_arguments=-1,
    examples=(
        Example("nigari state mv aws_instance.web aws_instance.app", "another name"),
        Example("nigari state mv module.app module.web", "a whole module"),
        Example("nigari state mv -to=../network module.vpc", "to the state of another directory"),
    ),
)
