"""The outcome of tests: of each run, each file and all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import TYPE_CHECKING

from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.record import record

if TYPE_CHECKING:
    from nigari.plan.model.changes import Plan
    from nigari.state.model import State
    from nigari.testing.coverage import Coverage
    from nigari.workspace.plans.planning import Planning


class Status(IntEnum):
    """How a run, a file or all tests ended; of several the greatest counts."""

    PENDING = 0
    SKIP = 1
    PASS = 2
    FAIL = 3
    """A condition does not hold."""
    ERROR = 4
    """It could not be found out."""

    @property
    def word(self) -> str:
        """As it is told to programs."""
        return self.name.lower()


@record
class Shown:
    """What a run planned or made, for who wants to see it."""

    planning: Planning
    plan: Plan
    state: State | None
    """What was made; None where it was only planned."""
    inputs: Mapping[str, Value]
    """The values of variables, as they were given."""


class RunOutcome:
    """What has come of one run."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.status: Status = Status.PENDING
        self.diags: Diagnostics = Diagnostics()
        self.shown: Shown | None = None
        self.seconds: float = 0.0
        self.directories: frozenset[str] = frozenset()
        """Where the modules are that it was made of; none where they could not be read."""

    def at_least(self, status: Status) -> None:
        """Make the status no better than this."""
        self.status = max(self.status, status)


@record
class Leftover:
    """An object that a test has made and not destroyed."""

    address: str
    deposed: str = ""


class CleanUp:
    """What has come of destroying what a run made."""

    def __init__(self, run: RunOutcome) -> None:
        self.run = run
        self.diags: Diagnostics = Diagnostics()
        self.left: list[Leftover] = []
        self.saved_at = ""
        """The file that the rest of the state was put into; empty where there is none."""
        self.unsaved: bytes | None = None
        """The rest of the state, where it could not be put into a file."""

    @property
    def has_failed(self) -> bool:
        """Whether something is left that should not be."""
        return bool(self.left) or self.diags.has_errors


class FileOutcome:
    """What has come of the runs of one file."""

    def __init__(self, name: str, runs: Iterable[str]) -> None:
        self.name = name
        self.runs: list[RunOutcome] = [RunOutcome(each) for each in runs]
        self.cleanups: list[CleanUp] = []
        self.status = Status.PENDING
        self.seconds: float = 0.0

    @property
    def directories(self) -> frozenset[str]:
        """Where the modules of all runs are; none where some could not be read."""
        found = [run.directories for run in self.runs if run.status is not Status.SKIP]
        return frozenset().union(*found) if all(found) else frozenset()

    @property
    def has_failed(self) -> bool:
        """Whether anything in the file went wrong, its end included."""
        return self.status >= Status.FAIL or any(each.has_failed for each in self.cleanups)


class SuiteOutcome:
    """What has come of all files."""

    def __init__(self) -> None:
        self.coverage: Coverage | None = None
        """What of the configuration the tests have touched, where somebody wants to know."""
        self.files: list[FileOutcome] = []
        self.status = Status.PENDING

    def count(self, *statuses: Status) -> int:
        """How many runs ended in one of these ways."""
        return sum(run.status in statuses for file in self.files for run in file.runs)

    @property
    def has_failed(self) -> bool:
        """Whether anything went wrong."""
        return any(file.has_failed for file in self.files)
