"""Conversion of values from one type to another.

Each pair of types has one cached `Conversion`, so that converting a thousand rows of a type
compiles it once. `unify` decides whether a conversion exists, and `mismatch` explains why one does
not. Defaults of optional attributes are not applied here: those attributes become null.
"""

from __future__ import annotations

from nigari.cty.types import DYNAMIC, Type, check_type, without_optional
from nigari.cty.unify import conversion_exists
from nigari.cty.values import Value, check_value

TYPE_CHECKING = False
# Loading the compiler costs start-up time, and values that have their type already never need it.
if TYPE_CHECKING:
    from typing import Final

    from nigari.cty.conversions import Conversion

__all__ = ["conversion_exists", "conversion_for", "convert"]

_MOST_REMEMBERED: Final = 4096
_conversions: Final[dict[tuple[Type, Type], Conversion | None]] = {}


def convert(value: Value, wanted: Type) -> Value:
    """Convert a value to type `wanted`, or raise a `CtyError` with the path to the part that does
    not fit.

    Dynamic parts of `wanted` keep the type they have. Marks stay on their parts as far as the
    result has those, and refinements of unknown values are retained where they hold for the result
    too. A value that already has the type is returned unchanged.
    """
    try:
        if value.type is wanted or wanted is DYNAMIC:
            return value
        conversion = conversion_for(value.type, wanted)
    except AttributeError:
        check_value(value)
        check_type(wanted)
        raise
    if conversion is None:
        from nigari.cty.mismatch import mismatch

        raise mismatch(value.type, wanted)
    return conversion.apply(value)


def conversion_for(source: Type, wanted: Type) -> Conversion | None:
    """Return the conversion between two types, safe or unsafe; None if there is none."""
    pair = (source, wanted)
    if pair in _conversions:
        return _conversions[pair]
    from nigari.cty.conversions import Identity, compile_conversion

    found: Conversion | None = None
    result = without_optional(wanted)
    if source == result:
        found = Identity(result)
    elif conversion_exists(source, wanted, True):
        found = compile_conversion(source, wanted, result)
    if len(_conversions) >= _MOST_REMEMBERED:
        _conversions.clear()
    _conversions[pair] = found
    return found
