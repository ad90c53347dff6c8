"""Checks of what Python programs pass in: one sentence for what a type checker would refuse.

Owns the words of such a `TypeError`. What an argument is for is the caller's business.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike, fspath


def check_text(what: str, given: object) -> None:
    """A `TypeError` for what is not a str."""
    if not isinstance(given, str):
        raise TypeError(f"{what} is a str, not {type(given).__name__}")


def check_texts(what: str, given: object) -> None:
    """A `TypeError` for what is not a list of str; a single str is one only by accident."""
    if isinstance(given, str):
        raise TypeError(f"{what} is a list of str, not one str: use [{given!r}]")
    for each in _items(what, given):
        check_text(f"each item of {what}", each)


def check_path(what: str, given: object) -> None:
    """A `TypeError` for what is not a path."""
    if not isinstance(given, str | PathLike):
        raise TypeError(f"{what} is a path, not {type(given).__name__}")


def check_paths(what: str, given: object) -> None:
    """A `TypeError` for what is not a list of paths."""
    if isinstance(given, str | PathLike):
        raise TypeError(f"{what} is a list of paths, not one path: use [{fspath(given)!r}]")
    for each in _items(what, given):
        check_path(f"each item of {what}", each)


def _items(what: str, given: object) -> Iterable[object]:
    if isinstance(given, Mapping) or not isinstance(given, Iterable):
        raise TypeError(f"{what} is a list, not {type(given).__name__}")
    return given


def check_named(what: str, given: object) -> None:
    """A `TypeError` for what is not a dict by name; `what` is a plural."""
    if not isinstance(given, Mapping):
        raise TypeError(f"{what} are given by name, in a dict, not in a {type(given).__name__}")
    for name in given:
        check_text(f"a name among {what}", name)


def check_count(what: str, given: object) -> None:
    """A `TypeError` or `ValueError` for what is not a number of things."""
    if not isinstance(given, int) or isinstance(given, bool):
        raise TypeError(f"{what} is an int, not {type(given).__name__}")
    if given < 0:
        raise ValueError(f"{what} is at least 0, not {given}")


def check_kind(what: str, given: object, kind: type[object]) -> None:
    """A `TypeError` for what is not an object of this class."""
    if not isinstance(given, kind):
        raise TypeError(f"{what} must be of type {kind.__name__}, not {type(given).__name__}")
