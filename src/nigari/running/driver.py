"""Driver of a work list with asynchronous effects, with bounded concurrency.

Nodes are stepped between effects, on the same thread, so that no locks are needed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Sized

from nigari.eval.core.worklist import Effect, WorkList
from nigari.event_loop import event_loop, first_part, is_running

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio

    Work = Coroutine[object, object, None]


class Driver:
    """Performs the effects of a work list."""

    def __init__(
        self,
        work: WorkList,
        perform: Callable[[Effect], Awaitable[None]],
        most: int,
    ) -> None:
        self._list = work
        self._perform = perform
        self._queue: deque[Effect] = deque()
        self._workers = WorkerPool(self._queue, lambda: self._answer(self._queue.popleft()), most)

    async def run(self) -> None:
        """Run until all wanted work is done; cycles are reported and broken."""
        while True:
            self._pump()
            if self._queue:
                await self._workers.run()
            if not self._list.break_a_cycle():
                return

    def _pump(self) -> None:
        self._list.pump()
        self._queue.extend(self._list.new_effects)
        self._list.new_effects.clear()

    async def _answer(self, effect: Effect) -> None:
        await self._perform(effect)
        self._list.answer(effect)
        self._pump()


class WorkerPool:
    """Workers on one queue, at most so many at once, until nothing is left.

    Work may queue more work. As long as none waits there is no event loop, and it is done in the
    order of the queue.
    """

    def __init__(self, queue: Sized, take: Callable[[], Work], most: int) -> None:
        """`take` removes the next work from the queue."""
        self._queue = queue
        self._take = take
        self._most = max(most, 1)
        self.busy: int = 0
        """The number of workers that have work."""

    async def run(self) -> None:
        """Perform everything in the queue."""
        waiting = None
        if not is_running():
            waiting = self._first_that_waits()
            if waiting is None:
                return
            await event_loop()
        import asyncio

        async with asyncio.TaskGroup() as group:
            if waiting is not None:
                self.busy += 1
                group.create_task(self._labour(group, waiting))
            self._hire(group)

    def _first_that_waits(self) -> Work | None:
        """Perform work without an event loop, up to the first that needs one."""
        while self._queue:
            work = self._take()
            if first_part(work) is None:
                return work
        return None

    def _hire(self, group: asyncio.TaskGroup) -> None:
        """Start workers for what is queued, up to the limit."""
        for _ in range(min(len(self._queue), self._most - self.busy)):
            self.busy += 1
            group.create_task(self._labour(group))

    async def _labour(self, group: asyncio.TaskGroup, begun: Work | None = None) -> None:
        if begun is not None:
            import asyncio

            # A coroutine that has begun can only continue as a task.
            await asyncio.ensure_future(begun)
            self._hire(group)
        while self._queue:
            await self._take()
            self._hire(group)
        self.busy -= 1
