"""Running what is asynchronous from code that is not, also where an event loop runs already."""

from __future__ import annotations

from collections.abc import Coroutine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from concurrent.futures import Future
    from typing import Final, TypeVar

    T = TypeVar("T")

_BETWEEN_LOOKS: Final = 0.2
"""Seconds after which somebody who waits for a thread looks whether there is a signal."""


def run_to_end(work: Coroutine[object, object, T]) -> T:
    """The result of a coroutine; inside a running event loop (a notebook) it gets its own thread."""
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    from concurrent.futures import ThreadPoolExecutor

    from nigari.workspace.base.interruptions import Interruptions, interruptible

    interruptions = Interruptions()
    with ThreadPoolExecutor(max_workers=1) as pool, interruptible():
        result = pool.submit(asyncio.run, interruptions.run(work))
        while True:
            try:
                return result_from_thread(result)
            except KeyboardInterrupt:
                if result.done():
                    raise
                interruptions.interrupt_from_outside()


def result_from_thread(result: Future[T]) -> T:
    """What another thread works out, with an eye on signals: one that arrives in the moment before
    waiting begins wakes nobody.
    """
    from concurrent.futures import wait

    while not wait((result,), _BETWEEN_LOOKS).done:
        pass
    return result.result()


def run_until_it_waits(work: Coroutine[object, object, T]) -> T:
    """The result of a coroutine that seldom waits for anything.

    Only if it does, an event loop is made, which takes longer to import than a short command has
    to do. What waits must first say so with `await asyncio.sleep(0)`, which needs no loop.
    """
    try:
        work.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    return run_to_end(work)
