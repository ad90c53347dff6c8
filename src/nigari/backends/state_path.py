"""A state in a file: reading it, writing it so that no crash can harm it, and locking it.

The lock is an fcntl lock on the file's inode, as OpenTofu takes it. Two things follow. The inode
must stay: a waiting `tofu` holds a descriptor of it and will write through that. And a process
loses its lock when it closes any descriptor of the file, so while it holds the lock everything
goes through the one locked descriptor.

A write therefore changes the file in place, and is made safe like this:

1. The new content goes whole into a sibling file (`.NAME.pending`), which is synced.
2. The first byte of the file becomes `#`, which no reader takes for JSON.
3. The rest of the content is written and synced; then the first byte is.
4. The sibling is removed.

Whoever finds the mark knows that a write was cut short: readers use the sibling's content, and
the next holder of the lock finishes the write. A sibling without the mark is of no use and is
removed. What the content means is unknown here.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
from typing import Final

_MARK: Final = b"#"

_locked: Final[dict[tuple[int, int], int]] = {}
"""The locked descriptor of each file, by device and inode, that this process holds a lock on.

Process-wide because fcntl locks are: opening and closing the same file elsewhere in the process
would drop the lock.
"""


class AlreadyLocked(Exception):
    """Somebody else holds the lock."""


class StatePath:
    """A state file at a path. All methods raise `OSError` when the system refuses."""

    __slots__ = ("_created", "_descriptor", "path")

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self._descriptor: int | None = None
        self._created = False

    @property
    def is_locked(self) -> bool:
        """Whether this object holds the lock."""
        return self._descriptor is not None

    def read(self) -> bytes:
        """The whole content; nothing if there is no file."""
        content = self._read_steadily()
        if not content.startswith(_MARK):
            return content
        try:
            return _bytes_of(self._pending)
        except FileNotFoundError:
            # The writer may have ended between the two looks.
            return self._read_steadily()

    def write(self, content: bytes) -> None:
        """Replace the content, through the lock if it is held."""
        descriptor = self._descriptor if self._descriptor is not None else self._locked_here()
        if descriptor is not None:
            self._replace(descriptor, content)
            return
        descriptor, _ = self._open()
        try:
            self._replace(descriptor, content)
        finally:
            os.close(descriptor)

    def lock(self) -> None:
        """Take the lock, or raise `AlreadyLocked`.

        Does nothing else, so that its holder can say at once who it is: a `tofu` that finds the
        lock and no word of its holder gives up. `recover` is to be called next.
        """
        if self._locked_here() is not None:
            raise AlreadyLocked
        self._descriptor, self._created = self._open_and_lock()
        _locked[_identity(os.fstat(self._descriptor))] = self._descriptor

    def recover(self) -> None:
        """Finish or discard what an interrupted writer left; needs the lock."""
        descriptor = self._descriptor
        if descriptor is None:
            return
        if os.pread(descriptor, 1, 0) == _MARK:
            with contextlib.suppress(FileNotFoundError):
                self._write_in_place(descriptor, _bytes_of(self._pending))
        for leftover in (self._pending, self._unfinished):
            with contextlib.suppress(OSError):
                os.unlink(leftover)

    def unlock(self) -> None:
        """Give the lock back, and remove a file that was made for the lock only."""
        descriptor = self._descriptor
        if descriptor is None:
            return
        status = os.fstat(descriptor)
        if self._created and status.st_size == 0:
            self._remove_if_unused(descriptor)
        del _locked[_identity(status)]
        self._descriptor = None
        os.close(descriptor)

    @property
    def _pending(self) -> str:
        return hidden_beside(self.path, ".pending")

    @property
    def _unfinished(self) -> str:
        return hidden_beside(self.path, ".pending.part")

    def _locked_here(self) -> int | None:
        """The descriptor through which this process, maybe elsewhere, holds the lock."""
        try:
            return _locked.get(_identity(os.stat(self.path)))
        except FileNotFoundError:
            return None

    def _open(self) -> tuple[int, bool]:
        os.makedirs(_directory_of(self.path), exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        try:
            return os.open(self.path, flags | os.O_EXCL, 0o666), True
        except FileExistsError:
            return os.open(self.path, flags, 0o666), False

    def _open_and_lock(self) -> tuple[int, bool]:
        while True:
            descriptor, created = self._open()
            try:
                fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _identity(os.fstat(descriptor)) == _identity(os.stat(self.path)):
                    return descriptor, created
            except FileNotFoundError:
                pass
            except OSError as error:
                os.close(descriptor)
                if error.errno in (errno.EAGAIN, errno.EACCES):
                    raise AlreadyLocked from None
                raise
            # Somebody removed the file after it was opened: nobody would read it again.
            os.close(descriptor)

    def _read_steadily(self) -> bytes:
        """The content, read again if it was being changed meanwhile."""
        descriptor = self._descriptor if self._descriptor is not None else self._locked_here()
        if descriptor is not None:
            return _content(descriptor)
        try:
            opened = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return b""
        try:
            while True:
                before = os.fstat(opened)
                content = _content(opened)
                after = os.fstat(opened)
                unchanged = (before.st_mtime_ns, before.st_size) == (
                    after.st_mtime_ns,
                    after.st_size,
                )
                if unchanged and os.pread(opened, 1, 0) == content[:1]:
                    return content
        finally:
            os.close(opened)

    def _replace(self, descriptor: int, content: bytes) -> None:
        mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
        unfinished = self._unfinished
        try:
            _write_file(unfinished, content, mode)
            os.rename(unfinished, self._pending)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(unfinished)
            raise
        _sync_directory(_directory_of(self.path))
        self._write_in_place(descriptor, content)

    def _write_in_place(self, descriptor: int, content: bytes) -> None:
        """Put the sibling's content into the file."""
        size = os.fstat(descriptor).st_size
        first = os.pread(descriptor, 1, 0)
        try:
            _write_at(descriptor, _MARK, 0)
            os.fsync(descriptor)
            _reserve(descriptor, len(content), size)
        except OSError:
            # Nothing but the mark was changed: the file goes back to what it was.
            os.ftruncate(descriptor, size)
            _write_at(descriptor, first, 0)
            os.fsync(descriptor)
            if first != _MARK:
                self._discard_pending()
            raise
        _write_at(descriptor, content[1:], 1)
        os.ftruncate(descriptor, len(content))
        os.fsync(descriptor)
        _write_at(descriptor, content[:1], 0)
        os.fsync(descriptor)
        self._discard_pending()

    def _discard_pending(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._pending)

    def _remove_if_unused(self, descriptor: int) -> None:
        """Remove the empty file, unless someone has it open and may be waiting for its lock.

        Only Linux can tell: it grants a write lease on a file to its only user. Were the file
        removed under a waiting `tofu`, that would record its apply in a file without a name.
        """
        if not hasattr(fcntl, "F_SETLEASE"):
            return
        import signal

        try:
            # By default the signal to a lease's holder ends the process; this one is ignored.
            fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        except OSError:
            return
        with contextlib.suppress(OSError):
            os.unlink(self.path)
        with contextlib.suppress(OSError):
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)


