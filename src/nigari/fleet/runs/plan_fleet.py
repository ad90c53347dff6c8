"""The plan of a whole fleet: units are planned with the planned outputs of those they need.

Known values are as they will be, the rest is unknown and says whose output it waits for. Nothing has
to be applied to see what comes after it.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Mapping, Sequence

from nigari.fleet.runs.results import (
    ListenFleet,
    UnitFinished,
    UnitResult,
    UnitStarted,
    result_of,
)
from nigari.fleet.units.graph_loader import Survey
from nigari.fleet.units.unit import Unit
from nigari.fleet.work.inputs import needs_of
from nigari.fleet.work.steps import Step, StepKey
from nigari.fleet.work.tasks import Kind, Task, TaskOptions, TaskOutcome
from nigari.fleet.work.workers import Workers
from nigari.plan.model.changes import PlanMode
from nigari.record import record


@record
class PlannedUnit:
    """The plan of one unit."""

    result: UnitResult
    inputs: str = ""
    """A digest of the unit's inputs; empty if some were unknown, so that the unit must be planned
    again before it is applied.
    """
    path: str = ""
    """The file with the plan; empty where it was not kept."""

    @property
    def changes_anything(self) -> bool:
        """Return whether the plan has, or may have, changes."""
        changes = self.result.changes
        return changes is not None and not changes.is_empty

    @property
    def has_to_be_applied(self) -> bool:
        """Return whether there are changes to apply or a state to store."""
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
        """Return whether some units could not be planned."""
        return any(not each.result.is_done for each in self.units.values())

    @property
    def totals(self) -> tuple[int, int, int]:
        """The number of objects that are added, changed and destroyed in all units."""
        found = [each.result.changes for each in self.units.values()]
        return (
            sum(each.add for each in found if each),
            sum(each.change for each in found if each),
            sum(each.destroy for each in found if each),
        )

    @property
    def changed(self) -> list[str]:
        """The units with planned changes."""
        return [name for name, each in self.units.items() if each.changes_anything]

    @property
    def has_to_be_applied(self) -> bool:
        """Return whether any unit has changes to apply or a state to store."""
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
        self._planned: dict[str, PlannedUnit] = {}
        self.is_stopped: bool = False
        """True if no further units may start."""

    async def run(self) -> FleetPlan:
        """The plan, once all units are planned that can be."""
        await self._workers.run_all(self._steps(), self._found.definition.values, self)
        created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        units = {name: self._planned[name] for name in self._names}
        return FleetPlan(self._id, self._options.mode, created, units)

    async def interrupt(self) -> None:
        """Begin nothing more, and have what is under way come to an end."""
        self.is_stopped = True
        await self._workers.interrupt()

    # -- the steps ------------------------------------------------------------------------------

    def _steps(self) -> dict[StepKey, Step]:
        """A step for each unit, and one for each state that is only read, in an order in which they
        can be taken.
        """
        graph, is_normal = self._found.graph, self._options.mode is PlanMode.NORMAL
        chosen = set(self._names)
        # No outputs change while everything is destroyed or only refreshed.
        members = chosen if is_normal else set[str]()
        steps: dict[StepKey, Step] = {}
        for name in (each for layer in graph.layers() for each in layer if each in chosen):
            needs = needs_of(graph, name, members, must_exist=is_normal)
            for each in needs.outputs_of:
                if each not in members:
                    values = self._found.known_values(each)
                    task = Task(Kind.OUTPUT, self._found.units[each], self._options, values)
                    steps.setdefault((Kind.OUTPUT, each), Step(task))
            before = [(Kind.OUTPUT, each) for each in needs.outputs_of if each not in members]
            before += [(Kind.PLAN, each) for each in graph.needs[name] if each in members]
            steps[Kind.PLAN, name] = Step(self._task(name), tuple(before), needs)
        return steps

    def _task(self, name: str) -> Task:
        unit = self._found.units[name]
        path = os.path.join(self._plans, f"{unit.file_name}.plan") if self._plans else ""
        return Task(Kind.PLAN, unit, self._options, plan=path, log=self._log(unit))

    def _log(self, unit: Unit) -> str:
        return os.path.join(self._logs, f"{unit.file_name}.log") if self._logs else ""

    # -- what becomes of them -------------------------------------------------------------------

    def begun(self, key: StepKey) -> None:
        """Hear that a worker has begun a step."""
        kind, name = key
        if kind is Kind.PLAN:
            self._listen(UnitStarted(name, "plan"))

    def ended(self, key: StepKey, outcome: TaskOutcome) -> None:
        """Hear what has come of a step."""
        kind, name = key
        if kind is not Kind.PLAN:
            return
        task = self._task(name)
        result = result_of(task.unit, outcome, task.log)
        path = task.plan if result.is_done else ""
        self._planned[name] = PlannedUnit(result, outcome.inputs, path)
        self._listen(UnitFinished(name, "plan", result))
