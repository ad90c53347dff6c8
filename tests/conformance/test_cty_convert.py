"""Conversion and unification, judged by go-cty's own tables. Texts of messages are not compared."""

import pytest

from nigari.cty.convert import conversion_exists, convert
from nigari.cty.errors import CtyError
from nigari.cty.mismatch import mismatch
from nigari.cty.types import DYNAMIC, Type
from nigari.cty.unify import compare_types, sort_types, unify
from tests.conformance import Json, Row, needs_conformance, table
from tests.conformance.not_applicable import reason
from tests.conformance.values import decode_type, matches, the_value

TABLE = "tables/cty-tables.jsonl"
pytestmark = needs_conformance


def _rows(test: str) -> list[Row]:
    return [r for r in table(TABLE, [test]) if "/convert/" in str(r["file"]) and not reason(r)]


def _fields(row: Row) -> dict[str, Json]:
    fields = row["fields"]
    assert isinstance(fields, dict)
    return fields


def _types(written: Json) -> list[Type]:
    assert isinstance(written, list)
    return [decode_type(part) for part in written]


@pytest.mark.parametrize("row", _rows("TestConvert"), ids=lambda row: str(row["n"]))
def test_convert(row: Row) -> None:
    fields = _fields(row)
    value, wanted = the_value(fields["Value"]), decode_type(fields["Type"])
    if fields.get("WantError"):
        with pytest.raises(CtyError):
            convert(value, wanted)
    else:
        assert matches(convert(value, wanted), fields["Want"])


@pytest.mark.parametrize("row", _rows("TestUnify"), ids=lambda row: str(row["n"]))
def test_unify(row: Row) -> None:
    fields = _fields(row)
    types, written = _types(fields["Input"]), fields["WantType"]
    assert isinstance(written, dict)
    common = unify(types)
    if "$niltype" in written:
        assert common is None
        return
    assert common == decode_type(written)
    if common != DYNAMIC:
        assert fields["WantConversions"] == [type_ != common for type_ in types]


@pytest.mark.parametrize("row", _rows("TestMismatchMessage"), ids=lambda row: str(row["n"]))
def test_mismatch(row: Row) -> None:
    fields = _fields(row)
    given, wanted = decode_type(fields["GotType"]), decode_type(fields["WantType"])
    assert not conversion_exists(given, wanted, True)
    assert mismatch(given, wanted).message


@pytest.mark.parametrize("row", _rows("TestCompareTypes"), ids=lambda row: str(row["n"]))
def test_compare_types(row: Row) -> None:
    fields = _fields(row)
    assert compare_types(decode_type(fields["A"]), decode_type(fields["B"])) == fields["Want"]


@pytest.mark.parametrize("row", _rows("TestSortTypes"), ids=lambda row: str(row["n"]))
def test_sort_types(row: Row) -> None:
    fields = _fields(row)
    types = _types(fields["Input"])
    assert [types[i] for i in sort_types(types)] == _types(fields["Want"])
