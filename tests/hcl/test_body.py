"""Bodies by schema: content, the rest, and what is said about items that do not fit."""

import pytest

from nigari import hcl
from nigari.diagnostics import Diagnostics
from nigari.hcl.body import AttributeSchema, BlockSchema, Body, BodySchema, merge_bodies
from nigari.hcl.parser import parse_body
from nigari.hcl.source import Source

SCHEMA = BodySchema(
    (AttributeSchema("name", required=True), AttributeSchema("size")),
    (BlockSchema("disk", ("kind",)), BlockSchema("tags")),
)


def read(text: str) -> Body:
    diags = Diagnostics()
    body = parse_body(Source("t", text), diags)
    assert not diags.has_errors
    return body


def test_content() -> None:
    diags = Diagnostics()
    content = read('name = 1\ndisk "a" {}\ntags {}\ndisk "b" {}\n').content(SCHEMA, diags)
    assert not diags.has_errors
    assert list(content.attributes) == ["name"]
    assert [(block.type, block.labels) for block in content.blocks] == [
        ("disk", ["a"]),
        ("tags", []),
        ("disk", ["b"]),
    ]
    assert len(content.blocks_of("disk")) == 2


@pytest.mark.parametrize(
    ("text", "place", "word"),
    [
        ("size = 1\n", "1,1-1", "name"),
        ("name = 1\nnmae = 2\n", "2,1-5", "no argument"),
        ("name = 1\nsise = 2\n", "2,1-5", '"size"'),
        ("name = 1\ntags = {}\n", "2,1-5", "is a block"),
        ("name = 1\ndiks {}\n", "2,1-5", '"disk"'),
        ("name = 1\nsize {}\n", "2,1-5", "is an argument"),
        ("name = 1\ndisk {}\n", "2,6-7", "kind"),
        ('name = 1\ndisk "a" "b" {}\n', "2,10-13", "one label"),
        ('name = 1\ntags "a" {}\n', "2,6-9", "no labels"),
    ],
)
def test_unfit_items(text: str, place: str, word: str) -> None:
    diags = Diagnostics()
    read(text).content(SCHEMA, diags)
    assert [str(each.subject) for each in diags] == [f"t:{place}"]
    assert word in diags[0].detail


def test_partial_content_leaves_the_rest() -> None:
    diags = Diagnostics()
    body = read("name = 1\nmore = 2\nother {}\ntags {}\n")
    content, rest = body.partial_content(SCHEMA, diags)
    assert list(content.attributes) == ["name"]
    remaining = rest.content(BodySchema((AttributeSchema("more"),), (BlockSchema("other"),)), diags)
    assert not diags.has_errors
    assert list(remaining.attributes) == ["more"]
    assert [block.type for block in remaining.blocks] == ["other"]
    rest.content(BodySchema((AttributeSchema("name", required=True),)), diags)
    assert diags.error_count == 3


def test_just_attributes() -> None:
    diags = Diagnostics()
    assert list(read("a = 1\nb = 2\n").just_attributes(diags)) == ["a", "b"]
    assert not diags.has_errors
    assert list(read("a = 1\nb {}\nc {}\n").just_attributes(diags)) == ["a"]
    assert [str(each.subject) for each in diags] == ["t:2,1-2"]


def test_merged_bodies_are_one() -> None:
    diags = Diagnostics()
    merged = merge_bodies([read("size = 1\n"), read("name = 2\ntags {}\n")])
    content = merged.content(SCHEMA, diags)
    assert not diags.has_errors
    assert sorted(content.attributes) == ["name", "size"]
    assert len(content.blocks) == 1


def test_merged_bodies_set_an_argument_once() -> None:
    diags = Diagnostics()
    merged = merge_bodies([read("name = 1\n"), read("name = 2\n")])
    merged.content(SCHEMA, diags)
    assert diags.error_count == 1
    merged.just_attributes(diags)
    assert diags.error_count == 2


def test_merged_bodies_miss_an_argument_once() -> None:
    diags = Diagnostics()
    _, rest = merge_bodies([read(""), read("x = 1\n")]).partial_content(SCHEMA, diags)
    assert diags.error_count == 1
    assert list(rest.just_attributes(diags)) == ["x"]


def test_no_bodies_are_an_empty_body() -> None:
    diags = Diagnostics()
    assert merge_bodies([]).just_attributes(diags) == {}
    assert merge_bodies([]).missing_item_range.filename == ""


def test_what_is_written_in_a_block() -> None:
    file = hcl.parse("a {\n  b = 1\n  c {}\n}\n")
    (block,) = file.body.blocks
    assert list(block.attributes) == ["b"]
    assert [each.type for each in block.blocks] == ["c"]
    json = hcl.parse_any('{"a": {}}', "x.json").body
    with pytest.raises(TypeError, match="a schema is needed"):
        json.written_attributes()
    with pytest.raises(TypeError, match="a schema is needed"):
        json.written_blocks()
