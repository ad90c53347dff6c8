"""The layout of `tofu fmt`, byte for byte."""

from typing import cast

import pytest

from nigari.diagnostics import Diagnostics
from nigari.hcl.formatter import format
from nigari.hcl.parser import parse_body
from nigari.hcl.source import Source
from tests.conformance import Row, needs_conformance, rows, table

pytestmark = needs_conformance

PAIRS = rows("format/pairs.jsonl")


@pytest.mark.parametrize("row", [row for row in PAIRS if row["expected"] is not None])
def test_layout(row: Row) -> None:
    result = format(cast(str, row["input"]))
    assert result == row["expected"]
    assert format(result) == result


@pytest.mark.parametrize("row", [row for row in PAIRS if row["expected"] is None])
def test_refused(row: Row) -> None:
    diags = Diagnostics()
    parse_body(Source("", cast(str, row["input"])), diags)
    assert diags.has_errors


@pytest.mark.parametrize("row", table("tables/hcl-tables.jsonl", ["TestFormat"]))
def test_table(row: Row) -> None:
    fields = cast(dict[str, str], row["fields"])
    assert format(fields["input"]) == fields["want"]
