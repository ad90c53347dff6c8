"""`nigari apply`: make things what the configuration describes."""

from __future__ import annotations

from nigari.cli.command import Command, Example, Invocation
from nigari.cli.plan_flags import APPLY_FLAGS
from nigari.cli.plan_start import begin_planning
from nigari.diagnostics import Diagnostic, Severity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.cli.planning_command import PlanningCommand
    from nigari.workspace.session.locked_session import LockedSession


def run(invocation: Invocation) -> int:
    """Plan, ask, and do it."""
    return apply(invocation)


def apply(invocation: Invocation, is_end: bool = False) -> int:
    """Make a plan, have it agreed to, and carry it out; `is_end` says that it destroys everything."""
    begun = None
    if not invocation.arguments and not invocation.switch("json"):
        begun = begin_planning(invocation)
        if begun is None:
            return 1
    from nigari.cli.planning_command import PlanningCommand
    from nigari.plan.model.changes import PlanMode

    mode = PlanMode.DESTROY if is_end else None
    return _apply(PlanningCommand(invocation, mode, begun=begun))


def _apply(command: PlanningCommand) -> int:

    async def carry_out(locked: LockedSession) -> int:
        plan = await locked.restore()
        if plan is None:
            return 1
        planning = locked.planning
        command.add_lint(lambda: None if planning is None else planning.static)
        command.explore(locked, plan)
        return await command.apply(locked, plan, is_saved=True)

    async def work(locked: LockedSession) -> int:
        if not locked.has_configuration(command.mode):
            return 1
        if command.is_in_rounds:
            return await _in_rounds(command, locked)
        plan = await command.plan(locked)
        if plan is None:
            command.show_incomplete(locked)
            return 1
        command.show(locked, plan, goes_on=_is_agreed_already(command))
        command.explore(locked, plan)
        if not plan.is_empty and not _is_agreed(command):
            return 1
        return await command.apply(locked, plan)

    given = command.invocation.arguments
    if command.presenter.is_for_programs and not given and not _is_agreed_already(command):
        command.diags.append(_nobody_to_ask())
    operation = "OperationTypeApply"
    return command.run(operation, carry_out, given[0]) if given else command.run(operation, work)


async def _in_rounds(command: PlanningCommand, locked: LockedSession) -> int:
    """Do what can be known, and then again what that has made known, until nothing is left."""
    rounds = await command.rounds(locked)
    if rounds is None:
        return 1
    while True:
        plan = await command.plan_round(rounds)
        if plan is None:
            command.show_incomplete(locked)
            return 1
        command.show(locked, plan, goes_on=_is_agreed_already(command))
        command.explore(locked, plan)
        if rounds.is_stuck(plan):
            return 1
        if not plan.is_empty and not _is_agreed(command):
            return 1
        goes_on = rounds.goes_on(plan)
        status = await command.apply(locked, plan, goes_on=goes_on)
        if status or not goes_on:
            return status


def _is_agreed_already(command: PlanningCommand) -> bool:
    return command.invocation.switch("auto-approve")


def _is_agreed(command: PlanningCommand) -> bool:
    if _is_agreed_already(command):
        return True
    from nigari.plan.model.changes import PlanMode

    where = _where(command)
    question = f"Do you want to perform these actions{where}?"
    if command.mode is PlanMode.DESTROY:
        question = f"Do you really want to destroy all of this{where}? This cannot be undone."
    elif command.mode is PlanMode.REFRESH_ONLY:
        question = f"Do you want to save these changes to the state{where}?"
    answer = command.presenter.ask(question, "auto-approve")
    if answer is not None and answer != "yes":
        is_end = command.mode is PlanMode.DESTROY
        command.presenter.text(f"{'Destroy' if is_end else 'Apply'} cancelled.")
    return answer == "yes"


def _where(command: PlanningCommand) -> str:
    """The environment and the workspace, for a question."""
    environment, selected = command.session.where.environment, command.session.selected
    if environment is None:
        return "" if selected == "default" else f' in the workspace "{selected}"'
    inside = "" if selected == "default" else f' (workspace "{selected}")'
    return f' in the environment "{environment.name}"{inside}'


def _nobody_to_ask() -> Diagnostic:
    """An apply that must ask, and can only tell programs."""
    return Diagnostic(
        Severity.ERROR,
        "Approval required",
        "With -json there is no prompt. Pass a saved plan to apply, or the option -auto-approve.",
    )


COMMAND = Command(
    "apply",
    "Makes a plan, shows it, and applies it once you approve. If something fails on the way, "
    "everything done so far is in the state.",
    run,
    flags=APPLY_FLAGS,
    arguments="[PLAN]",
    most_arguments=1,
    examples=(
        Example("nigari apply", "asks for approval before changing anything"),
        Example("nigari apply -auto-approve", "does not ask for approval"),
        Example("nigari apply plan.out", "applies a saved plan"),
        Example("nigari apply -explore", "shows the plan and its apply in the browser"),
    ),
)
