"""`format` and `formatlist`: the choice of arguments for verbs, and iteration over lists."""

from __future__ import annotations

from nigari.cty import operations
from nigari.cty.function import NOT_NULL_RESULT, Function, FunctionError, Parameter, find_causes
from nigari.cty.graphemes import safe_prefix
from nigari.cty.refinements import Refinement, refine, refine_not_null
from nigari.cty.stdlib.format_verbs import Verb, read_format, write_verb
from nigari.cty.types import (
    DYNAMIC,
    KIND_DYNAMIC,
    KIND_LIST,
    KIND_SET,
    KIND_TUPLE,
    STRING,
    ListType,
    TupleType,
    Type,
)
from nigari.cty.values import Value, list_value, string, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_FORMAT: Final = Parameter("format", STRING)
_ARGS: Final = Parameter("args", DYNAMIC, allow_null=True, allow_unknown=True, allow_dynamic=True)


def format_text(parts: list[str | Verb], values: list[Value]) -> str:
    """Format wholly known values. Every value must be used."""
    texts: list[str] = []
    highest = 0
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
            continue
        if part.argument > len(values):
            raise FunctionError(f'there is no argument {part.argument} for "{part.text}"')
        highest = max(highest, part.argument)
        texts.append(write_verb(part, values[part.argument - 1]))
    if highest < len(values):
        raise FunctionError(f"the format uses only {highest} of the arguments", highest + 1)
    return "".join(texts)


def _format(args: list[Value], expected: Type) -> Value:
    text = args[0].as_string()
    if all(arg.is_wholly_known for arg in args):
        return string(format_text(read_format(text), args[1:]))
    prefix = safe_prefix(text[: max(text.find("%"), 0)])
    return refine(unknown(expected), Refinement(not_null=True, prefix=prefix))


FORMAT: Final = Function((_FORMAT,), _ARGS, STRING, _format, NOT_NULL_RESULT)


def _format_list(args: list[Value], expected: Type) -> Value:
    given = args[1:]
    length, complete = _iterations(given)
    if not complete:
        return unknown(expected)
    if length == 0:
        return list_value(STRING, [])
    # An invalid format only matters once an element is formatted with it.
    parts: list[str | Verb] | None = None
    results: list[Value] = []
    for i in range(length):
        row = [arg.sequence()[i] if _is_iterated(arg) else arg for arg in given]
        if all(value.is_wholly_known for value in row):
            parts = read_format(args[0].as_string()) if parts is None else parts
            results.append(string(_format_row(parts, row, i)))
        else:
            results.append(refine_not_null(unknown(STRING).with_causes(find_causes(row))))
    return list_value(STRING, results)


def _format_row(parts: list[str | Verb], row: list[Value], i: int) -> str:
    try:
        return format_text(parts, row)
    except FunctionError as error:
        raise FunctionError(f"for element {i}: {error.message}", error.argument) from error


def _is_iterated(arg: Value) -> bool:
    return arg.data is not None and arg.type.kind in (KIND_LIST, KIND_SET, KIND_TUPLE)


def _iterations(given: list[Value]) -> tuple[int, bool]:
    """Count the results, and check that the count and all elements are known."""
    length = -1
    complete = True
    for i, arg in enumerate(given):
        if not _is_iterated(arg):
            if not arg.is_known and arg.type.kind == KIND_DYNAMIC:
                complete = False
            continue
        this_length = _length(arg)
        if this_length < 0:
            complete = False
            continue
        if length not in (-1, this_length):
            raise FunctionError(
                f"has {this_length} elements, but an earlier one has {length}", i + 1
            )
        length = this_length
        complete = complete and arg.is_known
    return (1 if length < 0 else length), complete


def _length(arg: Value) -> int:
    if isinstance(arg.type, TupleType):
        return len(arg.type.elements)
    if arg.is_known and operations.length(arg).is_known:
        return arg.length_int()
    return -1


FORMAT_LIST: Final = Function((_FORMAT,), _ARGS, ListType(STRING), _format_list, NOT_NULL_RESULT)
