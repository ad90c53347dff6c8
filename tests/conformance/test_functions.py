"""OpenTofu's own tables of its functions, and of how the console shows values and types."""

import base64
from typing import Final, cast

import pytest

from nigari.cty.errors import CtyError
from nigari.cty.function import Function
from nigari.cty.stdlib.general import to_type
from nigari.cty.values import DYNAMIC_UNKNOWN, Value, string
from nigari.diagnostics import Diagnostics
from nigari.hcl.parser import parse_expression
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source
from nigari.hcl.type_expressions import parse_type_constraint
from nigari.lang.files import MemoryFiles
from nigari.lang.functions.table import FunctionTable, function_table
from nigari.lang.marks import EPHEMERAL, SENSITIVE
from nigari.lang.render import type_display, value_display
from tests.conformance import Json, Row, needs_conformance, rows, table
from tests.conformance.not_applicable import reason
from tests.conformance.values import decode_type, matches, the_value

TABLES: Final = "tables/tofu-tables.jsonl"
FUNCTIONS: Final = "opentofu/internal/lang/funcs/"
MARKS: Final = {"marks.Sensitive": SENSITIVE, "marks.Ephemeral": EPHEMERAL}
ERRORS: Final = ("Err", "WantErr", "WantError")
RESULTS: Final = (*ERRORS, "Want", "WantValue", "Expected", "IsSensitive", "TargetTy")

pytestmark = needs_conformance


def _fields(row: Row) -> dict[str, Json]:
    return cast(dict[str, Json], row["fields"])


def _icon() -> bytes:
    """The picture that some rows have the hashes of; one has all of it."""
    for row in table(TABLES, ["TestFileBase64"]):
        written = _fields(row)["Want"]
        if isinstance(written, dict) and "$val" in written:
            return base64.b64decode(the_value(written).as_string())
    return b""


def _function_table() -> FunctionTable:
    files = MemoryFiles(
        {
            "hello.txt": "hello!",
            "hello.tmpl": "Hello, ${name}!",
            "subdirectory/hello.txt": "",
            "subdirectory/hello.tmpl": "",
        }
    )
    return function_table(files, ".", plan_timestamp="2004-04-25T15:00:00Z")


def _data_table() -> FunctionTable:
    """The functions in a directory with the files that the tables of single functions name."""
    files = MemoryFiles(
        {
            "testdata/bare.tmpl": "${val}",
            "testdata/func.tmpl": 'The items are ${join(", ", list)}',
            "testdata/hello.tmpl": "Hello, ${name}!",
            "testdata/hello.txt": "Hello World",
            "testdata/icon.png": _icon(),
            "testdata/list.tmpl": "%{ for x in list ~}\n- ${x}\n%{ endfor ~}\n",
            "testdata/recursive.tmpl": '${templatefile("testdata/recursive.tmpl", {})}\n',
        }
    )
    return function_table(files, ".", home_directory="/home/someone")


NAMES: Final = {
    "TestBase64Decode_error": "base64decode",
    "TestBase64TextDecode": "textdecodebase64",
    "TestBase64TextEncode": "textencodebase64",
    "TestEphemeralAsNullFunc": "ephemeralasnull",
}
ELSEWHERE: Final = {
    "Test_templateMaxRecursionDepth": "an environment variable, which the command line reads",
    "TestURLEncodeDecode": "encoded and decoded again, in a test of its own",
}


def _function(row: Row, functions: FunctionTable) -> Function:
    test = str(row["test"])
    if test == "TestTo":
        return to_type(decode_type(_fields(row)["TargetTy"]))
    return functions[NAMES.get(test, test.removeprefix("Test").lower())]


def _arguments(fields: dict[str, Json]) -> list[Value]:
    arguments: list[Value] = []
    for name, written in fields.items():
        if name in RESULTS or written is None or isinstance(written, str):
            continue
        if isinstance(written, list):
            arguments.extend(the_value(part, MARKS) for part in written)
        else:
            arguments.append(the_value(written, MARKS))
    return arguments


def _single_function_rows() -> list[Row]:
    found = [row for row in rows(TABLES) if str(row["file"]).startswith(FUNCTIONS)]
    return [row for row in found if row["test"] not in ELSEWHERE]


