"""Set functions: union, intersection, difference, membership."""

from __future__ import annotations

from nigari.cty import operations
from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.function import NOT_NULL_RESULT, Function, FunctionError, Parameter
from nigari.cty.stdlib.arguments import set_of
from nigari.cty.types import BOOL, DYNAMIC, KIND_DYNAMIC, CollectionType, SetType, Type
from nigari.cty.unify import unify
from nigari.cty.values import DYNAMIC_UNKNOWN, Value, is_among, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_ANY_SET: Final = SetType(DYNAMIC)
_FIRST: Final = Parameter("first_set", _ANY_SET, allow_dynamic=True)
_OTHERS: Final = Parameter("other_sets", _ANY_SET, allow_dynamic=True)


def _has_element(args: list[Value], _: Type) -> Value:
    return operations.has_element(args[0], args[1])


SET_HAS_ELEMENT: Final = Function(
    (
        Parameter("set", _ANY_SET, allow_dynamic=True),
        Parameter("elem", DYNAMIC, allow_dynamic=True),
    ),
    None,
    BOOL,
    _has_element,
    NOT_NULL_RESULT,
)


def _common_set_type(args: list[Value]) -> Type:
    elements: list[Type] = []
    for arg in args:
        type_ = arg.type
        if not isinstance(type_, CollectionType):
            return DYNAMIC
        is_empty = arg.is_known and not arg.sequence()
        if not (is_empty and type_.element.kind == KIND_DYNAMIC):
            elements.append(type_.element)
    if not elements:
        return _ANY_SET
    common = unify(elements, unsafe=True)
    if common is None:
        raise FunctionError("the sets must have elements of compatible types")
    return SetType(common)


def _converted(args: list[Value], expected: Type) -> list[Value]:
    converted: list[Value] = []
    for i, arg in enumerate(args):
        try:
            converted.append(convert(arg, expected))
        except CtyError as error:
            raise FunctionError(error.message, i, error.path) from error
    return converted


def _union(args: list[Value], expected: Type) -> Value:
    if expected.kind == KIND_DYNAMIC:
        return DYNAMIC_UNKNOWN
    elements: list[Value] = []
    for arg in _converted(args, expected):
        elements.extend(arg.sequence())
    return set_of(expected, elements)


def _known_sets(args: list[Value], expected: Type) -> list[tuple[Value, ...]] | None:
    """Return the elements of each argument; None if any of them is not wholly known."""
    if expected.kind == KIND_DYNAMIC:
        return None
    converted = _converted(args, expected)
    if not all(arg.is_wholly_known for arg in converted):
        return None
    return [arg.sequence() for arg in converted]


def _intersection(args: list[Value], expected: Type) -> Value:
    sets = _known_sets(args, expected)
    if sets is None:
        return unknown(expected)
    common = set(sets[0])
    for elements in sets[1:]:
        common.intersection_update(elements)
    return set_of(expected, [element for element in sets[0] if is_among(element, common)])


def _subtract(args: list[Value], expected: Type) -> Value:
    sets = _known_sets(args, expected)
    if sets is None:
        return unknown(expected)
    removed = set(sets[1])
    return set_of(expected, [element for element in sets[0] if not is_among(element, removed)])


def _symmetric_difference(args: list[Value], expected: Type) -> Value:
    sets = _known_sets(args, expected)
    if sets is None:
        return unknown(expected)
    remaining = set(sets[0])
    for elements in sets[1:]:
        remaining.symmetric_difference_update(elements)
    return set_of(expected, list(remaining))


SET_UNION: Final = Function((_FIRST,), _OTHERS, _common_set_type, _union, NOT_NULL_RESULT)
SET_INTERSECTION: Final = Function(
    (_FIRST,), _OTHERS, _common_set_type, _intersection, NOT_NULL_RESULT
)
SET_SUBTRACT: Final = Function(
    (
        Parameter("a", _ANY_SET, allow_dynamic=True),
        Parameter("b", _ANY_SET, allow_dynamic=True),
    ),
    None,
    _common_set_type,
    _subtract,
    NOT_NULL_RESULT,
)
SET_SYMMETRIC_DIFFERENCE: Final = Function(
    (_FIRST,), _OTHERS, _common_set_type, _symmetric_difference, NOT_NULL_RESULT
)
