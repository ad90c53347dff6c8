"""What JSON values mean as expressions, evaluated and read without evaluating."""

from __future__ import annotations

import pytest

from nigari.cty.types import DYNAMIC, NUMBER, STRING
from nigari.cty.values import (
    DYNAMIC_UNKNOWN,
    EMPTY_OBJECT,
    EMPTY_TUPLE,
    FALSE,
    TRUE,
    Value,
    null,
    number,
    object_value,
    string,
    tuple_value,
    unknown,
)
from nigari.diagnostics import Diagnostics
from nigari.hcl.json_body import parse_json_expression
from nigari.hcl.json_expressions import JsonExpression
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source
from nigari.hcl.static import static_call

SCOPE = Scope(
    {
        "noun": string("world"),
        "n": number(5),
        "key": string("k"),
        "nothing": null(STRING),
        "later": unknown(STRING),
        "secret": string("s").mark("secret"),
        "list": tuple_value([number(1)]),
    },
    {},
)


def expression(text: str) -> JsonExpression:
    diags = Diagnostics()
    result = parse_json_expression(Source("a.json", text), diags)
    assert not list(diags)
    return result


def evaluate(text: str, scope: Scope = SCOPE) -> tuple[Value, list[str]]:
    diags = Diagnostics()
    value = expression(text).value(scope, diags)
    return value, [str(diagnostic.subject).removeprefix("a.json:") for diagnostic in diags]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", TRUE),
        ("false", FALSE),
        ("null", null(DYNAMIC)),
        ("5", number(5)),
        ("-1.5e3", number(-1500)),
        ("123456789012345678901234567890", number(123456789012345678901234567890)),
        ("{}", EMPTY_OBJECT),
        ("[]", EMPTY_TUPLE),
        ('"hello"', string("hello")),
        ('"hello ${noun}"', string("hello world")),
        ('"${n}"', number(5)),
        (r'"${n == 5 ? \"a\" : \"b\"}"', string("a")),
        (r'"a\\n\n\u0041"', string("a\\n\nA")),
        (r'"\u0024{n}"', number(5)),
        ('"$${n}"', string("${n}")),
        ('"%{ if true }yes%{ endif }"', string("yes")),
        ('["1", 2, "${n}"]', tuple_value([string("1"), number(2), number(5)])),
        ('{"a": {"b": [null]}}', object_value(
            {"a": object_value({"b": tuple_value([null(DYNAMIC)])})}
        )),
        ('{"${key}": 1, "x": 2}', object_value({"k": number(1), "x": number(2)})),
        ('{"${n}": 1}', object_value({"5": number(1)})),
        ('{"//": 1}', object_value({"//": number(1)})),
        ('{"${later}": 1}', DYNAMIC_UNKNOWN),
        ('{"${secret}": 1}', object_value({"s": number(1)}).mark("secret")),
        ('{"e\\u0301": 1}', object_value({"é": number(1)})),
    ],
)  # fmt: skip
def test_value(text: str, value: Value) -> None:
    assert evaluate(text) == (value, [])


@pytest.mark.parametrize(
    ("text", "value", "places"),
    [
        ('"${nope}"', DYNAMIC_UNKNOWN, ["1,4-8"]),
        (r'"\u00e9\n${nope}"', None, ["1,12-16"]),
        ('["${nope}", 1]', tuple_value([DYNAMIC_UNKNOWN, number(1)]), ["1,5-9"]),
        ('{"a": 1, "a": 2}', object_value({"a": number(1)}), ["1,10-13"]),
        ('{"k": 1, "${key}": 2}', object_value({"k": number(1)}), ["1,10-18"]),
        ('{"${nothing}": 1}', EMPTY_OBJECT, ["1,2-14"]),
        ('{"${list}": 1}', EMPTY_OBJECT, ["1,2-11"]),
        ('{"${nope}": 1}', DYNAMIC_UNKNOWN, ["1,5-9"]),
    ],
)
def test_mistakes_are_reported(text: str, value: Value | None, places: list[str]) -> None:
    got, where = evaluate(text)
    assert where == places
    assert value is None or got == value


def test_a_template_that_cannot_be_parsed_is_unknown_and_reported_at_its_place() -> None:
    value, places = evaluate('{"a": "${1 +}", "b": 2}')
    assert value == object_value({"a": DYNAMIC_UNKNOWN, "b": number(2)})
    assert places == ["1,13-14"]


@pytest.mark.parametrize("scope", [Scope(), Scope(None, None, Scope())])
def test_where_nothing_may_be_referred_to_a_string_is_literal(scope: Scope) -> None:
    assert evaluate('{"${a": "%{b", "c": "$${d}"}', scope) == (
        object_value({"${a": string("%{b"), "c": string("$${d}")}),
        [],
    )


@pytest.mark.parametrize(
    ("text", "references"),
    [
        ("1", []),
        ('"plain"', []),
        ('"${a.b[0]} ${c}"', ["a.b[0]", "c"]),
        ('["${a}", {"${b}": "${c.d}"}]', ["a", "b", "c.d"]),
        ('"${1 +}"', []),
    ],
)
def test_variables(text: str, references: list[str]) -> None:
    assert [str(traversal) for traversal in expression(text).variables()] == references


@pytest.mark.parametrize(
    ("text", "traversal"),
    [
        ('"a"', "a"),
        ('"aws.west"', "aws.west"),
        (r'"a[\"k\"].b[0]"', 'a["k"].b[0]'),
        ('"true"', "true"),
        ('"${a}"', None),
        ('"a b"', None),
        ('""', None),
        ("true", None),
        ("null", None),
        ("5", None),
        ('["a"]', None),
    ],
)
def test_static_traversal(text: str, traversal: str | None) -> None:
    found = expression(text).static_traversal()
    assert (None if found is None else str(found)) == traversal


def test_the_steps_of_a_traversal_have_positions_in_the_file() -> None:
    found = expression(r'"a[\"k\"].b"').static_traversal()
    assert found is not None
    assert [str(found.step_range(step)) for step in found.steps] == [
        "a.json:1,2-3",
        "a.json:1,3-10",
        "a.json:1,10-12",
    ]


def test_static_list_and_map() -> None:
    elements = expression('[1, "a"]').static_list()
    assert elements is not None
    assert [str(element.range) for element in elements] == ["a.json:1,2-3", "a.json:1,5-8"]
    items = expression('{"a": 1, "a": "b"}').static_map()
    assert items is not None
    assert [str(key.static_traversal()) for key, _ in items] == ["a", "a"]
    assert expression('"[1]"').static_list() is None
    assert expression("[1]").static_map() is None
    assert expression("{}").static_list() is None


@pytest.mark.parametrize(
    ("text", "name"),
    [('"list(string)"', "list"), ('"a"', None), ('"${f()}"', None), ("5", None), ('"f("', None)],
)
def test_static_call(text: str, name: str | None) -> None:
    call = static_call(expression(text))
    assert (None if call is None else call.name) == name


def test_deep_values_are_evaluated() -> None:
    depth = 1_900
    value, places = evaluate("[" * depth + "]" * depth)
    assert places == []
    for _ in range(depth - 1):
        (value,) = value.elements()
    assert value == EMPTY_TUPLE


def test_numbers_keep_their_precision() -> None:
    value, _ = evaluate("0.1")
    assert value == number("0.1")
    assert value.type is NUMBER


def test_a_number_out_of_range() -> None:
    diags = Diagnostics()
    expression = parse_json_expression(Source("t.json", "1e99999999999"), diags)
    assert not expression.value(Scope(), diags).is_known
    assert [found.summary for found in diags] == ["Number out of range"]
