"""Shapes of JSON data: readers that check a file of our own once, while it is read.

A shape turns plain JSON data into what it stands for, or raises a `ShapeError` that names the member
and what it should be. Any function that raises a `ValueError` can be a shape. What is done about
a file without the declared shape is left to its reader.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from enum import Enum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias, TypeVar

    T = TypeVar("T")
    E = TypeVar("E", bound=Enum)

    Shape: TypeAlias = Callable[[object], T]


class ShapeError(ValueError):
    """Data that does not have the declared shape."""

    def __init__(self, reason: str, path: str = "") -> None:
        self.reason = reason
        self.path = path
        super().__init__(f"{path or 'it'} {reason}")

    def inside(self, step: str) -> ShapeError:
        """The same, seen from the object or array around it."""
        dot = "." if self.path and not self.path.startswith("[") else ""
        return ShapeError(self.reason, f"{step}{dot}{self.path}")


def parse_document(data: bytes) -> object:
    """The plain data of JSON text, however deep it is nested; a `ValueError` where it is none."""
    try:
        document: object = json.loads(data)
    except RecursionError:
        raise ShapeError("is nested too deeply") from None
    return document


def as_text(data: object) -> str:
    """A string that can be written again; bytes of file names that are no UTF-8 are allowed."""
    if not isinstance(data, str):
        raise ShapeError("is not a string")
    try:
        data.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise ShapeError("is not Unicode text") from None
    return data


def as_number(data: object) -> int:
    """A whole number that is not negative."""
    if not isinstance(data, int) or isinstance(data, bool) or data < 0:
        raise ShapeError("is not a whole number")
    return data


def as_flag(data: object) -> bool:
    """True or false."""
    if not isinstance(data, bool):
        raise ShapeError("is neither true nor false")
    return data


def as_bytes(data: object) -> bytes:
    """Bytes, in base64."""
    import base64

    try:
        return base64.b64decode(as_text(data), validate=True)
    except ShapeError:
        raise
    except ValueError:
        raise ShapeError("is not base64 text") from None


def as_members(data: object) -> dict[str, object]:
    """An object with any members."""
    if not isinstance(data, dict):
        raise ShapeError("is not an object")
    return data


def one_of(kind: type[E]) -> Shape[E]:
    """The name of one of several."""

    def read(data: object) -> E:
        try:
            return kind(data)
        except ValueError:
            raise ShapeError("has an unsupported value") from None

    return read


def word(*words: str) -> Shape[str]:
    """One of several texts."""

    def read(data: object) -> str:
        if data not in words:
            raise ShapeError(f"is none of {', '.join(words)}")
        return as_text(data)

    return read


def optional(shape: Shape[T]) -> Shape[T | None]:
    """The same, or null."""
    return lambda data: None if data is None else shape(data)


def list_of(shape: Shape[T]) -> Shape[tuple[T, ...]]:
    """An array."""

    def read(data: object) -> tuple[T, ...]:
        if not isinstance(data, list):
            raise ShapeError("is not an array")
        return tuple(_inner(f"[{index}]", shape, each) for index, each in enumerate(data))

    return read


def map_of(shape: Shape[T]) -> Shape[dict[str, T]]:
    """An object whose members are all alike."""

    def read(data: object) -> dict[str, T]:
        return {as_text(name): _inner(name, shape, each) for name, each in as_members(data).items()}

    return read


class Members:
    """The members of an object, each with a shape of its own."""

    __slots__ = ("_data",)

    def __init__(self, data: object) -> None:
        self._data = as_members(data)

    def read(self, name: str, shape: Shape[T]) -> T:
        """A member that must be there."""
        if name not in self._data:
            raise ShapeError("is missing", name)
        return _inner(name, shape, self._data[name])


def _inner(step: str, shape: Shape[T], data: object) -> T:
    try:
        return shape(data)
    except ShapeError as error:
        raise error.inside(step) from None
    except ValueError as error:
        raise ShapeError(f"is invalid: {error}", step) from None
