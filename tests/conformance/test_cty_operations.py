"""The rows of go-cty's own tables for operations, equality and the order of sets."""

from collections.abc import Callable
from typing import Final

import pytest

from nigari.cty import operations
from nigari.cty.types import DYNAMIC
from nigari.cty.values import Value, list_value, map_value, set_order_text, set_value
from tests.conformance import Json, Row, needs_conformance, rows
from tests.conformance.not_applicable import reason
from tests.conformance.values import matches, the_value

VALUE_OPS: Final = "go-cty/cty/value_ops_test.go"
SET_INTERNALS: Final = "go-cty/cty/set_internals_test.go"
VALUE_INIT: Final = "go-cty/cty/value_init_test.go"

UNARY: Final[dict[str, Callable[[Value], Value]]] = {
    "TestValueNegate": operations.negate,
    "TestValueAbsolute": operations.absolute,
    "TestValueNot": operations.logical_not,
}
BINARY: Final[dict[str, Callable[[Value, Value], Value]]] = {
    "TestValueEquals": operations.equals,
    "TestValueAdd": operations.add,
    "TestValueSubtract": operations.subtract,
    "TestValueMultiply": operations.multiply,
    "TestValueDivide": operations.divide,
    "TestValueModulo": operations.modulo,
    "TestValueIndex": operations.index,
    "TestValueHasIndex": operations.has_index,
    "TestValueAnd": operations.logical_and,
    "TestValueOr": operations.logical_or,
    "TestLessThan": operations.less_than,
    "TestGreaterThan": operations.greater_than,
    "TestLessThanOrEqualTo": operations.less_than_or_equal,
    "TestGreaterThanOrEqualTo": operations.greater_than_or_equal,
    "TestHasElement": operations.has_element,
}


def _fields(row: Row) -> dict[str, Json]:
    fields = row["fields"]
    assert isinstance(fields, dict)
    return fields


def _name(row: Row) -> str:
    return f"{row['test']}-{row['n']}"


def _rows(file: str) -> list[Row]:
    return [row for row in rows("tables/cty-tables.jsonl") if row["file"] == file]


def _check_operation(row: Row) -> None:
    test = str(row["test"])
    fields = _fields(row)
    wanted_name = "Expected" if "Expected" in fields else "Want"
    wanted = fields[wanted_name]
    operands = [part for name, part in fields.items() if name != wanted_name]
    if test in UNARY:
        got = UNARY[test](the_value(operands[0]))
    else:
        got = BINARY[test](the_value(operands[0]), the_value(operands[1]))
    assert matches(got, wanted), f"got {got!r}, marks {set(got.marks)}"


def _check_value(row: Row) -> None:
    test = str(row["test"])
    fields = _fields(row)
    if test == "TestValueRawEquals":
        equal = the_value(fields["LHS"]) == the_value(fields["RHS"])
        assert equal is fields["Expected"]
    elif test == "TestValueGetAttr":
        got = operations.get_attr(the_value(fields["cty"]), str(fields["AttrName"]))
        assert matches(got, fields["Expected"])
    elif test == "TestHasWhollyKnownType":
        assert operations.has_known_type(the_value(fields["Value"])) is fields["Want"]
    else:
        _check_elements(fields)


def _check_elements(fields: dict[str, Json]) -> None:
    value = the_value(fields["Receiver"] if "Receiver" in fields else fields["Input"])
    wanted = fields["Expected"] if "Expected" in fields else fields["Want"]
    assert isinstance(wanted, list)
    items = value.items()
    assert len(items) == len(wanted)
    for (key, element), pair in zip(items, wanted, strict=True):
        parts = list(pair.values()) if isinstance(pair, dict) else pair
        assert isinstance(parts, list)
        assert matches(key, parts[0])
        assert matches(element, parts[1])


@needs_conformance
@pytest.mark.parametrize("row", _rows(VALUE_OPS), ids=_name)
def test_value_operations(row: Row) -> None:
    why_not = reason(row)
    if why_not:
        pytest.skip(why_not)
    test = str(row["test"])
    if test in UNARY or test in BINARY:
        _check_operation(row)
    else:
        _check_value(row)


@needs_conformance
@pytest.mark.parametrize("row", _rows(SET_INTERNALS), ids=_name)
def test_set_order(row: Row) -> None:
    fields = _fields(row)
    if row["test"] == "TestSetHashBytes":
        assert set_order_text(the_value(fields["value"])) == fields["want"]
        return
    a, b = the_value(fields["a"]), the_value(fields["b"])
    ordered = set_value(a.type, [b, a]).elements()
    before = a != b and ordered[0] == a
    assert before is fields["want"]


@needs_conformance
@pytest.mark.parametrize("row", _rows(VALUE_INIT), ids=_name)
def test_building(row: Row) -> None:
    fields = _fields(row)
    written = fields["Elems"]
    if isinstance(written, dict):
        by_key = {key: the_value(part) for key, part in written.items()}
        element = next(iter(by_key.values())).type if by_key else DYNAMIC
        _check_building(lambda: map_value(element, by_key), fields)
        return
    assert isinstance(written, list)
    values = [the_value(part) for part in written]
    build = list_value if row["test"] == "TestCanListVal" else set_value
    _check_building(lambda: build(values[0].type if values else DYNAMIC, values), fields)


def _check_building(build: Callable[[], Value], fields: dict[str, Json]) -> None:
    if fields.get("Want", True):
        build()
    else:
        with pytest.raises(TypeError):
            build()
