"""Leaving the garbage collector alone while very many values or syntax nodes are built at once.

Neither ever refers to itself, so there is nothing for it to find, and it would look at all of
them again and again: that costs more than building them.
"""

from __future__ import annotations

import gc
from types import TracebackType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_WORTH_IT: Final = 20_000


class CollectionPaused:
    """A `with` block in which nothing is collected, if the input is of a size to matter."""

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
