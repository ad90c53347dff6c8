import pytest

from nigari import cty
from nigari.schema.block import Attribute, Block, NestedAttributes, NestedBlock, Nesting
from nigari.schema.marked_paths import (
    attribute_at,
    sensitive_paths,
    set_write_only_paths,
    without_collection_marks,
)

SECRET = Attribute(cty.STRING, optional=True, sensitive=True)
PLAIN = Attribute(cty.STRING, optional=True)
ONCE = Attribute(cty.STRING, optional=True, write_only=True)
INNER = Block({"secret": SECRET, "once": ONCE, "plain": PLAIN})
NESTED = NestedAttributes({"secret": SECRET, "once": ONCE, "plain": PLAIN}, Nesting.MAP)
BLOCK = Block(
    {"secret": SECRET, "plain": PLAIN, "nested": Attribute(nested=NESTED, optional=True)},
    {"inner": NestedBlock(INNER, Nesting.LIST), "one": NestedBlock(INNER, Nesting.SINGLE)},
)
PART = cty.object_value(
    {"secret": cty.string("s"), "once": cty.null(cty.STRING), "plain": cty.string("p")}
)
VALUE = cty.object_value(
    {
        "secret": cty.null(cty.STRING),
        "plain": cty.string("p"),
        "nested": cty.map_value(PART.type, {"k": PART}),
        "inner": cty.list_value(PART.type, [PART, PART]),
        "one": cty.null(PART.type),
    }
)


def _texts(paths: list[cty.Path]) -> set[str]:
    return {cty.path_text(path) for path in paths}


def test_sensitive_places_are_found_at_every_depth_null_or_not() -> None:
    assert _texts(sensitive_paths(BLOCK, VALUE)) == {
        ".secret",
        '.nested["k"].secret',
        ".inner[0].secret",
        ".inner[1].secret",
    }


def test_secrets_inside_a_secret_are_told_too() -> None:
    nested = NestedAttributes({"secret": SECRET, "plain": PLAIN})
    block = Block({"whole": Attribute(nested=nested, optional=True, sensitive=True)})
    part = cty.object_value({"secret": cty.string("s"), "plain": cty.string("p")})
    found = sensitive_paths(block, cty.object_value({"whole": part}))
    assert _texts(found) == {".whole", ".whole.secret"}


def test_write_only_places_that_have_a_value() -> None:
    kept = cty.object_value({**PART.mapping(), "once": cty.string("kept")})
    value = cty.object_value({**VALUE.mapping(), "inner": cty.list_value(PART.type, [PART, kept])})
    assert _texts(set_write_only_paths(BLOCK, value)) == {".inner[1].once"}
    assert set_write_only_paths(BLOCK, VALUE) == []
    assert set_write_only_paths(BLOCK, cty.null(BLOCK.implied_type)) == []


def test_a_null_object_has_the_places_at_its_top_only() -> None:
    assert _texts(sensitive_paths(BLOCK, cty.null(BLOCK.implied_type))) == {".secret"}
    assert sensitive_paths(Block({"plain": PLAIN}), VALUE) == []


def test_attribute_at_a_path() -> None:
    key = cty.Index(cty.string("k"))
    assert attribute_at(BLOCK, (cty.GetAttr("secret"),)) is SECRET
    assert attribute_at(BLOCK, (cty.GetAttr("nested"), key, cty.GetAttr("once"))) is ONCE
    first = cty.Index(cty.number(0))
    assert attribute_at(BLOCK, (cty.GetAttr("inner"), first, cty.GetAttr("plain"))) is PLAIN
    assert attribute_at(BLOCK, (cty.GetAttr("inner"),)) is None
    assert attribute_at(BLOCK, (cty.GetAttr("plain"), cty.GetAttr("deeper"))) is None
    assert attribute_at(BLOCK, (cty.GetAttr("nothing"),)) is None


ROW, FIRST, NAME = cty.GetAttr("row"), cty.Index(cty.number(0)), cty.GetAttr("plain")
OPEN = {
    nesting: Block({"plain": PLAIN}, {"row": NestedBlock(BLOCK, nesting)}) for nesting in Nesting
}


@pytest.mark.parametrize(
    ("nesting", "path", "lasts"),
    [
        (Nesting.LIST, (NAME,), True),
        (Nesting.LIST, (ROW,), False),
        (Nesting.MAP, (ROW,), False),
        (Nesting.SET, (ROW,), True),
        (Nesting.SINGLE, (ROW,), True),
        (Nesting.LIST, (ROW, FIRST), True),
        (Nesting.LIST, (ROW, FIRST, NAME), True),
        (Nesting.LIST, (ROW, FIRST, cty.GetAttr("inner")), False),
        (Nesting.SINGLE, (ROW, cty.GetAttr("inner")), False),
    ],
)
def test_marks_that_last(nesting: Nesting, path: cty.Path, lasts: bool) -> None:
    marks: list[cty.MarksAt] = [(path, frozenset({"sensitive"}))]
    assert without_collection_marks(OPEN[nesting], marks) == (marks if lasts else [])
