"""The rows of the hcl and OpenTofu tables for type expressions and what is done with types."""

from __future__ import annotations

from typing import Final

import pytest

from nigari.cty.types import without_optional
from nigari.diagnostics import Diagnostics
from nigari.hcl.expressions import Expression
from nigari.hcl.json_body import parse_json_expression
from nigari.hcl.parser import parse_expression
from nigari.hcl.source import Source
from nigari.hcl.type_expressions import (
    TypeConstraint,
    parse_type,
    parse_type_constraint,
    type_text,
)
from nigari.lang.render import type_display
from nigari.lang.types import dropped_attributes
from tests.conformance import Json, Row, needs_conformance, rows, table
from tests.conformance.values import decode_type, matches, the_value

HCL: Final = [
    row
    for row in rows("tables/hcl-tables.jsonl")
    if str(row["file"]).startswith("hcl/ext/typeexpr/")
]
TOFU: Final = "tables/tofu-tables.jsonl"


def _fields(row: Row) -> dict[str, Json]:
    fields = row["fields"]
    assert isinstance(fields, dict)
    return fields


def _name(row: Row) -> str:
    return f"{row['test']}-{row['n']}"


def _expression(text: Json, diags: Diagnostics) -> Expression:
    return parse_expression(Source("", str(text)), diags)


def _constraint(text: Json) -> TypeConstraint:
    diags = Diagnostics()
    constraint = parse_type_constraint(_expression(text, diags), diags)
    assert not diags.has_errors
    return constraint


@needs_conformance
@pytest.mark.parametrize("row", [row for row in HCL if row["test"] == "TestGetType"], ids=_name)
def test_types(row: Row) -> None:
    fields = _fields(row)
    diags = Diagnostics()
    expression = _expression(fields["Source"], diags)
    type_ = parse_type(expression, diags, bool(fields["Constraint"]))
    assert type_ == decode_type(fields["Want"])
    assert diags.has_errors is bool(fields["WantError"])


@needs_conformance
@pytest.mark.parametrize("row", [row for row in HCL if row["test"] == "TestGetTypeJSON"], ids=_name)
def test_types_in_json(row: Row) -> None:
    fields = _fields(row)
    diags = Diagnostics()
    written = str(fields["Source"])
    value = written[written.index(":") + 1 : written.rindex("}")]
    expression = parse_json_expression(Source("", value), diags)
    assert parse_type(expression, diags, bool(fields["Constraint"])) == decode_type(fields["Want"])
    assert diags.has_errors is bool(fields["WantError"])


@needs_conformance
@pytest.mark.parametrize(
    "row", [row for row in HCL if row["test"] == "TestGetTypeDefaults"], ids=_name
)
def test_types_without_defaults(row: Row) -> None:
    fields = _fields(row)
    assert fields["Want"] is None
    assert _constraint(fields["Source"]).defaults is None


@needs_conformance
@pytest.mark.parametrize("row", [row for row in HCL if row["test"] == "TestTypeString"], ids=_name)
def test_type_text(row: Row) -> None:
    fields = _fields(row)
    assert type_text(decode_type(fields["Type"])) == fields["Want"]


@needs_conformance
@pytest.mark.parametrize("row", table(TOFU, ["TestTypeConversionConstraint"]), ids=_name)
def test_conversion(row: Row) -> None:
    fields = _fields(row)
    constraint = _constraint(fields["ConstraintExpr"])
    got = constraint.convert(the_value(fields["InputValue"]))
    assert matches(got, fields["WantValue"])
    assert got.type == without_optional(got.type)


@needs_conformance
@pytest.mark.parametrize("row", table(TOFU, ["TestTypeString"]), ids=_name)
def test_type_display(row: Row) -> None:
    fields = _fields(row)
    assert type_display(the_value(fields["Input"]).type) == fields["Want"]


@needs_conformance
@pytest.mark.parametrize("row", table(TOFU, ["TestDiscardedObjectConstructorAttrs"]), ids=_name)
def test_dropped_attributes(row: Row) -> None:
    fields = _fields(row)
    assert fields["want"] is None
    expression = _expression(fields["exprSrc"], Diagnostics())
    assert dropped_attributes(expression, decode_type(fields["targetTy"])) == []
