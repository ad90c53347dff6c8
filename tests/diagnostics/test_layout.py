"""Widths, wrapping, and which streams get colours."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nigari.diagnostics.layout import Layout, display_width, printable, wrap


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environ", "no_color", "colour"),
    [
        ({}, False, True),
        ({}, True, False),
        ({"NO_COLOR": "1"}, False, False),
        ({"NO_COLOR": ""}, False, True),
        ({"TERM": "dumb"}, False, False),
    ],
)
def test_colours_on_a_terminal(environ: dict[str, str], no_color: bool, colour: bool) -> None:
    assert Layout.for_stream(Terminal(), environ, no_color).colour is colour


def test_no_colours_without_a_terminal() -> None:
    assert Layout.for_stream(io.StringIO(), {}) == Layout(width=78, colour=False)


@pytest.mark.parametrize(
    ("text", "width"),
    [("", 0), ("abc", 3), ("é", 1), ("e\u0301", 1), ("漢字", 4), ("👨‍👩‍👧", 2)],
)
def test_display_width(text: str, width: int) -> None:
    assert display_width(text) == width


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é", "plain é"),
        ("a\tb", "a    b"),
        ("\x1b[31m", "␛[31m"),
        ("\x00\x7f\x9b", "␀␡�"),
        ("line\nline", "line\nline"),
        ("a\u202eb\u2066", "a�b�"),
    ],
)
def test_nothing_can_steer_the_terminal(text: str, shown: str) -> None:
    assert printable(text) == shown


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("one two three", 7, ["one two", "three"]),
        ("one two three", 0, ["one two three"]),
        ("  one two three", 9, ["  one two", "  three"]),
        ("  - one two three", 11, ["  - one two", "    three"]),
        ("        no room", 9, ["        no room"]),
        ("one\n\ntwo three", 5, ["one", "", "two", "three"]),
        ("unbreakable word", 5, ["unbreakable", "word"]),
        ("漢字 漢字", 5, ["漢字", "漢字"]),
    ],
)
def test_wrap(text: str, width: int, lines: list[str]) -> None:
    assert wrap(text, width) == lines


@given(st.text(alphabet="ab é漢 "), st.integers(min_value=1, max_value=20))
def test_wrapping_keeps_every_word_and_the_width(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert " ".join(lines).split() == text.split()
    if not text.startswith(" "):
        assert all(display_width(line) <= width or " " not in line for line in lines)