def below(directory: str | os.PathLike[str], *names: str) -> str:
    """The path of something in a directory, as short as a person would write it."""
    return os.path.join(os.fspath(directory), *names).removeprefix("./")


def hidden_beside(path: str, suffix: str) -> str:
    """The path of a hidden file that belongs to another."""
    directory, name = os.path.split(path)
    return os.path.join(directory, f".{name.removeprefix('.')}{suffix}")


def write_beside(
    path: str | os.PathLike[str],
    content: bytes,
    mode: int = 0o666,
    survives_power_loss: bool = True,
) -> None:
    """Make or replace a file that nobody locks, all of it or none."""
    path = os.fspath(path)
    os.makedirs(_directory_of(path), exist_ok=True)
    unfinished = hidden_beside(path, ".part")
    try:
        _write_file(unfinished, content, mode, survives_power_loss)
        os.rename(unfinished, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(unfinished)
        raise


def _directory_of(path: str) -> str:
    return os.path.dirname(path) or "."


def _bytes_of(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _content(descriptor: int) -> bytes:
    pieces = []
    offset = 0
    while piece := os.pread(descriptor, 1 << 24, offset):
        pieces.append(piece)
        offset += len(piece)
    return b"".join(pieces)


def _write_at(descriptor: int, content: bytes, offset: int) -> None:
    view = memoryview(content)
    while view:
        written = os.pwrite(descriptor, view, offset)
        view = view[written:]
        offset += written


def _write_file(path: str, content: bytes, mode: int, sync: bool = True) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
    descriptor = os.open(path, flags, mode)
    try:
        _write_at(descriptor, content, 0)
        if sync:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_directory(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # not all file systems can
            raise
    finally:
        os.close(descriptor)


def _reserve(descriptor: int, length: int, size: int) -> None:
    """Make sure that the disk has room, so that the writing itself cannot run out of it."""
    if length <= size or not hasattr(os, "posix_fallocate"):
        return
    try:
        os.posix_fallocate(descriptor, 0, length)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):  # not all file systems can
            raise
