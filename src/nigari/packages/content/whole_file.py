"""Atomic file replacement: readers see the old content or the new, never a part.

Unfinished content is in a numbered file beside the target, locked by its writer. An unlocked one
was left behind by a killed process, and the next writer removes it.
"""

from __future__ import annotations

import contextlib
import os
import sys

from nigari.file_lock import FileLock, take_lock
from nigari.system_calls import NO_LINK, NO_WAIT, NOT_INHERITED, set_mode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import FileIO
    from typing import Final

_UNFINISHED: Final = ".part"
_MODE: Final = 0o644
_DIRECTORY_MODE: Final = 0o755


def write_whole(
    path: str | os.PathLike[str], content: bytes, mode: int | None = None, sync: bool = True
) -> None:
    """Replace a file atomically; raise `OSError` on failure.

    Without a mode the umask decides who may read it, and only its owner may write.
    """
    directory, name = os.path.split(os.fspath(path))
    with _unfinished(directory, f".{name}-") as (file, temporary):
        try:
            if mode is not None:
                set_mode(temporary, file.fileno(), mode)
            view = memoryview(content)
            while view:
                view = view[file.write(view) :]
            if sync:
                os.fsync(file.fileno())
            if sys.platform == "win32":  # where no file that is open can be moved
                file.close()
            os.replace(temporary, path)
        except BaseException:
            file.close()
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
            raise


def make_directories(path: str | os.PathLike[str]) -> None:
    """Create missing directories, writable only by their owner."""
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
        # Another process may have created it, or removed its parent.
        if not os.path.isdir(path):
            raise


@contextlib.contextmanager
def _unfinished(directory: str, start: str) -> Iterator[tuple[FileIO, str]]:
    """Create and lock a new file in a directory; yield it with its path."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NOT_INHERITED
    number = 0
    while True:
        temporary = os.path.join(directory, f"{start}{number}{_UNFINISHED}")
        try:
            descriptor = os.open(temporary, flags, _MODE)
        except FileExistsError:
            if not _remove_left_behind(temporary):
                number += 1
            continue
        with open(descriptor, "wb", buffering=0) as file:
            # Before it was locked, another process may have removed it as a leftover.
            is_mine = take_lock(descriptor) is not FileLock.TAKEN
            if is_mine and os.fstat(descriptor).st_nlink:
                yield file, temporary
                return


def _remove_left_behind(path: str) -> bool:
    """Remove an unfinished file unless its writer is active; return whether its name is free."""
    try:
        descriptor = os.open(path, os.O_WRONLY | NOT_INHERITED | NO_WAIT | NO_LINK)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        if take_lock(descriptor) is not FileLock.HELD:
            return False
        # Its writer may have finished meanwhile, and another one reused the name.
        if os.path.samestat(os.fstat(descriptor), os.lstat(path)):
            os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
