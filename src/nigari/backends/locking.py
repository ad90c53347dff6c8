"""Locks: who holds one, and waiting for one.

A process leaves its number with a lock, and, because numbers are used again, when it was started and
during which run of the machine. How a lock is taken is each backend's own matter.
"""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Callable

from nigari.backends.checksum_trailer import boot_identity
from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.diagnostics.advice import advice
from nigari.diagnostics.secret_urls import hidden_urls
from nigari.hcl.quoting import quoted
from nigari.lazy import lazy_pattern
from nigari.markers import LOCK_INFO, STATE_LOCK
from nigari.record import record, replace
from nigari.system_calls import account_name, host_name
from nigari.version import OPENTOFU_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_FIRST_DELAY: Final = 0.1
_LONGEST_DELAY: Final = 2.0


@record
class LockInfo:
    """The information that the holder of a lock leaves."""

    id: str
    operation: str
    """The operation that holds the lock: `OperationTypeApply`, `state-mv` and so on."""
    who: str = ""
    version: str = ""
    created: str = ""
    """A time as RFC 3339 has it."""
    path: str = ""
    info: str = ""

    def to_bytes(self) -> bytes:
        """The JSON text that OpenTofu reads and writes."""
        import json

        return json.dumps(
            {
                "ID": self.id,
                "Operation": self.operation,
                "Info": self.info,
                "Who": self.who,
                "Version": self.version,
                "Created": self.created,
                "Path": self.path,
            },
            separators=(",", ":"),
            ensure_ascii=False,
        ).encode()

    def at(self, path: str) -> LockInfo:
        """The same lock, held on the state at this path since now."""
        from datetime import UTC, datetime

        now = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        return replace(self, path=path, created=now)


@record
class LockConflict:
    """Another process holds the lock."""

    holder: LockInfo | None
    """`None` if the holder left no information, or none that can be read."""


def new_lock(operation: str) -> LockInfo:
    """A lock for the user who runs this program."""
    from nigari.lang.random_ids import random_uuid

    who = f"{_user_name()}@{host_name()}"
    return LockInfo(random_uuid(), operation, who, OPENTOFU_VERSION, info=this_process())


def _user_name() -> str:
    """Return the name that `getpass.getuser` finds, without importing what asks for passwords."""
    names = (os.environ.get(name) for name in ("LOGNAME", "USER", "LNAME", "USERNAME"))
    return next(filter(None, names), "") or account_name()


def parse_lock(data: bytes) -> LockInfo | None:
    """Parse a lock's JSON text; `None` if it cannot be read."""
    import json

    try:
        members = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(members, dict):
        return None

    def text(name: str) -> str:
        value = members.get(name)
        return value if isinstance(value, str) else ""

    return LockInfo(
        id=text("ID"),
        operation=text("Operation"),
        who=text("Who"),
        version=text("Version"),
        created=text("Created"),
        path=text("Path"),
        info=text("Info"),
    )


async def wait_for_lock(
    take: Callable[[], Awaitable[LockInfo | LockConflict | None]], timeout_seconds: float
) -> LockInfo | LockConflict | None:
    """Try to take a lock until it is free or the time is over."""
    deadline = time.monotonic() + timeout_seconds
    delay = _FIRST_DELAY
    while True:
        answer = await take()
        left = deadline - time.monotonic()
        if not isinstance(answer, LockConflict) or left <= 0:
            return answer
        import asyncio

        # Up to here there need not be an event loop; who runs this makes one now.
        await asyncio.sleep(0)
        await asyncio.sleep(min(delay, left))
        delay = min(delay * 2, _LONGEST_DELAY)


def state_is_locked(conflict: LockConflict, location: str) -> Diagnostic:
    """The error for a lock that another process holds."""
    holder = conflict.holder
    if holder is None:
        details = "Its holder left no information about itself."
    else:
        # Programs read all of these lines, in this order, even if some are empty.
        lines = {
            "ID": holder.id,
            "Path": holder.path,
            "Operation": holder.operation,
            "Who": holder.who,
            "Version": holder.version,
            "Created": holder.created,
            "Info": holder.info,
        }
        details = "\n".join(f"  {name + ':':<11}{text}".rstrip() for name, text in lines.items())
        details = f"It is held by another one.\n\n{LOCK_INFO}\n{hidden_urls(details)}\n{_liveness(holder)}"
    words = advice()
    return Diagnostic(
        Severity.ERROR,
        STATE_LOCK,
        f"Another run is using the state at {location}, so this run did not start. {details}"
        f"\n\nWait until it finishes, or let this run wait for it with {words.option('-lock-timeout')}. "
        f"Use {words.option('-lock=false')} only if you are sure that no other run is using the state.",
    )


def is_left_behind(holder: LockInfo) -> bool:
    """Return whether a terminated process on this machine left the lock behind."""
    return _is_running(holder) is False


def _is_running(holder: LockInfo) -> bool | None:
    """Return whether the lock's holder still runs; None if that is unknown."""
    host = holder.who.rpartition("@")[2]
    return is_running(holder.info, host, host_name())


def _liveness(holder: LockInfo) -> str:
    """A sentence about the process that holds a lock, if it is known whether it runs."""
    running = _is_running(holder)
    if running is None:
        return ""
    if running:
        return "\n\nThis process is still running on this machine."
    remove = f" Remove its lock {advice().unlock(holder.id)}." if holder.id else ""
    return f"\n\nThis process no longer runs on this machine.{remove}"


def report_wrong_lock(lock_id: str, held: str, diags: Diagnostics) -> None:
    """Report an id that is not the one of the lock."""
    diags.error(
        "Wrong lock ID",
        f"The lock {quoted(lock_id)} cannot be removed: "
        + (
            f"the state is locked with the ID {quoted(held)}."
            if held
            else "the state is not locked."
        ),
    )


_TEXT: Final = lazy_pattern(r"process (\d+)(?: \(started (\d+)(?:, boot ([0-9a-f-]+))?\))?")
_START: Final = 19
"""The place of the time of its start among what the system tells after the name of a process."""


def this_process() -> str:
    """The information that this process leaves with a lock."""
    process = os.getpid()
    started = _started(process)
    if not started:
        return f"process {process}"
    boot = boot_identity()
    return f"process {process} (started {started}{f', boot {boot}' if boot else ''})"


def is_running(info: str, host: str, here: str) -> bool | None:
    """Return whether the process that took a host's lock still runs; None if that is unknown."""
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
