"""The rows of go-cty's own tables for the standard library and for string prefixes."""

from typing import Final

import pytest

from nigari.cty.errors import CtyError
from nigari.cty.function import Function
from nigari.cty.graphemes import safe_prefix
from nigari.cty.stdlib import (
    arithmetic,
    collections,
    csv_text,
    general,
    json_text,
    mappings,
    regular_expressions,
    sequences,
    sets,
    string_lists,
    strings,
    timestamps,
)
from nigari.cty.stdlib import (
    format as formatting,
)
from nigari.cty.values import Value, string
from tests.conformance import Json, Row, needs_conformance, rows
from tests.conformance.not_applicable import reason
from tests.conformance.values import decode_type, matches, the_value

STDLIB: Final = "go-cty/cty/function/stdlib/"
PREFIXES: Final = "go-cty/cty/ctystrings/prefix_test.go"

FUNCTIONS: Final[dict[str, Function]] = {
    "TestNot": general.NOT,
    "TestAnd": general.AND,
    "TestOr": general.OR,
    "TestEqual": general.EQUAL,
    "TestCoalesce": general.COALESCE,
    "TestHasIndex": collections.HAS_INDEX,
    "TestIndex": collections.INDEX,
    "TestLength": collections.LENGTH,
    "TestContains": collections.CONTAINS,
    "TestSetproduct": collections.SET_PRODUCT,
    "TestChunklist": sequences.CHUNK_LIST,
    "TestCoalesceList": sequences.COALESCE_LIST,
    "TestConcat": sequences.CONCAT,
    "TestDistinct": sequences.DISTINCT,
    "TestFlatten": sequences.FLATTEN,
    "TestRange": sequences.RANGE,
    "TestReverseList": sequences.REVERSE_LIST,
    "TestSlice": sequences.SLICE,
    "TestKeys": mappings.KEYS,
    "TestLookup": mappings.LOOKUP,
    "TestMerge": mappings.MERGE,
    "TestValues": mappings.VALUES,
    "TestZipMap": mappings.ZIPMAP,
    "TestCSVDecode": csv_text.CSV_DECODE,
    "TestFormatDate": timestamps.FORMAT_DATE,
    "TestFormat": formatting.FORMAT,
    "TestFormatList": formatting.FORMAT_LIST,
    "TestJSONEncode": json_text.JSON_ENCODE,
    "TestJSONDecode": json_text.JSON_DECODE,
    "TestAbsolute": arithmetic.ABSOLUTE,
    "TestAdd": arithmetic.ADD,
    "TestSubtract": arithmetic.SUBTRACT,
    "TestMultiply": arithmetic.MULTIPLY,
    "TestDivide": arithmetic.DIVIDE,
    "TestModulo": arithmetic.MODULO,
    "TestNegate": arithmetic.NEGATE,
    "TestLessThan": arithmetic.LESS_THAN,
    "TestLessThanOrEqualTo": arithmetic.LESS_THAN_OR_EQUAL,
    "TestGreaterThan": arithmetic.GREATER_THAN,
    "TestGreaterThanOrEqualTo": arithmetic.GREATER_THAN_OR_EQUAL,
    "TestMin": arithmetic.MIN,
    "TestMax": arithmetic.MAX,
    "TestInt": arithmetic.INT,
    "TestCeil": arithmetic.CEIL,
    "TestFloor": arithmetic.FLOOR,
    "TestLog": arithmetic.LOG,
    "TestPow": arithmetic.POW,
    "TestSignum": arithmetic.SIGNUM,
    "TestParseInt": arithmetic.PARSE_INT,
    "TestRegex": regular_expressions.REGEX,
    "TestRegexAll": regular_expressions.REGEX_ALL,
    "TestRegexReplace": regular_expressions.REGEX_REPLACE,
    "TestReplace": strings.REPLACE,
    "TestSetUnion": sets.SET_UNION,
    "TestSetIntersection": sets.SET_INTERSECTION,
    "TestSetSubtract": sets.SET_SUBTRACT,
    "TestSetSymmetricDifference": sets.SET_SYMMETRIC_DIFFERENCE,
    "TestUpper": strings.UPPER,
    "TestLower": strings.LOWER,
    "TestReverse": strings.REVERSE,
    "TestStrlen": strings.STRLEN,
    "TestSubstr": strings.SUBSTR,
    "TestJoin": string_lists.JOIN,
    "TestSort": string_lists.SORT,
}
RESULTS: Final = ("Want", "Err", "WantErr", "WantError")
# What go-cty's test of dates keeps outside of its rows.
FORMATTED_TIME: Final = "2006-01-02T15:04:05Z"
FORMATS: Final = {
    "wantRFC3339": "YYYY-MM-DD'T'hh:mm:ssZ",
    "wantRFC850": "EEEE, DD-MMM-YY hh:mm:ss ZZZ",
}


def _name(row: Row) -> str:
    return f"{row['test']}-{row['n']}"


def _arguments(row: Row, fields: dict[str, Json]) -> list[Value]:
    arguments: list[Value] = []
    for name, written in fields.items():
        if name in RESULTS or written is None or name == "TargetTy":
            continue
        if isinstance(written, list):
            arguments.extend(the_value(part) for part in written)
        else:
            arguments.append(the_value(written))
    if "Timestamp" in fields:
        arguments.insert(0, string(""))
    elif row["test"] == "TestFormatDate":
        arguments.append(string(FORMATTED_TIME))
    return arguments


def _function(row: Row, fields: dict[str, Json]) -> Function:
    if row["test"] == "TestTo":
        return general.to_type(decode_type(fields["TargetTy"]))
    return FUNCTIONS[str(row["test"])]


def _check_dates(fields: dict[str, Json]) -> None:
    given = string(str(fields["input"]))
    for name, format_ in FORMATS.items():
        got = timestamps.FORMAT_DATE.call([string(format_), given])
        assert got.as_string() == fields[name]


@needs_conformance
@pytest.mark.parametrize(
    "row",
    [row for row in rows("tables/cty-tables.jsonl") if str(row["file"]).startswith(STDLIB)],
    ids=_name,
)
def test_standard_library(row: Row) -> None:
    why_not = reason(row)
    if why_not:
        pytest.skip(why_not)
    fields = row["fields"]
    assert isinstance(fields, dict)
    if "input" in fields:
        _check_dates(fields)
        return
    function = _function(row, fields)
    arguments = _arguments(row, fields)
    if any(fields.get(name) for name in RESULTS[1:]):
        with pytest.raises(CtyError):
            function.call(arguments)
        return
    got = function.call(arguments)
    assert matches(got, fields["Want"]), f"got {got!r}, marks {set(got.marks)}"


@needs_conformance
@pytest.mark.parametrize(
    "row",
    [row for row in rows("tables/cty-tables.jsonl") if row["file"] == PREFIXES],
    ids=_name,
)
def test_safe_prefix(row: Row) -> None:
    fields = row["fields"]
    assert isinstance(fields, dict)
    assert safe_prefix(str(fields["Input"])) == fields["Want"]
