"""Open things of a run, and the order in which they close: the last one opened first.

Providers and ephemeral objects are told apart by nobody here. Two things that were being opened at
the same time cannot need each other, so they have the same level and are closed at the same time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

Close = Callable[[], Awaitable[None]]


class OpenThing:
    """Something that is open."""

    __slots__ = ("close", "level")

    def __init__(self, level: int, close: Close) -> None:
        self.level: int = level
        self.close: Close = close


class Opened:
    """Everything that is open."""

    def __init__(self) -> None:
        self._entries: dict[OpenThing, None] = {}
        self._level = 0

    def next_level(self) -> int:
        """The level of something that begins to be opened now: above all that is ready already."""
        return self._level + 1

    def add(self, level: int, close: Close) -> OpenThing:
        """Note something that must be closed from now on."""
        entry = OpenThing(level, close)
        self._entries[entry] = None
        return entry

    def is_ready(self, entry: OpenThing) -> None:
        """From now on others may need it, and must be closed before it."""
        self._level = max(self._level, entry.level)

    async def close(self, entry: OpenThing) -> None:
        """Close one thing, unless that has been done."""
        if entry in self._entries:
            del self._entries[entry]
            await entry.close()

    async def close_all(self, lowest: int = 0) -> None:
        """Close everything from this level on, the highest level first.

        What cannot be closed does not keep the rest open.
        """
        levels: dict[int, list[OpenThing]] = {}
        for entry in self._entries:
            if entry.level >= lowest:
                levels.setdefault(entry.level, []).append(entry)
        failures: list[BaseException] = []
        for level in sorted(levels, reverse=True):
            closing = (self.close(entry) for entry in levels[level])
            outcomes = await asyncio.gather(*closing, return_exceptions=True)
            failures += [each for each in outcomes if isinstance(each, BaseException)]
        if failures:
            raise failures[0]
