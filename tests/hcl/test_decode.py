"""Declarative decoding: every piece of a specification, its type, its references, its errors."""

import pytest

from nigari.cty.errors import CtyError
from nigari.cty.function import Function, FunctionError, Parameter
from nigari.cty.refinements import Refinement
from nigari.cty.stdlib.strings import UPPER
from nigari.cty.types import (
    BOOL,
    DYNAMIC,
    NUMBER,
    STRING,
    ListType,
    MapType,
    ObjectType,
    SetType,
    TupleType,
    Type,
)
from nigari.cty.values import Value, number, string, unknown
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.decode import (
    Array,
    Attr,
    BlockLabel,
    Default,
    Expr,
    LiteralValue,
    Object,
    Refine,
    Spec,
    TransformExpr,
    TransformFunction,
    Validate,
    decode,
    partial_decode,
    schema_of,
    variables,
)
from nigari.hcl.decode_blocks import (
    BlockAttrs,
    BlockList,
    BlockMap,
    BlockObject,
    BlockSet,
    BlockTuple,
    SingleBlock,
)
from nigari.hcl.expressions import Expression
from nigari.hcl.parser import parse_body, parse_expression
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source

V = Attr("v", NUMBER)
ANY = Attr("v", DYNAMIC)
NAMED = Object({"name": BlockLabel(0, "name"), "v": V})


def _expression(text: str) -> Expression:
    diags = Diagnostics()
    expression = parse_expression(Source("spec", text), diags)
    assert not list(diags)
    return expression


def _decode(text: str, spec: Spec) -> tuple[Value, list[str]]:
    diags = Diagnostics()
    body = parse_body(Source("t.hcl", text), diags)
    scope = Scope({"x": number(7), "later": unknown(NUMBER)})
    return decode(body, spec, scope, diags), [found.summary for found in diags]


def _twice(args: list[Value], _: Type) -> Value:
    if args[0].as_number() == 0:
        raise FunctionError("zero has no double")
    return number(int(str(args[0].to_python())) * 2)


TWICE = Function((Parameter("n", NUMBER),), None, NUMBER, _twice)


def _positive(value: Value, where: Range, diags: Diagnostics) -> None:
    if value.as_number() == 0:
        diags.error("Not positive", subject=where)


@pytest.mark.parametrize(
    ("text", "spec", "type_", "want"),
    [
        ("v = 1", V, NUMBER, 1),
        ('v = "1"', V, NUMBER, 1),
        ("", V, NUMBER, None),
        ("v = [x]", ANY, DYNAMIC, [7]),
        ("", LiteralValue(string("a")), STRING, "a"),
        ("", Expr(_expression("x + 1")), DYNAMIC, 8),
        (
            "v = 1",
            Object({"a": V, "b": V}),
            ObjectType({"a": NUMBER, "b": NUMBER}),
            {"a": 1, "b": 1},
        ),
        ("v = 1", Array([V, LiteralValue(string("a"))]), TupleType((NUMBER, STRING)), [1, "a"]),
        ("", Default(V, LiteralValue(number(5))), NUMBER, 5),
        ("v = 1", Default(V, LiteralValue(number(5))), NUMBER, 1),
        ("v = 2", TransformExpr(V, _expression("n * 10"), Scope(), "n"), NUMBER, 20),
        ("v = 2", TransformFunction(V, TWICE), NUMBER, 4),
        ("v = 2", Refine(V, Refinement(not_null=True)), NUMBER, 2),
        ("v = 2", Validate(V, _positive), NUMBER, 2),
        ("b { v = 1 }", SingleBlock("b", V), NUMBER, 1),
        ("", SingleBlock("b", V), NUMBER, None),
        (
            'b "n" { v = 1 }',
            SingleBlock("b", NAMED),
            ObjectType({"name": STRING, "v": NUMBER}),
            {"name": "n", "v": 1},
        ),
        ("b { v = 1 }\nb { v = 2 }", BlockList("b", V), ListType(NUMBER), [1, 2]),
        ("", BlockList("b", V), ListType(NUMBER), []),
        ('b { v = 1 }\nb { v = "x" }', BlockList("b", ANY), ListType(DYNAMIC), ["1", "x"]),
        ("b { v = 2 }\nb { v = 1 }\nb { v = 2 }", BlockSet("b", V), SetType(NUMBER), [1, 2]),
        ('b { v = 1 }\nb { v = "x" }', BlockTuple("b", ANY), DYNAMIC, [1, "x"]),
        ('b "k" { v = 1 }', BlockMap("b", ["key"], V), MapType(NUMBER), {"k": 1}),
        (
            'b "k" "l" { v = 1 }\nb "k" "m" { v = 2 }',
            BlockMap("b", ["one", "two"], V),
            MapType(MapType(NUMBER)),
            {"k": {"l": 1, "m": 2}},
        ),
        (
            'b "k" "n" { v = 1 }',
            BlockMap("b", ["key"], NAMED),
            MapType(ObjectType({"name": STRING, "v": NUMBER})),
            {"k": {"name": "n", "v": 1}},
        ),
        ("", BlockMap("b", ["key"], V), MapType(NUMBER), {}),
        (
            'b "k" { v = 1 }\nb "l" { v = "x" }',
            BlockObject("b", ["key"], ANY),
            DYNAMIC,
            {"k": 1, "l": "x"},
        ),
        ("b {\n p = 1\n q = x\n}", BlockAttrs("b", STRING), MapType(STRING), {"p": "1", "q": "7"}),
        ("", BlockAttrs("b", STRING), MapType(STRING), None),
        ("b {}\nb { v = [1] }", BlockList("b", ANY), ListType(DYNAMIC), [None, [1]]),
        ("b {}", BlockSet("b", ANY), SetType(DYNAMIC), [None]),
        (
            "b {\n p = null\n q = [1]\n}",
            BlockAttrs("b", DYNAMIC),
            MapType(DYNAMIC),
            {"p": None, "q": [1]},
        ),
    ],
)
def test_pieces(text: str, spec: Spec, type_: Type, want: object) -> None:
    value, summaries = _decode(text, spec)
    assert not summaries
    assert value.to_python() == want
    assert spec.implied_type == type_


