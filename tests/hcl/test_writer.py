"""Rewriting: what is not touched stays, and what is new fits in."""

from collections.abc import Callable

import pytest

from nigari import hcl
from nigari.cty.types import STRING
from nigari.cty.values import Value, unknown
from nigari.diagnostics import Diagnostics, Pos
from nigari.hcl.writer import Document, parse_document

TEXT = """\
# The licence.

# The region.
region   =   "eu"   # here

resource "a" "b" {
  x = 1   // one
  longer = <<-EOT
    text
  EOT

  nested {
    y = var.old.name
  }
  # the end
}
one { z = [var.old, other] }
"""

LOSSLESS = [
    "",
    "\n\n",
    "a=1",
    "a=1\r\nb {\r\n}\r\n",
    "# only a comment",
    "/* a */ x /* b */ = /* c */ 1 /* d\n */\n",
    'a "b" c {}\n',
    "a { b = 1 }",
    "a {\n  b = [\n    1,\n  ] # c\n}\n",
    "a = [\n",
    "a {\n  b = 1\n",
    "a = 1 +\nb = 2\n",
    "a = 1\na = 2\n",
    "}\n",
    "x = <<E\n${a}\nE\n",
    TEXT,
]


@pytest.mark.parametrize("text", LOSSLESS)
def test_nothing_is_lost(text: str) -> None:
    assert str(parse_document(text)) == text


def test_reading() -> None:
    body = parse_document(TEXT).body
    region = body.attributes["region"]
    assert region.source == '"eu"'
    assert region.comments == "# The region."
    (block,) = body.blocks_of("resource", "a")
    assert block.labels == ["a", "b"]
    assert body.blocks_of("resource", "b") == []
    assert list(block.body.attributes) == ["x", "longer"]
    assert [str(found) for found in body.blocks_of("one")[0].body.attributes["z"].references()] == [
        "var.old",
        "other",
    ]


def _set_region(document: Document) -> None:
    document.body.set("region", "us")


def _set_new(document: Document) -> None:
    document.body.set("new", [1, {"k": True}])


def _set_nested(document: Document) -> None:
    document.body.blocks[0].body.set_source("w", "var.q")


def _remove_region(document: Document) -> None:
    assert document.body.remove("region")
    assert not document.body.remove("region")


def _remove_block(document: Document) -> None:
    document.body.remove_block(document.body.blocks[0])


def _open_up(document: Document) -> None:
    document.body.blocks[1].body.set("more", 1)


def _add_block(document: Document) -> None:
    block = document.body.append_block("output", ["o p"])
    block.body.set_source("value", "var.x")
    block.body.append_block("inner").body.set("a", None)


def _rename(document: Document) -> None:
    assert document.body.rename("var.old", "local.new") == 2


def _relabel(document: Document) -> None:
    document.body.blocks[0].set_labels(["c", "d"])
    document.body.blocks[0].set_type("data")


@pytest.mark.parametrize(
    ("change", "old", "new"),
    [
        (_set_region, '"eu"', '"us"'),
        (
            _set_new,
            "# here\n",
            "# here\nnew      = [\n  1,\n  {\n    k = true\n  },\n]\n",
        ),
        (_set_nested, "  EOT\n", "  EOT\n  w = var.q\n"),
        (_remove_region, '# The region.\nregion   =   "eu"   # here\n', ""),
        (_remove_block, TEXT[TEXT.index("resource") : TEXT.index("one {")], ""),
        (
            _open_up,
            "one { z = [var.old, other] }\n",
            "one {\n  z = [var.old, other]\n  more = 1\n}\n",
        ),
        (
            _add_block,
            "one { z = [var.old, other] }\n",
            (
                'one { z = [var.old, other] }\n\noutput "o p" {\n  value = var.x\n\n'
                "  inner {\n    a = null\n  }\n}\n"
            ),
        ),
        (_rename, "var.old", "local.new"),
        (_relabel, 'resource "a" "b"', 'data "c" "d"'),
    ],
)
def test_changes(change: Callable[[Document], None], old: str, new: str) -> None:
    document = parse_document(TEXT)
    change(document)
    assert str(document) == TEXT.replace(old, new)
    diags = Diagnostics()
    parse_document(str(document), diags=diags)
    assert not list(diags)


@pytest.mark.parametrize(
    ("text", "remaining"),
    [
        ("a {}\n\nb {}\n\nc {}\n", "a {}\n\nc {}\n"),
        ("b {}\n\nc {}\n", "c {}\n"),
        ("a {}\n\nb {}\n", "a {}\n"),
        ("a {}\n# about b\nb {}\nc {}\n", "a {}\nc {}\n"),
        ("# free\n\nb {}\n", "# free\n\n"),
        ("b {}", ""),
    ],
)
def test_removed_blocks_leave_no_holes(text: str, remaining: str) -> None:
    document = parse_document(text)
    document.body.remove_block(document.body.blocks_of("b")[0])
    assert str(document) == remaining


