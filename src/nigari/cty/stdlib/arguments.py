"""Reading Python numbers from arguments, as several functions need them."""

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
    """The integer of a known argument; one that is not whole or beyond 64 bits is an error."""
    number = value.as_number()
    found = numbers.whole(number, _INT_BITS)
    if found is None or found not in _INTEGERS:
        if numbers.is_whole(number) or numbers.is_infinite(number):
            raise FunctionError("the number is too large", index)
        raise FunctionError("a whole number is required", index)
    return found


def float_argument(value: Value, index: int) -> float:
    """The nearest float of a known argument; one beyond the largest float is an error."""
    number = value.as_number()
    found = numbers.to_float(number)
    if math.isinf(found) and not numbers.is_infinite(number):
        raise FunctionError("the number is too large", index)
    return found
