"""`nigari fleet apply` and `fleet destroy`: make everything what the configurations of all units
describe, or destroy it, dependants first.
"""

from __future__ import annotations

from collections.abc import Sequence

from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_SWITCH, Command, Example, Flag, Invocation
from nigari.cli.commands.fleet_plan import DETAILS_FLAG, REFRESH_FLAG, make_plan
from nigari.cli.fleet_details import show_unit_plan
from nigari.cli.fleet_flags import (
    APPROVE_FLAG,
    MARKDOWN_FLAG,
    ORPHANS_FLAG,
    STATE_FLAGS,
    FleetCommand,
)
from nigari.cli.prompt import read_answer
from nigari.cli.views.fleet_progress import FleetView
from nigari.cli.views.fleet_text import plan_summary
from nigari.cli.views.style import style_of
from nigari.diagnostics import Diagnostic, Severity
from nigari.fleet.aio import Unfinished
from nigari.fleet.runs.apply_fleet import Approve, agree
from nigari.fleet.runs.plan_fleet import FleetPlan
from nigari.fleet.runs.results import FleetResult, UnitResult, UnitStatus
from nigari.plan.model.changes import PlanMode


def run(invocation: Invocation) -> int:
    """Plan, ask, and do it; or carry out a plan, or go on with what was begun."""
    return FleetApply(FleetCommand(invocation), PlanMode.NORMAL).run()


class FleetApply:
    """The command, for apply and destroy."""

    def __init__(self, command: FleetCommand, mode: PlanMode) -> None:
        self._command = command
        self._mode = mode
        self._invocation = command.invocation
        self._terminal = command.terminal
        self._is_json = command.invocation.switch("json")
        self._is_agreed = command.invocation.switch("auto-approve")

    def run(self) -> int:
        """Do it, and give the exit status."""
        given = self._invocation.arguments
        if self._is_json and not self._is_agreed and not given:
            raise UsageError("With -json there is no prompt. Pass a saved plan, or -auto-approve.")
        return self._command.run(self._saved if given else self._new)

    async def _saved(self, _: list[str]) -> int:
        """Carry out a plan that was saved, or what is left of it."""
        fleet = self._command.fleet
        plan = fleet.read_plan(self._invocation.arguments[0])
        if not self._is_json:
            self._terminal.out(plan_summary(plan, style_of(self._terminal)))
        view = self._command.view(len(plan.units))
        options = self._command.options(plan.mode)
        result = await fleet.apply(
            plan, options, is_saved=True, approve=self._approve(view), listen=view
        )
        return self._end(result, view)

    async def _new(self, names: list[str]) -> int:
        command, fleet = self._command, self._command.fleet
        options = command.options(self._mode)
        begun = fleet.unfinished()
        if begun is not None:
            is_over = self._invocation.switch("restart")
            if not is_over:
                self._command.show(self._problems(begun))
            # Who destroys does not want to go on with an apply, and the other way round.
            if not is_over and begun.mode == self._mode.value:
                return await self._resume(begun)
            fleet.abandon(begun)
        plan = await make_plan(command, names, options, keep=True)
        if not plan.has_to_be_applied or (plan.changed and not self._may_begin(plan)):
            fleet.discard(plan)
            return 1 if plan.has_failed or plan.changed else 0
        view = command.view(len(plan.units))
        result = await fleet.apply(plan, options, approve=self._approve(view), listen=view)
        return self._end(result, view)

    def _problems(self, begun: Unfinished) -> Sequence[Diagnostic]:
        """The damage of an interrupted apply."""
        if begun.can_continue:
            return begun.problems
        detail = " ".join(each.detail for each in begun.problems)
        return [
            Diagnostic(
                Severity.WARNING,
                "Interrupted apply cannot be continued",
                f"The plan of the apply that began at {begun.begun} cannot be read, so all units are "
                f"planned again; what was created is in their states. {detail}",
            )
        ]

    async def _resume(self, begun: Unfinished) -> int:
        """Go on with an apply that did not come to its end."""
        command = self._command
        if not self._is_json:
            self._terminal.out(
                f"Continuing the apply that began at {begun.begun}: {begun.done} of "
                f"{begun.units} units are done. To start over, use -restart."
            )
        view = command.view(begun.units)
        result = await command.fleet.resume(
            begun, command.options(), approve=self._approve(view), listen=view
        )
        return self._end(result, view)

    def _may_begin(self, plan: FleetPlan) -> bool:
        if self._is_agreed:
            return True
        question = "Do you want to perform these actions?"
        if plan.has_failed:
            question = "Not all units could be planned. Do you want to apply the others?"
        if self._mode is PlanMode.DESTROY:
            question = "Do you really want to destroy all of this? This cannot be undone."
        if not self._invocation.switch("details"):
            self._terminal.out("To see the plans of the units in full, use -details.")
        return self._ask(question)

    def _ask(self, question: str) -> bool:
        style = style_of(self._terminal)
        text = f"\n{style.bold(question)}\n  Only 'yes' will be accepted to continue.\n\n"
        answer = read_answer(self._terminal, f"{text}  {style.bold('Enter a value:')} ")
        if not answer:
            self._terminal.err(
                "There is no terminal to ask on. Use -auto-approve, or a saved plan."
            )
        return bool(answer) and answer.strip() == "yes"

    def _approve(self, view: FleetView) -> Approve:
        if self._is_agreed:
            return agree

        async def ask(result: UnitResult, path: str) -> bool:
            view.pause()
            if self._is_json:
                return False
            unit = self._command.found.units[result.unit]
            self._terminal.out(
                f"\nThe plan of {unit.name} is not the one that was approved: what it depends on "
                "has changed, or has other results than planned."
            )
            await show_unit_plan(self._invocation, unit, path)
            return self._ask(f"Do you want to perform these actions in {unit.name}?")

        return ask

    def _end(self, result: FleetResult, view: FleetView) -> int:
        view.end()
        self._command.show(result.warnings)
        results = list(result.units.values())
        self._command.report(results, "apply")
        self._command.show_failures(results)
        done = result.count(UnitStatus.DONE)
        text = f"Done: {done} of {len(results)} units."
        left = [each.unit for each in results if not each.is_done]
        if left:
            text += ' Run "nigari fleet apply" again to continue with the others.'
            if self._invocation.arguments:
                text = text.replace("fleet apply", f"fleet apply {self._invocation.arguments[0]}")
        if view.events is not None:
            members = {"type": "fleet_apply", "done": done, "left": left}
            view.events.event(text, members)
        else:
            self._terminal.out(self._terminal.with_options(f"\n{text}"))
        return 1 if left else 0


