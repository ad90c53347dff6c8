"""An event loop in a thread of its own, for work that a synchronous program waits for now and then.

Connections stay open from one piece of work to the next. Nothing of asyncio is imported until
there is something to do.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine

from nigari.workspace.context.asyncio_bridge import result_from_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    import threading
    from typing import TypeVar

    T = TypeVar("T")


class BackgroundLoop:
    """The loop; `close` ends whatever is still going on in it."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def run(self, work: Coroutine[object, object, T]) -> T:
        """The result of a coroutine. Interrupting the waiting interrupts the work, too."""
        import asyncio

        loop = self._begun()
        future = asyncio.run_coroutine_threadsafe(work, loop)
        try:
            return result_from_thread(future)
        except BaseException:
            future.cancel()
            raise

    def close(self, last: Callable[[], Coroutine[object, object, None]] | None = None) -> None:
        """Give up what is under way, do one last thing, and end the thread."""
        if self._loop is None or self._thread is None:
            return
        import asyncio

        result_from_thread(asyncio.run_coroutine_threadsafe(_give_up(last), self._loop))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._loop = self._thread = None

    def _begun(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            import asyncio
            import threading

            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
            self._thread.start()
        return self._loop


async def _give_up(last: Callable[[], Coroutine[object, object, None]] | None) -> None:
    import asyncio

    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    if last is not None:
        await last()
    await asyncio.get_running_loop().shutdown_asyncgens()
    await asyncio.get_running_loop().shutdown_default_executor()
