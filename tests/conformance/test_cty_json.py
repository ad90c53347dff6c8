"""JSON of types and values, judged by go-cty's own tables."""

import pytest

from nigari.cty.errors import CtyError
from nigari.cty.json import (
    implied_type,
    implied_value_from_json,
    type_from_json,
    type_to_json,
    value_from_json,
    value_to_json,
)
from tests.conformance import Json, Row, needs_conformance, rows
from tests.conformance.not_applicable import reason
from tests.conformance.values import decode_type, matches, the_value

pytestmark = needs_conformance


def _rows(test: str, file: str = "go-cty/cty/json/") -> list[Row]:
    found = [row for row in rows("tables/cty-tables.jsonl") if str(row["file"]).startswith(file)]
    return [row for row in found if row["test"] == test and not reason(row)]


def _fields(row: Row) -> dict[str, Json]:
    fields = row["fields"]
    assert isinstance(fields, dict)
    return fields


@pytest.mark.parametrize("row", _rows("TestValueJSONable"), ids=lambda row: str(row["n"]))
def test_values(row: Row) -> None:
    fields = _fields(row)
    type_ = decode_type(fields["Type"])
    text = value_to_json(the_value(fields["Value"]), type_)
    assert text == fields["Want"]
    assert matches(value_from_json(text, type_), fields["DecVal"])


@pytest.mark.parametrize("row", _rows("TestSimpleJSONValue"), ids=lambda row: str(row["n"]))
def test_values_of_implied_type(row: Row) -> None:
    fields = _fields(row)
    text = value_to_json(the_value(fields["Input"]))
    assert text == fields["JSON"]
    assert matches(implied_value_from_json(text), fields["Want"])


@pytest.mark.parametrize("row", _rows("TestImpliedType"), ids=lambda row: str(row["n"]))
def test_implied_types(row: Row) -> None:
    fields = _fields(row)
    assert implied_type(str(fields["Input"])) == decode_type(fields["Want"])


@pytest.mark.parametrize("row", _rows("TestImpliedTypeErrors"), ids=lambda row: str(row["n"]))
def test_no_implied_type(row: Row) -> None:
    with pytest.raises(CtyError):
        implied_type(str(_fields(row)["Input"]))


@pytest.mark.parametrize(
    "row", _rows("TestTypeJSONable", "go-cty/cty/json_test.go"), ids=lambda row: str(row["n"])
)
def test_types(row: Row) -> None:
    fields = _fields(row)
    type_ = decode_type(fields["cty"])
    assert type_to_json(type_) == fields["Want"]
    assert type_from_json(type_to_json(type_)) == type_
