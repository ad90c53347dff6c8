"""Pairs of elements in two sequences, so that as few as possible seem to change."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, TypeAlias, TypeVar

    _H = TypeVar("_H", bound=Hashable)

_MOST_CELLS: Final = 1_000_000
"""The most comparisons; beyond it, everything between equal ends counts as exchanged."""

Pair: TypeAlias = tuple[int | None, int | None]
"""The place before and the place after; `None` where there is no counterpart."""
AreAlike: TypeAlias = Callable[[int, int], bool]
"""Decides whether two unequal elements are shown as one that changes."""


def never(before: int, after: int) -> bool:
    """Unequal elements have nothing to do with each other."""
    return False


def pairs(before: Sequence[_H], after: Sequence[_H], are_alike: AreAlike = never) -> Iterator[Pair]:
    """Every element of both once, in order; what goes stands before what comes."""
    common = _common(before, after)
    one = other = 0
    for wanted_one, wanted_other in [*common, (len(before), len(after))]:
        while one < wanted_one or other < wanted_other:
            if one < wanted_one and other < wanted_other and are_alike(one, other):
                yield one, other
                one, other = one + 1, other + 1
            elif one < wanted_one:
                yield one, None
                one += 1
            else:
                yield None, other
                other += 1
        if one < len(before) and other < len(after):
            yield one, other
            one, other = one + 1, other + 1


def _common(before: Sequence[_H], after: Sequence[_H]) -> list[tuple[int, int]]:
    """A longest row of equal elements in both."""
    shorter = min(len(before), len(after))
    start = 0
    while start < shorter and before[start] == after[start]:
        start += 1
    end = 0
    while end < shorter - start and before[-1 - end] == after[-1 - end]:
        end += 1
    row = [(at, at) for at in range(start)]
    middle_before = before[start : len(before) - end]
    middle_after = after[start : len(after) - end]
    row += [(one + start, other + start) for one, other in _longest(middle_before, middle_after)]
    row += [(len(before) - left, len(after) - left) for left in range(end, 0, -1)]
    return row


def _longest(before: Sequence[_H], after: Sequence[_H]) -> list[tuple[int, int]]:
    if not before or not after or len(before) * len(after) > _MOST_CELLS:
        return []
    # lengths[i][j]: of the longest row in what is left of both from there on.
    lengths = [[0] * (len(after) + 1) for _ in range(len(before) + 1)]
    for one in range(len(before) - 1, -1, -1):
        here, below = lengths[one], lengths[one + 1]
        element = before[one]
        for other in range(len(after) - 1, -1, -1):
            if element == after[other]:
                here[other] = below[other + 1] + 1
            else:
                here[other] = max(below[other], here[other + 1])
    row: list[tuple[int, int]] = []
    one = other = 0
    while one < len(before) and other < len(after):
        if before[one] == after[other]:
            row.append((one, other))
            one, other = one + 1, other + 1
        elif lengths[one + 1][other] >= lengths[one][other + 1]:
            one += 1
        else:
            other += 1
    return row
