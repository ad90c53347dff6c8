"""Storing the state while it grows, so that a crash loses next to nothing.

Storing takes its time, so it happens beside the work. Whoever has worked for long, or for longer
than storing takes, waits until the result is stored: then no more is lost in a crash than what is
being done at that moment. Short work is not held up, unless too much of it has piled up.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from typing import Final

from nigari.state.model import State

_PAUSE: Final = 9.0
"""How much longer than storing takes the pause before the next time is."""

_LONGEST_PAUSE: Final = 2.0
_LONG: Final = 0.05
"""What takes so many seconds is worth waiting for the disk, however slow that is."""

_MOST_WAITING: Final = 100
"""How many results need not be stored yet; of many results it is a tenth."""

Keep = Callable[[State], Awaitable[bool]]


class Keeper:
    """Stores the state whenever it has changed."""

    def __init__(self, keep: Keep, current: Callable[[], State]) -> None:
        self._keep = keep
        self._current = current
        self._results = 0
        self._stored = 0
        self._cost = 0.0
        self._is_over = False
        self._changed = asyncio.Event()
        self._hurried = asyncio.Event()
        self._progress = asyncio.Condition()
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Start to store what is noted from now on."""
        self._task = asyncio.create_task(self._work())

    async def end(self) -> None:
        """Stop, once what is being stored just now is."""
        task = self._task
        if task is not None:
            async with self._progress:
                task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def note(self, seconds: float) -> None:
        """There is a result of work that took so long: have it stored, now or soon."""
        self._results += 1
        mine = self._results
        self._changed.set()
        is_short = seconds < min(self._cost, _LONG)
        most = max(_MOST_WAITING, mine // 10)
        if self._is_over or (is_short and mine - self._stored < most):
            return
        self._hurried.set()
        async with self._progress:
            await self._progress.wait_for(lambda: self._stored >= mine or self._is_over)

    async def _work(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            self._hurried.clear()
            async with self._progress:
                try:
                    await self._store()
                finally:
                    self._progress.notify_all()
            pause = min(self._cost * _PAUSE, _LONGEST_PAUSE)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._hurried.wait(), pause)

    async def _store(self) -> None:
        results, begun = self._results, time.monotonic()
        try:
            await self._keep(self._current())
        except BaseException:
            self._is_over = True
            raise
        self._stored = results
        self._cost = time.monotonic() - begun