@pytest.mark.parametrize(
    ("text", "remaining"),
    [
        ("x {\n  # why\n  a = 1\n\n  b = 2\n}\n", "x {\n  b = 2\n}\n"),
        ("x {\n  b = 2\n\n  a = 1\n}\n", "x {\n  b = 2\n}\n"),
        ("x {\n  b = 2\n\n  a = 1\n\n  c = 3\n}\n", "x {\n  b = 2\n\n  c = 3\n}\n"),
        ("x {\n  b = 2\n  a = 1\n\n  c = 3\n}\n", "x {\n  b = 2\n\n  c = 3\n}\n"),
        ("x {\n  a = 1\n}\n", "x {\n}\n"),
        ("x { a = 1 }\n", "x { }\n"),
    ],
)
def test_nor_do_removed_arguments(text: str, remaining: str) -> None:
    document = parse_document(text)
    assert document.body.blocks[0].body.remove("a")
    assert str(document) == remaining


def test_what_is_removed_may_be_an_item() -> None:
    document = parse_document("a = 1\nb {}\nc {}\n")
    block, other = document.body.blocks
    assert document.body.remove(document.body.attributes["a"])
    assert document.body.remove(block)
    assert not document.body.remove(block)
    with pytest.raises(ValueError, match="no such item"):
        other.body.remove_block(block)
    assert str(document) == "c {}\n"


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("a   = 1 # x\nbcd = 2\n", "xy  = 1 # x\nbcd = 2\n"),
        ("a = 1\n", "xy = 1\n"),
        ("a=1\n", "xy=1\n"),
        ("a /* why */ = 1\n", "xy /* why */ = 1\n"),
    ],
)
def test_an_argument_gets_another_name(text: str, new: str) -> None:
    document = parse_document(text)
    document.body.attributes["a"].set_name("xy")
    assert str(document) == new
    with pytest.raises(ValueError, match="identifier"):
        document.body.attributes["xy"].set_name("x y")


def test_the_data_of_an_argument() -> None:
    body = parse_document('a = [1, "x", var.b]\nc = <<E\nd\nE\n').body
    assert [each.plain() for each in body.attributes.values()] == [[1, "x", "${var.b}"], "d\n"]


def test_inside_a_block_too() -> None:
    document = parse_document("x {\n  a = 1\n\n  b {}\n}\n")
    body = document.body.blocks[0].body
    body.remove_block(body.blocks[0])
    assert str(document) == "x {\n  a = 1\n}\n"


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("", "a = 1\n"),
        ("b {}\n", "a = 1\n\nb {}\n"),
        ("b = 1", "b = 1\na = 1\n"),
        ("bbb = 1\r\n", "bbb = 1\r\na   = 1\r\n"),
    ],
)
def test_first_argument(text: str, want: str) -> None:
    document = parse_document(text)
    document.body.set("a", 1)
    assert str(document) == want


@pytest.mark.parametrize("text", ["x {}", "x {\n}", "x { }"])
def test_empty_blocks(text: str) -> None:
    document = parse_document(text)
    document.body.blocks[0].body.set("a", 1)
    assert str(document) == "x {\n  a = 1\n}"


def test_formatted() -> None:
    document = parse_document("a=1\n")
    document.body.set("bb", 2)
    assert document.formatted() == "a  = 1\nbb = 2\n"


@pytest.mark.parametrize("source", ["", "1 +", "1\nb = 2", "a b", "}", "1 # comment\n + 2"])
def test_only_expressions(source: str) -> None:
    with pytest.raises(ValueError, match="is not an expression"):
        parse_document("").body.set_source("a", source)


def test_only_names() -> None:
    body = parse_document("").body
    with pytest.raises(ValueError, match="is not a valid identifier"):
        body.set("a b", 1)
    with pytest.raises(ValueError, match="is not a valid identifier"):
        body.append_block("1")


def test_only_values_that_can_be_shown() -> None:
    body = parse_document("").body
    with pytest.raises(ValueError, match="unknown"):
        body.set("a", unknown(STRING))
    with pytest.raises(ValueError, match="marked"):
        body.set("a", Value.of("secret").mark("sensitive"))


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("a { b = 1 /* why */ }\n", "a {\n  b = 1 /* why */\n  c = 2\n}\n"),
        ("a { /* x */ b = 1 }\n", "a { /* x */\n  b = 1\n  c = 2\n}\n"),
        ("a { /* x */ }\n", "a { /* x */\n  c = 2\n}\n"),
        ("  a { b = [\n  1] }\n", "  a {\n    b = [\n  1]\n    c = 2\n  }\n"),
        ("a { b {} }\n", "a { b {}\n  c = 2\n}\n"),  # not valid, and not lost
    ],
)
def test_a_block_on_one_line_opens_up_with_all_it_has(text: str, want: str) -> None:
    document = parse_document(text)
    document.body.blocks[0].body.set("c", 2)
    assert str(document) == want


