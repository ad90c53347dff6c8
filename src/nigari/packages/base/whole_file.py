"""Writing a file so that whoever reads it sees the old content or the new, never a part.

What is not finished is in a numbered file beside it, which its writer holds a lock on. One that
nobody holds was left behind by a process that was killed: the next writer removes it.
"""

from __future__ import annotations

import contextlib
import os

from nigari.file_lock import FileLock, take_lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Final

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
    with _unfinished(directory, f".{name}-") as (descriptor, temporary):
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
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    number = 0
    while True:
        temporary = os.path.join(directory, f"{start}{number}{_UNFINISHED}")
        try:
            descriptor = os.open(temporary, flags, _MODE)
        except FileExistsError:
            if not _remove_left_behind(temporary):
                number += 1
            continue
        try:
            # Before it was locked somebody may have taken it for one that was left behind.
            is_mine = take_lock(descriptor) is not FileLock.TAKEN
            if is_mine and os.fstat(descriptor).st_nlink:
                yield descriptor, temporary
                return
        finally:
            os.close(descriptor)


def _remove_left_behind(path: str) -> bool:
    """Remove an unfinished file unless its writer is at work; whether its name is free now."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        if take_lock(descriptor) is not FileLock.HELD:
            return False
        # Its writer may have finished it meanwhile, and another one have taken the name.
        if os.path.samestat(os.fstat(descriptor), os.lstat(path)):
            os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
