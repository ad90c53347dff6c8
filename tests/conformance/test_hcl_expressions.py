"""HCL's own tables for expressions, templates, indexes and names."""

from typing import cast

import pytest

from nigari.cty.values import DYNAMIC_UNKNOWN
from nigari.diagnostics import Diagnostics
from nigari.hcl.evaluation import Fault, index
from nigari.hcl.parser import parse_expression, parse_template
from nigari.hcl.scanner import is_identifier
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source
from nigari.hcl.suggestion import suggest
from tests.conformance import Json, Row, needs_conformance, table
from tests.conformance.not_applicable import reason
from tests.conformance.values import matches, the_value

TABLE = "tables/hcl-tables.jsonl"

pytestmark = needs_conformance


def _fields(row: Row) -> dict[str, Json]:
    return cast(dict[str, Json], row["fields"])


def _scope(written: Json) -> Scope:
    if written is None:
        return Scope()
    context = cast(dict[str, dict[str, Json]], written)["$ctx"]
    variables = context.get("variables")
    if variables is None:
        return Scope()
    given = cast(dict[str, Json], variables)
    return Scope({name: the_value(value) for name, value in given.items()})


def _evaluable(row: Row) -> bool:
    """Functions of the table are Go code: rows that call one are judged elsewhere."""
    if reason(row) is not None:
        return False
    context = _fields(row).get("ctx")
    return not isinstance(context, dict) or "functions" not in cast(
        dict[str, Json], context["$ctx"]
    )


def _check(row: Row, is_template: bool) -> None:
    fields = _fields(row)
    source = Source("test.hcl", cast(str, fields["input"]))
    diags = Diagnostics()
    parse = parse_template if is_template else parse_expression
    expression = parse(source, diags)
    value = expression.value(_scope(fields["ctx"]), diags)
    wants_errors = cast(int, fields["diagCount"]) > 0
    assert diags.has_errors == wants_errors, (source.text, list(diags))
    if not wants_errors or value != DYNAMIC_UNKNOWN:
        assert matches(value, fields["want"]), (source.text, value, fields["want"], list(diags))


@pytest.mark.parametrize(
    "row", [r for r in table(TABLE, ["TestExpressionParseAndValue"]) if _evaluable(r)]
)
def test_expression(row: Row) -> None:
    _check(row, is_template=False)


@pytest.mark.parametrize(
    "row", [r for r in table(TABLE, ["TestTemplateExprParseAndValue"]) if _evaluable(r)]
)
def test_template(row: Row) -> None:
    _check(row, is_template=True)


@pytest.mark.parametrize("row", table(TABLE, ["TestExpressionErrorMessages"]))
def test_expression_error(row: Row) -> None:
    fields = _fields(row)
    diags = Diagnostics()
    expression = parse_expression(Source("test.hcl", cast(str, fields["input"])), diags)
    expression.value(_scope(fields["ctx"]), diags)
    assert len(diags) == 1, list(diags)


@pytest.mark.parametrize("row", table(TABLE, ["TestIndex"]))
def test_index(row: Row) -> None:
    fields = _fields(row)
    result = index(the_value(fields["coll"]), the_value(fields["key"]))
    if fields.get("err"):
        assert isinstance(result, Fault)
    else:
        assert not isinstance(result, Fault)
        assert matches(result, fields["want"])


@pytest.mark.parametrize("row", table(TABLE, ["TestValidIdentifier"]))
def test_identifier(row: Row) -> None:
    fields = _fields(row)
    assert is_identifier(cast(str, fields["Input"])) == fields["Want"]


@pytest.mark.parametrize("row", table(TABLE, ["TestNameSuggestion"]))
def test_suggestion(row: Row) -> None:
    fields = _fields(row)
    keywords = ["false", "true", "null"]
    assert (suggest(cast(str, fields["Input"]), keywords) or "") == fields["Want"]
