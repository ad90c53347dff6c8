"""Running what is asynchronous from code that is not, also where an event loop runs already."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TypeVar

T = TypeVar("T")


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
                return result.result()
            except KeyboardInterrupt:
                if result.done():
                    raise
                interruptions.interrupt_from_outside()


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
