"""Pause of the garbage collector while many values or syntax nodes are built at once.

These contain no reference cycles, so there is nothing to collect, and repeated scans would cost
more than building them.
"""

from __future__ import annotations

import gc
from types import TracebackType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_WORTH_IT: Final = 20_000


class CollectionPaused:
    """A `with` block without garbage collection, if the input is large enough to matter."""

    __slots__ = ("paused",)

    paused: bool

    def __init__(self, size: int) -> None:
        self.paused = size > _WORTH_IT and gc.isenabled()

    def __enter__(self) -> None:
        if self.paused:
            gc.disable()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.paused:
            gc.enable()
