"""The rows of OpenTofu's own tables for references in expressions."""

from __future__ import annotations

from typing import Final

import pytest

from nigari.addrs import ProviderFunction
from nigari.diagnostics import Diagnostics
from nigari.hcl.parser import parse_expression, parse_traversal
from nigari.hcl.source import Source
from nigari.lang.references import parse_reference, references_in_expression
from tests.conformance import Row, needs_conformance, table
from tests.conformance.not_applicable import reason

TABLE: Final = "tables/tofu-tables.jsonl"


def _name(row: Row) -> str:
    return f"{row['test']}-{row['n']}"


@needs_conformance
@pytest.mark.parametrize(
    "row", table(TABLE, ["TestParseRef", "TestParseRefInTestingScope"]), ids=_name
)
def test_parse_reference(row: Row) -> None:
    why_not = reason(row)
    if why_not:
        pytest.skip(why_not)
    fields = row["fields"]
    assert isinstance(fields, dict)
    diags = Diagnostics()
    traversal = parse_traversal(Source("", str(fields["Input"])), diags)
    assert traversal is not None
    in_tests = row["test"] == "TestParseRefInTestingScope"
    reference = parse_reference(traversal, diags, in_tests)
    assert (reference is None) is bool(fields["WantErr"])
    assert diags.has_errors is bool(fields["WantErr"])


@needs_conformance
@pytest.mark.parametrize("row", table(TABLE, ["TestReferencesInExpr"]), ids=_name)
def test_references_in_expression(row: Row) -> None:
    fields = row["fields"]
    assert isinstance(fields, dict)
    diags = Diagnostics()
    expression = parse_expression(Source("", str(fields["exprSrc"])), diags)
    references = references_in_expression(expression, diags)
    assert not diags.has_errors
    functions = [str(r.subject) for r in references if isinstance(r.subject, ProviderFunction)]
    assert functions == (fields["wantFuncRefs"] or [])
