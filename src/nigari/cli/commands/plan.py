"""`nigari plan`: what would be done to make things what the configuration describes."""

from __future__ import annotations

from nigari.cli.command import FLAG_SWITCH, FLAG_TEXT, Command, Example, Flag, Invocation
from nigari.cli.lint_option import LINT_FLAG
from nigari.cli.plan_flags import GENERATE_FLAG, INVOKE_FLAG, PLAN_FLAGS
from nigari.cli.plan_start import begin_planning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.workspace.session.locked_session import LockedSession

_CHANGES = 2


def run(invocation: Invocation) -> int:
    """Make a plan and show it."""
    begun = begin_planning(invocation)
    if begun is None:
        return 1
    from nigari.cli.planning_command import PlanningCommand

    command = PlanningCommand(invocation, begun=begun)

    async def work(locked: LockedSession) -> int:
        if not locked.has_configuration(command.mode):
            return 1
        target = invocation.text("out")
        made = await command.plan(locked)
        if made is None:
            return 1
        command.show(made)
        plan = made.plan
        if (target and not made.save(target)) or plan.is_incomplete:
            return 1
        if target or not plan.is_empty or plan.left:
            command.plan_presenter.next_step(target)
        is_detailed = invocation.switch("detailed-exitcode")
        is_done = plan.changes_nothing and not plan.left
        return _CHANGES if is_detailed and not is_done else 0

    return command.run("OperationTypePlan", work)


COMMAND = Command(
    "plan",
    "Compares the configuration with the state and with the real objects, and shows what apply "
    "would change. Nothing is changed.",
    run,
    flags=(
        Flag("out", FLAG_TEXT, "Save the plan to a file, for apply", "FILE"),
        Flag(
            GENERATE_FLAG,
            FLAG_TEXT,
            "Write blocks for imported objects that have none to this file, which must not exist "
            "yet",
            "FILE",
        ),
        Flag(
            "detailed-exitcode",
            FLAG_SWITCH,
            "Exit with 0 if there is nothing to change, 2 if there is, and 1 after an error",
        ),
        INVOKE_FLAG,
        LINT_FLAG,
        *PLAN_FLAGS,
    ),
    examples=(
        Example("nigari plan", "what apply would do"),
        Example("nigari plan -destroy", "what destroy would do"),
        Example("nigari plan -summary -only=replace,delete", "what would be lost, in short"),
    ),
)
