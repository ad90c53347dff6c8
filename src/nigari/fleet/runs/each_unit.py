"""The same with each unit, in no particular order: init, validate, test, and reading outputs."""

from __future__ import annotations

import os
from collections.abc import Sequence

from nigari.fleet.runs.results import (
    FleetResult,
    ListenFleet,
    UnitFinished,
    UnitResult,
    UnitStarted,
    result_of,
)
from nigari.fleet.units.graph_loader import Survey
from nigari.fleet.units.unit import settings_file
from nigari.fleet.work.steps import Step, StepKey
from nigari.fleet.work.tasks import Kind, Task, TaskOptions, TaskOutcome
from nigari.fleet.work.workers import Workers
from nigari.record import replace


class EachUnit:
    """One thing that is done with some units."""

    def __init__(
        self,
        found: Survey,
        kind: Kind,
        names: Sequence[str],
        workers: Workers,
        options: TaskOptions,
        logs: str,
        listen: ListenFleet = lambda _: None,
    ) -> None:
        self._found = found
        self._kind = kind
        self._names = names
        self._workers = workers
        self._options = options
        self._logs = logs
        self._listen = listen
        self._results: dict[str, UnitResult] = {}
        self.is_stopped: bool = False
        """True if no further units may start."""

    async def run(self) -> FleetResult:
        """The outcome of all units."""
        steps = {(self._kind, name): Step(self._task(name)) for name in self._names}
        await self._workers.run_all(steps, self._found.definition.values, self)
        return FleetResult({name: self._results[name] for name in self._names})

    async def interrupt(self) -> None:
        """Begin nothing more, and have what is under way come to an end."""
        self.is_stopped = True
        await self._workers.interrupt()

    def _task(self, name: str) -> Task:
        """The task of a unit, with what is known of its variables without its neighbours."""
        values = self._found.known_values(name)
        unit, log = self._found.units[name], self._log(name)
        given = tuple(
            text if "=" in text else settings_file(self._found.root, unit.path, text)
            for text in self._options.backend_config
        )
        options = replace(self._options, backend_config=given)
        return Task(self._kind, unit, options, values, log=log)

    def _log(self, name: str) -> str:
        return os.path.join(self._logs, f"{self._found.units[name].file_name}.log")

    def begun(self, key: StepKey) -> None:
        """Hear that a worker has begun a unit."""
        self._listen(UnitStarted(key[1], self._kind.value))

    def ended(self, key: StepKey, outcome: TaskOutcome) -> None:
        """Hear what has come of a unit."""
        name = key[1]
        result = result_of(self._found.units[name], outcome, self._log(name))
        self._results[name] = result
        self._listen(UnitFinished(name, self._kind.value, result))
