"""Running several coroutines in one event loop, from code that is not asynchronous."""

from __future__ import annotations

from collections.abc import Coroutine, Iterator
from contextlib import contextmanager

from nigari.typed import Protocol
from nigari.workspace.base.waiting import result_from_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    T = TypeVar("T")


class RunCoroutine(Protocol):
    """Gives the result of a coroutine."""

    def __call__(self, work: Coroutine[Any, Any, T], /) -> T:
        """Run it to its end."""
        ...


@contextmanager
def one_loop() -> Iterator[RunCoroutine]:
    """Runs several coroutines one after the other in the same event loop, which is there between
    them, too; inside a running one (a notebook) it gets its own thread.
    """
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        with asyncio.Runner() as runner:
            yield runner.run
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=1) as pool:
        runner = asyncio.Runner()
        try:
            yield lambda work: result_from_thread(pool.submit(runner.run, work))
        finally:
            pool.submit(runner.close).result()
