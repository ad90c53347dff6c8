"""Bodies in JSON: which properties a schema selects, labels, and what is said of mistakes."""

from __future__ import annotations

import pytest

from nigari.diagnostics import Diagnostics
from nigari.hcl.body import AttributeSchema, BlockSchema, BodySchema, Content
from nigari.hcl.json_body import JsonBody, parse_json_body
from nigari.hcl.source import Source

SCHEMA = BodySchema(
    (AttributeSchema("name"), AttributeSchema("size", required=True)),
    (BlockSchema("plain"), BlockSchema("typed", ("type", "name"))),
)
OPTIONAL = BodySchema((AttributeSchema("name"), AttributeSchema("size")), SCHEMA.blocks)


def body(text: str) -> JsonBody:
    diags = Diagnostics()
    result = parse_json_body(Source("a.json", text), diags)
    assert not list(diags)
    return result


def reported(diags: Diagnostics) -> list[str]:
    return [
        f"{str(diagnostic.subject).removeprefix('a.json:')} {diagnostic.summary}"
        for diagnostic in diags
    ]


def shape(content: Content) -> tuple[list[str], list[str]]:
    """The names of the arguments; the blocks as type, labels and what is in them."""
    schema = BodySchema((AttributeSchema("x"),))
    blocks = []
    for block in content.blocks:
        inner, _ = block.body.partial_content(schema, Diagnostics())
        blocks.append(" ".join([block.type, *block.labels, *inner.attributes]))
    return list(content.attributes), blocks


@pytest.mark.parametrize(
    ("text", "attributes", "blocks"),
    [
        ("{}", [], []),
        ("[]", [], []),
        ('{"name": 1, "size": 2}', ["name", "size"], []),
        ('[{"name": 1}, {"size": 2}]', ["name", "size"], []),
        ('{"//": "remark", "name": 1}', ["name"], []),
        ('{"plain": {"x": 1}}', [], ["plain x"]),
        ('{"plain": [{"x": 1}, {}]}', [], ["plain x", "plain"]),
        ('{"plain": []}', [], []),
        ('{"plain": null}', [], []),
        ('{"plain": {}, "plain": {"x": 1}}', [], ["plain", "plain x"]),
        (
            '{"typed": {"a": {"b": {}, "c": {"x": 1}}, "d": {"e": [{}, {}]}}}',
            [],
            ["typed a b", "typed a c x", "typed d e", "typed d e"],
        ),
        (
            '{"typed": [{"a": {"b": {}}}, {"a": [{"c": {}}, {"d": {}}]}]}',
            [],
            ["typed a b", "typed a c", "typed a d"],
        ),
        ('{"typed": {"a": {"b": null}}}', [], []),
    ],
)
def test_content(text: str, attributes: list[str], blocks: list[str]) -> None:
    diags = Diagnostics()
    content = body(text).content(OPTIONAL, diags)
    assert reported(diags) == []
    assert shape(content) == (attributes, blocks)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", ["1,2-3 Missing argument"]),
        ("[{}]", ["1,1-2 Missing argument"]),
        ('{"size": 1, "size": 2}', ["1,13-19 Duplicate argument"]),
        ('{"size": 1, "nane": 2}', ["1,13-19 Unexpected property"]),
        ('[{"size": 1}, 5]', ["1,15-16 Wrong kind of JSON value"]),
        ('{"size": 1, "plain": "x"}', ["1,22-25 Wrong kind of JSON value"]),
        ('{"size": 1, "typed": "x"}', ["1,22-25 Wrong kind of JSON value"]),
        ('{"size": 1, "typed": [1]}', ["1,23-24 Wrong kind of JSON value"]),
        ('{"size": 1, "typed": {}}', ["1,22-23 Missing block label"]),
        ('{"size": 1, "typed": {"a": {}}}', ["1,28-29 Missing block label"]),
        ('{"size": 1, "typed": {"a": {"b": 1}}}', ["1,34-35 Wrong kind of JSON value"]),
    ],
)
def test_mistakes_are_reported(text: str, expected: list[str]) -> None:
    diags = Diagnostics()
    body(text).content(SCHEMA, diags)
    assert reported(diags) == expected


