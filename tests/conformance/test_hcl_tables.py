"""HCL's own tables for its extensions and tools: functions, labels, generated source, positions."""

from dataclasses import make_dataclass
from pathlib import Path
from typing import Final, cast

import pytest

from nigari.cty.function import Function
from nigari.cty.stdlib.arithmetic import MIN, NEGATE
from nigari.cty.stdlib.sequences import CONCAT
from nigari.cty.stdlib.strings import UPPER
from nigari.cty.values import DYNAMIC_UNKNOWN, Value, object_value, tuple_value
from nigari.diagnostics import Diagnostics, Pos
from nigari.hcl.decode_dataclass import decode_dataclass
from nigari.hcl.parser import parse_body, parse_expression, parse_traversal
from nigari.hcl.render import render_value
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source
from nigari.hcl.suggestion import suggest
from nigari.hcl.user_functions import decode_functions
from nigari.hcl.writer import parse_document
from nigari.lang.functions.try_can import FUNCTIONS as TRY_CAN
from tests.conformance import Json, Row, needs_conformance, rows, table
from tests.conformance.not_applicable import reason
from tests.conformance.values import matches, the_value

pytestmark = needs_conformance

TABLE: Final = "tables/hcl-tables.jsonl"
GO_FUNCTIONS: Final[dict[str, Function]] = {
    "stdlib.ConcatFunc": CONCAT,
    "stdlib.MinFunc": MIN,
    "stdlib.NegateFunc": NEGATE,
    "stdlib.UpperFunc": UPPER,
}


def _rows(*tests: str) -> list[Row]:
    return [row for row in table(TABLE, tests) if reason(row) is None]


def _fields(row: Row) -> dict[str, Json]:
    return cast(dict[str, Json], row["fields"])


def _variables(written: Json) -> dict[str, Value]:
    given = cast(dict[str, Json], written or {})
    return {name: the_value(value) for name, value in given.items()}


def _context(row: Row) -> dict[str, Json]:
    written = cast(dict[str, dict[str, Json]], _fields(row).get("ctx") or {})
    return written.get("$ctx") or {}


@pytest.mark.parametrize(
    "row", [row for row in _rows("TestExpressionParseAndValue") if "functions" in _context(row)]
)
def test_expression_with_functions(row: Row) -> None:
    fields, context = _fields(row), _context(row)
    names = cast(dict[str, str], context["functions"])
    functions = {name: GO_FUNCTIONS[go_name] for name, go_name in names.items()}
    diags = Diagnostics()
    expression = parse_expression(Source("test.hcl", cast(str, fields["input"])), diags)
    value = expression.value(Scope(_variables(context.get("variables")), functions), diags)
    wants_errors = cast(int, fields["diagCount"]) > 0
    assert diags.has_errors == wants_errors, list(diags)
    if not wants_errors or value != DYNAMIC_UNKNOWN:
        assert matches(value, fields["want"]), value


@pytest.mark.parametrize("row", _rows("TestTryFunc", "TestCanFunc"))
def test_attempts(row: Row) -> None:
    fields = _fields(row)
    diags = Diagnostics()
    expression = parse_expression(Source("test.hcl", cast(str, fields["expr"])), diags)
    value = expression.value(Scope(_variables(fields["vars"]), TRY_CAN), diags)
    assert diags.has_errors == bool(fields.get("wantErr"))
    if not diags.has_errors:
        assert matches(value, fields["want"]), value


@pytest.mark.parametrize("row", _rows("TestDecodeUserFunctions"))
def test_user_functions(row: Row) -> None:
    fields = _fields(row)
    context = cast(dict[str, dict[str, Json]], fields["baseCtx"] or {}).get("$ctx", {})
    diags = Diagnostics()
    body = parse_body(Source("test.hcl", cast(str, fields["src"])), diags)
    functions, _ = decode_functions(body, Scope(_variables(context.get("variables"))), diags)
    expression = parse_expression(Source("expr", cast(str, fields["testExpr"])), diags)
    value = expression.value(Scope({}, functions), diags)
    assert len(diags) == fields["diagCount"], list(diags)
    assert matches(value, fields["want"]), value


