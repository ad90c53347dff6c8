"""Positions: lines, columns in grapheme clusters, bytes."""

import pytest

from nigari.diagnostics import Pos
from nigari.hcl.source import Source


@pytest.mark.parametrize(
    ("text", "offset", "want"),
    [
        ("", 0, Pos(1, 1, 0)),
        ("abc", 2, Pos(1, 3, 2)),
        ("a\nb", 2, Pos(2, 1, 2)),
        ("a\n\nb", 3, Pos(3, 1, 3)),
        ("a\r\nb", 3, Pos(2, 1, 3)),
        ("é=", 1, Pos(1, 2, 2)),
        ("e\u0301=", 2, Pos(1, 2, 3)),
        ("é\né=", 3, Pos(2, 2, 5)),
        ("\U0001f469\u200d\U0001f680x", 3, Pos(1, 2, 11)),
        ("\u0915\u094d\u0937x", 3, Pos(1, 3, 9)),
        ("\udc80x", 1, Pos(1, 2, 1)),
    ],
)
def test_position(text: str, offset: int, want: Pos) -> None:
    assert Source("a.hcl", text).pos(offset) == want


def test_positions_of_a_part_begin_where_it_begins() -> None:
    source = Source("a.json", "x\ny", Pos(3, 5, 40))
    assert source.pos(1) == Pos(3, 6, 41)
    assert source.pos(2) == Pos(4, 1, 42)


def test_byte_order_mark_counts_as_bytes_only() -> None:
    source = Source.from_bytes("a.hcl", b"\xef\xbb\xbfa = 1")
    assert source.text == "a = 1"
    assert source.pos(0) == Pos(1, 1, 3)


def test_bytes_that_are_not_utf8_keep_their_place() -> None:
    source = Source.from_bytes("a.hcl", b"a\xff\xfeb")
    assert source.pos(3) == Pos(1, 4, 3)


def test_asking_backwards_on_one_line_gives_the_same() -> None:
    text = "é" * 50
    forwards = Source("a", text)
    backwards = Source("a", text)
    wanted = [forwards.pos(offset) for offset in range(50)]
    assert [backwards.pos(offset) for offset in reversed(range(50))] == wanted[::-1]
