"""Shared resources of the downloads in one run: temporary directories, and threads for unpacking.

Both are bounded, so that a run with very many providers needs no more space than one with a few.
Directories left behind by a killed run are removed by the next one. Deliberately unknown here: the
packages and their destination.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from nigari.file_lock import FileLock, take_lock
from nigari.packages.content.whole_file import make_directories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor
    from typing import Final, TypeVar

    T = TypeVar("T")

_AT_A_TIME: Final = 6
"""Packages that are downloaded or unpacked concurrently: enough to use a fast connection fully
while others are unpacked.
"""
_PREFIX: Final = ".downloads-"


class DownloadPool:
    """Directories and threads, to be used inside an event loop and closed after all work. Downloads
    are put below a directory.
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
        """Lend a directory for a download. It may contain files of an earlier one to overwrite,
        which is faster than removing them and creating new ones.
        """
        async with self._limit:
            directory = self._unused.pop() if self._unused else self._make()
            try:
                yield directory
            finally:
                self._unused.append(directory)

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Run work in a thread. A cancelled caller waits until it is finished."""
        import asyncio

        if self._threads is None:
            from concurrent.futures import ThreadPoolExecutor

            # More threads than processors would only delay the downloads.
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
    """A new directory that no other process removes while this one lives."""

    def __init__(self, directory: Path) -> None:
        make_directories(directory)
        with _Lock(directory, waits=True):
            for path in directory.glob(f"{_PREFIX}*"):
                # Another process may remove the directory at any time before it is locked.
                with suppress(FileNotFoundError), _Lock(path) as lock:
                    if lock.is_held:
                        shutil.rmtree(path, ignore_errors=True)
            self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=directory))
            self._lock = _Lock(self.path)

    def remove(self) -> None:
        """Remove the directory, and its parent if that is empty."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.release()
        with suppress(OSError):
            self.path.parent.rmdir()


class _Lock:
    """A lock on a directory, released when the process ends; not held if another process has it, or
    the file system has no locks.
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
