"""Functions of paths as texts: they look at no file."""

from __future__ import annotations

import posixpath

from nigari.cty.function import NOT_NULL_RESULT, Function, FunctionError, Parameter
from nigari.cty.types import STRING, Type
from nigari.cty.values import Value, string
from nigari.lang.functions.world import World

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


def clean(path: str) -> str:
    """The shortest way to write the path, by its text alone."""
    cleaned = posixpath.normpath(path)
    return cleaned[1:] if cleaned.startswith("//") else cleaned


def join(directory: str, path: str) -> str:
    """The path seen from a directory, even where it begins with a slash."""
    return clean("/".join([part for part in (directory, path) if part])) if path else directory


def expand(world: World, path: str) -> str:
    """The path with a leading `~` replaced by the home directory."""
    if not path.startswith("~"):
        return path
    if path[1:2] not in ("", "/", "\\"):
        raise FunctionError(
            "only ~ by itself stands for a home directory, not ~ followed by a name"
        )
    if world.home_directory is None:
        raise FunctionError("there is no home directory for ~ to stand for")
    return clean(f"{world.home_directory}/{path[1:]}")


def locate(world: World, path: str) -> str:
    """Where a file that a configuration names is to be found."""
    path = expand(world, path)
    return clean(path if path.startswith("/") else f"{world.working_directory or '.'}/{path}")


def _basename(args: list[Value], _: Type) -> Value:
    path = args[0].as_string()
    if not path:
        return string(".")
    return string(path.rstrip("/").rpartition("/")[2] or "/")


def _dirname(args: list[Value], _: Type) -> Value:
    head, slash, _rest = args[0].as_string().rpartition("/")
    return string(clean(head + slash))


_PATH: Final = Parameter("path", STRING)


class _Places:
    """The implementations of the functions that must know where they are."""

    __slots__ = ("world",)

    def __init__(self, world: World) -> None:
        self.world = world

    def absolute(self, args: list[Value], _: Type) -> Value:
        path = args[0].as_string()
        if not path.startswith("/"):
            start = posixpath.join(self.world.root, self.world.working_directory or ".")
            path = posixpath.abspath(f"{start}/{path}")
        return string(clean(path))

    def expanded(self, args: list[Value], _: Type) -> Value:
        return string(expand(self.world, args[0].as_string()))


def functions(world: World) -> dict[str, Function]:
    """The functions of this theme."""
    places = _Places(world)
    return {
        "abspath": Function((_PATH,), None, STRING, places.absolute, NOT_NULL_RESULT),
        "basename": Function((_PATH,), None, STRING, _basename, NOT_NULL_RESULT),
        "dirname": Function((_PATH,), None, STRING, _dirname, NOT_NULL_RESULT),
        "pathexpand": Function((_PATH,), None, STRING, places.expanded, NOT_NULL_RESULT),
    }