@pytest.mark.parametrize(
    "row", _single_function_rows(), ids=lambda row: f"{row['test']}-{row['n']}"
)
def test_single_function(row: Row) -> None:
    why_not = reason(row)
    if why_not:
        pytest.skip(why_not)
    fields = _fields(row)
    function = _function(row, _data_table())
    arguments = _arguments(fields)
    if any(fields.get(name) for name in ERRORS):
        with pytest.raises(CtyError):
            function.call(arguments)
        return
    got = function.call(arguments)
    wanted = next(
        (fields[name] for name in RESULTS[3:7] if isinstance(fields.get(name), dict)), None
    )
    if row["test"] == "TestBase64Gzip":
        # The bytes of another compressor are others; what they stand for is the same.
        assert _data_table()["base64gunzip"].call([got]) == arguments[0]
    elif wanted is not None:
        assert matches(got, wanted, MARKS), got
    else:
        assert (SENSITIVE in got.marks) == (row["test"] == "TestSensitive")


@pytest.mark.parametrize("row", table(TABLES, ["TestURLEncodeDecode"]), ids=lambda row: row["n"])
def test_url_encoding_and_decoding(row: Row) -> None:
    functions = _data_table()
    given = the_value(_fields(row)["String"])
    assert functions["urldecode"].call([functions["urlencode"].call([given])]) == given


# -- expressions --------------------------------------------------------------------------------


def _evaluate(text: str, variables: dict[str, Value]) -> tuple[Value, Diagnostics]:
    diags = Diagnostics()
    expression = parse_expression(Source("test.tf", text), diags)
    return expression.value(Scope(variables, _function_table()), diags), diags


@pytest.mark.parametrize(
    "row", rows("tables/tofu-functions_test.jsonl"), ids=lambda row: str(row["expr"])[:60]
)
@pytest.mark.parametrize("prefix", ["", "core::"])
def test_call(row: Row, prefix: str) -> None:
    name, text = str(row["func"]), str(row["expr"])
    value, diags = _evaluate(text.replace(f"{name}(", f"{prefix}{name}("), {})
    assert not diags.has_errors, list(diags)
    assert matches(value, row["want"], MARKS), value


@pytest.mark.parametrize("row", table(TABLES, ["TestFunctions"]), ids=lambda row: row["n"])
def test_call_of_newer_release(row: Row) -> None:
    fields = _fields(row)
    value, diags = _evaluate(str(fields["src"]), {})
    assert not diags.has_errors, list(diags)
    assert matches(value, fields["want"], MARKS), value


@pytest.mark.parametrize("row", table(TABLES, ["TestConvertFunc"]), ids=lambda row: row["n"])
def test_convert(row: Row) -> None:
    fields = _fields(row)
    variables = {"marked": string("marked").mark("mark"), "unknown": DYNAMIC_UNKNOWN}
    value, diags = _evaluate(str(fields["CallExpr"]), variables)
    assert not diags.has_errors, list(diags)
    assert matches(value, fields["WantValue"], MARKS), value


@pytest.mark.parametrize(
    "row", table(TABLES, ["TestTypeConversionConstraint"]), ids=lambda row: row["n"]
)
def test_type_constraint(row: Row) -> None:
    fields = _fields(row)
    diags = Diagnostics()
    written = parse_expression(Source("test.tf", str(fields["ConstraintExpr"])), diags)
    constraint = parse_type_constraint(written, diags)
    assert not diags.has_errors
    assert matches(constraint.convert(the_value(fields["InputValue"])), fields["WantValue"])


# -- the console --------------------------------------------------------------------------------


@pytest.mark.parametrize("row", table(TABLES, ["TestFormatValue"]), ids=lambda row: row["n"])
def test_value_display(row: Row) -> None:
    fields = _fields(row)
    assert value_display(the_value(fields["Val"], MARKS)) == fields["Want"]


@pytest.mark.parametrize("row", table(TABLES, ["TestTypeString"]), ids=lambda row: row["n"])
def test_type_display(row: Row) -> None:
    fields = _fields(row)
    assert type_display(the_value(fields["Input"]).type) == fields["Want"]
