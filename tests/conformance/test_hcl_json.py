"""The rows of the shared tables that are about the JSON syntax.

The rows of `TestNavigationContextString` for JSON name positions in a file that the table does
not hold, so they cannot be judged; `tests/hcl/test_json_navigation.py` has rows of our own.
"""

from __future__ import annotations

import pytest

from nigari.cty.values import (
    EMPTY_OBJECT,
    EMPTY_TUPLE,
    TRUE,
    Value,
    number,
    object_value,
    string,
    tuple_value,
)
from nigari.diagnostics import Diagnostics
from nigari.hcl.body import AttributeSchema, BodySchema
from nigari.hcl.json_body import parse_json_body, parse_json_expression
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source
from tests.conformance import CONFORMANCE, Row, needs_conformance, rows
from tests.conformance.values import matches

pytestmark = needs_conformance

_WRITTEN_IN_GO: dict[str, Value] = {
    'cty.StringVal("hello")': string("hello"),
    'cty.StringVal("hello world")': string("hello world"),
    "cty.True": TRUE,
    "cty.EmptyObjectVal": EMPTY_OBJECT,
    "cty.EmptyTupleVal": EMPTY_TUPLE,
    'cty.ObjectVal(map[string]cty.Value{"baz":cty.NumberIntVal(1), "foo":cty.StringVal("bar")})': (
        object_value({"foo": string("bar"), "baz": number(1)})
    ),
    'cty.TupleVal([]cty.Value{cty.StringVal("1"), cty.NumberIntVal(2), cty.NumberIntVal(3)})': (
        tuple_value([string("1"), number(2), number(3)])
    ),
}


def json_rows(test: str) -> list[Row]:
    found = rows("tables/hcl-tables.jsonl")
    return [row for row in found if row["test"] == test and "hcl/json/" in str(row["file"])]


def fields(row: Row) -> Row:
    found = row["fields"]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("row", json_rows("TestParseExpression"))
def test_expression(row: Row) -> None:
    diags = Diagnostics()
    source = Source("test.json", str(fields(row)["Input"]))
    value = parse_json_expression(source, diags).value(Scope({"noun": string("world")}), diags)
    assert not list(diags)
    assert value == _WRITTEN_IN_GO[str(fields(row)["Want"])]


@pytest.mark.parametrize("row", json_rows("TestExpressionValue_Diags"))
def test_value_and_diagnostics(row: Row) -> None:
    diags = Diagnostics()
    body = parse_json_body(Source("test.json", str(fields(row)["src"])), diags)
    content = body.content(BodySchema((AttributeSchema("v", required=True),)), diags)
    assert not list(diags)
    scope = Scope({"VAR1": string("case")}, {})
    value = content.attributes["v"].expr.value(scope, diags)
    assert diags.has_errors is bool(fields(row).get("error"))
    assert matches(value, fields(row)["expected"])


@pytest.mark.parametrize("row", json_rows("TestJustAttributes"))
def test_just_attributes(row: Row) -> None:
    diags = Diagnostics()
    body = parse_json_body(Source("test.json", str(fields(row)["src"])), diags)
    assert list(body.just_attributes(diags)) == list(fields(row)["want"] or {})  # type: ignore[arg-type]
    assert len(diags) == fields(row)["diagCount"]


def test_the_empty_file_of_the_specification_suite() -> None:
    data = (CONFORMANCE / "hcl-specsuite/tests/empty.hcl.json").read_bytes()
    diags = Diagnostics()
    parse_json_body(Source.from_bytes("empty.hcl.json", data), diags).content(BodySchema(), diags)
    assert not list(diags)
