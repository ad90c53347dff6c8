"""What a benchmark case is, and how it is timed.

Machines are noisy, so a case and its peer take turns and each keeps its best time: what disturbs
one round seldom disturbs all, and what slows the machine slows both.
"""

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

Work = Callable[[], object]

_ROUNDS: Final = 7
_SECONDS_PER_CASE: Final = 12.0
_SHORTEST_SAMPLE: Final = 0.02


@dataclass(frozen=True, slots=True)
class Case:
    """One comparison: our work, the same work done by a peer, and how much faster we want to be.

    `work` counts what one call does (bytes, operations) for the rate in `unit`. `prepare` is done
    before each sample and not timed; such work must be long enough to be a sample by itself.
    With a `gauge` what the work gives is compared, in this unit, and not the time that it takes.
    """

    name: str
    ours: Work
    peer_name: str = ""
    peer: Work | None = None
    wanted: float = 0.0
    wanted_compiled: float = 0.0
    work: float = 0.0
    unit: str = ""
    prepare: Work | None = None
    gauge: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """Best times in seconds, or numbers of a gauge; the ratio says how many times better we are."""

    case: Case
    ours: float
    peer: float | None

    @property
    def ratio(self) -> float | None:
        return None if self.peer is None else self.peer / self.ours

    def reaches(self, compiled: bool) -> bool | None:
        """Tell whether the wanted ratio is reached; none where none is wanted."""
        wanted = self.case.wanted_compiled if compiled else self.case.wanted
        if self.ratio is None or not wanted:
            return None
        return self.ratio >= wanted


def run(case: Case) -> Result:
    """Time a case and its peer in turns."""
    kind = _Gauge if case.gauge else _Timer
    ours = kind(case.ours, case.prepare)
    peer = None if case.peer is None else kind(case.peer, case.prepare)
    end = time.perf_counter() + _SECONDS_PER_CASE
    for finished in range(_ROUNDS):
        if finished >= 2 and time.perf_counter() > end:
            break
        ours.sample()
        if peer is not None:
            peer.sample()
    return Result(case, ours.best, None if peer is None else peer.best)


class _Timer:
    """Keeps the best time of one piece of work, repeated until a sample is long enough."""

    def __init__(self, work: Work, prepare: Work | None = None) -> None:
        self.work = work
        self.prepare = prepare
        self.repeats = 1
        self.best = self._measure()
        if self.best < _SHORTEST_SAMPLE:
            self.repeats = max(1, round(_SHORTEST_SAMPLE / max(self.best, 1e-7)))

    def sample(self) -> None:
        self.best = min(self.best, self._measure())

    def _measure(self) -> float:
        work = self.work
        if self.prepare is not None:
            self.prepare()
        gc.collect()
        start = time.perf_counter()
        for _ in range(self.repeats):
            work()
        return (time.perf_counter() - start) / self.repeats


class _Gauge(_Timer):
    """Keeps the smallest number that a piece of work gives."""

    def _measure(self) -> float:
        if self.prepare is not None:
            self.prepare()
        given = self.work()
        assert isinstance(given, float)
        return given
