"""`jsonencode` and `jsondecode`."""

from __future__ import annotations

from nigari.cty.function import NOT_NULL_RESULT, Function, FunctionError, Parameter
from nigari.cty.json import implied_type, value_from_json, value_to_json
from nigari.cty.refinements import Refinement, definitely_not_null, refine
from nigari.cty.types import (
    BOOL,
    DYNAMIC,
    KIND_LIST,
    KIND_MAP,
    KIND_OBJECT,
    KIND_SET,
    KIND_STRING,
    KIND_TUPLE,
    NUMBER,
    STRING,
    Type,
)
from nigari.cty.values import Value, string, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_OPENING: Final = {
    KIND_STRING: '"',
    KIND_OBJECT: "{",
    KIND_MAP: "{",
    KIND_TUPLE: "[",
    KIND_LIST: "[",
    KIND_SET: "[",
}


def _encode(args: list[Value], expected: Type) -> Value:
    value = args[0]
    if value.is_wholly_known:
        return string(value_to_json(value, value.type))
    result = unknown(expected)
    if not definitely_not_null(value):
        return result
    return refine(result, Refinement(prefix=_OPENING.get(value.type.kind, "")))


JSON_ENCODE: Final = Function(
    (Parameter("val", DYNAMIC, allow_null=True, allow_unknown=True, allow_dynamic=True),),
    None,
    STRING,
    _encode,
    NOT_NULL_RESULT,
)


def _decode_type(args: list[Value]) -> Type:
    text = args[0]
    if text.is_known:
        return implied_type(text.as_string())
    prefix = text.refinements.prefix.strip()
    if not prefix or prefix[0] in "{[n":
        return DYNAMIC
    if prefix[0] == '"':
        return STRING
    if prefix[0] in "tf":
        return BOOL
    if prefix[0] in "-0123456789.":
        return NUMBER
    raise FunctionError(f'"{prefix[0]}" cannot begin a JSON document', 0)


def _decode(args: list[Value], expected: Type) -> Value:
    return value_from_json(args[0].as_string(), expected)


JSON_DECODE: Final = Function((Parameter("str", STRING),), None, _decode_type, _decode)
