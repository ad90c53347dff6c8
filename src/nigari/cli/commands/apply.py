"""`nigari apply`: make things what the configuration describes."""

from __future__ import annotations

from nigari.backends.snapshots import Snapshots
from nigari.cli.command import Command, Example, Invocation
from nigari.cli.planned import APPLY_FLAGS, PlanningCommand
from nigari.plan.changes import PlanMode


def run(invocation: Invocation) -> int:
    """Plan, ask, and do it."""
    return apply(PlanningCommand(invocation))


def apply(command: PlanningCommand) -> int:
    """Make a plan, have it agreed to, and carry it out."""

    async def carry_out(snapshots: Snapshots) -> int:
        plan = await command.restore(command.invocation.arguments[0], snapshots)
        return 1 if plan is None else await command.apply(plan, snapshots)

    async def work(snapshots: Snapshots) -> int:
        plan = await command.plan(snapshots)
        if plan is None:
            return 1
        command.show(plan)
        if not plan.is_empty and not _is_agreed(command):
            return 1
        return await command.apply(plan, snapshots)

    given = command.invocation.arguments
    return command.run("OperationTypeApply", carry_out if given else work)


def _is_agreed(command: PlanningCommand) -> bool:
    if command.invocation.switch("auto-approve"):
        return True
    question = "Do you want to perform these actions?"
    if command.mode is PlanMode.DESTROY:
        question = "Do you really want to destroy all of this? There is no way back."
    answer = command.state.ask(question)
    if answer == "yes":
        return True
    if answer is not None:
        command.state.text("\nNothing was done.")
    return False


COMMAND = Command(
    "apply",
    "Makes a plan, shows it, and carries it out once you agree. What was done is in the state "
    "also when something goes wrong half-way.",
    run,
    flags=APPLY_FLAGS,
    arguments="[PLAN]",
    most_arguments=1,
    examples=(
        Example("nigari apply", "asks before anything is done"),
        Example("nigari apply -auto-approve", "does not ask"),
        Example("nigari apply plan.out", "carries out a plan that was saved"),
    ),
)
