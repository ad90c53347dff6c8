"""Evaluation: values, unknowns, nulls and marks, and what an error says and shows."""

import pytest

from nigari.cty.function import Function, FunctionError, Parameter
from nigari.cty.types import BOOL, DYNAMIC, NUMBER, STRING, ListType, MapType, Type
from nigari.cty.unknown import Unknown
from nigari.cty.values import (
    DYNAMIC_UNKNOWN,
    Value,
    list_value,
    map_value,
    null,
    number,
    object_value,
    string,
    unknown,
)
from nigari.diagnostics import Diagnostics
from nigari.hcl.calls import CLOSURE_TYPE, Closure
from nigari.hcl.parser import parse_expression
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source

NOT_NULL = Unknown(not_null=True)


def _half(args: list[Value], _: Type) -> Value:
    if args[0].as_number() == 13:
        raise FunctionError("thirteen has no half", 0)
    return number(1)


def _tries(args: list[Value], _: Type) -> Value:
    for argument in args:
        closure = argument.data
        assert isinstance(closure, Closure)
        diags = Diagnostics()
        value = closure.value(diags)
        if not diags.has_errors:
            return value
    raise FunctionError("nothing worked")


SCOPE = Scope(
    {
        "n": number(5),
        "s": string("text"),
        "secret": string("hunter2").mark("sensitive"),
        "l": list_value(STRING, [string("a"), string("b")]),
        "m": map_value(NUMBER, {"x": number(1)}),
        "o": object_value({"name": string("it"), "list": Value.of([1, 2])}),
        "later": unknown(STRING),
        "later_bool": unknown(BOOL),
        "later_list": unknown(ListType(object_value({"id": string("")}).type), NOT_NULL),
        "any": DYNAMIC_UNKNOWN,
        "nothing": null(STRING),
        "no_list": null(ListType(STRING)),
        "marked": list_value(STRING, [string("a")]).mark("sensitive"),
    },
    {
        "half": Function((Parameter("number", NUMBER),), None, NUMBER, _half),
        "tries": Function((), Parameter("expressions", CLOSURE_TYPE), DYNAMIC, _tries),
    },
)


def evaluate(text: str) -> tuple[Value, Diagnostics]:
    diags = Diagnostics()
    expression = parse_expression(Source("t", text), diags)
    assert not diags.has_errors
    return expression.value(SCOPE, diags), diags


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("n + 1", number(6)),
        ("o.name", string("it")),
        ('o["list"][1]', number(2)),
        ("m.x", number(1)),
        ("l[*]", list_value(STRING, [string("a"), string("b")])),
        ("o[*].name", Value.of(["it"])),
        ("nothing[*]", Value.of([])),
        ("o.*.list", Value.of([[1, 2]])),
        ("[for i, x in l : \"${i}${x}\"]", Value.of(["0a", "1b"])),
        ("{for k, v in m : k => v}", object_value({"x": number(1)})),
        ("{for x in l : s => x...}", object_value({"text": Value.of(["a", "b"])})),
        ("true ? 1 : \"a\"", string("1")),
        ("true ? null : 1", null(NUMBER)),
        ("false && l[9]", Value.of(False)),
        ("null && true", Value.of(False)),
        ("null || true", Value.of(True)),
        ("later_bool && false", Value.of(False)),
        ("half(n)", number(1)),
        ("half([6]...)", number(1)),
        ("tries(l[7], o.nope, \"ok\")", string("ok")),
        # unknown
        ("later_bool ? 1 : 2", unknown(NUMBER, Unknown(not_null=True, lower=1, lower_inclusive=True, upper=2, upper_inclusive=True))),
        ("later_list[*].id", unknown(ListType(STRING), NOT_NULL)),
        ("\"a-${later}\"", unknown(STRING, Unknown(not_null=True, prefix="a-"))),
        ("any.x.y[0]", DYNAMIC_UNKNOWN),
        ("later_list[0].id", unknown(STRING)),
        ('later_list[0]["id"]', unknown(STRING)),
        ("[for x in [later_list] : 1 if x]", DYNAMIC_UNKNOWN),
        ("[for x in any : x]", DYNAMIC_UNKNOWN),
        # marks
        ("\"x ${secret}\"", string("x hunter2").mark("sensitive")),
        ("secret == s", Value.of(False).mark("sensitive")),
        ("true ? s : secret", string("text").mark("sensitive")),
        ("marked[0]", string("a").mark("sensitive")),
        ("[for x in marked : x]", Value.of(["a"]).mark("sensitive")),
        ("{(secret) = 1}", object_value({"hunter2": number(1)}).mark("sensitive")),
    ],
)  # fmt: skip
def test_value(text: str, want: Value) -> None:
    value, diags = evaluate(text)
    assert not diags.has_errors, list(diags)
    assert value == want


