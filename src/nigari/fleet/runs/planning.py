"""The plan of a whole fleet: units are planned with the planned outputs of those they need.

Known values are as they will be, the rest is unknown and says whose output it waits for. Nothing has
to be applied to see what comes after it.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Mapping, Sequence

from nigari.diagnostics import Diagnostics
from nigari.fleet.runs.inputs import Inputs
from nigari.fleet.runs.results import (
    ListenFleet,
    UnitFinished,
    UnitResult,
    UnitStarted,
    UnitStatus,
    result_of,
    skipped,
)
from nigari.fleet.runs.walk import Walk
from nigari.fleet.units.survey import Survey
from nigari.fleet.work.tasks import Kind, Outputs, Task, TaskOptions, with_causes
from nigari.fleet.work.workers import Workers
from nigari.plan.model.changes import PlanMode
from nigari.record import record


@record
class PlannedUnit:
    """The plan of one unit."""

    result: UnitResult
    inputs: str = ""
    """What its inputs are known by; empty where they were not all known, so that it has to be
    planned again before it is applied.
    """
    path: str = ""
    """The file with the plan; empty where it was not kept."""

    @property
    def changes_anything(self) -> bool:
        """Whether anything is to be done, or may be."""
        changes = self.result.changes
        return changes is not None and not changes.is_empty

    @property
    def has_to_be_applied(self) -> bool:
        """Whether anything is to be done or to be stored."""
        changes = self.result.changes
        return changes is not None and (changes.is_news or not changes.is_empty)


@record
class FleetPlan:
    """The plans of all units."""

    id: str
    mode: PlanMode
    created: str
    units: Mapping[str, PlannedUnit]

    @property
    def has_failed(self) -> bool:
        """Whether some units could not be planned."""
        return any(not each.result.is_done for each in self.units.values())

    @property
    def totals(self) -> tuple[int, int, int]:
        """How many objects are added, changed and destroyed in all units."""
        found = [each.result.changes for each in self.units.values()]
        return (
            sum(each.add for each in found if each),
            sum(each.change for each in found if each),
            sum(each.destroy for each in found if each),
        )

    @property
    def changed(self) -> list[str]:
        """The units in which something is to be done."""
        return [name for name, each in self.units.items() if each.changes_anything]

    @property
    def has_to_be_applied(self) -> bool:
        """Whether anything is to be done or to be stored in any unit."""
        return any(each.has_to_be_applied for each in self.units.values())

    @property
    def drifted(self) -> list[str]:
        """The units in which objects are not what their states say."""
        return [
            name
            for name, each in self.units.items()
            if each.result.changes is not None and each.result.changes.drift
        ]


class FleetPlanning:
    """One plan of a fleet in the making."""

    def __init__(
        self,
        found: Survey,
        names: Sequence[str],
        workers: Workers,
        options: TaskOptions,
        logs: str,
        plans: str = "",
        listen: ListenFleet = lambda _: None,
        id: str = "",
    ) -> None:
        """Plans are kept in the directory `plans`, if there is one."""
        self._id = id or uuid.uuid4().hex
        self._found = found
        self._names = names
        self._workers = workers
        self._options = options
        self._logs = logs
        self._plans = plans
        self._listen = listen
        is_normal = options.mode is PlanMode.NORMAL
        members = names if is_normal else ()
        self._inputs = Inputs(found, members, self._read_outputs, must_exist=is_normal)
        self._planned: dict[str, PlannedUnit] = {}
        # Nobody's outputs change while everything is destroyed or only looked at.
        needs = found.graph.needs if is_normal else {}
        self._walk = Walk(names, needs, self._plan, self._skip)

    async def run(self) -> FleetPlan:
        """The plan, once all units are planned that can be."""
        await self._walk.run()
        created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        units = {name: self._planned[name] for name in self._names}
        return FleetPlan(self._id, self._options.mode, created, units)

    async def interrupt(self) -> None:
        """Begin nothing more, and have what is under way come to an end."""
        self._walk.stop()
        await self._workers.interrupt()

    async def _plan(self, name: str) -> bool:
        unit, diags = self._found.units[name], Diagnostics()
        inputs = await self._inputs.of(name, diags)
        if diags.has_errors:
            result = UnitResult(name, UnitStatus.FAILED, diagnostics=tuple(diags.in_order()))
            self._note(PlannedUnit(result))
            return False
        path = os.path.join(self._plans, f"{unit.file_name}.plan") if self._plans else ""
        log = os.path.join(self._logs, f"{unit.file_name}.log") if self._logs else ""

        def task() -> Task | None:
            if self._walk.is_stopped:
                return None
            self._listen(UnitStarted(name, "plan"))
            given = inputs.variables, inputs.planned
            return Task(Kind.PLAN, unit, self._options, *given, plan=path, log=log)

        outcome = await self._workers.run(task)
        result = result_of(unit, outcome, log)
        digest = inputs.digest if inputs.is_known else ""
        self._note(PlannedUnit(result, digest, path))
        if result.is_done and self._options.mode is PlanMode.NORMAL:
            self._inputs.know(name, with_causes(outcome.outputs or {}, name))
        return result.is_done

    def _skip(self, name: str, because_of: str) -> None:
        self._note(PlannedUnit(skipped(name, because_of)))

    def _note(self, planned: PlannedUnit) -> None:
        self._planned[planned.result.unit] = planned
        self._listen(UnitFinished(planned.result.unit, "plan", planned.result))

    async def _read_outputs(self, name: str) -> Outputs | None:
        """The outputs of a unit that is not planned here, from its state."""
        unit = self._found.units[name]
        outcome = await self._workers.run(lambda: Task(Kind.OUTPUT, unit, self._options))
        return outcome.outputs
