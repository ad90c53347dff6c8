"""Walks over a fleet: every unit after all that it needs, side by side where it may be.

Only the units that depend on a failed unit are skipped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


class Walk(Generic[K]):
    """One walk over some units, or over something else that has an order."""

    def __init__(
        self,
        names: Iterable[K],
        needs: Mapping[K, Sequence[K]],
        work: Callable[[K], Awaitable[bool]],
        skip: Callable[[K, K | None], object] = lambda *_: None,
    ) -> None:
        """`work` tells whether those that depend on a unit can go on. `skip` is called for a unit that
        is not worked with, with the one that is to blame, if one is.
        """
        kept = dict.fromkeys(names)
        self._work = work
        self._skip = skip
        self._users: dict[K, list[K]] = {name: [] for name in kept}
        self._waiting: dict[K, int] = dict.fromkeys(kept, 0)
        for name in kept:
            for each in needs.get(name, ()):
                if each in kept:
                    self._users[each].append(name)
                    self._waiting[name] += 1
        self._blamed: dict[K, K] = {}
        self.is_stopped: bool = False
        """True if no further units may start."""

    def stop(self) -> None:
        """Begin nothing more."""
        self.is_stopped = True

    async def run(self) -> None:
        """Work with all units, or with those that can be worked with."""
        running: dict[asyncio.Task[bool], K] = {}
        done: asyncio.Queue[asyncio.Task[bool]] = asyncio.Queue()
        ready = [name for name, count in self._waiting.items() if count == 0]
        try:
            while ready or running:
                for name in ready:
                    task = asyncio.create_task(self._one(name))
                    running[task] = name
                    task.add_done_callback(done.put_nowait)
                finished = await done.get()
                name = running.pop(finished)
                ready = self._after(name, None if finished.result() else name)
        finally:
            for task in running:
                task.cancel()

    async def _one(self, name: K) -> bool:
        if self.is_stopped:
            self._skip(name, None)
            return False
        return await self._work(name)

    def _after(self, name: K, blamed: K | None) -> list[K]:
        """The units that can begin once a unit is done, or that are given up after a failure."""
        ready: list[K] = []
        pending = [(name, blamed)]
        while pending:
            current, culprit = pending.pop()
            for user in self._users[current]:
                self._waiting[user] -= 1
                if culprit is not None:
                    self._blamed.setdefault(user, culprit)
                if self._waiting[user] == 0:
                    known = self._blamed.get(user)
                    if known is None:
                        ready.append(user)
                    else:
                        self._skip(user, known)
                        pending.append((user, known))
        return ready
