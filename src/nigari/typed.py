"""Parts of `typing` that modules need at run time, without the cost of importing it.

Types are for type checkers, and `typing` is a large part of what a short command would import. So
a module imports it for type checkers only:

    TYPE_CHECKING = False
    if TYPE_CHECKING:
        from typing import Final

Type checkers take a variable of that name to be true. What is here is used besides annotations;
type checkers see the real ones. Modules that look into types import `typing` itself.
"""

from __future__ import annotations

__all__ = ["Generic", "Protocol", "cast", "dataclass_transform"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Generic, Protocol, cast, dataclass_transform
else:
    from types import GenericAlias

    class Generic:
        """The base of a class with parameters, which are named by strings: `Generic["T"]`."""

        __slots__ = ()
        __class_getitem__ = classmethod(GenericAlias)

    class Protocol(Generic):
        """The base of a class that says which members something has."""

        __slots__ = ()

    def cast(_type: object, value: object) -> object:
        """The value."""
        return value

    def dataclass_transform(**_options: bool) -> Callable[[object], object]:
        """A decorator that changes nothing."""
        return lambda decorator: decorator
