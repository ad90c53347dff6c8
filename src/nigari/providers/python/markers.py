"""Markers for `Annotated` fields of resource types, and the placeholder for unknown values."""

from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeVar

_T = TypeVar("_T")


class Marker:
    """An annotation of a field; compared by identity."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


COMPUTED: Final = Marker("COMPUTED")
"""The provider determines the value; the configuration cannot."""
REPLACE: Final = Marker("REPLACE")
"""A change of this attribute replaces the object."""
SENSITIVE: Final = Marker("SENSITIVE")
"""The value is never shown."""
KEEP: Final = Marker("KEEP")
"""A result that survives updates of the object, such as an identifier."""
IDENTITY: Final = Marker("IDENTITY")
"""A part of the object's identity, which is constant for its lifetime."""
WRITE_ONLY: Final = Marker("WRITE_ONLY")
"""The value is passed to the provider when the object is changed, and never stored."""

Computed = Annotated[_T, COMPUTED]


@dataclass(frozen=True, slots=True)
class Text:
    """A description for readers of the schema."""

    text: str


@dataclass(frozen=True, slots=True)
class Blocks:
    """Makes the dataclass of a field nested blocks, instead of an argument.

    `least` and `most` limit their number in a list or set; 0 means unlimited.
    """

    least: int = 0
    most: int = 0


BLOCK: Final = Blocks()
"""Makes the dataclass of a field a nested block, or any number of them."""


class Unknown:
    """The class of `UNKNOWN`."""

    def __repr__(self) -> str:
        return "UNKNOWN"


# A field of any type can be unknown while a change is planned.
UNKNOWN: Final[Any] = Unknown()
"""A value that is known after apply. Fields can hold it while a change is planned."""
