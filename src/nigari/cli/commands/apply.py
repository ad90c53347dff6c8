"""`nigari apply` and `destroy`: make things what the configuration describes, or destroy them."""

from __future__ import annotations

from functools import partial

from nigari.cli.command import Command, Example, Invocation
from nigari.cli.plan_flags import APPLY_FLAGS, INVOKE_FLAG
from nigari.cli.plan_start import begin_planning
from nigari.diagnostics import Diagnostic, Severity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.cli.planning_command import PlanningCommand
    from nigari.workspace.plans.saved_plan import Reopened
    from nigari.workspace.session.locked_session import LockedSession
    from nigari.workspace.session.made_plan import MadePlan


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

    async def carry_out(saved: Reopened, locked: LockedSession) -> int:
        made = await locked.restore(saved)
        if made is None:
            return 1
        command.add_lint(lambda: made.context.static)
        command.explore(made)
        return await command.apply(locked, made, is_saved=True)

    async def work(locked: LockedSession) -> int:
        if not locked.has_configuration(command.mode):
            return 1
        if command.is_in_rounds:
            return await _in_rounds(command, locked)
        made = await command.plan(locked)
        if made is None or not _show(command, made):
            return 1
        if not made.plan.is_empty and not _is_agreed(command):
            return 1
        return await command.apply(locked, made)

    given = command.invocation.arguments
    if command.presenter.is_for_programs and not given and not _is_agreed_already(command):
        command.diags.append(_nobody_to_ask())
    operation = "OperationTypeApply"
    if not given:
        return command.run(operation, work)
    from nigari.workspace.session.made_plan import reopen_plan

    # The plan has the variables, and the location of the state to lock.
    command.asks_variables = False
    saved = reopen_plan(command.session, given[0])
    if saved is None:
        return command.presenter.end(False)
    return command.run(operation, partial(carry_out, saved))


async def _in_rounds(command: PlanningCommand, locked: LockedSession) -> int:
    """Do what can be known, and then again what that has made known, until nothing is left."""
    rounds = await command.rounds(locked)
    if rounds is None:
        return 1
    while True:
        made = await command.plan_round(rounds)
        if made is None or not _show(command, made) or rounds.is_stuck(made.plan):
            return 1
        if not made.plan.is_empty and not _is_agreed(command):
            return 1
        goes_on = rounds.goes_on(made.plan)
        status = await command.apply(locked, made, goes_on=goes_on)
        if status or not goes_on:
            return status


def _show(command: PlanningCommand, made: MadePlan) -> bool:
    """Show a plan; False if it is incomplete."""
    command.show(made, goes_on=_is_agreed_already(command))
    if made.plan.is_incomplete:
        return False
    command.explore(made)
    return True


def _is_agreed_already(command: PlanningCommand) -> bool:
    return command.invocation.switch("auto-approve")


def _is_agreed(command: PlanningCommand) -> bool:
    if _is_agreed_already(command):
        return True
    from nigari.cli.plan_options import is_invoking
    from nigari.plan.model.changes import PlanMode

    where = _where(command)
    question = f"Do you want to perform these actions{where}?"
    if command.mode is PlanMode.DESTROY:
        question = f"Do you really want to destroy all of this{where}? This cannot be undone."
    elif is_invoking(command.invocation):
        question = f"Do you want to invoke this action{where}?"
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
    flags=(*APPLY_FLAGS, INVOKE_FLAG),
    arguments="[PLAN]",
    most_arguments=1,
    examples=(
        Example("nigari apply", "asks for approval before changing anything"),
        Example("nigari apply -auto-approve", "does not ask for approval"),
        Example("nigari apply plan.out", "applies a saved plan"),
        Example("nigari apply -explore", "shows the plan and its apply in the browser"),
    ),
)


def run_destroy(invocation: Invocation) -> int:
    """Plan the end of everything, ask, and do it."""
    return apply(invocation, is_end=True)


_OTHER_PLANS: Final = ("destroy", "refresh-only", "replace", "lint")

DESTROY = Command(
    "destroy",
    "Destroys everything that is managed in this directory, once you approve. It is the same as "
    "apply -destroy.",
    run_destroy,
    flags=tuple(flag for flag in APPLY_FLAGS if flag.name not in _OTHER_PLANS),
    examples=(Example("nigari destroy", "asks for approval before destroying anything"),),
)
