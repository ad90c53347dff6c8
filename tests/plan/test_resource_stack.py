"""The order in which things are closed."""

from __future__ import annotations

import asyncio

from nigari.running.resource_stack import OpenResource, ResourceStack


class Things:
    """Things that are opened and closed, and the order in which that happens."""

    def __init__(self) -> None:
        self.opened = ResourceStack()
        self.closed: list[str] = []
        self._closing = 0
        self.together: list[str] = []

    def open(self, name: str, level: int | None = None) -> OpenResource:
        async def close() -> None:
            self._closing += 1
            await asyncio.sleep(0)
            if self._closing > 1:
                self.together.append(name)
            self.closed.append(name)
            await asyncio.sleep(0)
            self._closing -= 1

        at = self.opened.next_level() if level is None else level
        entry = self.opened.add(at, close)
        self.opened.is_ready(entry)
        return entry


def test_the_last_one_is_closed_first() -> None:
    things = Things()
    for name in "abc":
        things.open(name)
    asyncio.run(things.opened.close_all())
    assert things.closed == ["c", "b", "a"]
    assert things.together == []


def test_what_was_opened_at_the_same_time_is_closed_at_the_same_time() -> None:
    things = Things()
    things.open("a")
    level = things.opened.next_level()
    things.open("b", level)
    things.open("c", level)
    things.open("d")
    asyncio.run(things.opened.close_all())
    assert things.closed == ["d", "b", "c", "a"]
    assert things.together == ["b", "c"]


def test_one_at_a_time() -> None:
    things = Things()
    entries = {name: things.open(name) for name in "abc"}

    async def close() -> None:
        await things.opened.close(entries["b"])
        await things.opened.close(entries["b"])
        await things.opened.close_all()

    asyncio.run(close())
    assert things.closed == ["b", "c", "a"]


def test_down_to_a_level() -> None:
    things = Things()
    entries = {name: things.open(name) for name in "abc"}
    asyncio.run(things.opened.close_all(entries["b"].level))
    assert things.closed == ["c", "b"]
