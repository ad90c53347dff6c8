"""Reading JSON: what is valid, what is said about what is not, and what stays usable then."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nigari.diagnostics import Diagnostics
from nigari.hcl.json_expressions import (
    JsonArray,
    JsonExpression,
    JsonInvalid,
    JsonKeyword,
    JsonNumber,
    JsonObject,
    JsonString,
)
from nigari.hcl.json_parse import DEEPEST, parse_json
from nigari.hcl.json_scanner import keyword_suggestion
from nigari.hcl.source import Source
from tests.conformance import Row, needs_conformance, table
from tests.limits import costs_little


def plain(node: JsonExpression) -> object:
    """The tree as Python data: objects as lists of pairs, what is invalid as `...`."""
    if isinstance(node, JsonObject):
        return [(item.name, plain(item.value)) for item in node.properties]
    if isinstance(node, JsonArray):
        return [plain(element) for element in node.elements]
    if isinstance(node, JsonString):
        return node.text
    if isinstance(node, JsonNumber | JsonKeyword):
        return json.loads(node.source.text[node.start : node.end])
    assert isinstance(node, JsonInvalid)
    return ...


def parse(text: str) -> tuple[object, list[str]]:
    """The tree, and what was reported as `columns summary`."""
    diags = Diagnostics()
    node = parse_json(Source("a.json", text), diags)
    return plain(node), [
        f"{str(diagnostic.subject).removeprefix('a.json:')} {diagnostic.summary}"
        for diagnostic in diags
    ]


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("{}", []),
        ("[]", []),
        (' {"a" : 1 , "b":[true,false,null]}\r\n', [("a", 1), ("b", [True, False, None])]),
        ('{"a": 1, "a": 2}', [("a", 1), ("a", 2)]),
        ('{"\\u0061": {"": {}}}', [("a", [("", [])])]),
        ("[-0, 1.5e+10, 0.1, 1E-3, 10]", [0, 1.5e10, 0.1, 1e-3, 10]),
        ('"text"', "text"),
        ("\n\t42 ", 42),
    ],
)
def test_valid(text: str, tree: object) -> None:
    assert parse(text) == (tree, [])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def pairs(value: object) -> object:
    if isinstance(value, dict):
        return [(name, pairs(inner)) for name, inner in value.items()]
    return [pairs(inner) for inner in value] if isinstance(value, list) else value


@given(JSON, st.sampled_from([None, 2]), st.booleans())
def test_everything_that_python_writes_is_read(value: object, indent: int | None, a: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=a)
    assert parse(text) == (pairs(value), [])


@pytest.mark.parametrize(
    ("text", "tree", "reported"),
    [
        ('{"a": 1,}', [("a", 1)], ["1,8-9 Trailing comma in JSON object"]),
        ("[1,2,]", [1, 2], ["1,5-6 Trailing comma in JSON array"]),
        ('{"a": 1 "b": 2}', [("a", 1), ("b", 2)], ["1,9-10 Missing comma"]),
        ("[1 2]", [1, 2], ["1,4-5 Missing comma"]),
        ("[1,,2]", [1, 2], ["1,4-5 Extra comma"]),
        ('{"a" 1}', [("a", 1)], ["1,6-7 Missing colon"]),
        ('{"a" = 1}', [("a", 1)], ["1,6-7 Equals sign instead of a colon"]),
        ('{"a": }', [("a", ...)], ["1,7-8 Missing value"]),
        ('{"a", "b": 1}', [("a", ...), ("b", 1)], ["1,5-6 Missing value"]),
        ('{"a" "b": 1}', [("a", ...), ("b", 1)], ["1,6-7 Missing value"]),
        ('{"a": "b": 1}', [("b", 1)], ["1,10-11 Unexpected colon"]),
        ("{a: 1}", [("a", 1)], ["1,2-3 Property name without quotes"]),
        ("{1: 2}", [("1", 2)], ["1,2-3 Property name without quotes"]),
        ("{[1]}", [], ["1,2-3 Missing property name"]),
        (
            "{'a': 'b'}",
            [("a", "b")],
            ["1,2-5 Single quotes in JSON", "1,7-10 Single quotes in JSON"],
        ),
        ("[1: 2]", [1, 2], ["1,3-4 Colon in JSON array"]),
        ("[tru, 1]", [..., 1], ["1,2-5 Invalid JSON keyword"]),
        ("[NaN]", [...], ["1,2-5 Invalid JSON keyword"]),
        ('[var.a["x"], 1]', [..., ["x"], 1], ["1,2-7 Invalid JSON keyword"]),
        ("[01]", [...], ["1,2-4 Invalid JSON number"]),
        ("[+1, .5, 1., 0x1f]", [...] * 4, [
            "1,2-4 Invalid JSON number",
            "1,6-8 Invalid JSON number",
            "1,10-12 Invalid JSON number",
            "1,14-18 Invalid JSON number",
        ]),
        ('["x\\qy"]', ["xqy"], ["1,4-6 Invalid JSON string"]),
        ('["x\ty"]', ["x\ty"], ["1,4-5 Invalid JSON string"]),
        ('["\\u12"]', ["u12"], ["1,3-7 Invalid JSON string"]),
        ('["x\n, 1]', [..., 1], ["1,2-3 Unterminated JSON string"]),
        ('["x\\"]', [...], ["1,2-3 Unterminated JSON string"]),
        ("[1; 2]", [1, 2], ["1,3-4 Unexpected character in JSON"]),
        ('{"a": @}', [("a", ...)], ["1,7-8 Unexpected character in JSON"]),
        ("[@]", [], ["1,2-3 Unexpected character in JSON"]),
        ("[\xa01]", [1], ["1,2-3 Unexpected character in JSON"]),
        ("// a\n[1, # b\n/* c */ 2]", [1, 2], ["1,1-5 Comment in JSON"]),
        ('{"a": [1, 2}', [("a", [1, 2])], ["1,12-13 Mismatched brackets"]),
        ('{"a": {"b": [1}, "c": 3}', [("a", [("b", [1]), ("c", 3)])], [
            "1,15-16 Mismatched brackets"
        ]),
        ('{"a": [{"b": 1', [("a", [[("b", 1)]])], ["1,8-9 Unclosed JSON object"]),
        ("[1", [1], ["1,1-2 Unclosed JSON array"]),
        ("{}}", [], ["1,3-4 Text after the end of the JSON value"]),
        ("{} {} {}", [], ["1,4-5 Text after the end of the JSON value"]),
        ("", ..., ["1,1-1 Empty JSON file"]),
        ("]", ..., ["1,1-2 Missing value"]),
        ('"a": 1', ..., ["1,1-4 Property outside an object"]),
        ("terraform {\n}\n", ..., ["1,1-10 Not JSON"]),
    ],
)  # fmt: skip
def test_mistakes_are_reported(text: str, tree: object, reported: list[str]) -> None:
    assert parse(text) == (tree, reported)


def test_every_mistake_of_a_file_is_reported_once() -> None:
    text = '{\n"a": tru,\n"b": [1 2],\n"c": {"d": },\n"e": 1,\n}'
    assert parse(text)[1] == [
        "2,6-9 Invalid JSON keyword",
        "3,9-10 Missing comma",
        "4,12-13 Missing value",
        "5,7-8 Trailing comma in JSON object",
    ]


def test_details_say_what_to_do() -> None:
    diags = Diagnostics()
    parse_json(Source("a.json", "[Flase, foo, undefined]"), diags)
    details = [diagnostic.detail for diagnostic in diags]
    assert 'Did you mean "false"?' in details[0]
    assert '"${...}"' in details[1]
    assert "JavaScript" in details[2]


@needs_conformance
@pytest.mark.parametrize("row", table("tables/hcl-tables.jsonl", ["TestKeywordSuggestion"]))
def test_keyword_suggestions_of_the_shared_tables(row: Row) -> None:
    fields = row["fields"]
    assert isinstance(fields, dict)
    wanted = fields["Want"]
    expected = f' Did you mean "{wanted}"?' if wanted else ""
    assert keyword_suggestion(str(fields["Input"])) == expected


@given(st.text(alphabet="{}[],:\"\\'/ \n1-etrualn#=*x\x00é\udcff", max_size=60))
def test_any_text_is_parsed(text: str) -> None:
    _, reported = parse(text)
    try:
        json.loads(text)
    except ValueError:
        assert reported
    else:
        assert not reported
    assert len(reported) == len(set(reported))


@pytest.mark.parametrize(
    ("text", "count"),
    [
        pytest.param("[" * 100_000, 1, id="brackets"),
        pytest.param('{"a":' * 100_000, 1, id="objects"),
        pytest.param("[" * DEEPEST + "]" * DEEPEST, 0, id="as deep as allowed"),
        pytest.param("[" * (DEEPEST + 1) + "]" * (DEEPEST + 1), 1, id="one too deep"),
        pytest.param("\x00" * 1_000_000, 1, id="NUL"),
        pytest.param('"' + "\\n" * 1_000_000 + '"', 0, id="escapes"),
        pytest.param('"' + "\\q" * 1_000_000 + '"', 1, id="wrong escapes"),
        pytest.param('"' + "a" * 10_000_000 + '"', 0, id="a long line"),
    ],
)
def test_hostile_input_costs_little_and_gives_one_diagnostic(text: str, count: int) -> None:
    diags = Diagnostics()
    with costs_little():
        parse_json(Source("a.json", text), diags)
    assert len(diags) == count
