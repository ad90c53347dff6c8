"""Results of fleets: what has come of each unit, and of all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum

from nigari.diagnostics import Diagnostic
from nigari.fleet.units.unit import Unit, path_from_root, seen_from_root
from nigari.fleet.work.tasks import Changes, Outputs, TaskOutcome
from nigari.record import record


class UnitStatus(Enum):
    """The status of a unit."""

    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"
    """Something that it needs has failed, or everything was stopped before its turn."""
    UNAPPROVED = "needs approval"
    INTERRUPTED = "interrupted"
    LOST = "lost"


@record
class UnitResult:
    """The outcome of one unit."""

    unit: str
    status: UnitStatus
    changes: Changes | None = None
    outputs: Outputs | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    """The diagnostics, with paths from the root of the fleet."""
    sources: Mapping[str, bytes] = {}
    because_of: str = ""
    """The unit that is to blame where this one was skipped."""
    seconds: float = 0.0
    report: Mapping[str, object] = {}
    log: str = ""
    """The file that tells what happened."""

    @property
    def is_done(self) -> bool:
        """Return whether the unit succeeded."""
        return self.status is UnitStatus.DONE


@record
class UnitStarted:
    """A unit is being worked with."""

    unit: str
    phase: str


@record
class UnitFinished:
    """The unit is completed, or was given up."""

    unit: str
    phase: str
    result: UnitResult


FleetEvent = UnitStarted | UnitFinished
ListenFleet = Callable[[FleetEvent], object]
"""Hears what happens to units, as it happens."""


@record
class FleetResult:
    """The outcome of a command over a fleet."""

    units: Mapping[str, UnitResult]
    warnings: tuple[Diagnostic, ...] = ()
    """The diagnostics of the whole fleet."""

    @property
    def has_failed(self) -> bool:
        """Return whether any unit failed."""
        return any(not each.is_done for each in self.units.values())

    def count(self, status: UnitStatus) -> int:
        """The number of units that ended so."""
        return sum(each.status is status for each in self.units.values())


def result_of(unit: Unit, outcome: TaskOutcome, log: str = "") -> UnitResult:
    """The outcome of a task, with paths from the root of the fleet."""
    status = UnitStatus(outcome.status.value)
    return UnitResult(
        unit.name,
        status,
        outcome.changes,
        outcome.outputs,
        tuple(seen_from_root(outcome.diagnostics, unit)),
        {path_from_root(path, unit): text for path, text in outcome.sources.items()},
        because_of=outcome.because_of,
        seconds=outcome.seconds,
        report=outcome.report,
        # Nothing has happened to a unit that was skipped.
        log="" if status is UnitStatus.SKIPPED else log,
    )


def skipped(name: str, because_of: str) -> UnitResult:
    """A unit that was not worked with."""
    return UnitResult(name, UnitStatus.SKIPPED, because_of=because_of)
