"""The msgpack of values, judged by go-cty's own tables."""

import pytest

from nigari.cty.convert import convert
from nigari.cty.msgpack import implied_type, marshal, unmarshal
from nigari.cty.values import string
from tests.conformance import Json, Row, needs_conformance, rows
from tests.conformance.not_applicable import reason
from tests.conformance.values import decode_type, the_value

pytestmark = needs_conformance


def _rows(test: str) -> list[Row]:
    found = rows("tables/cty-tables.jsonl")
    found = [row for row in found if str(row["file"]).startswith("go-cty/cty/msgpack/")]
    return [row for row in found if row["test"] == test and not reason(row)]


def _fields(row: Row) -> dict[str, Json]:
    fields = row["fields"]
    assert isinstance(fields, dict)
    return fields


@pytest.mark.parametrize("row", _rows("TestRoundTrip"), ids=lambda row: str(row["n"]))
def test_round_trip(row: Row) -> None:
    fields = _fields(row)
    value, type_ = the_value(fields["Value"]), decode_type(fields["Type"])
    assert unmarshal(marshal(value, type_), type_) == value


@pytest.mark.parametrize("row", _rows("TestRoundTrip_fromString"), ids=lambda row: str(row["n"]))
def test_round_trip_from_string(row: Row) -> None:
    fields = _fields(row)
    value, type_ = string(str(fields["Value"])), decode_type(fields["Type"])
    assert unmarshal(marshal(value, type_), type_) == convert(value, type_)


@pytest.mark.parametrize("row", _rows("TestImpliedType"), ids=lambda row: str(row["n"]))
def test_implied_types(row: Row) -> None:
    fields = _fields(row)
    data = str(fields["Input"]).encode("utf-8", "surrogateescape")
    assert implied_type(data) == decode_type(fields["Want"])
