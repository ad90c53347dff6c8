"""How many instances there are: rules for count, for_each and enabled."""

from __future__ import annotations

import pytest

from nigari.addrs.keys import DEFERRED
from nigari.cty.types import DYNAMIC, NUMBER, STRING, ListType, MapType, SetType
from nigari.cty.values import (
    DYNAMIC_UNKNOWN,
    FALSE,
    TRUE,
    Value,
    list_value,
    map_value,
    null,
    number,
    set_value,
    string,
    unknown,
)
from nigari.diagnostics import Diagnostics
from nigari.eval.core.expansion import Asked, expand_count, expand_enabled, expand_for_each
from nigari.hcl.parser import parse_expression
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source
from nigari.lang.marks import EPHEMERAL, SENSITIVE


def asked(diags: Diagnostics) -> Asked:
    """An argument that is written `x`, with a value for it."""
    expr = parse_expression(Source("main.tf", "x"), diags)
    return Asked(expr, lambda: Scope({"x": number(7)}), diags)


SETS_OF_STRINGS = SetType(STRING)


@pytest.mark.parametrize(
    ("value", "keys"),
    [
        (number(0), []),
        (number(2), [0, 1]),
        (string("2"), [0, 1]),
        (number(2).mark(SENSITIVE), [0, 1]),
        (unknown(NUMBER), [DEFERRED]),
        (DYNAMIC_UNKNOWN, [DEFERRED]),
    ],
)
def test_count(value: Value, keys: list[object]) -> None:
    diags = Diagnostics()
    assert list(expand_count(value, asked(diags)).instances) == keys
    assert not diags.has_errors


@pytest.mark.parametrize(
    "value",
    [
        null(NUMBER),
        number(-1),
        number("1.5"),
        number(10**9),
        string("many"),
        list_value(STRING, [string("a")]),
        number(1).mark(EPHEMERAL),
    ],
)
def test_count_refused(value: Value) -> None:
    diags = Diagnostics()
    assert not expand_count(value, asked(diags)).instances
    assert [each.summary for each in diags] == ["Invalid count argument"]
    assert [(each.name, each.text) for each in diags[0].values] == [("x", "is 7")]


@pytest.mark.parametrize(
    ("value", "keys"),
    [
        (Value.of({}), []),
        (Value.of({"b": 1, "a": 2}), ["a", "b"]),
        (map_value(STRING, {"a": unknown(STRING)}), ["a"]),
        (Value.of({"a": string("s").mark(SENSITIVE)}), ["a"]),
        (set_value(STRING, []), []),
        (set_value(DYNAMIC, []), []),
        (set_value(STRING, [string("y"), string("x")]), ["x", "y"]),
        (set_value(STRING, [unknown(STRING)]), [DEFERRED]),
        (unknown(MapType(STRING)), [DEFERRED]),
        (DYNAMIC_UNKNOWN, [DEFERRED]),
    ],
)
def test_for_each(value: Value, keys: list[object]) -> None:
    diags = Diagnostics()
    assert list(expand_for_each(value, asked(diags)).instances) == keys
    assert not diags.has_errors


@pytest.mark.parametrize(
    "value",
    [
        null(MapType(STRING)),
        Value.of(["a"]),
        list_value(STRING, [string("a")]),
        unknown(ListType(STRING)),
        string("a"),
        set_value(NUMBER, [number(1)]),
        set_value(STRING, [null(STRING)]),
        Value.of({"a": 1}).mark(SENSITIVE),
        set_value(STRING, [string("s").mark(SENSITIVE)]),
        Value.of({"a": 1}).mark(EPHEMERAL),
    ],
)
def test_for_each_refused(value: Value) -> None:
    diags = Diagnostics()
    assert not expand_for_each(value, asked(diags)).instances
    assert [each.summary for each in diags] == ["Invalid for_each argument"]
    assert [(each.name, each.text) for each in diags[0].values] == [("x", "is 7")]


@pytest.mark.parametrize(
    ("value", "is_convertible"),
    [
        (Value.of(["a"]), True),
        (list_value(STRING, [string("a")]), True),
        (string("a"), False),
        (number(1), False),
    ],
)
def test_for_each_suggests_what_helps(value: Value, is_convertible: bool) -> None:
    diags = Diagnostics()
    expand_for_each(value, asked(diags))
    assert ("toset()" in diags[0].detail) is is_convertible


def test_each_is_what_the_instance_has() -> None:
    instances = expand_for_each(Value.of({"a": 1}), asked(Diagnostics())).instances
    data = instances["a"]
    assert (data.each_key, data.each_value, data.count_index) == (string("a"), number(1), None)


@pytest.mark.parametrize(("value", "count"), [(TRUE, 1), (FALSE, 0), (string("true"), 1)])
def test_enabled(value: Value, count: int) -> None:
    diags = Diagnostics()
    assert len(expand_enabled(value, asked(diags)).instances) == count
    assert not diags.has_errors
