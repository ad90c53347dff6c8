"""Applying the plan of a fleet: in order, side by side where it may be, with a journal.

A unit whose inputs are as they were planned is applied as it was planned. One whose inputs were not
known, or turned out otherwise, is planned again; a plan that does anything but what was agreed to is
asked about. Only the dependants of a failed unit are not applied.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Collection

from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.fleet.runs.journal import DONE, STARTED, Journal
from nigari.fleet.runs.plan_fleet import FleetPlan, PlannedUnit
from nigari.fleet.runs.results import (
    FleetResult,
    ListenFleet,
    UnitFinished,
    UnitResult,
    UnitStarted,
    UnitStatus,
    result_of,
    skipped,
)
from nigari.fleet.units.graph_loader import Survey
from nigari.fleet.units.unit import Unit, seen_from_root
from nigari.fleet.work.inputs import UnitInputs, needs_of
from nigari.fleet.work.tasks import Kind, Outputs, Task, TaskOptions, TaskOutcome, TaskStatus
from nigari.fleet.work.walk import Walk
from nigari.fleet.work.workers import Workers
from nigari.plan.model.changes import PlanMode
from nigari.record import replace

Approve = Callable[[UnitResult, str], Awaitable[bool]]
"""Asks whether a plan that was made again may be applied: what it does, and the file it is in."""


async def refuse(_: UnitResult, __: str) -> bool:
    """The answer if prompting is not possible."""
    return False


async def agree(_: UnitResult, __: str) -> bool:
    """The answer of who agrees to everything."""
    return True


class FleetApplying:
    """One plan of a fleet, being applied."""

    def __init__(
        self,
        found: Survey,
        plan: FleetPlan,
        journal: Journal,
        workers: Workers,
        options: TaskOptions,
        logs: str,
        approve: Approve = refuse,
        listen: ListenFleet = lambda _: None,
        plans_again: bool = False,
    ) -> None:
        """`plans_again` has everything planned again that is not done: the configurations may have
        changed since.
        """
        self._found = found
        self._plan = plan
        self._journal = journal
        self._workers = workers
        self._options = options
        self._logs = logs
        self._approve = approve
        self._listen = listen
        self._plans_again = plans_again
        self._asking = asyncio.Lock()
        self._results: dict[str, UnitResult] = {}
        is_normal = plan.mode is PlanMode.NORMAL
        members = plan.units if is_normal else ()
        self._inputs = Inputs(found, members, self._read_outputs, must_exist=is_normal)
        graph = found.graph
        needs = graph.needed_by if plan.mode is PlanMode.DESTROY else graph.needs
        self._walk = Walk(plan.units, needs, self._one, self._skip)

    async def run(self) -> FleetResult:
        """Apply whatever can be applied."""
        await self._walk.run()
        result = FleetResult({name: self._results[name] for name in self._plan.units})
        if not result.has_failed:
            self._journal.end()
        return result

    async def interrupt(self) -> None:
        """Begin nothing more, and have what is under way come to an end."""
        self._walk.stop()
        await self._workers.interrupt()

    async def _one(self, name: str) -> bool:
        result = await self._result(name)
        self._results[name] = result
        self._listen(UnitFinished(name, "apply", result))
        return result.is_done

    async def _result(self, name: str) -> UnitResult:
        planned = self._plan.units[name]
        before = self._journal.state(name)
        if before == DONE:
            return UnitResult(name, UnitStatus.DONE, report={"earlier": True})
        if not planned.result.is_done and not self._plans_again:
            return planned.result
        diags = Diagnostics()
        inputs = await self._inputs.of(name, diags)
        if inputs is None:
            return UnitResult(name, UnitStatus.FAILED, diagnostics=tuple(diags.in_order()))
        is_as_planned = bool(planned.inputs) and inputs.digest == planned.inputs
        is_fresh = not before and not self._plans_again
        if is_as_planned and is_fresh and not planned.has_to_be_applied:
            # Its dependants find its outputs in its state.
            return UnitResult(name, UnitStatus.DONE, planned.result.changes)
        result = await self._applied(name, planned, inputs, is_as_planned and is_fresh)
        if result.is_done and result.outputs is not None:
            self._inputs.know(name, result.outputs)
        return result

    async def _applied(
        self, name: str, planned: PlannedUnit, inputs: UnitInputs, as_planned: bool
    ) -> UnitResult:
        unit = self._found.units[name]
        log = os.path.join(self._logs, f"{unit.file_name}.log") if self._logs else ""
        again = os.path.join(self._journal.plans, f"{unit.file_name}.again")

        def task(plan: str, agreed: str) -> Task | None:
            if self._walk.is_stopped:
                return None
            if not self._journal.start(name):
                self._walk.stop()
                return None
            self._listen(UnitStarted(name, "apply"))
            # What others were planned to be, they are by now.
            return Task(
                Kind.APPLY,
                unit,
                self._options,
                inputs.variables,
                plan=plan,
                agreed=agreed,
                log=log,
            )

        if planned.result.is_done:
            first = (planned.path, "") if as_planned else (again, planned.path)
            outcome = await self._workers.run(lambda: task(*first))
        else:
            outcome = await self._planned_at_last(unit, inputs, again, log)
        if outcome.status is TaskStatus.UNAPPROVED and await self._is_agreed(
            unit, outcome, again, log
        ):
            outcome = await self._workers.run(lambda: task(again, ""))
        if self._journal.state(name) == STARTED:
            self._journal.finish(name, outcome.status.value)
        elif self._journal.error is not None:
            outcome = TaskOutcome(TaskStatus.FAILED, (_no_journal(self._journal.error),))
        return result_of(unit, outcome, log)

    async def _planned_at_last(
        self, unit: Unit, inputs: UnitInputs, path: str, log: str
    ) -> TaskOutcome:
        """The plan of a unit that could not be planned with the others, which was not shown."""
        given = inputs.variables, inputs.planned
        task = Task(Kind.PLAN, unit, self._options, *given, plan=path, log=log)
        outcome = await self._workers.run(lambda: None if self._walk.is_stopped else task)
        is_planned = outcome.status is TaskStatus.DONE
        return replace(outcome, status=TaskStatus.UNAPPROVED) if is_planned else outcome

    async def _is_agreed(self, unit: Unit, outcome: TaskOutcome, path: str, log: str) -> bool:
        async with self._asking:
            return await self._approve(result_of(unit, outcome, log), path)

    def _skip(self, name: str, because_of: str | None) -> None:
        result = skipped(name, because_of or "")
        if self._journal.state(name) == DONE:
            result = UnitResult(name, UnitStatus.DONE, report={"earlier": True})
        self._results[name] = result
        self._listen(UnitFinished(name, "apply", result))

    async def _read_outputs(self, name: str, diags: Diagnostics) -> Outputs | None:
        unit = self._found.units[name]
        values = self._found.known_values(name)
        outcome = await self._workers.run(lambda: Task(Kind.OUTPUT, unit, self._options, values))
        diags.extend(seen_from_root(outcome.diagnostics, unit))
        return outcome.outputs


def _no_journal(error: OSError) -> Diagnostic:
    return Diagnostic(
        Severity.ERROR,
        "Journal cannot be written",
        f"The unit was not applied, because the journal of the apply cannot be written: "
        f"{error.strerror}. Without it, an interrupted apply could not be continued. Operations "
        "that were running have finished. Free some disk space, and run the command again.",
    )


ReadOutputs = Callable[[str, Diagnostics], Awaitable[Outputs | None]]
"""Reads the outputs in the state of a unit; None where it has no state, or after reporting why they
cannot be read.
"""


class Inputs:
    """The outputs of units as far as they are known, and what follows for others."""

    def __init__(
        self, found: Survey, members: Collection[str], read: ReadOutputs, must_exist: bool
    ) -> None:
        """`members` are the units of this run, whose states change; `must_exist` says that who is
        given outputs cannot do without them.
        """
        self._found = found
        self._members = frozenset(members)
        self._read = read
        self._must_exist = must_exist
        self._known: dict[str, Outputs | None] = {}

    def know(self, name: str, outputs: Outputs) -> None:
        """Take note of the outputs of a unit of this run."""
        self._known[name] = outputs

    async def of(self, name: str, diags: Diagnostics) -> UnitInputs | None:
        """The inputs of a unit; None after reporting missing ones."""
        needs = needs_of(self._found.graph, name, self._members, self._must_exist)
        wanted = [*needs.outputs_of, *(each for each, _ in needs.states)]
        outputs = {each: await self._outputs_of(each, diags) for each in dict.fromkeys(wanted)}
        values = self._found.definition.values
        inputs = None if diags.has_errors else needs.inputs(values, outputs, diags)
        return None if diags.has_errors else inputs

    async def _outputs_of(self, name: str, diags: Diagnostics) -> Outputs | None:
        if name not in self._known:
            self._known[name] = await self._read(name, diags)
        return self._known[name]