@pytest.mark.parametrize(
    ("text", "place", "word"),
    [
        ("nope", (0, 4), "with this name"),
        ("o.nam", (1, 5), '"name"'),
        ("s.x", (1, 3), "no attributes"),
        ("l[2]", (1, 4), "last one is at index 1"),
        ("l[-1]", (1, 5), "negative"),
        ("l[0.5]", (1, 6), "whole number"),
        ("m.y", (1, 3), '"y"'),
        ("nothing.x", (7, 9), "null"),
        ('later_list[0]["none"]', (13, 21), "none"),
        ("no_list[*]", (0, 7), "null"),
        ('1 + "a"', (4, 7), "+"),
        ("0 / 0", (0, 5), "/"),
        ("true ? 1 : [1]", (7, 14), "number"),
        ("true ? {a = 1} : {a = [2]}", (7, 26), '"a"'),
        ("null ? 1 : 2", (0, 4), "null"),
        ("s ? 1 : 2", (0, 1), "string"),
        ("[for x in s : x]", (10, 11), "string"),
        ("[for x in l : x if s]", (19, 20), "true or false"),
        ("{for x in l : 1 => x}", (14, 15), '"1"'),
        ("{for x in [later_list] : 1 => 2 if x}", (35, 36), "true or false"),
        ('-"1${l}a"', (5, 6), "string"),
        ("half(<<E\nx\nE\n)", (9, 11), "number"),
        ("half(<<-E\n  x\n  E\n)", (12, 14), "number"),
        ('"${o}"[0]', (6, 9), "not numbers"),
        ('"x${l}"', (4, 5), "string"),
        ('"x${nothing}"', (4, 11), "null"),
        ("{(nothing) = 1}", (1, 10), "null"),
        ("{a.b = 1}", (1, 4), "quotes"),
        ("half()", (5, 6), '"number"'),
        ("half(1, 2)", (8, 9), "one argument"),
        ('half("x")', (6, 7), '"number"'),
        ("half(13)", (5, 7), "thirteen"),
        ("half(s...)", (5, 6), "string"),
        ("hafl(1)", (0, 4), '"half"'),
        ("a::b(1)", (0, 4), "namespace"),
        ("false && 1", (9, 10), "&&"),
    ],
)
def test_error(text: str, place: tuple[int, int], word: str) -> None:
    _, diags = evaluate(text)
    assert len(diags) == 1, list(diags)
    subject = diags[0].subject
    assert subject is not None
    assert (subject.start.byte, subject.end.byte) == place
    assert word in diags[0].detail


def test_an_error_shows_what_names_stand_for() -> None:
    _, diags = evaluate("n + l")
    assert [(each.name, each.text) for each in diags[0].values] == [
        ("l", "is list of string with 2 elements"),
    ]


def test_an_error_never_shows_a_secret() -> None:
    _, diags = evaluate("n + secret")
    assert not diags[0].values
    assert "hunter2" not in repr(list(diags))


def test_no_names_at_all() -> None:
    diags = Diagnostics()
    parse_expression(Source("t", "a"), diags).value(Scope(), diags)
    parse_expression(Source("t", "f()"), diags).value(Scope(), diags)
    assert [each.summary for each in diags] == [
        "Variables not allowed",
        "Function calls not allowed",
    ]


def test_causes_of_an_unknown_are_carried() -> None:
    scope = Scope({"v": unknown(MapType(STRING)).with_causes(("why",))})
    diags = Diagnostics()
    for text in ("v.a", 'v["a"]', '"x${v.a}"', "[for k, x in v : x]", 'v.a == "x"', "v[*].a"):
        value = parse_expression(Source("t", text), diags).value(scope, diags)
        assert value.causes == ("why",), text
