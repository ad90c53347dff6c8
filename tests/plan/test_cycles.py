"""Operations that wait for each other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nigari.plan.order.cycles import cycles


@pytest.mark.parametrize(
    ("followers", "together"),
    [
        ([], []),
        ([[1], []], [{0}, {1}]),
        ([[1], [0]], [{0, 1}]),
        ([[1], [2], [1]], [{0}, {1, 2}]),
        ([[1, 2], [0], [3], [2]], [{0, 1}, {2, 3}]),
        ([[0]], [{0}]),
    ],
)
def test_circles(followers: list[list[int]], together: list[set[int]]) -> None:
    found = cycles(followers)
    for each in together:
        assert len({found[number] for number in each}) == 1
    assert len(set(found)) == len(together)


@given(st.lists(st.lists(st.integers(0, 7), max_size=3), min_size=8, max_size=8))
def test_two_share_a_circle_if_each_reaches_the_other(followers: list[list[int]]) -> None:
    reached = [_reached(followers, start) for start in range(8)]
    found = cycles(followers)
    for one in range(8):
        for other in range(8):
            is_shared = one == other or (other in reached[one] and one in reached[other])
            assert (found[one] == found[other]) == is_shared


def _reached(followers: list[list[int]], start: int) -> set[int]:
    found: set[int] = set()
    pending = [start]
    while pending:
        for each in followers[pending.pop()]:
            if each not in found:
                found.add(each)
                pending.append(each)
    return found


def test_a_long_circle_takes_no_recursion() -> None:
    count = 100_000
    assert set(cycles([[(number + 1) % count] for number in range(count)])) == {0}
