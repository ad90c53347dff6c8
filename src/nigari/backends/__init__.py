"""Backends: where states are stored, and how they are locked; nothing else.

A class of yours that is a `Store` becomes a backend with the entry point `nigari.backends`; the checks
that ours pass are in `nigari.backends.conformance`, for your tests.
"""

from __future__ import annotations

from nigari.lazy import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.backends.locking import LockInfo
    from nigari.backends.store import (
        ABSENT,
        BackendFailure,
        Content,
        ContentChanged,
        StateIsLocked,
        Store,
    )
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "locking": ("LockInfo",),
            "store": (
                "ABSENT",
                "BackendFailure",
                "Content",
                "ContentChanged",
                "StateIsLocked",
                "Store",
            ),
        },
    )

__all__ = [
    "ABSENT",
    "BackendFailure",
    "Content",
    "ContentChanged",
    "LockInfo",
    "StateIsLocked",
    "Store",
]
