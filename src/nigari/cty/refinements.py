"""Refinements: the range of possible values of an unknown, and how operations narrow it.

Operations on unknown values read the ranges of their operands and refine their result, so that
`length(x) > 0` can be known while `x` is not.
"""

from __future__ import annotations

from nigari.cty import numbers
from nigari.cty.copying import reduced
from nigari.cty.errors import CtyError
from nigari.cty.numbers import INFINITY, NEGATIVE_INFINITY, Number
from nigari.cty.types import (
    KIND_DYNAMIC,
    KIND_LIST,
    KIND_MAP,
    KIND_NUMBER,
    KIND_SET,
    KIND_STRING,
    NUMBER,
    CollectionType,
)
from nigari.cty.unknown import Unknown, narrow_lower, narrow_upper
from nigari.cty.values import (
    HAS_UNKNOWN,
    Value,
    list_value,
    map_value,
    normalize,
    set_value,
    unknown,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_MOST_SPELT_OUT: Final = 100_000
"""Longest list of known length that becomes a list of unknown elements. Refinements also come from
plugins, and a single number from one must not exhaust memory.
"""

Bounds = tuple[int | Number, bool, int | Number, bool]
"""Lower bound, whether it is inclusive, upper bound, whether it is inclusive."""


def definitely_not_null(value: Value) -> bool:
    """Check that the value cannot turn out to be null."""
    data = value.data
    if isinstance(data, Unknown):
        return data.not_null
    return data is not None


def number_bounds(value: Value) -> Bounds:
    """Return the bounds of a number, assuming that it is not null."""
    data = value.data
    if not isinstance(data, Unknown):
        exact = value.as_number()
        return exact, True, exact, True
    lower, upper = data.lower, data.upper
    return (
        NEGATIVE_INFINITY if lower is None else lower,
        data.lower_inclusive,
        INFINITY if upper is None else upper,
        data.upper_inclusive,
    )


def string_prefix(value: Value) -> str:
    """Return the certain beginning of a string that is not null; all of it if it is known."""
    data = value.data
    if isinstance(data, Unknown):
        return data.prefix
    return value.as_string()


def length_bounds(value: Value) -> tuple[int, int]:
    """Return the least and greatest length of a collection that is not null; -1 means unlimited.

    A set with unknown elements may turn out smaller than it looks, as some may be equal.
    """
    data = value.data
    if isinstance(data, Unknown):
        return data.min_length, data.max_length
    length = value.length_int()
    if value.type.kind == KIND_SET and value.flags & HAS_UNKNOWN:
        return min(length, 1), length
    return length, length


class Refinement:
    """A narrowing of an unknown value. Only fields that apply to the value's type may be set."""

    __slots__ = ("lower", "max_length", "min_length", "not_null", "prefix", "upper")

    not_null: bool
    lower: tuple[int | Number, bool] | None
    upper: tuple[int | Number, bool] | None
    prefix: str
    min_length: int
    max_length: int

    def __init__(
        self,
        not_null: bool = False,
        lower: tuple[int | Number, bool] | None = None,
        upper: tuple[int | Number, bool] | None = None,
        prefix: str = "",
        min_length: int = 0,
        max_length: int = -1,
    ) -> None:
        self.not_null = not_null
        self.lower = lower
        self.upper = upper
        self.prefix = prefix
        self.min_length = min_length
        self.max_length = max_length

    def __reduce__(self) -> tuple[object, ...]:
        return reduced(self)


def refine_not_null(value: Value) -> Value:
    """Narrow a value to be not null; a known value stays unchanged."""
    data = value.data
    if not isinstance(data, Unknown) or data.not_null or value.type.kind == KIND_DYNAMIC:
        return value
    return refine(value, Refinement(not_null=True))


def refine(value: Value, by: Refinement) -> Value:
    """Narrow the range of a value; raise a `CtyError` if that contradicts its present range.

    A range with only one possible value yields that value.
    """
    data = value.data
    # go-cty: an unknown of unknown type has no refinements, as they belong to a type.
    if value.type.kind == KIND_DYNAMIC and data is not None:
        return value
    if not isinstance(data, Unknown):
        _check_known(value, by)
        return value
    narrowed = _narrow(value, data, by)
    return _collapse(value, narrowed).with_marks(value.marks)


def _check_known(value: Value, by: Refinement) -> None:
    if value.data is None:
        if by.not_null:
            raise CtyError("the value is null, although it was promised not to be")
        return
    if by.lower is not None or by.upper is not None:
        exact = value.as_number()
        if not _within(exact, by):
            raise CtyError("the number is outside the range that was promised")
    if by.prefix and not value.as_string().startswith(by.prefix):
        raise CtyError("the string does not have the prefix that was promised")
    if by.min_length or by.max_length >= 0:
        least, most = length_bounds(value)
        if most < by.min_length or (0 <= by.max_length < least):
            raise CtyError("the collection does not have the length that was promised")


def _within(exact: int | Number, by: Refinement) -> bool:
    if by.lower is not None:
        order = numbers.compare(exact, by.lower[0])
        if order < 0 or (order == 0 and not by.lower[1]):
            return False
    if by.upper is not None:
        order = numbers.compare(exact, by.upper[0])
        if order > 0 or (order == 0 and not by.upper[1]):
            return False
    return True


def _narrow(value: Value, have: Unknown, by: Refinement) -> Unknown:
    kind = value.type.kind
    lower, lower_inclusive = have.lower, have.lower_inclusive
    upper, upper_inclusive = have.upper, have.upper_inclusive
    if by.lower is not None and by.lower[0] != NEGATIVE_INFINITY:
        lower, lower_inclusive = narrow_lower(have, by.lower[0], by.lower[1])
    if by.upper is not None and by.upper[0] != INFINITY:
        upper, upper_inclusive = narrow_upper(have, by.upper[0], by.upper[1])
    if lower is not None and upper is not None:
        order = numbers.compare(lower, upper)
        if order > 0 or (order == 0 and not (lower_inclusive and upper_inclusive)):
            raise CtyError("no number is in the range that was promised")
    prefix = have.prefix
    if by.prefix:
        wanted = normalize(by.prefix)
        shared = min(len(wanted), len(prefix))
        if wanted[:shared] != prefix[:shared]:
            raise CtyError("no string can have the prefix that was promised")
        prefix = max(prefix, wanted, key=len)
    min_length = max(have.min_length, by.min_length)
    max_length = have.max_length
    if by.max_length >= 0:
        max_length = by.max_length if max_length < 0 else min(max_length, by.max_length)
    if 0 <= max_length < min_length:
        raise CtyError("no collection can have the length that was promised")
    _check_applies(kind, lower is not None or upper is not None, prefix, min_length, max_length)
    return Unknown(
        have.not_null or by.not_null,
        lower,
        lower_inclusive,
        upper,
        upper_inclusive,
        prefix,
        min_length,
        max_length,
        have.causes,
    )


def _check_applies(kind: int, bounded: bool, prefix: str, min_length: int, max_length: int) -> None:
    if bounded and kind != KIND_NUMBER:
        raise TypeError("only numbers have bounds")
    if prefix and kind != KIND_STRING:
        raise TypeError("only strings have a prefix")
    if (min_length or max_length >= 0) and not KIND_LIST <= kind <= KIND_MAP:
        raise TypeError("only collections have a length to refine")


def _collapse(value: Value, narrowed: Unknown) -> Value:
    """Return the known value if the range leaves no choice, otherwise the unknown with that range."""
    type_ = value.type
    # go-cty: a value that may still be null is not determined by its bounds.
    if not narrowed.not_null:
        return unknown(type_, narrowed)
    if narrowed.lower is not None and narrowed.lower == narrowed.upper:
        return Value(NUMBER, narrowed.lower)
    if isinstance(type_, CollectionType) and narrowed.min_length == narrowed.max_length:
        length = narrowed.min_length
        element = unknown(type_.element).with_causes(narrowed.causes)
        if type_.kind == KIND_LIST and length <= _MOST_SPELT_OUT:
            return list_value(type_.element, [element] * length)
        # Only an empty or one-element set is determined: more elements might turn out equal.
        if type_.kind == KIND_SET and length <= 1:
            return set_value(type_.element, [element] * length)
        if length == 0:
            return map_value(type_.element, {})
    return unknown(type_, narrowed)


def range_excludes(value: Value, candidate: Value) -> bool:
    """Check that an unknown value cannot turn out to be `candidate`."""
    if candidate.data is None:
        return definitely_not_null(value)
    if not candidate.is_known:
        return False
    have = value.refinements
    kind = value.type.kind
    if kind == KIND_NUMBER:
        lower = None if have.lower is None else (have.lower, have.lower_inclusive)
        upper = None if have.upper is None else (have.upper, have.upper_inclusive)
        return not _within(candidate.as_number(), Refinement(lower=lower, upper=upper))
    if kind == KIND_STRING:
        return not candidate.as_string().startswith(have.prefix)
    if KIND_LIST <= kind <= KIND_MAP:
        least, most = length_bounds(candidate)
        return most < have.min_length or 0 <= have.max_length < least
    return False
