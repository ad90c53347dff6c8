"""The text of JSON strings, and positions inside of them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nigari.hcl.json_strings import StringSource, decode_string
from nigari.hcl.source import Source


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("", ""),
        ("plain é 漢", "plain é 漢"),
        (r"\" \\ \/ \b \f \n \r \t", '" \\ / \b \f \n \r \t'),
        (r"\u00e9\u6F22", "é漢"),
        (r"\ud83d\ude00", "😀"),
        (r"\ud83d", "\ufffd"),
        (r"\ude00\ud83d", "\ufffd\ufffd"),
        (r"\ud83dx", "\ufffdx"),
        ("\udcff", "\ufffd"),
        (r"\q", "q"),
    ],
)
def test_decode(raw: str, text: str) -> None:
    assert decode_string(raw) == text


@given(st.text(), st.booleans())
def test_decoding_undoes_encoding(text: str, ascii_only: bool) -> None:
    encoded = json.dumps(text, ensure_ascii=ascii_only)
    expected = json.loads(encoded).encode("utf-8", "replace").decode()
    assert decode_string(encoded[1:-1]).encode("utf-8", "replace").decode() == expected


@pytest.mark.parametrize(
    ("text", "wanted", "column"),
    [
        pytest.param('"${a}"', "a", 4, id="no escapes"),
        pytest.param(r'"\n${a}"', "a", 6, id="after an escape"),
        pytest.param(r'"\u00e9\n${a}"', "a", 12, id="after two"),
        pytest.param(r'"\ud83d\ude00${a}"', "a", 16, id="after a pair"),
        pytest.param('"é${a}"', "a", 5, id="columns are characters"),
        pytest.param(r'"${f(\"a\")}"', ")", 11, id="between escapes"),
    ],
)
def test_positions_are_those_in_the_file(text: str, wanted: str, column: int) -> None:
    source = StringSource(Source("a.json", text), 1, len(text) - 1)
    offset = source.text.index(wanted)
    assert source.pos(offset).column == column
    assert source.range(offset, offset + 1).end.column == column + 1


def test_lines_and_bytes_are_those_in_the_file() -> None:
    file = Source("a.json", '{\n  "é": "x${a}"\n}')
    start = file.text.index("x$")
    source = StringSource(file, start, start + 5)
    where = source.pos(source.text.index("a"))
    assert (where.line, where.column, where.byte) == (2, 12, 14)
