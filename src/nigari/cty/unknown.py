"""The payload of unknown values: refinements and causes.

An unknown value's payload is one `Unknown`. Refinements narrow the possible values; they take part
in equality. Causes record the origin of the unknown; they are opaque here, take no part in
equality, and joining retains only a few, so that folding over many unknowns stays cheap.
"""

from __future__ import annotations

from nigari.cty import numbers
from nigari.cty.numbers import Number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


MAX_CAUSES: Final = 4


class Unknown:
    """The payload of an unknown value. The value's type decides which fields may be set.

    `lower` and `upper` bound a number, `prefix` begins a string, `min_length` and `max_length`
    bound the length of a collection (-1 means unlimited), `not_null` applies to any type.
    """

    __slots__ = (
        "causes",
        "lower",
        "lower_inclusive",
        "max_length",
        "min_length",
        "not_null",
        "prefix",
        "upper",
        "upper_inclusive",
    )

    not_null: bool
    lower: int | Number | None
    lower_inclusive: bool
    upper: int | Number | None
    upper_inclusive: bool
    prefix: str
    min_length: int
    max_length: int
    causes: tuple[object, ...]

    def __init__(
        self,
        not_null: bool = False,
        lower: int | Number | None = None,
        lower_inclusive: bool = False,
        upper: int | Number | None = None,
        upper_inclusive: bool = False,
        prefix: str = "",
        min_length: int = 0,
        max_length: int = -1,
        causes: tuple[object, ...] = (),
    ) -> None:
        self.not_null = not_null
        self.lower = lower
        self.lower_inclusive = lower_inclusive
        self.upper = upper
        self.upper_inclusive = upper_inclusive
        self.prefix = prefix
        self.min_length = min_length
        self.max_length = max_length
        self.causes = causes

    def _refinements(self) -> tuple[object, ...]:
        return (
            self.not_null,
            self.lower,
            self.lower_inclusive,
            self.upper,
            self.upper_inclusive,
            self.prefix,
            self.min_length,
            self.max_length,
        )

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Unknown) and self._refinements() == other._refinements()

    def __hash__(self) -> int:
        return hash(self._refinements())

    def __reduce__(self) -> tuple[object, ...]:
        return (Unknown, (*self._refinements(), self.causes))

    def __repr__(self) -> str:
        parts: list[str] = []
        if self.not_null:
            parts.append("not null")
        if self.lower is not None:
            sign = ">=" if self.lower_inclusive else ">"
            parts.append(f"{sign} {numbers.to_text(self.lower)}")
        if self.upper is not None:
            sign = "<=" if self.upper_inclusive else "<"
            parts.append(f"{sign} {numbers.to_text(self.upper)}")
        if self.prefix:
            parts.append(f"begins with {self.prefix!r}")
        if self.min_length:
            parts.append(f"length >= {self.min_length}")
        if self.max_length >= 0:
            parts.append(f"length <= {self.max_length}")
        return ", ".join(parts)

    @property
    def is_refined(self) -> bool:
        """True if the value has any refinement."""
        return self != UNREFINED

    def with_causes(self, causes: tuple[object, ...]) -> Unknown:
        """Replace the causes; the refinements stay."""
        if causes == self.causes:
            return self
        return Unknown(
            self.not_null,
            self.lower,
            self.lower_inclusive,
            self.upper,
            self.upper_inclusive,
            self.prefix,
            self.min_length,
            self.max_length,
            causes,
        )


UNREFINED: Final = Unknown()
NOT_NULL: Final = Unknown(not_null=True)


def join_causes(first: tuple[object, ...], second: tuple[object, ...]) -> tuple[object, ...]:
    """Join causes without duplicates, at most `MAX_CAUSES` of them."""
    if not second or first is second or len(first) >= MAX_CAUSES:
        return first
    if not first:
        return second
    joined = list(first)
    for cause in second:
        if len(joined) == MAX_CAUSES:
            break
        if cause not in joined:
            joined.append(cause)
    return tuple(joined)


def narrow_lower(
    unknown: Unknown, bound: int | Number, inclusive: bool
) -> tuple[int | Number | None, bool]:
    """Return the tighter of the present lower bound and another."""
    if unknown.lower is not None:
        order = numbers.compare(bound, unknown.lower)
        if order < 0 or (order == 0 and inclusive):
            return unknown.lower, unknown.lower_inclusive
    return bound, inclusive


def narrow_upper(
    unknown: Unknown, bound: int | Number, inclusive: bool
) -> tuple[int | Number | None, bool]:
    """Return the tighter of the present upper bound and another."""
    if unknown.upper is not None:
        order = numbers.compare(bound, unknown.upper)
        if order > 0 or (order == 0 and inclusive):
            return unknown.upper, unknown.upper_inclusive
    return bound, inclusive