def test_a_near_name_is_suggested_unless_it_is_set_already() -> None:
    diags = Diagnostics()
    body('{"nane": 1, "plan": {}}').content(OPTIONAL, diags)
    body('{"name": 1, "nane": 1}').content(OPTIONAL, diags)
    assert ['Did you mean "name"?' in diagnostic.detail for diagnostic in diags] == [
        True,
        False,
        False,
    ]
    assert 'Did you mean "plain"?' in diags[1].detail


def test_the_wrong_element_of_an_array_of_blocks_is_reported_by_its_own_body() -> None:
    diags = Diagnostics()
    content = body('{"plain": [5]}').content(OPTIONAL, diags)
    assert reported(diags) == []
    content.blocks[0].body.content(OPTIONAL, diags)
    assert reported(diags) == ["1,12-13 Wrong kind of JSON value"]


def test_partial_content_leaves_the_rest() -> None:
    diags = Diagnostics()
    schema = BodySchema((AttributeSchema("a"),), (BlockSchema("b"),))
    content, rest = body('{"a": 1, "b": {}, "c": 2, "//": 0}').partial_content(schema, diags)
    assert shape(content) == (["a"], ["b"])
    assert list(rest.just_attributes(diags)) == ["c"]
    assert shape(rest.content(BodySchema((AttributeSchema("c"),)), diags)) == (["c"], [])
    assert reported(diags) == []


@pytest.mark.parametrize(
    ("text", "names", "expected"),
    [
        ('{"a": 1, "b": {}, "//": 1}', ["a", "b"], []),
        ('{"a": 1, "a": 2}', ["a"], ["1,10-13 Duplicate argument"]),
        ('[{"a": 1}]', [], ["1,1-2 Wrong kind of JSON value"]),
    ],
)
def test_just_attributes(text: str, names: list[str], expected: list[str]) -> None:
    diags = Diagnostics()
    assert list(body(text).just_attributes(diags)) == names
    assert reported(diags) == expected


def test_ranges() -> None:
    diags = Diagnostics()
    text = '{"typed": {"a": {"b": [{"x": 1}]}}, "name": "n"}'
    content = body(text).content(OPTIONAL, diags)
    block = content.blocks[0]
    assert [str(place).removeprefix("a.json:") for place in block.label_ranges] == [
        "1,12-15",
        "1,18-21",
    ]
    assert str(block.type_range) == "a.json:1,2-9"
    assert str(block.def_range) == "a.json:1,23-24"
    assert str(block.open_range) == "a.json:1,24-25"
    attribute = content.attributes["name"]
    assert str(attribute.name_range) == "a.json:1,37-43"
    assert str(attribute.range) == "a.json:1,37-48"
    assert str(attribute.expr.range) == "a.json:1,45-48"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5", ["1,1-2 Wrong kind of JSON value"]),
        ("null", ["1,1-5 Wrong kind of JSON value"]),
        ("nope", ["1,1-5 Not JSON"]),
        ("", ["1,1-1 Empty JSON file"]),
    ],
)
def test_a_file_that_is_no_body_is_an_empty_body(text: str, expected: list[str]) -> None:
    diags = Diagnostics()
    result = parse_json_body(Source("a.json", text), diags)
    result.content(OPTIONAL, diags)
    result.just_attributes(diags)
    assert reported(diags) == expected


def test_what_could_not_be_read_is_not_missing_too() -> None:
    diags = Diagnostics()
    result = parse_json_body(Source("a.json", '{"size": oops, "plain": @, "typed": }'), diags)
    before = len(diags)
    assert list(result.content(SCHEMA, diags).attributes) == ["size"]
    assert len(diags) == before
