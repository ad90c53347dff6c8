"""Writing a file so that whoever reads it sees the old content or the new, never a part.

What is not finished is in a file of another name beside it, which its writer holds a lock on. One
that nobody holds was left behind by a process that was killed, and goes with the next write.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_UNFINISHED: Final = ".part"
_MODE: Final = 0o644
_DIRECTORY_MODE: Final = 0o755


def write_whole(
    path: str | os.PathLike[str], content: bytes, mode: int | None = None, sync: bool = True
) -> None:
    """Replace a file. An `OSError` says why that is not possible.

    Without a mode it can be read by whom the process allows that, and written by its owner.
    """
    directory, name = os.path.split(os.fspath(path))
    start = f".{name}-"
    _remove_unfinished(directory, start)
    with _unfinished(directory, start) as (descriptor, temporary):
        try:
            if mode is not None:
                os.fchmod(descriptor, mode)
            view = memoryview(content)
            while view:
                view = view[os.write(descriptor, view) :]
            if sync:
                os.fsync(descriptor)
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
            raise


def make_directories(path: str | os.PathLike[str]) -> None:
    """Make a directory and those above it, where they are missing, for nobody else to write in."""
    path = os.fspath(path)
    try:
        os.mkdir(path, _DIRECTORY_MODE)
    except FileNotFoundError:
        above = os.path.dirname(path)
        if above in ("", path):
            raise
        make_directories(above)
        make_directories(path)
    except OSError:
        # Somebody else may have made it, or may make nothing where it is.
        if not os.path.isdir(path):
            raise


@contextlib.contextmanager
def _unfinished(directory: str, start: str) -> Iterator[tuple[int, str]]:
    """A new file in a directory, locked, and its path."""
    import fcntl

    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    while True:
        temporary = os.path.join(directory, f"{start}{os.urandom(4).hex()}{_UNFINISHED}")
        descriptor = os.open(temporary, flags, _MODE)
        try:
            with contextlib.suppress(OSError):  # not all file systems can
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Before it was locked somebody may have taken it for one that was left behind.
            if os.fstat(descriptor).st_nlink:
                yield descriptor, temporary
                return
        finally:
            os.close(descriptor)


def _remove_unfinished(directory: str, start: str) -> None:
    """Remove what a process that was killed has left of earlier writes."""
    import fcntl

    with contextlib.suppress(OSError), os.scandir(directory or ".") as entries:
        for entry in entries:
            if not (entry.name.startswith(start) and entry.name.endswith(_UNFINISHED)):
                continue
            with contextlib.suppress(OSError):
                descriptor = os.open(entry.path, os.O_WRONLY | os.O_CLOEXEC | os.O_NONBLOCK)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    os.unlink(entry.path)
                finally:
                    os.close(descriptor)
