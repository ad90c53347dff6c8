import pytest

from nigari import cty
from nigari.cty.types import NUMBER, STRING, ListType, MapType, ObjectType, SetType, TupleType, Type
from nigari.diagnostics import Diagnostics
from nigari.hcl.body import Body
from nigari.hcl.decode import variables
from nigari.hcl.dynamic_blocks import expand, expand_variables
from nigari.hcl.parser import parse_body
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source
from nigari.schema.attribute_blocks import are_allowed, element_block
from nigari.schema.block import Attribute, Block, NestedAttributes, NestedBlock, Nesting
from nigari.schema.decode import decode, decoder_spec

INNER = ObjectType({"x": STRING})
RULE = ObjectType({"port": NUMBER, "inner": ListType(INNER)})
BLOCK = Block(
    {
        "rule": Attribute(ListType(RULE), optional=True),
        "other": Attribute(STRING, optional=True),
    },
    {"zone": NestedBlock(Block({"rule": Attribute(SetType(RULE), optional=True)}), Nesting.LIST)},
)


def body(text: str) -> Body:
    diags = Diagnostics()
    found = parse_body(Source.from_bytes("t.tf", text.encode()), diags)
    assert not list(diags)
    return found


@pytest.mark.parametrize(
    ("type_", "allowed"),
    [
        (STRING, True),
        (cty.DYNAMIC, True),
        (ListType(STRING), True),
        (MapType(STRING), True),
        (ListType(INNER), True),
        (SetType(INNER), True),
        (ListType(ListType(STRING)), True),
        (MapType(SetType(NUMBER)), True),
        (INNER, False),
        (TupleType((STRING,)), False),
        (MapType(INNER), False),
        (ListType(ListType(INNER)), False),
        (MapType(ListType(ListType(STRING))), False),
    ],
    ids=str,
)
def test_what_an_old_provider_can_have(type_: Type, allowed: bool) -> None:
    block = Block({"a": Attribute(type_, optional=True)})
    assert are_allowed(block) is allowed
    assert are_allowed(Block(blocks={"b": NestedBlock(block, Nesting.LIST)})) is allowed


def test_nested_attributes_are_of_a_newer_kind() -> None:
    nested = NestedAttributes({"a": Attribute(STRING, optional=True)}, Nesting.LIST)
    assert not are_allowed(Block({"a": Attribute(nested=nested, optional=True)}))


@pytest.mark.parametrize("type_", [None, STRING, INNER, MapType(INNER), ListType(STRING)], ids=str)
def test_types_whose_elements_are_never_blocks(type_: Type | None) -> None:
    assert element_block(type_) is None


def test_one_block_may_hold_the_attributes_of_an_element() -> None:
    found = element_block(SetType(RULE))
    assert found is not None
    assert found.implied_type == RULE
    assert not any(attribute.required for attribute in found.attributes.values())


def test_a_block_of_a_newer_schema_is_refused_though_it_is_used_in_an_older_one_too() -> None:
    zone = BLOCK.blocks["zone"]
    newer = Block({"pair": Attribute(INNER, optional=True)}, {"zone": zone})
    text = "zone {\n rule { port = 1 }\n}\n"
    for block, wrong in ((BLOCK, 0), (newer, 1), (BLOCK, 0)):
        diags = Diagnostics()
        decode(block, body(text), Scope(), diags)
        assert diags.error_count == wrong


TEXT = """\
other = o
rule {
  port = a
  inner { x = b }
  dynamic "inner" {
    for_each = c
    content { x = "${inner.value}${d}" }
  }
}
dynamic "rule" {
  for_each = e
  content {
    inner = [{ x = rule.value, y = f }]
  }
}
zone {
  rule { port = g }
}
"""


def test_references_in_blocks() -> None:
    found = expand_variables(body(TEXT), decoder_spec(BLOCK))
    assert [str(each) for each in found] == ["o", "a", "b", "c", "d", "e", "f", "g"]


def test_references_of_one_attribute() -> None:
    found = expand_variables(body(TEXT), decoder_spec(BLOCK).pieces["rule"])
    assert [str(each) for each in found] == ["a", "b", "c", "d", "e", "f"]
    assert not expand_variables(
        body("other = 1\n" + TEXT[10:]), decoder_spec(BLOCK).pieces["other"]
    )


def test_references_without_expansion() -> None:
    assert [str(each) for each in variables(body("rule { port = a }"), decoder_spec(BLOCK))] == [
        "a"
    ]
    assert [str(each) for each in variables(body("rule = [a]"), decoder_spec(BLOCK))] == ["a"]


def test_what_is_not_known_yet_makes_the_whole_unknown_and_mistakes_are_still_found() -> None:
    text = 'rule {}\ndynamic "rule" {\n  for_each = later\n  content { prot = 1 }\n}\n'
    scope = Scope({"later": cty.unknown(ListType(STRING))})
    diags = Diagnostics()
    value = decode(BLOCK, expand(body(text), scope), scope, diags)
    assert value.attribute("rule") == cty.unknown(ListType(RULE))
    assert [each.summary for each in diags] == ["Unexpected argument"]


def test_marks_of_a_collection_are_on_what_is_made_of_it() -> None:
    text = 'dynamic "rule" {\n for_each = secret\n content {\n  inner { x = rule.value }\n }\n}\n'
    scope = Scope({"secret": cty.Value.of(["x"]).mark("secret")})
    value = decode(BLOCK, expand(body(text), scope), scope, Diagnostics())
    (rule,) = value.attribute("rule").sequence()
    assert not rule.is_marked
    assert not rule.attribute("port").is_marked
    assert rule.attribute("inner").is_marked
