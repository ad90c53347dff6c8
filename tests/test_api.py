"""The public surface is written down, explained, and made of itself."""

from __future__ import annotations

import importlib
import inspect
import types
import typing
from collections.abc import Iterator
from enum import Enum

import pytest

from nigari import typed
from scripts.api_page import DOORS, PLACE, members, pages

INHERITED = ("nigari.providers.python", "nigari.hcl.decode")
"""Modules whose classes override methods that their users don't call."""


def public() -> dict[int, str]:
    """Everything that a door offers, by identity."""
    found: dict[int, str] = {}
    for door in DOORS:
        module = importlib.import_module(door)
        found.update({id(getattr(module, name)): f"{door}.{name}" for name in module.__all__})
    return found


def functions(door: str) -> Iterator[tuple[str, object]]:
    """The functions and methods of a door, by name."""
    module = importlib.import_module(door)
    for name in module.__all__:
        found = getattr(module, name)
        if inspect.isfunction(found):
            yield name, found
        elif inspect.isclass(found):
            for member, value in members(found):
                raw = value.fget if isinstance(value, property) else value
                raw = raw.__func__ if isinstance(raw, classmethod | staticmethod) else raw
                yield f"{name}.{member}", raw


def classes(door: str) -> Iterator[tuple[str, type]]:
    """The classes of a door, whose annotations are their fields."""
    module = importlib.import_module(door)
    for name in module.__all__:
        found = getattr(module, name)
        if inspect.isclass(found):
            yield name, found


def classes_in(hint: object) -> Iterator[type]:
    """The classes that a type hint names."""
    if typing.get_origin(hint) is not None or isinstance(hint, types.UnionType):
        for each in typing.get_args(hint):
            yield from classes_in(each)
    elif inspect.isclass(hint):
        yield hint


def is_described(kind: type) -> bool:
    """Whether the class needs no name: a protocol, which any class can meet, or the one member of
    an enumeration, which stands for itself.
    """
    is_protocol = bool({typed.Protocol, typing.Protocol} & {*kind.__bases__})
    return is_protocol or (issubclass(kind, Enum) and len(kind) == 1)


def test_the_pages_are_up_to_date() -> None:
    found = {path.name: path.read_text(encoding="utf-8") for path in PLACE.glob("*.md")}
    assert found == pages(), "run: python -m scripts.api_page"


@pytest.mark.parametrize("door", [each for each in DOORS if each not in INHERITED])
def test_everything_public_is_explained(door: str) -> None:
    assert [name for name, each in functions(door) if not inspect.getdoc(each)] == []


@pytest.mark.parametrize("door", [each for each in DOORS if each not in INHERITED])
def test_signatures_and_fields_are_made_of_public_names(door: str) -> None:
    known = public()
    leaks: set[str] = set()
    for name, each in (*functions(door), *classes(door)):
        try:
            hints = typing.get_type_hints(each)
        except (NameError, TypeError):
            continue  # what is only imported for type checkers
        for field, hint in hints.items():
            if field.startswith("_"):
                continue
            leaks.update(
                f"{name}: {kind.__module__}.{kind.__qualname__}"
                for kind in classes_in(hint)
                if kind.__module__.startswith("nigari")
                and id(kind) not in known
                and not is_described(kind)
            )
    assert sorted(leaks) == []
