"""Values as source: what is written reads back as the same value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nigari.cty.types import NUMBER, ListType
from nigari.cty.values import Value, list_value, map_value, null, number, set_value
from nigari.diagnostics import Diagnostics
from nigari.hcl.parser import parse_expression
from nigari.hcl.quoting import quoted
from nigari.hcl.render import render_value
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def _read(source: str) -> Value:
    diags = Diagnostics()
    value = parse_expression(Source("", source), diags).value(Scope(), diags)
    assert not list(diags)
    return value


@given(PLAIN)
def test_round_trip(data: object) -> None:
    value = Value.of(data)
    assert _read(render_value(value)) == value


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("", '""'),
        ("a\n\t\r", '"a\\n\\t\\r"'),
        ('"\\', '"\\"\\\\"'),
        ("${x} %{y} $ % $${", '"$${x} %%{y} $ % $$${"'),
        ("\u200b\U000e0001é", '"\\u200b\\U000e0001é"'),
    ],
)
def test_strings(text: str, source: str) -> None:
    assert quoted(text) == source


@pytest.mark.parametrize(
    ("value", "source"),
    [
        (number("1.50"), "1.5"),
        (null(ListType(NUMBER)), "null"),
        (list_value(NUMBER, [number(2), number(1)]), "[2, 1]"),
        (set_value(NUMBER, [number(2), number(1)]), "[1, 2]"),
        (map_value(NUMBER, {"b c": number(1), "a": number(2)}), '{\n  a     = 2\n  "b c" = 1\n}'),
        (Value.of({}), "{}"),
        (Value.of([{"a": {"b": 1}}]), "[{\n  a = {\n    b = 1\n  }\n}]"),
    ],
)
def test_values(value: Value, source: str) -> None:
    assert render_value(value) == source
