"""Console output of values and types: mostly as written in a configuration, with a type where it is
not obvious.

Sensitive and ephemeral values are never shown, at any depth.
"""

from __future__ import annotations

from collections.abc import Iterator

from nigari.cty import numbers
from nigari.cty.go_text import go_quote
from nigari.cty.types import (
    KIND_BOOL,
    KIND_CAPSULE,
    KIND_DYNAMIC,
    KIND_LIST,
    KIND_MAP,
    KIND_NUMBER,
    KIND_SET,
    KIND_STRING,
    USUAL_DEPTH,
    CollectionType,
    ObjectType,
    TupleType,
    Type,
    allow_depth,
)
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.hcl.quoting import visible
from nigari.lang.marks import EPHEMERAL, SENSITIVE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_CONVERSIONS: Final = {
    KIND_STRING: "tostring",
    KIND_NUMBER: "tonumber",
    KIND_BOOL: "tobool",
    KIND_LIST: "tolist",
    KIND_SET: "toset",
    KIND_MAP: "tomap",
}
_COLLECTION_NAMES: Final = {KIND_LIST: "list", KIND_SET: "set", KIND_MAP: "map"}
_STEP: Final = 2
_TYPE_INDENT: Final = "    "


def console_text(value: Value, diags: Diagnostics) -> str:
    """Format the console's answer: a value, or the type that `type()` returned."""
    if value.contains_marked:
        from nigari.lang.functions.conversion import TYPE_MARK

        plain, marks = value.unmark_deep()
        if TYPE_MARK in marks:
            if isinstance(plain.data, Type):
                return type_display(plain.data)
            diags.error(
                "Invalid use of the type function",
                "The result of type() can only be shown, not used as part of another value.",
            )
            return ""
    return value_display(value)


def type_display(type_: Type) -> str:
    """Format a type over several lines, one for each attribute or element."""
    if type_.depth > USUAL_DEPTH:
        allow_depth(type_.depth)
    parts: list[str] = []
    _type_parts(type_, "\n", parts)
    return "".join(parts)


def _type_parts(type_: Type, newline: str, parts: list[str]) -> None:
    inner = newline + _TYPE_INDENT
    if isinstance(type_, ObjectType):
        parts.append("object({")
        for name in sorted(type_.attributes):
            parts.append(f"{inner}{name}: ")
            _type_parts(type_.attributes[name], inner, parts)
            parts.append(",")
        parts.append(f"{newline}}})" if type_.attributes else "})")
    elif isinstance(type_, TupleType):
        parts.append("tuple([")
        for element in type_.elements:
            parts.append(inner)
            _type_parts(element, inner, parts)
            parts.append(",")
        parts.append(f"{newline}])" if type_.elements else "])")
    elif isinstance(type_, CollectionType):
        parts.append(f"{_COLLECTION_NAMES[type_.kind]}(")
        if type_.element.is_structural:
            parts.append(inner)
            _type_parts(type_.element, inner, parts)
            parts.append(f",{newline})")
        else:
            _type_parts(type_.element, newline, parts)
            parts.append(")")
    else:
        parts.append(type_.friendly_name())


def value_display(value: Value) -> str:
    """Format a value over one or several lines."""
    if value.type.depth > USUAL_DEPTH:
        allow_depth(value.type.depth)
    parts: list[str] = []
    _display(value, 0, parts)
    return "".join(parts)


def value_glimpse(value: Value, most: int = 80) -> str:
    """Format the beginning of a value on one line, regardless of its size."""
    text = ""
    for piece in _pieces(value):
        text += piece
        if len(text) > most:
            return f"{text[:most]}…"
    return text


def _pieces(value: Value) -> Iterator[str]:
    """Yield the parts of a value on one line, on demand."""
    data = value.data
    if _hidden(value) is not None or not isinstance(data, dict | tuple):
        parts: list[str] = []
        _display(value, 0, parts)
        yield " ".join("".join(parts).split())
        return
    if isinstance(data, dict):
        yield "{"
        for position, name in enumerate(sorted(data)):
            written = name if name.isidentifier() else _string(name, 0)
            yield f"{', ' if position else ' '}{written} = "
            yield from _pieces(data[name])
        yield " }" if data else "}"
        return
    yield "["
    for position, element in enumerate(data):
        yield ", " if position else ""
        yield from _pieces(element)
    yield "]"


def _display(value: Value, indent: int, parts: list[str]) -> None:
    hidden = _hidden(value)
    data = value.data
    kind = value.type.kind
    if hidden is not None:
        parts.append(hidden)
    elif data is None:
        parts.append(_null(value.type))
    elif isinstance(data, str):
        parts.append(_string(data, indent))
    elif kind == KIND_NUMBER:
        parts.append(numbers.to_text(value.as_number()))
    elif kind == KIND_BOOL:
        parts.append("true" if data else "false")
    elif kind == KIND_CAPSULE:
        parts.append(f"({value.type.friendly_name()})")
    else:
        conversion = _CONVERSIONS.get(kind)
        if conversion is not None:
            parts.append(f"{conversion}(")
        _elements(value, indent, parts)
        if conversion is not None:
            parts.append(")")


def _hidden(value: Value) -> str | None:
    if not value.is_known:
        return "(known after apply)"
    if SENSITIVE in value.marks:
        return "(sensitive value)"
    return "(ephemeral value)" if EPHEMERAL in value.marks else None


def _elements(value: Value, indent: int, parts: list[str]) -> None:
    inner = "\n" + " " * (indent + _STEP)
    data = value.data
    if isinstance(data, dict):
        opening, closing = "{", "}"
        for key in sorted(data):
            parts.append(f"{opening}{inner}{_string(key, indent + _STEP)} = ")
            _display(data[key], indent + _STEP, parts)
            opening = ""
    else:
        opening, closing = "[", "]"
        for element in value.sequence():
            parts.append(opening + inner)
            _display(element, indent + _STEP, parts)
            parts.append(",")
            opening = ""
    if opening:
        parts.append(opening + closing)
    else:
        parts.append(f"\n{' ' * indent}{closing}")


def _null(type_: Type) -> str:
    if type_.kind == KIND_DYNAMIC:
        return "null"
    conversion = _CONVERSIONS.get(type_.kind)
    if conversion is None:
        return f"null /* {type_.friendly_name()} */"
    if isinstance(type_, CollectionType):
        return f"{conversion}(null) /* {_collection_name(type_)} */"
    return f"{conversion}(null)"


def _collection_name(type_: Type) -> str:
    """Describe the nested element types of a collection, down to the first that is not a
    collection.
    """
    parts: list[str] = []
    while isinstance(type_, CollectionType):
        type_ = type_.element
        noun = _COLLECTION_NAMES.get(type_.kind)
        parts.append(f"of {type_.friendly_name() if noun is None else noun}")
    return " ".join(parts)


def _string(text: str, indent: int) -> str:
    """Format a string in quotes, or as a heredoc if it has several lines."""
    lines = text.split("\n")
    if len(lines) == 1:
        return go_quote(text)
    taken = {line.strip() for line in lines}
    delimiter = "EOT"
    while delimiter in taken:
        delimiter += "_"
    margin = " " * indent
    introducer = "<<-" if indent else "<<"
    body = "".join([f"\n{margin}{visible(line)}" for line in lines])
    return f"{introducer}{delimiter}{body}\n{margin}{delimiter}"
