"""The earliest rounds in which parts of a configuration can be done.

A part waits for several things, each of which may be there in one of several ways.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from nigari.plan.order.block_graph import work_out
from nigari.typed import Generic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")


class EarliestRounds(Generic["T"]):
    """The round in which each of some items can be there, by what it waits for.

    An item waits for all of several things; each is a choice of items, any of which may be enough,
    with the number of rounds after which it is.
    """

    def __init__(
        self,
        waits_of: Callable[[T], Iterable[list[tuple[T, int]]]],
        first: Callable[[T], int] = lambda _: 1,
    ) -> None:
        self._waits_of = waits_of
        self._first = first
        self._waits: dict[T, list[list[tuple[T, int]]]] = {}
        self._known: dict[T, int] = {}

    def of(self, item: T) -> int:
        """The earliest round; the first that there is for it where it waits for nothing."""
        return work_out(item, self._known, self._needs, self._find)

    def _needs(self, item: T) -> Iterable[T]:
        waits = self._waits[item] = [choice for choice in self._waits_of(item) if choice]
        return [each for choice in waits for each, _ in choice]

    def _find(self, item: T) -> int:
        earliest = self._first(item)
        for choice in self._waits.pop(item):
            # A circle is a mistake that others report.
            earliest = max(earliest, min(self._known.get(each, 1) + more for each, more in choice))
        return earliest
