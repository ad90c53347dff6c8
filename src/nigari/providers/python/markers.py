"""Markers for `Annotated` fields of resource types, and the value that is not known yet."""

from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeVar

_T = TypeVar("_T")


class Marker:
    """Something that `Annotated` says about a field; compared by identity."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


COMPUTED: Final = Marker("COMPUTED")
"""The provider decides the value; the configuration cannot."""
REPLACE: Final = Marker("REPLACE")
"""A change of this attribute replaces the object."""
SENSITIVE: Final = Marker("SENSITIVE")
"""The value is never shown."""
KEEP: Final = Marker("KEEP")
"""A result that stays what it is when the object is updated, such as an identifier."""
IDENTITY: Final = Marker("IDENTITY")
"""A part of what identifies an object, for as long as it exists."""
WRITE_ONLY: Final = Marker("WRITE_ONLY")
"""The value is given to the provider when the object is changed, and stored nowhere."""

Computed = Annotated[_T, COMPUTED]


@dataclass(frozen=True, slots=True)
class Text:
    """A description for readers of the schema."""

    text: str


@dataclass(frozen=True, slots=True)
class Blocks:
    """The dataclass of a field is written as nested blocks, not with `=`.

    `least` and `most` limit how many there may be in a list or set; 0 is no limit.
    """

    least: int = 0
    most: int = 0


BLOCK: Final = Blocks()
"""The dataclass of a field is written as a nested block, or as any number of them."""


class Unknown:
    """The class of `UNKNOWN`."""

    def __repr__(self) -> str:
        return "UNKNOWN"


# Whatever the type of a field is, it can be unknown while a change is planned.
UNKNOWN: Final[Any] = Unknown()
"""A value that will be known only after apply. Fields can hold it while a change is planned."""
