"""Converting values from one type to another.

For each pair of types there is one `Conversion`, worked out once and remembered, so that a
thousand rows of one type cost a thousand runs of it and no more. Whether a conversion exists is
known by `unify`; why there is none is told by `mismatch`. Default values of optional attributes
are none of its business: those attributes become null.
"""

from __future__ import annotations

from nigari.cty.types import DYNAMIC, Type, check_type, without_optional
from nigari.cty.unify import conversion_exists
from nigari.cty.values import Value, check_value

TYPE_CHECKING = False
# Values that have their type already need none of it.
if TYPE_CHECKING:
    from typing import Final

    from nigari.cty.conversions import Conversion

__all__ = ["conversion_exists", "conversion_for", "convert"]

_MOST_REMEMBERED: Final = 4096
_conversions: Final[dict[tuple[Type, Type], Conversion | None]] = {}


def convert(value: Value, wanted: Type) -> Value:
    """The value as one of type `wanted`, or a `CtyError` with the path to what does not fit.

    Parts of `wanted` that are dynamic keep the type they have. Marks stay where they are, as far
    as the result has a place for them, and what is known of unknown values is kept where it holds
    for the result too. A value that is already of the type is returned as it is.
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
    """The conversion between two types, safe or not, or None if there is none."""
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