RESTART_FLAG = Flag(
    "restart", FLAG_SWITCH, "Make a new plan instead of continuing an interrupted apply"
)

COMMAND = Command(
    "fleet apply",
    "Plans all units, shows a summary, and applies the plans in dependency order once you approve. A "
    "unit whose inputs differ from the planned ones is planned again, and you are asked again if the "
    "new plan does more. An apply that was interrupted, or failed, is continued.",
    run,
    flags=(APPROVE_FLAG, RESTART_FLAG, DETAILS_FLAG, MARKDOWN_FLAG, REFRESH_FLAG, *STATE_FLAGS),
    arguments="[PLAN]",
    most_arguments=1,
    examples=(
        Example("nigari fleet apply", "asks for approval before changing anything"),
        Example("nigari fleet apply fleet.plan", "applies a saved plan, or the rest of it"),
        Example("nigari fleet apply -only=network+", "one unit and all that depends on it"),
    ),
)


def run_destroy(invocation: Invocation) -> int:
    """Plan the end of everything, ask, and do it."""
    return FleetApply(FleetCommand(invocation), PlanMode.DESTROY).run()


DESTROY = Command(
    "fleet destroy",
    "Destroys everything that is managed in the units, once you approve: each unit after those that "
    "depend on it.",
    run_destroy,
    flags=(
        APPROVE_FLAG,
        ORPHANS_FLAG,
        RESTART_FLAG,
        DETAILS_FLAG,
        MARKDOWN_FLAG,
        REFRESH_FLAG,
        *STATE_FLAGS,
    ),
    examples=(
        Example("nigari fleet destroy", "asks for approval before destroying anything"),
        Example("nigari fleet destroy -only=label:dev", "one environment"),
        Example("nigari fleet destroy -orphans", "units that are no longer declared"),
    ),
)
