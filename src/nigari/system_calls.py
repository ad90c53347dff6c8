"""Calls and constants of operating systems that not every system has, under one name everywhere.

`make types` also checks the sources for macOS and Windows. What one feature needs as a whole (unix sockets,
forks, leases on files) stays with that feature.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final

if sys.platform == "win32":
    # Without O_BINARY, line ends would be changed.
    NOT_INHERITED: Final = os.O_NOINHERIT | os.O_BINARY
    NO_LINK: Final = 0
    NO_WAIT: Final = 0
    NO_TERMINAL: Final = 0
    KILL: Final = 15  # SIGTERM, which ends a process at once there

    def read_at(descriptor: int, size: int, offset: int) -> bytes:
        """Read from a position."""
        os.lseek(descriptor, offset, os.SEEK_SET)
        return os.read(descriptor, size)

    def write_at(descriptor: int, content: bytes | memoryview, offset: int) -> int:
        """Write at a position; gives how much was written."""
        os.lseek(descriptor, offset, os.SEEK_SET)
        return os.write(descriptor, content)

    def set_mode(path: str | os.PathLike[str], descriptor: int, mode: int) -> None:
        """Set the permissions of an open file."""
        os.chmod(path, mode)

    def signal_group(pid: int, number: int) -> None:
        """Send a signal to a process; others that it started don't get it."""
        os.kill(pid, number)

    def is_own(status: os.stat_result) -> bool:
        """Tell whether a file belongs to the user; owners are not known here."""
        return True

    def account_name() -> str:
        """Name the account that the process runs as; there is no list of accounts here."""
        return ""

    def host_name() -> str:
        """Name this machine."""
        import socket

        return socket.gethostname()

    def machine() -> str:
        """Name the processor's architecture."""
        return os.environ.get("PROCESSOR_ARCHITECTURE", "")

    def lock_open_file(
        descriptor: int, *, shared: bool = False, waits: bool = False, posix: bool = False
    ) -> None:
        """Lock an open file, or raise `OSError`.

        What is locked is a byte far behind the content. OpenTofu locks everything, so the two see each
        other; but a lock on the content itself would keep this process from reading it.
        """
        import ctypes
        import msvcrt
        from ctypes import wintypes

        class Overlapped(ctypes.Structure):
            _fields_ = (
                ("internal", ctypes.c_void_p),
                ("internal_high", ctypes.c_void_p),
                ("offset", wintypes.DWORD),
                ("offset_high", wintypes.DWORD),
                ("event", wintypes.HANDLE),
            )

        lock = ctypes.WinDLL("kernel32", use_last_error=True).LockFileEx
        lock.argtypes = (wintypes.HANDLE, *(wintypes.DWORD,) * 4, ctypes.POINTER(Overlapped))
        at_once, exclusive = 0 if waits else 1, 0 if shared else 2
        place = ctypes.byref(Overlapped(offset=0x7FFFFFFE))
        if not lock(msvcrt.get_osfhandle(descriptor), at_once | exclusive, 0, 1, 0, place):
            raise ctypes.WinError(ctypes.get_last_error())

else:
    NOT_INHERITED: Final = os.O_CLOEXEC
    NO_LINK: Final = os.O_NOFOLLOW
    NO_WAIT: Final = os.O_NONBLOCK
    NO_TERMINAL: Final = os.O_NOCTTY
    KILL: Final = 9  # SIGKILL; importing `signal` takes too long for short commands

    read_at: Callable[[int, int, int], bytes] = os.pread
    write_at: Callable[[int, bytes | memoryview, int], int] = os.pwrite
    signal_group: Callable[[int, int], None] = os.killpg

    def set_mode(path: str | os.PathLike[str], descriptor: int, mode: int) -> None:
        """Set the permissions of an open file, even if another one has its name by now."""
        os.fchmod(descriptor, mode)

    def is_own(status: os.stat_result) -> bool:
        """Tell whether a file belongs to the user."""
        return status.st_uid == os.geteuid()

    def account_name() -> str:
        """Name the account that the process runs as; empty if it has no name."""
        import pwd

        try:
            return pwd.getpwuid(os.getuid()).pw_name
        except KeyError:
            return ""

    def host_name() -> str:
        """Name this machine; importing `socket` takes too long for short commands."""
        return os.uname().nodename

    def machine() -> str:
        """Name the processor's architecture."""
        return os.uname().machine

    def lock_open_file(
        descriptor: int, *, shared: bool = False, waits: bool = False, posix: bool = False
    ) -> None:
        """Lock an open file or directory, or raise `OSError`."""
        import fcntl

        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        take = fcntl.lockf if posix else fcntl.flock
        take(descriptor, kind if waits else kind | fcntl.LOCK_NB)
