"""A limit on the work that hostile input may cause."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Final

_SECONDS: Final = 20.0
"""Far more than a slow machine takes, and far less than a cost that is not linear."""


@contextlib.contextmanager
def costs_little() -> Iterator[None]:
    """Fail if the block takes long, in time of this process: others may be at work, too."""
    before = time.process_time()
    yield
    assert time.process_time() - before < _SECONDS
