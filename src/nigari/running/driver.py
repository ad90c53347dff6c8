"""Driver of a work list with asynchronous effects, with bounded concurrency.

Nodes are stepped between effects, on the same thread, so that no locks are needed.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from nigari.eval.core.worklist import Effect, WorkList


class Driver:
    """Workers that perform the effects of a work list."""

    def __init__(
        self,
        work: WorkList,
        perform: Callable[[Effect], Awaitable[None]],
        most: int,
    ) -> None:
        self._list = work
        self._perform = perform
        self._most = max(most, 1)
        self._queue: deque[Effect] = deque()
        self._busy = 0

    async def run(self) -> None:
        """Run until all wanted work is done; cycles are reported and broken."""
        while True:
            self._pump()
            if self._queue:
                async with asyncio.TaskGroup() as group:
                    self._hire(group)
            if not self._list.break_a_cycle():
                return

    def _pump(self) -> None:
        self._list.pump()
        self._queue.extend(self._list.new_effects)
        self._list.new_effects.clear()

    def _hire(self, group: asyncio.TaskGroup) -> None:
        """Start workers for the queued effects, up to the limit."""
        for _ in range(min(len(self._queue), self._most - self._busy)):
            self._busy += 1
            group.create_task(self._labour(group))

    async def _labour(self, group: asyncio.TaskGroup) -> None:
        while self._queue:
            effect = self._queue.popleft()
            await self._perform(effect)
            self._list.answer(effect)
            self._pump()
            if self._busy < self._most and self._queue:
                self._hire(group)
        self._busy -= 1
