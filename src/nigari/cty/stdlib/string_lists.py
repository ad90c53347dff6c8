"""Functions between strings and lists of strings."""

from __future__ import annotations

from nigari.cty.function import NOT_NULL_RESULT, Function, FunctionError, Parameter
from nigari.cty.refinements import Refinement, length_bounds, refine
from nigari.cty.types import STRING, ListType, Type
from nigari.cty.values import Value, list_value, string, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


STRINGS: Final = ListType(STRING)
_LONGEST_RESULT: Final = 256 * 1024 * 1024


def _join(args: list[Value], expected: Type) -> Value:
    lists = args[1:]
    if not lists:
        raise FunctionError("at least one list is required")
    if not all(given.is_wholly_known for given in lists):
        return unknown(expected)
    parts: list[str] = []
    for position, given in enumerate(lists):
        for i, element in enumerate(given.sequence()):
            if element.data is None:
                raise FunctionError(f"element {i} is null and cannot be joined", position + 1)
            parts.append(element.as_string())
    separator = args[0].as_string()
    if len(separator) * len(parts) + sum(map(len, parts)) > _LONGEST_RESULT:
        raise FunctionError("the result would be too long")
    return string(separator.join(parts))


JOIN: Final = Function(
    (Parameter("separator", STRING),),
    Parameter("lists", STRINGS),
    STRING,
    _join,
    NOT_NULL_RESULT,
)


def _sort(args: list[Value], expected: Type) -> Value:
    given = args[0]
    if not given.is_wholly_known:
        least, most = length_bounds(given)
        return refine(unknown(expected), Refinement(min_length=least, max_length=most))
    texts: list[str] = []
    for i, element in enumerate(given.sequence()):
        if element.data is None:
            raise FunctionError(f"element {i} is null and cannot be sorted")
        texts.append(element.as_string())
    texts.sort()
    return list_value(STRING, [string(text) for text in texts])


SORT: Final = Function(
    (Parameter("list", STRINGS, allow_unknown=True),), None, STRINGS, _sort, NOT_NULL_RESULT
)


def _split(args: list[Value], _: Type) -> Value:
    separator, text = args[0].as_string(), args[1].as_string()
    parts = text.split(separator) if separator else list(text)
    return list_value(STRING, [string(part) for part in parts])


SPLIT: Final = Function(
    (Parameter("separator", STRING), Parameter("str", STRING)),
    None,
    STRINGS,
    _split,
    NOT_NULL_RESULT,
)


def _compact(args: list[Value], expected: Type) -> Value:
    if not args[0].is_wholly_known:
        return unknown(expected)
    return list_value(STRING, [part for part in args[0].sequence() if part.data])


COMPACT: Final = Function((Parameter("list", STRINGS),), None, STRINGS, _compact, NOT_NULL_RESULT)
