"""Bodies, arguments and blocks: what is read, and every error once at its place."""

import pytest

from nigari.diagnostics import Diagnostics
from nigari.hcl.body import Block
from nigari.hcl.native_body import NativeBody
from nigari.hcl.parser import parse_body
from nigari.hcl.source import Source


def read(text: str) -> tuple[NativeBody, Diagnostics]:
    diags = Diagnostics()
    return parse_body(Source("t", text), diags), diags


def places(diags: Diagnostics) -> list[str]:
    return [str(each.subject).removeprefix("t:") for each in diags]


def outline(body: NativeBody) -> list[object]:
    blocks: list[object] = []
    for block in body.blocks:
        assert isinstance(block.body, NativeBody)
        blocks.append((block.type, *block.labels, outline(block.body)))
    return [*body.attributes, *blocks]


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("", []),
        ("# nothing\n\n", []),
        ("a = 1", ["a"]),
        ("a = 1\nb = 2\n", ["a", "b"]),
        ("a=1\r\nb {\r\n  c = 2\r\n}\r\n", ["a", ("b", ["c"])]),
        ('a b "c" {\n}\n', [("a", "b", "c", [])]),
        ('a "b\\"c" {}\n', [("a", 'b"c', [])]),
        ("a { b = 1 }\n", [("a", ["b"])]),
        ("a {\n  b {\n    c = 1\n  }\n  d = 2\n}\n", [("a", ["d", ("b", ["c"])])]),
        ("a { # why\n  b = 1 // this\n}\n", [("a", ["b"])]),
        ("a = [\n  1,\n]\nb = (\n1\n)\n", ["a", "b"]),
        ("a = <<E\n}\nE\nb = 1\n", ["a", "b"]),
        ("if = 1\nfor = 2\nin = 3\n", ["if", "for", "in"]),
        ("a {\n  for x in {\n  }\n}\n", [("a", [("for", "x", "in", [])])]),
    ],
)
def test_outline(text: str, want: list[object]) -> None:
    body, diags = read(text)
    assert outline(body) == want
    assert not diags.has_errors


@pytest.mark.parametrize(
    ("text", "want"),
    [
        # one error, the rest of the file stays
        ("a = \nb = 1\n", ["1,5-2,1"]),
        ("a = 1 2\nb = 1\n", ["1,7-8"]),
        ("a = 1, b = 2\nc = 1\n", ["1,6-7"]),
        ("a\nb = 1\n", ["1,1-2"]),
        ("a.b = 1\nc = 1\n", ["1,1-2"]),
        ('"a" = 1\nb = 1\n', ["1,1-2"]),
        ("a = 1\na = 2\n", ["2,1-2"]),
        ("a = 'b'\nc = 1\n", ["1,5-6"]),
        ("a = ${b}\nc = 1\n", ["1,5-6"]),
        ("a = 1;\nb = 1\n", ["1,6-7"]),
        ("a = “b”\nc = 1\n", ["1,5-6"]),
        ("a = [1 2]\nb = 1\n", ["1,8-9"]),
        ("a = f(1\nb = 2\n", ["2,1-2"]),
        # one for each of several
        ("a = ]\nb = )\nc = 1\n", ["1,5-6", "2,5-6"]),
        ("a = [1 2, 3 4, 5]\n", ["1,8-9", "1,13-14"]),
        ("a = {\n  b = \n  c = 1\n  d = =\n}\n", ["2,7-3,1", "4,7-8"]),
        ("a {\n  b = [\n}\nc = *\n", ["3,1-2", "4,5-6"]),
        # blocks
        ("a {\n", ["1,3-4"]),
        ("a {\n  b {\n}\n", ["1,3-4"]),
        ("}\na = 1\n", ["1,1-2"]),
        ("a {\n} b = 1\n", ["2,3-4"]),
        ('a "b" = 1\nc = 1\n', ["1,7-8"]),
        ('a "b"\nc = 1\n', ["1,6-2,1"]),
        ("a\n{\n  b = 1\n}\nc = 1\n", ["1,1-2"]),
        ('a "${b}" {\n}\n', ["1,4-6"]),
        ("a { b = 1, c = 2 }\nd = 1\n", ["1,10-11"]),
        ("a { b = 1\n}\nc = 1\n", ["1,10-2,1"]),
        ("a { b {} }\nc = 1\n", ["1,5-8"]),
        # what follows from an error is not reported
        ("a = 1 +\n  2\nb = 1\n", ["1,8-2,1"]),
        ("a = b\n  ? 1\n  : 2\nc = 1\n", ["2,3-4"]),
        # strings
        ('a = "b\nc = 1\n', ["1,7-2,1"]),
        ('a = "b\nc"\nd = 1\n', ["1,7-2,1"]),
        ("a = <<E\nb\n", ["3,1-1"]),
        ('a = "\\q \\u12 \\uD800"\n', ["1,6-8", "1,9-13", "1,14-20"]),
    ],
)
def test_errors(text: str, want: list[str]) -> None:
    _, diags = read(text)
    assert places(diags) == want


