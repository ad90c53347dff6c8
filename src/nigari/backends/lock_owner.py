"""Holders of locks: which process holds one, and whether it still runs on this machine.

A process leaves its number with a lock, and, because numbers are used again, when it was started
and during which run of the machine.
"""

from __future__ import annotations

import os

from nigari.backends.checksum_trailer import boot_identity
from nigari.lazy import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_TEXT: Final = lazy_pattern(r"process (\d+)(?: \(started (\d+)(?:, boot ([0-9a-f-]+))?\))?")
_START: Final = 19
"""The place of the time of its start among what the system tells after the name of a process."""


def this_process() -> str:
    """What this process leaves with a lock."""
    process = os.getpid()
    started = _started(process)
    if not started:
        return f"process {process}"
    boot = boot_identity()
    return f"process {process} (started {started}{f', boot {boot}' if boot else ''})"


def is_running(info: str, host: str, here: str) -> bool | None:
    """Whether the process runs that left this with a lock on a host; `None` if that is not known."""
    found = _TEXT.fullmatch(info)
    if found is None or not host or host != here:
        return None
    process, started, boot = int(found[1]), found[2] or "", found[3] or ""
    if boot and boot_identity() and boot != boot_identity():
        return False
    if started and os.path.exists("/proc/self/stat"):
        return _started(process) == started
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return None if started else True


def _started(process: int) -> str:
    """When a process was started, in the clock of the machine; empty if that is not known."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[_START]
    except (OSError, IndexError):
        return ""
