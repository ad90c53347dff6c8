"""Executor of an execution graph: runs operations as soon as their dependencies are done.

At most `-parallelism` operations run at once. Dependants of a failed operation are skipped; all others
go on. The state is stored after each operation. The order of ready operations must not matter: the
caller chooses a schedule, and tests choose bad ones.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Iterator
from itertools import compress

from nigari.apply.operations import Operations
from nigari.apply.state_writer import Keep, StateWriter
from nigari.plan.model.execution_graph import ExecutionGraph, Operation, OperationKind
from nigari.typed import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_MOST_NAMED: Final = 12

_WITHOUT_TRACE: Final = frozenset(
    (OperationKind.OPEN, OperationKind.CLOSE, OperationKind.SETTLE, OperationKind.CHECK)
)
"""Kinds of operations that change nothing in the state."""


class Schedule(Protocol):
    """The ready operations, in the order in which they start."""

    def add(self, number: int) -> None:
        """Add an operation whose dependencies are done."""
        ...

    def take(self) -> int:
        """Remove and return the next operation."""
        ...

    def __len__(self) -> int: ...


class FirstCome:
    """Starts operations in the order in which they became ready."""

    def __init__(self) -> None:
        self._ready: deque[int] = deque()

    def add(self, number: int) -> None:
        self._ready.append(number)

    def take(self) -> int:
        return self._ready.popleft()

    def __len__(self) -> int:
        return len(self._ready)


class CircularGraph(Exception):
    """Operations depend on each other, so that not all of them can run."""

    def __init__(self, graph: ExecutionGraph) -> None:
        done = set(graph.in_order())
        left = [each for number, each in enumerate(graph.operations) if number not in done]
        super().__init__("; ".join(str(each) for each in left[:_MOST_NAMED]))


class Executor:
    """One application of a graph."""

    def __init__(
        self,
        graph: ExecutionGraph,
        operations: Operations,
        keep: Keep,
        parallelism: int,
        schedule: Schedule | None = None,
        pause: float = 0.0,
    ) -> None:
        self._graph = graph
        self._operations = operations
        self._keeper = StateWriter(keep, operations.place.draft.finish, lambda: self._busy, pause)
        operations.place.keeper = self._keeper
        self._most = max(parallelism, 1)
        self._followers = graph.followers()
        self._waiting = [len(operation.after) for operation in graph.operations]
        self._ready: Schedule = FirstCome() if schedule is None else schedule
        for number, left in enumerate(self._waiting):
            if not left:
                self._ready.add(number)
        self._skipped = [False] * len(graph.operations)
        self._missing = [True] * len(graph.operations)
        """Flags of operations that have not succeeded."""
        self._busy = 0
        self.is_stopped: bool = False

    async def run(self) -> None:
        """Execute all operations whose dependencies succeed."""
        if len(self._graph.in_order()) < len(self._graph.operations):
            raise CircularGraph(self._graph)
        self._keeper.begin()
        try:
            async with asyncio.TaskGroup() as group:
                self._hire(group)
        finally:
            await self._keeper.end()

    def stop(self) -> None:
        """Start no further operations; running ones may finish."""
        self.is_stopped = True
        self._keeper.hurry()

    def left_out(self) -> Iterator[Operation]:
        """Yield the operations that failed, were interrupted, or were not started."""
        return compress(self._graph.operations, self._missing)

    def _hire(self, group: asyncio.TaskGroup) -> None:
        for _ in range(min(len(self._ready), self._most - self._busy)):
            self._busy += 1
            group.create_task(self._labour(group))

    async def _labour(self, group: asyncio.TaskGroup) -> None:
        while self._ready:
            number = self._ready.take()
            succeeded = await self._perform(number)
            self._release(number, succeeded)
            if self._ready and self._busy < self._most:
                self._hire(group)
        self._busy -= 1

    async def _perform(self, number: int) -> bool:
        operation = self._graph.operations[number]
        # What was opened is closed in any case, even after failures and when the apply
        # was stopped.
        is_closing = operation.kind is OperationKind.CLOSE
        if (self._skipped[number] or self.is_stopped) and not is_closing:
            return False
        begun = time.monotonic()
        succeeded = await self._operations.perform(operation)
        if operation.kind not in _WITHOUT_TRACE:
            await self._keeper.note(time.monotonic() - begun)
        return succeeded

    def _release(self, number: int, succeeded: bool) -> None:
        self._missing[number] = not succeeded
        for follower in self._followers[number]:
            if not succeeded:
                # OpenTofu (dag.Walker): what depends on a failed vertex is
                # skipped without a message of its own.
                self._skipped[follower] = True
            self._waiting[follower] -= 1
            if not self._waiting[follower]:
                self._ready.add(follower)
