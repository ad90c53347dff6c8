"""Run coroutines from synchronous code, even if an event loop is already running.

asyncio is imported only where something waits: a short command spends a tenth of its time on it.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine

from nigari.event_loop import first_part

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from concurrent.futures import Future, ThreadPoolExecutor
    from types import TracebackType
    from typing import Final, Self, TypeVar

    T = TypeVar("T")

_SIGNAL_CHECK_INTERVAL: Final = 0.2
"""Seconds between signal checks while the main thread waits for another thread."""


def run_to_end(work: Coroutine[object, object, T]) -> T:
    """Run a coroutine; inside a running event loop (a notebook), in a thread of its own."""
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    from concurrent.futures import ThreadPoolExecutor

    from nigari.workspace.context.interruptions import Interruptions, interruptible

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


class EventLoop:
    """One event loop for several coroutines in sequence; it survives between them.

    Inside a running event loop (a notebook), it runs in a thread of its own.
    """

    def __init__(self) -> None:
        self._runner: asyncio.Runner
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Self:
        import asyncio

        self._runner = asyncio.Runner()
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return self
        from concurrent.futures import ThreadPoolExecutor

        self._pool = ThreadPoolExecutor(max_workers=1)
        return self

    def run(self, work: Coroutine[object, object, T]) -> T:
        if self._pool is None:
            return self._runner.run(work)
        return result_from_thread(self._pool.submit(self._runner.run, work))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is None:
            self._runner.close()
            return
        self._pool.submit(self._runner.close).result()
        self._pool.shutdown()


def result_from_thread(result: Future[T]) -> T:
    """Wait for another thread and check for signals meanwhile.

    A signal that arrives just before the wait begins doesn't interrupt it, so the wait is short.
    """
    from concurrent.futures import wait

    while not wait((result,), _SIGNAL_CHECK_INTERVAL).done:
        pass
    return result.result()


def run_until_it_waits(
    work: Coroutine[object, object, T],
    beside: Callable[[], Coroutine[object, object, None]] | None = None,
) -> T:
    """Run a coroutine, and create an event loop only if it waits (`nigari.event_loop`).

    `beside` runs as long as that loop.
    """
    ended = first_part(work)
    if ended is not None:
        return ended[0]
    return run_to_end(work if beside is None else _accompanied(work, beside()))


async def _accompanied(
    work: Coroutine[object, object, T], beside: Coroutine[object, object, None]
) -> T:
    import asyncio

    companion = asyncio.ensure_future(beside)
    try:
        # A coroutine that has begun can only continue as a task.
        return await asyncio.ensure_future(work)
    finally:
        companion.cancel()
