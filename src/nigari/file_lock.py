"""Locks on files, between processes: taken at once or waited for, and given back by closing the file.

Some file systems have no such locks. What they protect is written so that a reader finds it whole in
any case, so a lock that cannot be had keeps nothing from going on; a caller for which two runs at the
same time would be a nuisance warns of that. What is locked, and why, is for the caller to know. The
lock of a state is another one, which OpenTofu takes, too: `nigari.backends.state_path`.
"""

from __future__ import annotations

import errno
import os
import sys
from contextlib import contextmanager, suppress
from enum import Enum

from nigari.system_calls import NOT_INHERITED, lock_open_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Final


class FileLock(Enum):
    """The result of an attempt to lock a file."""

    HELD = "held"
    TAKEN = "held by another process"
    UNSUPPORTED = "not possible on this file system"


_MODE: Final = 0o666
_TAKEN: Final = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)


def take_lock(
    descriptor: int, *, shared: bool = False, waits: bool = False, posix: bool = False
) -> FileLock:
    """Lock an open file or directory. The lock ends when the file is closed, at the latest with the
    process. OpenTofu takes POSIX locks, which know nothing of the others.
    """
    try:
        lock_open_file(descriptor, shared=shared, waits=waits, posix=posix)
    except OSError as error:
        # Otherwise ENOLCK, ENOTSUP and ENOSYS are usual; network file systems have others.
        return FileLock.TAKEN if error.errno in _TAKEN else FileLock.UNSUPPORTED
    return FileLock.HELD


@contextmanager
def lock_file(
    path: str | os.PathLike[str],
    waiting: Callable[[], None] | None = None,
    *,
    waits: bool = True,
    prepare: Callable[[], None] = lambda: None,
) -> Iterator[FileLock]:
    """Hold a lock on a file that exists only meanwhile. `prepare` makes its directory; `waiting` is
    called before waiting for another process. Without `waits`, it may be taken.
    """
    while True:
        prepare()
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | NOT_INHERITED, _MODE)
        try:
            found = take_lock(descriptor)
            if found is FileLock.TAKEN and waits:
                if waiting is not None:
                    waiting()
                    waiting = None
                found = take_lock(descriptor, waits=True)
            # Its last holder has removed it, perhaps, and a lock on that keeps no process away.
            if found is FileLock.HELD and not _is_at(descriptor, path):
                continue
            try:
                yield found
            finally:
                if found is not FileLock.TAKEN:
                    with suppress(OSError):
                        os.unlink(path)
            return
        finally:
            os.close(descriptor)
            if sys.platform == "win32":  # where an open file cannot be deleted
                with suppress(OSError):
                    os.unlink(path)


def _is_at(descriptor: int, path: str | os.PathLike[str]) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False
