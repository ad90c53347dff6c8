"""Other legal orders of an execution graph than the usual one, and a guard for missing edges.

Whatever the order, an apply must come to the same end. The guard notices directly what a bad order
shows only by its results: that a value was worked out before everything was done that it depends
on.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

import pytest

from nigari.addrs.absolute import Abs
from nigari.apply import executor
from nigari.apply.apply_run import AppliedResource
from nigari.apply.executor import Executor, FirstCome, Schedule
from nigari.eval.core.worklist import Need
from nigari.plan.model.execution_graph import Operation, OperationKind

MakeSchedule = Callable[[], Schedule]

_MAKING = (
    OperationKind.CREATE,
    OperationKind.UPDATE,
    OperationKind.READ,
    OperationKind.OPEN,
)


class Chosen:
    """Begins whichever of the ready operations a choice names."""

    def __init__(self, choose: Callable[[Sequence[int]], int]) -> None:
        self._ready: list[int] = []
        self._choose = choose

    def add(self, number: int) -> None:
        self._ready.append(number)

    def take(self) -> int:
        return self._ready.pop(self._choose(self._ready))

    def __len__(self) -> int:
        return len(self._ready)


def last_ready() -> Schedule:
    return Chosen(lambda ready: len(ready) - 1)


def by_chance(seed: int) -> MakeSchedule:
    chance = random.Random(seed)
    return lambda: Chosen(lambda ready: chance.randrange(len(ready)))


def delaying(number: int) -> MakeSchedule:
    """Begin one operation only when nothing else can be done."""

    def choose(ready: Sequence[int]) -> int:
        return next((at for at, each in enumerate(ready) if each != number), 0)

    return lambda: Chosen(choose)


def hurrying(number: int) -> MakeSchedule:
    """Begin one operation as soon as it can be done, and else the last ones."""

    def choose(ready: Sequence[int]) -> int:
        return ready.index(number) if number in ready else len(ready) - 1

    return lambda: Chosen(choose)


class Watch:
    """Sets the order of the applies that follow, and watches them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self._left: dict[int, Operation] = {}
        self.early: list[str] = []
        """Values that were worked out before all that they depend on was done."""
        self.operations = 0
        """How many operations the last apply had."""
        self._guard_executor()
        self._guard_values()

    def order(self, make: MakeSchedule = FirstCome) -> None:
        """Have all applies from here on begin operations in such an order."""
        self._monkeypatch.setattr(executor, "FirstCome", make)

    def _guard_executor(self) -> None:
        run, release = Executor.run, Executor._release

        async def watched_run(itself: Executor) -> None:
            operations = itself._graph.operations
            self.operations = len(operations)
            self._left = {
                number: each for number, each in enumerate(operations) if each.kind in _MAKING
            }
            try:
                await run(itself)
            finally:
                self._left = {}

        def watched_release(itself: Executor, number: int, succeeded: bool) -> None:
            self._left.pop(number, None)
            release(itself, number, succeeded)

        self._monkeypatch.setattr(Executor, "run", watched_run)
        self._monkeypatch.setattr(Executor, "_release", watched_release)

    def _guard_values(self) -> None:
        step = AppliedResource.step

        def watched(node: AppliedResource) -> Sequence[Need]:
            name = str(Abs(node.frame.instance.addr, node.resource.addr))
            needs = step(node)
            if not needs:
                self.early += self._unmade(name)
            return needs

        self._monkeypatch.setattr(AppliedResource, "step", watched)

    def _unmade(self, name: str) -> Iterator[str]:
        for each in self._left.values():
            if each.address == name or each.address.startswith(f"{name}["):
                yield f"{name} is used before {each}"
