"""Which elements of two sequences are taken for the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nigari.plan.differences import pairing
from nigari.plan.differences.pairing import pairs


def shown(before: str, after: str) -> str:
    parts = []
    for one, other in pairs(before, after):
        if one is None:
            assert other is not None
            parts.append(f"+{after[other]}")
        else:
            parts.append(before[one] if other is not None else f"-{before[one]}")
    return " ".join(parts)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("", "", ""),
        ("abc", "abc", "a b c"),
        ("abc", "abxc", "a b +x c"),
        ("abc", "ac", "a -b c"),
        ("abc", "axc", "a -b +x c"),
        ("abc", "cba", "-a -b c +b +a"),
        ("aab", "ab", "a -a b"),
        ("", "ab", "+a +b"),
        ("ab", "", "-a -b"),
    ],
)
def test_pairs(before: str, after: str, expected: str) -> None:
    assert shown(before, after) == expected


def test_what_is_alike_changes() -> None:
    found = list(pairs("ab", "xb", lambda one, other: True))
    assert found == [(0, 0), (1, 1)]
    found = list(pairs("ab", "xyb", lambda one, other: True))
    assert found == [(0, 0), (None, 1), (1, 2)]


@given(st.text("abc", max_size=12), st.text("abc", max_size=12))
def test_every_element_has_its_place(before: str, after: str) -> None:
    found = list(pairs(before, after))
    assert [one for one, _ in found if one is not None] == list(range(len(before)))
    assert [other for _, other in found if other is not None] == list(range(len(after)))
    for one, other in found:
        assert one is None or other is None or before[one] == after[other]


def test_much_is_compared_only_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairing, "_MOST_CELLS", 3)
    assert shown("abcd", "axyd") == "a -b -c +x +y d"