@pytest.mark.parametrize(
    "text",
    ["a = ]\nb = 1\n", "x\nb = 1\n", "a = [1 2]\nb = 1\n", 'c "\nb = 1\n', "a = {\n=\n}\nb = 1\n"],
)
def test_what_is_right_stays_usable(text: str) -> None:
    body, diags = read(text)
    assert diags.error_count == 1
    assert "b" in body.attributes


def test_ranges_of_a_block() -> None:
    body, _ = read('\na "b" c {\n  d = 1\n}\n')
    block = body.blocks[0]
    assert isinstance(block, Block)
    assert [
        str(block.range),
        str(block.type_range),
        str(block.def_range),
        str(block.open_range),
    ] == [
        "t:2,1-4,2",
        "t:2,1-2",
        "t:2,1-8",
        "t:2,9-10",
    ]
    assert [str(label) for label in block.label_ranges] == ["t:2,3-6", "t:2,7-8"]
    assert str(block.body.missing_item_range) == "t:2,9-9"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a {\n  b = 1\n}\n", "t:1,3-3"),
        ("a { b = 1 }\n", "t:1,5-5"),
        ("a {}\n", "t:1,3-3"),
        ("/* a\n */ b {}\n", "t:2,7-7"),
    ],
)
def test_where_a_missing_item_of_a_block_would_be(text: str, place: str) -> None:
    body, _ = read(text)
    assert str(body.blocks[0].body.missing_item_range) == place


@pytest.mark.parametrize(
    ("text", "place"), [("", "t:1,1-1"), ("\na = 1\n", "t:1,1-1"), (" /* a\n */ b {}\n", "t:2,5-5")]
)
def test_where_a_missing_item_of_a_file_would_be(text: str, place: str) -> None:
    body, _ = read(text)
    assert str(body.missing_item_range) == place


def test_ranges_of_an_argument() -> None:
    body, _ = read("a = [1,\n 2] # x\n")
    attribute = body.attributes["a"]
    assert str(attribute.range) == "t:1,1-2,4"
    assert str(attribute.name_range) == "t:1,1-2"
    assert str(attribute.expr.range) == "t:1,5-2,4"


def test_comments_may_hold_anything() -> None:
    diags = Diagnostics()
    body = parse_body(Source.from_bytes("t", b"# caf\xe9\na = 1\n"), diags)
    assert not diags.has_errors
    assert list(body.attributes) == ["a"]


def test_other_text_is_utf8() -> None:
    diags = Diagnostics()
    parse_body(Source.from_bytes("t", b'# \xff\na = "caf\xe9"\n'), diags)
    assert places(diags) == ["2,9-10"]


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("a { b = <<E\nx\n}\n", [("a", ["b"])]),
        ("a { b = }\n", [("a", ["b"])]),
        ("a { b = [1 }\n", [("a", ["b"])]),
        ("a { b }\n", [("a", [])]),
        ("a {\n  b = }\n", [("a", ["b"])]),
    ],
)
def test_an_argument_with_a_faulty_value_is_there(text: str, want: list[object]) -> None:
    body, diags = read(text)
    assert outline(body) == want
    assert len(diags) == 1
