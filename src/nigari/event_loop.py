"""Coroutines without an event loop, until one of them waits.

Importing asyncio takes longer than planning a small configuration. A command therefore drives its
coroutines by hand, and whatever is about to wait, or needs tasks, awaits `event_loop()` first: the
command creates a loop then, and the work continues in it. In a running loop that changes nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Coroutine, Generator, Iterable
from contextvars import ContextVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from typing import Final, TypeVar

    T = TypeVar("T")


_AROUND: Final[ContextVar[asyncio.AbstractEventLoop | None]] = ContextVar("around", default=None)
"""The event loop that called a coroutine's driver and waits for it, so that it is of no use."""


def is_running() -> bool:
    """Return whether a coroutine can use asyncio, because an event loop drives it."""
    loop = _running()
    return loop is not None and loop is not _AROUND.get()


def _running() -> asyncio.AbstractEventLoop | None:
    if "asyncio" not in sys.modules:
        return None
    import asyncio

    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


class event_loop:  # noqa: N801 - it is awaited like a coroutine function
    """Continue in an event loop. asyncio must not be used before that."""

    __slots__ = ()

    def __await__(self) -> Generator[None, None, None]:
        if not is_running():
            yield


def first_part(work: Coroutine[object, object, T]) -> tuple[T] | None:
    """Drive a coroutine without an event loop; return its result, or None if it needs one to go on."""
    before = _AROUND.set(_running())
    try:
        work.send(None)
    except StopIteration as end:
        return (end.value,)
    finally:
        _AROUND.reset(before)
    return None


async def side_by_side(works: Iterable[Coroutine[object, object, T]]) -> list[T]:
    """Gather results: one after the other until a coroutine waits, concurrently from then on."""
    results: list[T] = []
    rest = iter(works)
    if not is_running():
        for work in rest:
            ended = first_part(work)
            if ended is not None:
                results.extend(ended)
                continue
            await event_loop()
            import asyncio

            # A coroutine that has begun can only continue as a task.
            return results + await asyncio.gather(asyncio.ensure_future(work), *rest)
        return results
    import asyncio

    return await asyncio.gather(*rest)
