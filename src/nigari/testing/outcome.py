"""Test outcomes: of each run, each file and the whole suite."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import TYPE_CHECKING

from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.record import record

if TYPE_CHECKING:
    from nigari.plan.engine import PlanOutcome
    from nigari.state.model import State
    from nigari.testing.coverage import Coverage


class Status(IntEnum):
    """Result of a run, a file or the suite; the greatest of several wins."""

    PENDING = 0
    SKIP = 1
    PASS = 2
    FAIL = 3
    """A condition has failed."""
    ERROR = 4
    """The condition could not be evaluated."""

    @property
    def word(self) -> str:
        """The name for programs."""
        return self.name.lower()


@record
class Shown:
    """The plan and state of a run, for display."""

    outcome: PlanOutcome
    state: State | None
    """The new state; None after a plan."""
    inputs: Mapping[str, Value]
    """Values of variables."""


class RunOutcome:
    """Outcome of one run."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.status: Status = Status.PENDING
        self.diags: Diagnostics = Diagnostics()
        self.shown: Shown | None = None
        self.seconds: float = 0.0
        self.directories: frozenset[str] = frozenset()
        """Directories of its modules; empty if they could not be read."""

    def at_least(self, status: Status) -> None:
        """Raise the status to at least this."""
        self.status = max(self.status, status)


@record
class Leftover:
    """An object that a test has created and not destroyed."""

    address: str
    deposed: str = ""


class CleanUp:
    """Outcome of destroying a run's objects."""

    def __init__(self, run: RunOutcome) -> None:
        self.run = run
        self.diags: Diagnostics = Diagnostics()
        self.left: list[Leftover] = []
        self.saved_at = ""
        """File with the remaining state; empty if there is none."""
        self.unsaved: bytes | None = None
        """The remaining state, if it could not be saved in a file."""

    @property
    def has_failed(self) -> bool:
        """True if objects remain that should have been destroyed."""
        return bool(self.left) or self.diags.has_errors


class FileOutcome:
    """Outcome of one file's runs."""

    def __init__(self, name: str, runs: Iterable[str]) -> None:
        self.name = name
        self.runs: list[RunOutcome] = [RunOutcome(each) for each in runs]
        self.cleanups: list[CleanUp] = []
        self.status = Status.PENDING
        self.seconds: float = 0.0

    @property
    def directories(self) -> frozenset[str]:
        """Directories of the modules of all runs; empty if some could not be read."""
        found = [run.directories for run in self.runs if run.status is not Status.SKIP]
        return frozenset().union(*found) if all(found) else frozenset()

    @property
    def has_failed(self) -> bool:
        """True if anything in the file failed, including its clean-up."""
        return self.status >= Status.FAIL or any(each.has_failed for each in self.cleanups)


class SuiteOutcome:
    """Outcome of all files."""

    def __init__(self) -> None:
        self.coverage: Coverage | None = None
        """Coverage of the configuration, if requested."""
        self.files: list[FileOutcome] = []
        self.status = Status.PENDING

    def count(self, *statuses: Status) -> int:
        """Count the runs with one of these statuses."""
        return sum(run.status in statuses for file in self.files for run in file.runs)

    @property
    def has_failed(self) -> bool:
        """True if anything failed."""
        return any(file.has_failed for file in self.files)