@pytest.mark.parametrize(
    ("text", "spec", "summary"),
    [
        ("", Attr("v", NUMBER, True), "Missing argument"),
        ("w = 1", V, "Unexpected argument"),
        ("v = []", V, "Wrong value type"),
        ("v = nope", V, "Unknown variable"),
        ("b {}", V, "Unexpected block"),
        ("", SingleBlock("b", V, True), "Missing block"),
        ("b {}\nb {}", SingleBlock("b", V), "Duplicate block"),
        ("b {}", BlockList("b", V, 2), "Too few blocks"),
        ("b {}\nb {}\nb {}", BlockList("b", V, 0, 2), "Too many blocks"),
        ("b { v = 1 }\nb { v = [] }", BlockList("b", ANY), "Blocks of different types"),
        (
            "b { v = [] }\nb {}",
            BlockSet("b", Object({"v": ANY, "w": LiteralValue(string("w"))})),
            "Blocks of different types",
        ),
        (
            'b "k" { v = [] }\nb "l" { v = 1 }',
            BlockMap("b", ["key"], ANY),
            "Blocks of different types",
        ),
        (
            "b {\n p = []\n q = 1\n}",
            BlockAttrs("b", DYNAMIC),
            "Arguments of different types",
        ),
        ('b "k" {}\nb "k" {}', BlockMap("b", ["key"], V), "Duplicate block"),
        ("b {}", BlockMap("b", ["key"], V), "Missing block label"),
        ('b "k" {}', BlockList("b", V), "Too many block labels"),
        ("", BlockAttrs("b", STRING, True), "Missing block"),
        ("b {\n p = []\n}", BlockAttrs("b", STRING), "Wrong value type"),
        ("v = 0", TransformFunction(V, TWICE), "Invalid value"),
        ("v = 0", Validate(V, _positive), "Not positive"),
    ],
)
def test_mistakes_are_reported(text: str, spec: Spec, summary: str) -> None:
    value, summaries = _decode(text, spec)
    assert summaries == [summary]
    assert value.type == spec.implied_type or value.type is DYNAMIC


def test_a_faulty_piece_is_not_transformed() -> None:
    value, summaries = _decode("v = []", TransformFunction(V, UPPER))
    assert summaries == ["Wrong value type"]
    assert not value.is_known


def test_references() -> None:
    spec = Object(
        {
            "v": Default(V, Expr(_expression("spec_name"))),
            "b": BlockMap("b", ["key"], SingleBlock("c", V)),
            "d": BlockAttrs("d", STRING),
        }
    )
    text = 'v = one\nb "k" {\n c { v = two.three }\n}\nd {\n any = four[0]\n}\nother = five'
    body = parse_body(Source("t.hcl", text), Diagnostics())
    found = [str(traversal) for traversal in variables(body, spec)]
    assert found == ["one", "spec_name", "two.three", "four[0]"]


def test_partial() -> None:
    diags = Diagnostics()
    body = parse_body(Source("t.hcl", "v = 1\nw = 2\nb {}"), diags)
    value, rest = partial_decode(body, V, Scope(), diags)
    assert value == number(1)
    second, rest = partial_decode(rest, Attr("w", NUMBER), Scope(), diags)
    assert second == number(2)
    assert not list(diags)
    rest.content(schema_of(Object({})), diags)
    assert [found.summary for found in diags] == ["Unexpected block"]


def test_schema() -> None:
    spec = Object({"a": Attr("v"), "b": Attr("v", BOOL, True), "c": SingleBlock("b", NAMED)})
    schema = schema_of(spec)
    assert [(wanted.name, wanted.required) for wanted in schema.attributes] == [("v", True)]
    assert [(wanted.type, wanted.labels) for wanted in schema.blocks] == [("b", ("name",))]


def test_labels_are_needed() -> None:
    with pytest.raises(ValueError, match="at least one"):
        BlockMap("b", [], V)
    with pytest.raises(ValueError, match="not a block"):
        _decode("", BlockLabel(0, "name"))


def test_unknown_values_keep_their_type() -> None:
    value, summaries = _decode("v = later", Object({"v": Attr("v", STRING)}))
    assert not summaries
    assert value.attribute("v") == unknown(STRING)
    with pytest.raises(CtyError):
        value.to_python()


@pytest.mark.parametrize(
    ("text", "spec", "place"),
    [
        ("v = [\n  1\n]", V, "t.hcl:1,5-3,2"),
        ("b {}\nb {\n  v = 1\n}", BlockList("b", V, 0, 1), "t.hcl:3,7-8"),
        ("b {}\nb {\n}", BlockList("b", Object({"v": V}), 0, 1), "t.hcl:2,3-3"),
        ('b "k" {}\nb "l" {}', BlockSet("b", BlockLabel(0, "name"), 0, 1), "t.hcl:2,3-6"),
    ],
)
def test_places(text: str, spec: Spec, place: str) -> None:
    diags = Diagnostics()
    decode(parse_body(Source("t.hcl", text), diags), spec, Scope(), diags)
    assert [str(found.subject) for found in diags] == [place]
