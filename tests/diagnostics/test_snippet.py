"""Which lines a range shows, and where in them its subject is; the rows are what `tofu` does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nigari.diagnostics import Pos, Range
from nigari.diagnostics.snippet import Snippet, cut_snippet


def at(data: bytes, start: int, end: int) -> Range:
    return Range("main.tf", pos(data, start), pos(data, end))


def pos(data: bytes, offset: int) -> Pos:
    line_start = data.rfind(b"\n", 0, offset) + 1
    return Pos(data.count(b"\n", 0, offset) + 1, offset - line_start + 1, offset)


@pytest.mark.parametrize(
    ("data", "start", "end", "expected"),
    [
        pytest.param(b"a = 1\nb = 2\n", 6, 7, Snippet("b = 2", 2, 0, 1), id="one line"),
        pytest.param(b"a = [\n1,\n2]\n", 4, 11, Snippet("a = [\n1,\n2]", 1, 4, 11), id="lines"),
        pytest.param(b"a = [\n\n2]", 4, 9, Snippet("a = [\n\n2]", 1, 4, 9), id="blank line kept"),
        pytest.param(b"a =\n\nb", 3, 4, Snippet("a =", 1, 3, 3), id="line end before blank line"),
        pytest.param(b"a =\n}\n", 3, 4, Snippet("a =\n}", 1, 3, 4), id="line end"),
        pytest.param(b"a =\r\n}\r\n", 3, 5, Snippet("a =\n}", 1, 3, 4), id="Windows line end"),
        pytest.param(b"a = 1", 4, 4, Snippet("a = 1", 1, 4, 5), id="empty range"),
        pytest.param(b"a = [\n", 6, 6, Snippet("", 2, 0, 0), id="end of file"),
        pytest.param(b"a = [", 5, 5, Snippet("a = [", 1, 5, 5), id="end of last line"),
        pytest.param(b"", 0, 0, Snippet("", 1, 0, 0), id="empty file"),
        pytest.param("é = ü".encode(), 5, 7, Snippet("é = ü", 1, 5, 7), id="offsets are bytes"),
        pytest.param(b"a = \xff", 0, 1, Snippet("a = \ufffd", 1, 0, 1), id="invalid UTF-8"),
        pytest.param(b"a", 40, 50, Snippet("a", 1, 1, 1), id="beyond the end"),
    ],
)
def test_snippet(data: bytes, start: int, end: int, expected: Snippet) -> None:
    assert cut_snippet(at(data, start, end), None, {"main.tf": data}) == expected


def test_the_context_widens_the_snippet() -> None:
    data = b"f(\n  x,\n  y\n)\nz"
    subject, context = at(data, 5, 6), at(data, 0, 13)
    assert cut_snippet(subject, context, {"main.tf": data}) == Snippet("f(\n  x,\n  y\n)", 1, 5, 6)


def test_a_context_in_another_file_is_ignored() -> None:
    data = b"a\nb\nc"
    other = Range("other.tf", Pos(1, 1, 0), Pos(3, 2, 5))
    assert cut_snippet(at(data, 2, 3), other, {"main.tf": data}) == Snippet("b", 2, 0, 1)


def test_no_source_no_snippet() -> None:
    assert cut_snippet(at(b"a", 0, 1), None, {}) is None


def test_a_huge_line_shrinks_to_what_surrounds_its_subject() -> None:
    data = ("é" * 1_000_000 + "HERE" + "é" * 1_000_000).encode()
    snippet = cut_snippet(at(data, 2_000_000, 2_000_004), None, {"main.tf": data})
    assert snippet is not None
    assert len(snippet.code) < 10_000
    assert snippet.split()[1] == "HERE"
    assert "\ufffd" not in snippet.code


@given(
    st.text(alphabet="ab \n\ré", max_size=40).map(str.encode),
    st.integers(0, 60),
    st.integers(0, 60),
    st.none() | st.tuples(st.integers(0, 60), st.integers(0, 60)),
)
def test_highlights_are_always_inside_the_code(
    data: bytes, start: int, end: int, context: tuple[int, int] | None
) -> None:
    wider = None if context is None else at(data, *context)
    snippet = cut_snippet(at(data, start, end), wider, {"main.tf": data})
    assert snippet is not None
    assert 0 <= snippet.highlight_start <= snippet.highlight_end <= len(snippet.code.encode())
