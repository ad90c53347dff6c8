import pytest

from nigari import cty
from nigari.schema.block import Attribute, Block, NestedAttributes, NestedBlock, Nesting
from nigari.schema.placeholders import empty_block, unknown_block
from nigari.schema.validate import problems

NAME = Attribute(cty.STRING, required=True)
ANYTHING = Attribute(cty.DYNAMIC, optional=True)
INNER = Block({"name": NAME})
LOOSE = Block({"any": ANYTHING})
INNER_TYPE = cty.ObjectType({"name": cty.STRING})


@pytest.mark.parametrize(
    ("nesting", "expected"),
    [
        (Nesting.SINGLE, INNER_TYPE),
        (Nesting.GROUP, INNER_TYPE),
        (Nesting.LIST, cty.ListType(INNER_TYPE)),
        (Nesting.SET, cty.SetType(INNER_TYPE)),
        (Nesting.MAP, cty.MapType(INNER_TYPE)),
    ],
)
def test_nested_block_type_follows_nesting(nesting: Nesting, expected: cty.Type) -> None:
    block = Block({}, {"inner": NestedBlock(INNER, nesting)})
    assert block.implied_type == cty.ObjectType({"inner": expected})


@pytest.mark.parametrize("nesting", [Nesting.LIST, Nesting.MAP])
def test_elements_of_no_fixed_type_make_the_whole_dynamic(nesting: Nesting) -> None:
    block = Block({}, {"inner": NestedBlock(LOOSE, nesting)})
    assert block.implied_type == cty.ObjectType({"inner": cty.DYNAMIC})


def test_nested_attributes_are_optional_only_in_the_type_to_convert_to() -> None:
    nested = NestedAttributes({"name": NAME, "size": Attribute(cty.NUMBER, optional=True)})
    block = Block({"inner": Attribute(nested=nested, optional=True)})
    types = {"name": cty.STRING, "size": cty.NUMBER}
    assert nested.spec_type == cty.ObjectType(types, frozenset({"size"}))
    assert block.implied_type == cty.ObjectType({"inner": cty.ObjectType(types)})


def test_empty_block_has_a_null_or_an_empty_collection_in_each_place() -> None:
    block = Block(
        {"name": NAME},
        {
            "single": NestedBlock(INNER, Nesting.SINGLE),
            "group": NestedBlock(INNER, Nesting.GROUP),
            "list": NestedBlock(INNER, Nesting.LIST),
            "loose": NestedBlock(LOOSE, Nesting.LIST),
            "set": NestedBlock(INNER, Nesting.SET),
            "map": NestedBlock(INNER, Nesting.MAP),
            "loose_map": NestedBlock(LOOSE, Nesting.MAP),
        },
    )
    assert empty_block(block) == cty.object_value(
        {
            "name": cty.null(cty.STRING),
            "single": cty.null(INNER_TYPE),
            "group": cty.object_value({"name": cty.null(cty.STRING)}),
            "list": cty.list_value(INNER_TYPE, ()),
            "loose": cty.EMPTY_TUPLE,
            "set": cty.set_value(INNER_TYPE, ()),
            "map": cty.map_value(INNER_TYPE, {}),
            "loose_map": cty.EMPTY_OBJECT,
        }
    )


def test_unknown_block_knows_its_attribute_names_only() -> None:
    assert unknown_block(INNER) == cty.object_value({"name": cty.unknown(cty.STRING)})


BAD = [
    (Block({"a": Attribute(cty.STRING)}), "required, optional or computed"),
    (Block({"a": Attribute(cty.STRING, required=True, optional=True)}), "cannot be optional"),
    (Block({"a": Attribute(cty.STRING, computed=True, write_only=True)}), "write-only"),
    (Block({"a": Attribute(required=True)}), "either a type or nested"),
    (Block({"a": NAME}, {"a": NestedBlock(INNER, Nesting.LIST)}), "both an attribute and"),
    (Block({}, {"A-b": NestedBlock(INNER, Nesting.LIST)}), "lowercase"),
    (Block({}, {"a": NestedBlock(INNER, Nesting.SINGLE, 0, 1)}), "both be 0 or both be 1"),
    (Block({}, {"a": NestedBlock(INNER, Nesting.GROUP, 1, 1)}), "cannot have limits"),
    (Block({}, {"a": NestedBlock(INNER, Nesting.MAP, 0, 1)}), "cannot have limits"),
    (Block({}, {"a": NestedBlock(INNER, Nesting.LIST, 3, 2)}), "above the upper"),
    (Block({}, {"a": NestedBlock(INNER, Nesting.LIST, -1, 2)}), "negative"),
    (Block({}, {"a": NestedBlock(LOOSE, Nesting.SET)}), "fixed type"),
    (
        Block(
            {"a": Attribute(nested=NestedAttributes({"b": ANYTHING}, Nesting.SET), optional=True)}
        ),
        "fixed type",
    ),
]


@pytest.mark.parametrize(("block", "part"), BAD, ids=[part for _, part in BAD])
def test_a_schema_that_contradicts_itself_is_named(block: Block, part: str) -> None:
    assert any(part in text for text in problems(block))


def test_a_sound_schema_has_no_problems() -> None:
    block = Block({"name": NAME}, {"inner": NestedBlock(INNER, Nesting.LIST, 1, 2)})
    assert list(problems(block)) == []