@pytest.mark.parametrize("row", _rows("TestDecodeExpression"))
def test_python_values(row: Row) -> None:
    fields = _fields(row)
    value = the_value(fields["Value"])
    target = make_dataclass("Target", [("value", type(fields["Target"]))])
    diags = Diagnostics()
    body = parse_body(Source("test.hcl", "value = given"), diags)
    result = decode_dataclass(target, body, Scope({"given": value}), diags)
    assert len(diags) == fields["DiagCount"], list(diags)
    if not diags.has_errors:
        assert getattr(result, "value", None) == fields["Want"]


@pytest.mark.parametrize("row", _rows("TestBlockLabels"))
def test_block_labels(row: Row) -> None:
    fields = _fields(row)
    (block,) = parse_document(cast(str, fields["src"])).body.blocks
    assert block.labels == fields["want"]


@pytest.mark.parametrize("row", _rows("TestTokenGenerateConsistency"))
def test_generated_source(row: Row) -> None:
    fields = _fields(row)
    if "elems" in fields:
        elements = cast(list[Json], fields["elems"] or [])
        value = tuple_value([the_value(element) for element in elements])
    else:
        value = object_value(_variables(fields["attrs"]))
    diags = Diagnostics()
    assert parse_expression(Source("", render_value(value)), diags).value(Scope(), diags) == value
    assert not list(diags)


@pytest.mark.parametrize("row", _rows("TestParseTraversalAbs"))
def test_traversal(row: Row) -> None:
    fields = _fields(row)
    diags = Diagnostics()
    assert parse_traversal(Source("", cast(str, fields["src"])), diags) is None
    assert len(diags) == fields["diagCount"]


@pytest.mark.parametrize("row", _rows("TestCheckInvalidTokensTest"))
def test_invalid_characters(row: Row) -> None:
    text = cast(str, _fields(row)["Input"])
    diags = Diagnostics()
    parse_body(Source("test.hcl", text), diags)
    (found,) = diags
    assert found.subject is not None
    start, end = found.subject.start.byte, found.subject.end.byte
    assert text.encode()[start:end].decode() in ("“", "`", "&", "~")


@pytest.mark.parametrize("row", _rows("TestPosScanner"))
def test_positions(row: Row) -> None:
    fields = _fields(row)
    assert fields["Want"] == []
    assert Source("", cast(str, fields["Input"])).pos(0) == Pos(1, 1, 0)


@pytest.mark.parametrize("row", _rows("TestKeywordSuggestion"))
def test_keyword_suggestion(row: Row) -> None:
    fields = _fields(row)
    suggestion = suggest(cast(str, fields["Input"]), ["false", "true", "null"])
    assert (suggestion or "") == fields["Want"]


ELSEWHERE: Final = {
    "TestExpressionErrorMessages": "test_hcl_expressions",
    "TestExpressionParseAndValue": "test_hcl_expressions",
    "TestFormat": "test_format",
    "TestGetType": "test_type_expressions",
    "TestGetTypeDefaults": "test_type_expressions",
    "TestGetTypeJSON": "test_type_expressions",
    "TestIndex": "test_hcl_expressions",
    "TestExpressionValue_Diags": "test_hcl_json",
    "TestJustAttributes": "test_hcl_json",
    "TestNameSuggestion": "test_hcl_expressions",
    "TestParseExpression": "test_hcl_json",
    "TestTemplateExprParseAndValue": "test_hcl_expressions",
    "TestTypeString": "test_type_expressions",
    "TestValidIdentifier": "test_hcl_expressions",
}
"""Where the other tests of the table are judged."""

HERE: Final = (
    "TestBlockLabels",
    "TestCanFunc",
    "TestCheckInvalidTokensTest",
    "TestDecodeExpression",
    "TestDecodeUserFunctions",
    "TestKeywordSuggestion",
    "TestParseTraversalAbs",
    "TestPosScanner",
    "TestTokenGenerateConsistency",
    "TestTryFunc",
)


def test_no_row_is_forgotten() -> None:
    folder = Path(__file__).parent
    for row in rows(TABLE):
        test = cast(str, row["test"])
        if test in HERE or reason(row) is not None:
            continue
        assert f'"{test}"' in (folder / f"{ELSEWHERE[test]}.py").read_text(), test
