"""State writer: stores the state during an apply, so that a crash loses only running operations.

An operation with a result waits until the result is stored, and starts nothing else meanwhile. The
stored state therefore lacks at most `-parallelism` results. One write serves all waiting operations:
it starts when no other operation could join them, or shortly after the first one arrived.

Writing a very large state again and again could take longer than the operations themselves. If a
write takes noticeable time, and a large part of the time of an operation, operations don't wait:
writing then runs beside them, for a small part of the time.

Operations don't wait either if writes need pauses, as on a server. A crash then loses the results
since the last write.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Awaitable, Callable

from nigari.state.model import State
from nigari.typed import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_CHEAP: Final = 0.003
"""Operations always wait for a write that takes at most this many seconds."""

_PART: Final = 4.0
"""Store when waiting work has taken this many times as long as storing."""

_PAUSE: Final = 8.0
"""Collect results for this many times as long as storing takes."""

_LONGEST_PAUSE: Final = 2.0

_LASTING: Final = 2.0
"""Seconds between writes that must survive a crash of the machine."""

_SEEN: Final = 4
"""The number of recent costs whose minimum counts: the first write is always slow."""


class Keep(Protocol):
    """Stores a state. Unless it is `lasting`, it only has to outlive this process."""

    def __call__(self, state: State, lasting: bool, /) -> Awaitable[bool]: ...


class StateWriter:
    """Stores the state whenever it has changed."""

    def __init__(
        self,
        keep: Keep,
        current: Callable[[], State],
        at_work: Callable[[], int],
        pause: float = 0.0,
    ) -> None:
        self._keep = keep
        self._pause = pause
        """Minimum number of seconds between two writes."""
        self._current = current
        self._at_work = at_work
        """The number of operations that may still return a result, including waiting ones."""
        self._waiting = 0
        self._costs: deque[float] = deque(maxlen=_SEEN)
        self._next_lasting = 0.0
        self._is_over = False
        self._changed = asyncio.Event()
        self._hurried = asyncio.Event()
        self._stored = asyncio.Event()
        """Set when all changes until now are stored."""
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Start storing results."""
        self._task = asyncio.create_task(self._work())

    async def end(self) -> None:
        """Stop after the current write."""
        self._is_over = True
        self._changed.set()
        self._hurried.set()
        if self._task is not None:
            # Even after a cancellation, no write may still run when the final one starts.
            await finished(self._task)

    def hurry(self) -> None:
        """Write without pauses from now on, because the process may end soon."""
        self._pause = 0.0
        self._hurried.set()

    async def note(self, seconds: float) -> None:
        """Store the result of an operation that took this many seconds, now or soon."""
        self._changed.set()
        cost = self._cost
        if self._is_over or self._pause or (cost > _CHEAP and cost * _PART > seconds):
            return
        self._waiting += 1
        if cost > _CHEAP or self._waiting >= self._at_work():
            self._hurried.set()
        await self._stored.wait()

    @property
    def _cost(self) -> float:
        return min(self._costs, default=0.0)

    async def _work(self) -> None:
        try:
            while not self._is_over:
                await self._changed.wait()
                pause = self._pause or min(self._cost * _PAUSE, _LONGEST_PAUSE)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await self._hurried.wait()
                if not self._is_over:
                    await self._store()
        finally:
            self._is_over = True
            self._stored.set()

    async def _store(self) -> None:
        served, self._stored = self._stored, asyncio.Event()
        self._waiting = 0
        self._changed.clear()
        self._hurried.clear()
        lasting = time.monotonic() >= self._next_lasting
        cost = _Cost()
        try:
            # A failed write is repeated with the next result.
            with contextlib.suppress(Exception):
                await self._keep(self._current(), lasting)
        finally:
            served.set()
        if lasting:
            now = time.monotonic()
            self._next_lasting = now + max(_LASTING, cost.seconds() * _PAUSE)
        else:
            self._costs.append(cost.seconds())


async def finished(task: asyncio.Task[None]) -> None:
    """Wait until a task ends, even if the waiting task is cancelled meanwhile."""
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    task.result()


class _Cost:
    """The running cost of an activity.

    If nothing else runs, the thread's CPU time counts, because wall-clock time is misleading on a
    busy machine. Otherwise wall-clock time counts.
    """

    def __init__(self) -> None:
        self._others_ran = False
        self._call = asyncio.get_running_loop().call_soon(self._note_others)
        self._time = time.monotonic()
        self._work = time.thread_time()

    def seconds(self) -> float:
        self._call.cancel()
        if self._others_ran:
            return time.monotonic() - self._time
        return time.thread_time() - self._work

    def _note_others(self) -> None:
        self._others_ran = True
