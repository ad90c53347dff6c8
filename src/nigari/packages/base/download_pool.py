"""What the downloads of one run share: directories to download to, and threads that unpack.

Both are bounded, so that a run with very many providers needs no more room than one with a few.
What is downloaded, and where it is installed, is not known here.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor
    from typing import Final, TypeVar

    T = TypeVar("T")

_AT_A_TIME: Final = 6
"""Packages that are downloaded or unpacked at the same time: enough to keep a fast connection busy
while others are unpacked.
"""


class DownloadPool:
    """Use it inside an event loop, and close it when no work is left."""

    def __init__(self) -> None:
        import asyncio

        self._limit = asyncio.Semaphore(_AT_A_TIME)
        self._base: tempfile.TemporaryDirectory[str] | None = None
        self._unused: list[Path] = []
        self._made = 0
        self._threads: ThreadPoolExecutor | None = None

    @asynccontextmanager
    async def directory(self) -> AsyncIterator[Path]:
        """A directory to download to. It may have files of an earlier download, which can be written
        over: that takes less time than to remove them and to write new ones.
        """
        async with self._limit:
            directory = self._unused.pop() if self._unused else self._make()
            try:
                yield directory
            finally:
                self._unused.append(directory)

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Do something in a thread. An interrupted caller waits until it is done."""
        import asyncio

        if self._threads is None:
            from concurrent.futures import ThreadPoolExecutor

            # More threads than processors would only keep downloads waiting.
            self._threads = ThreadPoolExecutor(os.cpu_count())
        task = asyncio.get_running_loop().run_in_executor(self._threads, work)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await asyncio.wait([task])
            raise

    def close(self) -> None:
        """Remove all directories."""
        if self._threads is not None:
            self._threads.shutdown()
        if self._base is not None:
            self._base.cleanup()

    def _make(self) -> Path:
        if self._base is None:
            self._base = tempfile.TemporaryDirectory(prefix="nigari-providers-")
        self._made += 1
        directory = Path(self._base.name, str(self._made))
        directory.mkdir()
        return directory
