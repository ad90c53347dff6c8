"""Arguments as Python numbers, and results as lists and sets of the element type."""

from __future__ import annotations

import math
from collections.abc import Sequence

from nigari.cty import numbers
from nigari.cty.function import FunctionError
from nigari.cty.types import KIND_DYNAMIC, CollectionType, Type
from nigari.cty.values import Value, list_value, set_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_INT_BITS: Final = 64
_INTEGERS: Final = range(-(2 ** (_INT_BITS - 1)), 2 ** (_INT_BITS - 1))


def int_argument(value: Value, index: int) -> int:
    """Return the integer of a known argument; fractions and numbers beyond 64 bits are errors."""
    number = value.as_number()
    found = numbers.whole(number, _INT_BITS)
    if found is None or found not in _INTEGERS:
        if numbers.is_whole(number) or numbers.is_infinite(number):
            raise FunctionError("the number is too large", index)
        raise FunctionError("a whole number is required", index)
    return found


def float_argument(value: Value, index: int) -> float:
    """Return the nearest float of a known argument; numbers beyond the largest float are errors."""
    number = value.as_number()
    found = numbers.to_float(number)
    if math.isinf(found) and not numbers.is_infinite(number):
        raise FunctionError("the number is too large", index)
    return found


def list_of(expected: Type, elements: Sequence[Value]) -> Value:
    return list_value(_element_type(expected, elements), elements)


def set_of(expected: Type, elements: Sequence[Value]) -> Value:
    return set_value(_element_type(expected, elements), elements)


def _element_type(expected: Type, elements: Sequence[Value]) -> Type:
    assert isinstance(expected, CollectionType)
    element = expected.element
    if not element.has_dynamic:
        return element
    found: Type | None = None
    for value in elements:
        if value.type.kind == KIND_DYNAMIC:
            continue
        if found is not None and found != value.type:
            raise FunctionError("all elements must have the same type")
        found = value.type
    return element if found is None else found
