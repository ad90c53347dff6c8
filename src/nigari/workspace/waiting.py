"""Running what is asynchronous from code that is not, also where an event loop runs already."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TypeVar

T = TypeVar("T")


def run_to_end(work: Coroutine[object, object, T]) -> T:
    """The result of a coroutine; inside a running event loop (a notebook) it gets its own thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(asyncio.run, work).result()
