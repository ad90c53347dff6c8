"""Types, marks and Python values, judged by go-cty's own tables."""

from pathlib import Path

import pytest

from nigari.cty.conform import conformance_errors
from nigari.cty.convert import convert
from nigari.cty.operations import apply_path
from nigari.cty.paths import unknown_as_null
from nigari.cty.types import SetType, without_optional
from nigari.cty.values import Value
from tests.conformance import Json, Row, needs_conformance, rows
from tests.conformance.not_applicable import reason
from tests.conformance.values import decode_type, decode_value, matches, the_value

pytestmark = needs_conformance


def _rows(file: str, test: str) -> list[Row]:
    found = [row for row in rows("tables/cty-tables.jsonl") if row["file"] == f"go-cty/cty/{file}"]
    return [row for row in found if row["test"] == test and not reason(row)]


def _fields(row: Row) -> dict[str, Json]:
    fields = row["fields"]
    assert isinstance(fields, dict)
    return fields


def _n(row: Row) -> str:
    return str(row["n"])


@pytest.mark.parametrize(
    "row",
    _rows("object_type_test.go", "TestObjectTypeEquals")
    + _rows("tuple_type_test.go", "TestTupleTypeEquals"),
    ids=_n,
)
def test_equal(row: Row) -> None:
    fields = _fields(row)
    left, right = decode_type(fields["LHS"]), decode_type(fields["RHS"])
    assert (left == right) is fields["Expected"]
    assert (right == left) is fields["Expected"]


@pytest.mark.parametrize("row", _rows("primitive_type_test.go", "TestTypeIsPrimitiveType"), ids=_n)
def test_primitive(row: Row) -> None:
    fields = _fields(row)
    assert decode_type(fields["cty"]).is_primitive is fields["Want"]


@pytest.mark.parametrize("row", _rows("type_conform_test.go", "TestTypeTestConformance"), ids=_n)
def test_conforms(row: Row) -> None:
    fields = _fields(row)
    errors = conformance_errors(decode_type(fields["Receiver"]), decode_type(fields["Given"]))
    assert (not errors) is fields["Conforms"]


@pytest.mark.parametrize("row", _rows("type_test.go", "TestHasDynamicTypes"), ids=_n)
def test_has_dynamic(row: Row) -> None:
    fields = _fields(row)
    assert decode_type(fields["ty"]).has_dynamic is fields["expected"]


@pytest.mark.parametrize("row", _rows("type_test.go", "TestWithoutOptionalAttributesDeep"), ids=_n)
def test_without_optional(row: Row) -> None:
    fields = _fields(row)
    assert without_optional(decode_type(fields["ty"])) == decode_type(fields["expected"])


@pytest.mark.parametrize("row", _rows("marks_test.go", "TestContainsMarked"), ids=_n)
def test_contains_marked(row: Row) -> None:
    fields = _fields(row)
    assert the_value(fields["val"]).contains_marked is fields["want"]


@pytest.mark.parametrize("row", _rows("marks_test.go", "TestIsMarked"), ids=_n)
def test_is_marked(row: Row) -> None:
    fields = _fields(row)
    assert the_value(fields["val"]).is_marked is fields["want"]


@pytest.mark.parametrize("row", _rows("unknown_as_null_test.go", "TestUnknownAsNull"), ids=_n)
def test_unknown_as_null(row: Row) -> None:
    fields = _fields(row)
    assert matches(unknown_as_null(the_value(fields["Input"])), fields["Want"])


@pytest.mark.parametrize("row", _rows("path_test.go", "TestPathApply"), ids=_n)
def test_apply_path(row: Row) -> None:
    fields = _fields(row)
    assert fields["Path"] is None
    assert matches(apply_path(the_value(fields["Start"]), ()), fields["Want"])


def _python(written: Json) -> object:
    """The Python object that stands for a Go one; values may be inside."""
    if isinstance(written, list):
        return [_python(part) for part in written]
    if isinstance(written, dict):
        if "$val" in written or "$nilval" in written:
            return decode_value(written)
        return {name: _python(part) for name, part in written.items()}
    return written


@pytest.mark.parametrize("row", _rows("gocty/in_test.go", "TestIn"), ids=_n)
def test_from_python(row: Row) -> None:
    fields = _fields(row)
    wanted = decode_type(fields["Type"])
    value = convert(Value.of(_python(fields["GoValue"])), wanted)
    assert matches(value, fields["Want"])
    if not isinstance(wanted, SetType):
        assert convert(Value.of(value.to_python()), wanted) == value


@pytest.mark.parametrize("row", _rows("gocty/type_implied_test.go", "TestImpliedType"), ids=_n)
def test_type_of_python(row: Row) -> None:
    fields = _fields(row)
    assert Value.of(_python(fields["Input"])).type == decode_type(fields["Want"])


LOOKED_AT = {
    "convert/": "test_cty_convert.py",
    "json/": "test_cty_json.py",
    "json_test.go": "test_cty_json.py",
    "msgpack/": "test_cty_msgpack.py",
    "function/stdlib/": "test_cty_stdlib.py",
    "ctystrings/": "test_cty_stdlib.py",
    "value_ops_test.go": "test_cty_operations.py",
    "value_init_test.go": "test_cty_operations.py",
    "set_internals_test.go": "test_cty_operations.py",
    "": "test_cty_types.py",
}


def test_every_row_is_looked_at() -> None:
    """Each test of the tables is named where its rows are judged, as are files taken whole."""
    folder = Path(__file__).parent
    texts = {name: (folder / name).read_text("utf-8") for name in set(LOOKED_AT.values())}
    for row in rows("tables/cty-tables.jsonl"):
        file, test = str(row["file"]).removeprefix("go-cty/cty/"), str(row["test"])
        where = next(name for prefix, name in LOOKED_AT.items() if file.startswith(prefix))
        names = (test, f"go-cty/cty/{file}", "go-cty/cty/function/stdlib/")
        named = any(name in texts[where] for name in names)
        assert named or reason(row) is not None, (file, test, where)
