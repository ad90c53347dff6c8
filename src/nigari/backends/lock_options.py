"""The lock options: whether to lock, and how long to wait."""

from __future__ import annotations

from nigari.record import record


@record
class LockOptions:
    """`-lock` and `-lock-timeout`."""

    is_wanted: bool = True
    timeout_seconds: float = 0.0
