"""`csvdecode`: tables in RFC 4180 text become lists of objects."""

from __future__ import annotations

from nigari.cty.function import NOT_NULL_RESULT, Function, FunctionError, Parameter
from nigari.cty.types import DYNAMIC, STRING, CollectionType, ListType, ObjectType, Type
from nigari.cty.values import Value, list_value, object_value, string

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


def read_records(text: str) -> list[list[str]]:
    """Split a table into records, strictly: quotes only around whole fields. Blank lines are
    skipped.
    """
    text = text.replace("\r\n", "\n")
    if text.endswith("\r"):
        text = text[:-1]
    records: list[list[str]] = []
    position = 0
    line = 1
    while position < len(text):
        if text[position] == "\n":
            position += 1
            line += 1
            continue
        record: list[str] = []
        more = True
        while more:
            field, position = _read_field(text, position, line)
            line += field.count("\n")
            record.append(field)
            more = position < len(text) and text[position] == ","
            position += 1
        line += 1
        records.append(record)
    return records


def _read_field(text: str, start: int, line: int) -> tuple[str, int]:
    """Read a field; return it with the offset of the comma, line break or end of text after it."""
    if text[start : start + 1] != '"':
        end = start
        while end < len(text) and text[end] not in ",\n":
            end += 1
        field = text[start:end]
        if '"' in field:
            raise FunctionError(f"line {line} has a quote inside an unquoted field")
        return field, end
    parts: list[str] = []
    position = start + 1
    while True:
        quote = text.find('"', position)
        if quote < 0:
            raise FunctionError(f"the quoted field that begins on line {line} has no closing quote")
        parts.append(text[position:quote])
        if text[quote + 1 : quote + 2] != '"':
            break
        parts.append('"')
        position = quote + 2
    if text[quote + 1 : quote + 2] not in ("", ",", "\n"):
        raise FunctionError(f"line {line} has text after a quoted field")
    return "".join(parts), quote + 1


def _decode_type(args: list[Value]) -> Type:
    if not args[0].is_known:
        return DYNAMIC
    records = read_records(args[0].as_string())
    if not records:
        raise FunctionError("the header line is missing")
    header = records[0]
    if len(set(header)) < len(header):
        raise FunctionError("two columns have the same name")
    return ListType(ObjectType(dict.fromkeys(header, STRING)))


def _decode(args: list[Value], expected: Type) -> Value:
    assert isinstance(expected, CollectionType)
    header, *records = read_records(args[0].as_string())
    rows: list[Value] = []
    for i, record in enumerate(records):
        if len(record) != len(header):
            raise FunctionError(
                f"the number of fields in row {i + 1} is {len(record)}, and in the header "
                f"{len(header)}"
            )
        fields = zip(header, record, strict=True)
        rows.append(object_value({name: string(field) for name, field in fields}))
    return list_value(expected.element, rows)


CSV_DECODE: Final = Function(
    (Parameter("str", STRING),), None, _decode_type, _decode, NOT_NULL_RESULT
)
