"""What the downloads of one run share: directories to download to, and threads that unpack.

Both are bounded, so that a run with very many providers needs no more room than one with a few.
Directories that a run which was killed has left behind are removed by the next one. What is
downloaded, and where it is installed, is not known here.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from nigari.file_lock import FileLock, take_lock
from nigari.packages.base.whole_file import make_directories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor
    from typing import Final, TypeVar

    T = TypeVar("T")

_AT_A_TIME: Final = 6
"""Packages that are downloaded or unpacked at the same time: enough to keep a fast connection busy
while others are unpacked.
"""
_PREFIX: Final = ".downloads-"


class DownloadPool:
    """Use it inside an event loop, and close it when no work is left. What is downloaded comes below
    a directory.
    """

    def __init__(self, directory: Path) -> None:
        import asyncio

        self._limit = asyncio.Semaphore(_AT_A_TIME)
        self._directory = directory
        self._base: _Base | None = None
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
            self._base.remove()

    def _make(self) -> Path:
        if self._base is None:
            self._base = _Base(self._directory)
        self._made += 1
        directory = self._base.path / str(self._made)
        directory.mkdir()
        return directory


class _Base:
    """A new directory that nobody else removes as long as this process lives."""

    def __init__(self, directory: Path) -> None:
        make_directories(directory)
        with _Lock(directory, waits=True):
            for path in directory.glob(f"{_PREFIX}*"):
                # Whoever uses it may remove it at any time.
                with suppress(FileNotFoundError), _Lock(path) as lock:
                    if lock.is_held:
                        shutil.rmtree(path, ignore_errors=True)
            self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=directory))
            self._lock = _Lock(self.path)

    def remove(self) -> None:
        """Remove it, and the one that it is in if there is nothing else in that."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.release()
        with suppress(OSError):
            self.path.parent.rmdir()


class _Lock:
    """A lock on a directory, which ends with the process; it is not held where others have it, or
    where the file system has no locks.
    """

    def __init__(self, directory: Path, waits: bool = False) -> None:
        self._descriptor = os.open(directory, os.O_RDONLY)
        self.is_held: bool = take_lock(self._descriptor, waits=waits) is FileLock.HELD

    def __enter__(self) -> _Lock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        os.close(self._descriptor)
