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

The mark says that a write was cut short: readers use the sibling's content, and
the next holder of the lock finishes the write. A sibling without the mark is of no use and is
removed.

While an operation goes on, states follow each other quickly, and waiting for the disk each time
would cost more than the operation. Then the same steps are done without syncing, which is enough
for a process that dies while the system goes on. That the machine goes down instead is provided for by
another sibling (`.NAME.lasting`) with a content that was synced not long ago, and by a seal under
everything that was not. If the machine was restarted and a seal is broken, the synced content
counts. What the content means is unknown here.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from collections.abc import Callable

from nigari.backends.checksum_trailer import boot_identity, is_sealed, sealed, unsealed
from nigari.backends.disk import (
    bytes_of,
    content_of,
    directory_of,
    discard,
    hidden_beside,
    make_directories,
    overwrite_file,
    part_of,
    reserve,
    sync_directory,
    write_at,
    write_beside,
)
from nigari.system_calls import NOT_INHERITED, lock_open_file, read_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_MARK: Final = b"#"
_END: Final = b"\n}"
"""The end of whatever a program writes as a state."""

_FEW: Final = 64
_LONG_AGO: Final = 2.0
"""Seconds after which no write is under way any more."""
_LOOKS: Final = 50
"""The number of attempts to find a whole state while another process keeps writing."""

_locked: Final[dict[tuple[int, int], int]] = {}
"""The locked descriptor of each file, by device and inode, that this process holds a lock on.

Process-wide because fcntl locks are: opening and closing the same file elsewhere in the process
would drop the lock.
"""


class AlreadyLocked(Exception):
    """Another process holds the lock."""


class FileReplaced(OSError):
    """The file that was read or locked is no longer the one that its path leads to."""