def test_a_long_value_opens_the_block() -> None:
    document = parse_document("a { b = 1 /* why */ }\n")
    document.body.blocks[0].body.set("b", hcl.heredoc("x\n"))
    assert str(document) == "a {\n  /* why */\n  b = <<EOT\nx\nEOT\n}\n"
    assert not hcl.parse(str(document)).diagnostics.has_errors


def test_new_items_at_a_position() -> None:
    document = parse_document("a = 1\n# about b\nb = 2\n\nc {}\n")
    body = document.body
    body.set("x", {"z": 1, "y": 2}, before="b")
    body.set("long", 3, after="b")
    body.insert_block("d", ["e"], {"f": 1}, before=body.blocks[0])
    assert str(document) == (
        "a = 1\nx = {\n  z = 1\n  y = 2\n}\n# about b\nb = 2\nlong = 3\n\n"
        'd "e" {\n  f = 1\n}\n\nc {}\n'
    )
    for wrong in ({"before": "q"}, {"after": parse_document("a = 1").body.attributes["a"]}):
        with pytest.raises(ValueError, match="in this body"):
            body.set("n", 1, **wrong)
    with pytest.raises(ValueError, match="not both"):
        body.set("n", 1, before="a", after="b")


def test_moving() -> None:
    document = parse_document("a = 1\n# about b\nb = 2 # here\n\nc {}\n\nd {}")
    body = document.body
    body.move("b", before="a")
    body.move(body.blocks[1], before=body.blocks[0])
    body.move("a", before="a")
    assert str(document) == "# about b\nb = 2 # here\na = 1\n\nd {}\n\nc {}\n"


def test_comments_on_items() -> None:
    document = parse_document("# old\na = 1 // old\nb {\n  c = 1\n}\nd { e = 1 }\n")
    body = document.body
    body.attributes["a"].set_comments("new\n\nlines")
    body.attributes["a"].set_line_comment("now")
    body.blocks[0].body.attributes["c"].set_comments("in a block")
    body.blocks[1].body.attributes["e"].set_comments("on one line")
    assert str(document) == (
        "# new\n#\n# lines\na = 1 # now\nb {\n  # in a block\n  c = 1\n}\n"
        "d { /* on one line */ e = 1 }\n"
    )
    body.attributes["a"].set_comments("")
    body.attributes["a"].set_line_comment("")
    assert str(document).startswith("a = 1\nb {")
    assert body.attributes["a"].comments == body.attributes["a"].line_comment == ""


def test_comments_with_values() -> None:
    document = parse_document("a = <<E\nx\nE\n")
    document.body.set("b", hcl.commented([1], "why"))
    assert str(document) == "a = <<E\nx\nE\n# why\nb = [1]\n"
    with pytest.raises(ValueError, match="heredoc"):
        document.body.attributes["a"].set_line_comment("no")


def test_new_text_has_the_line_ends_of_the_file() -> None:
    document = parse_document("a = 1\r\nb {\r\n}\r\n")
    document.body.set("x", {"y": [1, {}]})
    document.body.blocks[0].body.fill({"c": {"d": 1}, "e": hcl.block({"f": {"g": 1}})})
    document.body.attributes["a"].set_comments("one\ntwo")
    assert str(document).count("\n") == str(document).count("\r\n")
    assert not hcl.parse(str(document)).diagnostics.has_errors


def test_a_document_tells_what_is_wrong() -> None:
    document = hcl.edit("a = [\n")
    assert document.diagnostics.has_errors


@pytest.mark.parametrize("text", ["\ufeffa = 1\n", "\ufeffa = 1\n".encode()])
def test_a_byte_order_mark_stays_and_hides_nothing(text: str | bytes) -> None:
    document = hcl.edit(text)
    document.body.set("a", 2)
    assert str(document) == "\ufeffa = 2\n"
    assert hcl.loads(text) == {"a": 1}
    assert hcl.parse(text).body.attributes["a"].range.start == Pos(1, 1, 3)


def test_data_of_several_lines_is_in_standard_layout() -> None:
    document = hcl.edit("a {\n  b = 1\n}\n")
    document.body.blocks[0].body.set(
        "b", {"source": "x", "v": {"long": 1, "z": hcl.commented(2, "c")}}
    )
    assert str(document) == document.formatted()
    windows = hcl.edit("a {\r\n  b = 1\r\n}\r\n")
    windows.body.blocks[0].body.set("b", {"source": "x", "v": 1})
    assert str(windows) == 'a {\r\n  b = {\r\n    source = "x"\r\n    v      = 1\r\n  }\r\n}\r\n'
