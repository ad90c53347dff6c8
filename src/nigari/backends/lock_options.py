"""What is asked of a lock: whether there is one, and how long to wait for it."""

from __future__ import annotations

from nigari.record import record


@record
class LockOptions:
    """`-lock` and `-lock-timeout`."""

    is_wanted: bool = True
    timeout_seconds: float = 0.0
