"""Type expressions, their defaults, and how the language uses them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.paths import path_text
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
from nigari.cty.values import Value, unknown
from nigari.diagnostics import Diagnostics
from nigari.hcl.expressions import Expression
from nigari.hcl.parser import parse_expression
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source
from nigari.hcl.type_expressions import (
    TypeConstraint,
    parse_type,
    parse_type_constraint,
    type_text,
)
from nigari.lang.render import type_display
from nigari.lang.types import dropped_attributes, parse_variable_type


def expression(text: str) -> Expression:
    diags = Diagnostics()
    parsed = parse_expression(Source("test.tf", text), diags)
    assert not diags.has_errors, list(diags)
    return parsed


def value(text: str) -> Value:
    diags = Diagnostics()
    result = expression(text).value(Scope({}, {}), diags)
    assert not diags.has_errors, list(diags)
    return result


def constraint(text: str) -> TypeConstraint:
    diags = Diagnostics()
    parsed = parse_type_constraint(expression(text), diags)
    assert not diags.has_errors, list(diags)
    return parsed


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("string", STRING),
        ("any", DYNAMIC),
        ("list(any)", ListType(DYNAMIC)),
        ("set(object({}))", SetType(ObjectType({}))),
        ("map(tuple([string, bool]))", MapType(TupleType((STRING, BOOL)))),
        ("object({ a = string, b-c = optional(number) })",
         ObjectType({"a": STRING, "b-c": NUMBER}, frozenset(["b-c"]))),
    ],
)  # fmt: skip
def test_constraints(text: str, wanted: Type) -> None:
    assert constraint(text).type == wanted
    assert constraint(type_text(wanted)).type == wanted


@pytest.mark.parametrize(
    ("text", "wrong", "word"),
    [
        ("strng", "strng", '"string"'),
        ('"string"', '"string"', "without quotes"),
        ("list", "list", "list(string)"),
        ("list()", "()", "list(string)"),
        ("list(string, number, bool)", "number, bool", "one argument"),
        ("string()", "()", "no arguments"),
        ("lst(string)", "lst(string)", '"list"'),
        ("object(string)", "string", "braces"),
        ("tuple(string)", "string", "brackets"),
        ("object({ \"a\" = string })", '"a"', "without quotes"),
        ("object({ a = string, a = bool })", "a", "already"),
        ("optional(string)", "optional", "object type"),
        ("object({ a = optional() })", "()", "optional(string)"),
        ("object({ a = optional(string, 1, 2) })", "(string, 1, 2)", "nothing more"),
        ("object({ a = optional(bool, \"x\") })", '"x"', '"a"'),
        ("object({ a = optional(string, var.x) })", "var", ""),
        ("list(1)", "1", "A type is"),
    ],
)  # fmt: skip
def test_mistakes_in_constraints(text: str, wrong: str, word: str) -> None:
    diags = Diagnostics()
    parse_type_constraint(expression(text), diags)
    (diagnostic,) = diags
    assert diagnostic.subject is not None
    assert text[diagnostic.subject.start.byte : diagnostic.subject.end.byte] == wrong
    assert word in diagnostic.detail


@pytest.mark.parametrize("text", ["any", "object({ a = optional(string) })"])
def test_exact_types_leave_nothing_open(text: str) -> None:
    diags = Diagnostics()
    parse_type(expression(text), diags)
    assert diags.has_errors
    diags = Diagnostics()
    parse_type(expression(text), diags, constraint=True)
    assert not diags.has_errors


@pytest.mark.parametrize(
    ("type_", "given", "wanted"),
    [
        ("object({ a = optional(string, \"x\") })", "{}", "{ a = \"x\" }"),
        ("object({ a = optional(string, \"x\") })", "{ a = null }", "{ a = \"x\" }"),
        ("object({ a = optional(string, \"x\") })", "{ a = \"y\" }", "{ a = \"y\" }"),
        ("object({ a = optional(string) })", "{}", "{ a = null }"),
        ("object({ a = optional(number, \"1\") })", "{}", "{ a = 1 }"),
        ("list(object({ a = optional(string, \"x\") }))", "[{}, { a = \"y\" }]",
         "[{ a = \"x\" }, { a = \"y\" }]"),
        ("map(object({ a = optional(bool, true) }))", "{ k = {} }", "{ k = { a = true } }"),
        ("set(object({ a = optional(bool, true) }))", "[{}, { a = true }]", "[{ a = true }]"),
        ("tuple([string, object({ a = optional(number, 1) })])", "[\"s\", {}]",
         "[\"s\", { a = 1 }]"),
        ("object({ o = optional(object({ a = optional(string, \"x\") }), {}) })", "{}",
         "{ o = { a = \"x\" } }"),
        ("object({ o = optional(object({ a = optional(string, \"x\") })) })", "{}",
         "{ o = null }"),
        ("list(object({ a = optional(string, \"x\") }))", "[]", "[]"),
        ("object({ a = optional(list(string), [\"x\"]) })", "{}", "{ a = [\"x\"] }"),
    ],
)  # fmt: skip
def test_defaults(type_: str, given: str, wanted: str) -> None:
    wanted_type = constraint(type_)
    assert wanted_type.convert(value(given)) == convert(value(wanted), wanted_type.type)


def test_defaults_leave_null_unknown_and_marks_alone() -> None:
    wanted = constraint('object({ a = optional(string, "x") })')
    plain = ObjectType({"a": STRING})
    assert wanted.convert(value("null")).is_null
    assert not wanted.convert(unknown(plain)).is_known
    marked = wanted.convert(value("{}").mark("m"))
    assert marked.marks == frozenset(["m"])
    assert marked.attribute("a").as_string() == "x"


def test_an_unknown_attribute_with_a_default_is_not_null() -> None:
    wanted = constraint('object({ a = optional(string, "x") })')
    from nigari.cty.refinements import definitely_not_null
    from nigari.cty.values import object_value

    result = wanted.convert(object_value({"a": unknown(STRING)}))
    assert definitely_not_null(result.attribute("a"))


def test_a_value_that_does_not_fit_names_the_place() -> None:
    wanted = constraint("object({ a = map(list(number)) })")
    with pytest.raises(CtyError) as caught:
        wanted.convert(value('{ a = { k = ["x"] } }'))
    assert path_text(caught.value.path) == '.a["k"][0]'


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("list", ListType(DYNAMIC)), ("map", MapType(DYNAMIC)), ("string", STRING)],
)
def test_variable_types(text: str, wanted: Type) -> None:
    diags = Diagnostics()
    assert parse_variable_type(expression(text), diags).type == wanted
    assert not diags.has_errors


@pytest.mark.parametrize(("text", "advice"), [('"string"', "Write string."),
                                              ('"list"', "Write list(string).")])  # fmt: skip
def test_quoted_variable_types(text: str, advice: str) -> None:
    diags = Diagnostics()
    parse_variable_type(expression(text), diags)
    assert advice in diags[0].detail


def test_type_display() -> None:
    shown = type_display(constraint("list(object({ b = map(string), a = tuple([bool]) }))").type)
    assert shown == (
        "list(\n"
        "    object({\n"
        "        a: tuple([\n"
        "            bool,\n"
        "        ]),\n"
        "        b: map(string),\n"
        "    }),\n"
        ")"
    )


@pytest.mark.parametrize(
    ("text", "type_", "dropped"),
    [
        ("{ a = 1, b = 2 }", "object({ a = number })", [".b"]),
        ("[{ b = 2 }]", "list(object({ a = optional(number) }))", ["[0].b"]),
        ("{ k = { b = 2 } }", "map(object({}))", ['["k"].b']),
        ("[1, { b = 2 }]", "tuple([number, object({})])", ["[1].b"]),
        ("[for x in [] : { b = x }]", "list(object({}))", [".b"]),
        ("{ for x in [] : x => { b = x } }", "map(object({}))", [".b"]),
        ("[for x in [] : { b = x }]", "map(object({}))", []),
        ("{ b = 1 }", "any", []),
        ("{ b = 1 }", "map(any)", []),
    ],
)
def test_dropped_attributes(text: str, type_: str, dropped: list[str]) -> None:
    from nigari.cty.paths import path_text

    found = dropped_attributes(expression(text), constraint(type_).type)
    assert [path_text(attribute.path) for attribute in found] == dropped


_types = st.recursive(
    st.sampled_from([STRING, NUMBER, BOOL, DYNAMIC]),
    lambda inner: st.one_of(
        inner.map(ListType),
        inner.map(SetType),
        inner.map(MapType),
        st.lists(inner, max_size=3).map(lambda types: TupleType(tuple(types))),
        st.dictionaries(st.sampled_from(["a", "b_1", "c-d"]), inner, max_size=3).map(
            lambda types: ObjectType(types, frozenset(sorted(types)[:1]))
        ),
    ),
    max_leaves=8,
)


@given(_types)
def test_types_print_as_they_are_read(type_: Type) -> None:
    assert constraint(type_text(type_)).type == type_


def test_deep_types_are_read_or_refused_in_words() -> None:
    diags = Diagnostics()
    text = "list(" * 600 + "string" + ")" * 600
    parsed = parse_expression(Source("test.tf", text), diags)
    deep = parse_type_constraint(parsed, diags)
    assert diags.has_errors or type_text(deep.type) == text