class StatePath:
    """A state file at a path. All methods raise `OSError` when the system refuses."""

    __slots__ = ("_created", "_descriptor", "_has_copy", "_seen", "path")

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path: str = os.fspath(path)
        self._descriptor: int | None = None
        self._created = False
        self._has_copy = False
        self._seen: tuple[int, int] | None = None
        """Which file was read last or is locked; None where there was none."""

    @property
    def is_locked(self) -> bool:
        """Return whether this object holds the lock."""
        return self._descriptor is not None

    def read(self) -> bytes:
        """The whole content; nothing if there is no file."""
        for _ in range(_LOOKS):
            content = self._read_steadily()
            if content is None:
                return b""
            whole = self._whole(content)
            if whole is not None:
                if content.startswith(_MARK):
                    self._finish_write()
                return whole
            # A writer may have gone on between looking at the file and at its sibling.
        return self._read_steadily() or b""

    def check_in_place(self) -> None:
        """Raise `FileReplaced` where the path no longer leads to the file that was read or locked.

        A write would then change a file without a name, or one that another process has put there.
        """
        if self._seen is None:
            return
        try:
            found: tuple[int, int] | None = _identity(os.stat(self.path))
        except (FileNotFoundError, NotADirectoryError):
            found = None
        if found != self._seen:
            how = "removed" if found is None else "replaced by another"
            raise FileReplaced(errno.ESTALE, f"the file was {how} while it was in use")

    def write(self, content: bytes) -> None:
        """Replace the content, through the lock if it is held."""
        self._through(lambda descriptor: self._replace(descriptor, content))

    def write_between(self, content: bytes, lasting: bool) -> None:
        """Replace the content by one that is soon replaced itself, at the latest by `write`.

        It survives the end of this process. If the machine goes down, the newest one counts that
        is lasting, or a newer one.
        """
        self._through(lambda descriptor: self._replace_between(descriptor, content, lasting))

    def _replace_between(self, descriptor: int, content: bytes, lasting: bool) -> None:
        boot = boot_identity()
        if not boot or read_at(descriptor, 1, 0) == _MARK:
            self._replace(descriptor, content)
            return
        mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
        if lasting or not self._has_copy:
            write_beside(self._lasting, sealed(boot.encode() + b"\n" + content), mode)
            sync_directory(directory_of(self.path))
            self._has_copy = True
        data = sealed(content)
        try:
            overwrite_file(self._pending, data, mode)
        except OSError:
            discard(self._pending)
            raise
        self._write_in_place(descriptor, data, sync=False)

    def lock(self) -> None:
        """Take the lock, or raise `AlreadyLocked`.

        Does nothing else, so that its holder can say at once who it is: a `tofu` that finds the
        lock and no word of its holder gives up. `recover` is to be called next.
        """
        if self._locked_here() is not None:
            raise AlreadyLocked
        self._descriptor, self._created = self._open_and_lock()
        self._seen = _identity(os.fstat(self._descriptor))
        _locked[self._seen] = self._descriptor

    def recover(self) -> None:
        """Finish or discard what an interrupted writer left; needs the lock."""
        descriptor = self._descriptor
        if descriptor is None:
            return
        # What lies beside a file that is new belonged to one that was removed.
        if not self._created and any(map(os.path.exists, (self._pending, self._lasting))):
            content = content_of(descriptor)
            whole = self._whole(content)
            if whole is not None and whole != content:
                self._replace(descriptor, whole)
        self._discard_siblings()

    def _finish_write(self) -> None:
        """Finish a write that was cut short some time ago, for those who only know the file.

        A short time ago it may still be under way, without a lock.
        """
        try:
            if self._descriptor is None and time.time() - os.stat(self.path).st_mtime > _LONG_AGO:
                self.lock()
                try:
                    self.recover()
                finally:
                    self.unlock()
        except (OSError, AlreadyLocked):
            return

    def mode(self) -> int:
        """The permissions of the file; those of a new one if there is none."""
        try:
            return stat.S_IMODE(os.stat(self.path).st_mode)
        except FileNotFoundError:
            return 0o666

    def unlock(self) -> None:
        """Give the lock back, and remove a file that was made for the lock only."""
        descriptor = self._descriptor
        if descriptor is None:
            return
        status = os.fstat(descriptor)
        if self._created and status.st_size == 0:
            from contextlib import suppress

            with suppress(FileReplaced):
                self.check_in_place()
                self._remove_if_unused(descriptor)
        if not os.path.lexists(self.path):
            # The file was removed, so these are of no use any more.
            self._discard_siblings()
        del _locked[_identity(status)]
        self._descriptor = self._seen = None
        os.close(descriptor)

    def _discard_siblings(self) -> None:
        for leftover in (self._pending, self._lasting):
            discard(leftover)
            discard(part_of(leftover))

    @property
    def _pending(self) -> str:
        return hidden_beside(self.path, ".pending")

    @property
    def _lasting(self) -> str:
        return hidden_beside(self.path, ".lasting")

    def _whole(self, content: bytes) -> bytes | None:
        """The whole state that a content of the file stands for, if it can be found."""
        if content.startswith(_MARK):
            whole = self._copy(boot_identity())
            whole = unsealed(bytes_of(self._pending)) if whole is None else whole
            return self._copy("") if whole is None else whole
        if is_sealed(content):
            whole = unsealed(content)
            return self._copy(boot_identity()) if whole is None else whole
        if content[-_FEW:].rstrip().endswith(_END):
            return content
        whole = self._copy(boot_identity())
        return content if whole is None else whole

    def _copy(self, boot: str) -> bytes | None:
        """The content that was synced last, unless the machine was not restarted since."""
        found = unsealed(bytes_of(self._lasting))
        if found is None:
            return None
        running, _, content = found.partition(b"\n")
        return None if running == boot.encode() else content

    def _through(self, write: Callable[[int], None]) -> None:
        """Write through a descriptor: the locked one, if there is."""
        self.check_in_place()
        descriptor = self._descriptor if self._descriptor is not None else self._locked_here()
        if descriptor is not None:
            write(descriptor)
            return
        descriptor, _ = self._open()
        self._seen = _identity(os.fstat(descriptor))
        try:
            write(descriptor)
        finally:
            os.close(descriptor)

    def _locked_here(self) -> int | None:
        """The descriptor through which this process, maybe elsewhere, holds the lock."""
        try:
            return _locked.get(_identity(os.stat(self.path)))
        except FileNotFoundError:
            return None

    def _open(self) -> tuple[int, bool]:
        make_directories(directory_of(self.path))
        flags = os.O_RDWR | os.O_CREAT | NOT_INHERITED
        try:
            return os.open(self.path, flags | os.O_EXCL, 0o666), True
        except FileExistsError:
            return os.open(self.path, flags, 0o666), False

    def _open_and_lock(self) -> tuple[int, bool]:
        while True:
            descriptor, created = self._open()
            try:
                lock_open_file(descriptor, posix=True)
                if _identity(os.fstat(descriptor)) == _identity(os.stat(self.path)):
                    return descriptor, created
            except FileNotFoundError:
                pass
            except OSError as error:
                os.close(descriptor)
                if error.errno in (errno.EAGAIN, errno.EACCES):
                    raise AlreadyLocked from None
                raise
            # The file was removed after it was opened: a write to it would be lost.
            os.close(descriptor)

    def _read_steadily(self) -> bytes | None:
        """The content, if there is a file, read again if it was being changed meanwhile."""
        descriptor = self._descriptor if self._descriptor is not None else self._locked_here()
        if descriptor is not None:
            return content_of(descriptor)
        try:
            opened = os.open(self.path, os.O_RDONLY | NOT_INHERITED)
        except FileNotFoundError:
            return None
        try:
            self._seen = _identity(os.fstat(opened))
            while True:
                before = os.fstat(opened)
                content = content_of(opened)
                after = os.fstat(opened)
                unchanged = (before.st_mtime_ns, before.st_size) == (
                    after.st_mtime_ns,
                    after.st_size,
                )
                if unchanged and read_at(opened, 1, 0) == content[:1]:
                    return content
        finally:
            os.close(opened)

    def _replace(self, descriptor: int, content: bytes) -> None:
        if self._has_copy:
            os.fsync(descriptor)
            discard(self._lasting)
            self._has_copy = False
        mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
        write_beside(self._pending, sealed(content), mode)
        sync_directory(directory_of(self.path))
        self._write_in_place(descriptor, content, sync=True)
        discard(self._pending)
        discard(self._lasting)

    def _write_in_place(self, descriptor: int, content: bytes, sync: bool) -> None:
        """Put the sibling's content into the file."""
        size = os.fstat(descriptor).st_size
        first = read_at(descriptor, 1, 0)
        try:
            write_at(descriptor, _MARK, 0, sync)
            reserve(descriptor, len(content), size)
        except OSError:
            # Nothing but the mark was changed: the file goes back to what it was.
            os.ftruncate(descriptor, size)
            write_at(descriptor, first, 0, sync)
            if first != _MARK:
                discard(self._pending)
            raise
        write_at(descriptor, memoryview(content)[1:], 1)
        if size > len(content):
            os.ftruncate(descriptor, len(content))
        if sync:
            os.fsync(descriptor)
        write_at(descriptor, content[:1], 0, sync)

    def _remove_if_unused(self, descriptor: int) -> None:
        """Remove the empty file, unless someone has it open and may be waiting for its lock.

        Only Linux can tell: it grants a write lease on a file to its only user. Were the file
        removed under a waiting `tofu`, that would record its apply in a file without a name.
        """
        if sys.platform == "linux":
            import fcntl
            import signal

            try:
                # By default the signal to a lease's holder ends the process; this one is ignored.
                fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
                fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_WRLCK)
            except OSError:
                return
            discard(self.path)
            try:
                fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
            except OSError:
                return


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino
