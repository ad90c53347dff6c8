"""JSON as text: pieces, and the two layouts."""

import json
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nigari.state.json_text import (
    compact,
    escaped_for_html,
    indented,
    read_elements,
    read_members,
    read_text,
    read_value,
)

Json: TypeAlias = "bool | int | str | list[Json] | dict[str, Json] | None"

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def go_indented(data: Json) -> str:
    """`json.dumps` lays out as Go does."""
    return json.dumps(data, indent=2, ensure_ascii=False)


def go_compact(data: Json) -> str:
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False)


@given(JSON)
def test_layouts(data: Json) -> None:
    assert indented(go_compact(data)) == go_indented(data)
    assert compact(go_indented(data)) == go_compact(data)
    assert compact(json.dumps(data, indent="\t \r\n", ensure_ascii=False)) == go_compact(data)
    assert indented(go_indented(data)) == go_indented(data)


@given(st.dictionaries(st.text(), JSON, min_size=1, max_size=3), st.integers(1, 4))
def test_indented_at_a_depth(data: dict[str, Json], depth: int) -> None:
    expected = go_indented(data).replace("\n", "\n" + "  " * depth)
    assert indented(go_compact(data), depth) == expected
    assert indented(expected, depth) == expected


@given(JSON)
def test_escaping_changes_no_meaning(data: Json) -> None:
    escaped = escaped_for_html(go_compact(data))
    assert json.loads(escaped) == data
    assert not any(char in escaped for char in "<>&\u2028\u2029")


@given(st.dictionaries(st.text(), JSON))
def test_pieces(data: dict[str, Json]) -> None:
    for text in (go_compact(data), go_indented(data)):
        members, end = read_members(text, 0, {}, read_text)
        assert end == len(text)
        assert {name: json.loads(str(piece)) for name, piece in members.items()} == data


@given(st.lists(JSON))
def test_elements(data: list[Json]) -> None:
    for text in (go_compact(data), go_indented(data)):
        assert read_elements(text, 0, read_value) == (data, len(text))


@pytest.mark.parametrize(
    "text",
    ["", "x", "{", '{"a"', '{"a":', '{"a":1', '{"a":1,', '{"a":1,}', '{"a" 1}', "{a:1}", "[1]"],
)
def test_not_an_object(text: str) -> None:
    with pytest.raises(json.JSONDecodeError):
        read_members(text, 0, {})


@pytest.mark.parametrize("text", ["", "x", "[", "[1", "[1,", "[1,]", "[1 2]", "{}"])
def test_not_an_array(text: str) -> None:
    with pytest.raises(json.JSONDecodeError):
        read_elements(text, 0, read_value)


def test_a_long_string_costs_no_memory() -> None:
    text = '{"a":"' + 'x\\"' * 500_000 + '"}'
    assert compact(text) == text
