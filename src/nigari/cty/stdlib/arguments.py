"""Conversion of number arguments to Python numbers."""

from __future__ import annotations

import math

from nigari.cty import numbers
from nigari.cty.function import FunctionError
from nigari.cty.values import Value

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
