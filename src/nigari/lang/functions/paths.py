"""Path functions that only use the text of a path and read no file."""

from __future__ import annotations

import posixpath

from nigari.cty.function import NOT_NULL_RESULT, Function, FunctionError, Parameter
from nigari.cty.types import STRING, Type
from nigari.cty.values import Value, string
from nigari.lang.functions.host_environment import HostEnvironment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


def clean(path: str) -> str:
    """Shorten a path by its text alone, as Go's `path.Clean`."""
    cleaned = posixpath.normpath(path)
    # POSIX keeps two leading slashes, Go does not.
    return cleaned[1:] if cleaned.startswith("//") else cleaned


def join(directory: str, path: str) -> str:
    """Join a path to a directory, even if it begins with a slash."""
    return clean("/".join([part for part in (directory, path) if part])) if path else directory


def expand(host: HostEnvironment, path: str) -> str:
    """Replace a leading `~` by the home directory."""
    if not path.startswith("~"):
        return path
    # go-homedir: user names after ~ are not supported.
    if path[1:2] not in ("", "/", "\\"):
        raise FunctionError(
            "~ can only be used alone, for your own home directory, not followed by a user name"
        )
    if host.home_directory is None:
        raise FunctionError("~ cannot be expanded, because no home directory is set")
    return clean(f"{host.home_directory}/{path[1:]}")


def locate(host: HostEnvironment, path: str) -> str:
    """Resolve a file path from the configuration."""
    path = expand(host, path)
    return clean(path if path.startswith("/") else f"{host.working_directory or '.'}/{path}")


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
    """Implementations of the functions that depend on the directories."""

    __slots__ = ("host",)

    def __init__(self, host: HostEnvironment) -> None:
        self.host = host

    def absolute(self, args: list[Value], _: Type) -> Value:
        path = args[0].as_string()
        if not path.startswith("/"):
            start = posixpath.join(self.host.root, self.host.working_directory or ".")
            path = posixpath.abspath(f"{start}/{path}")
        return string(clean(path))

    def expanded(self, args: list[Value], _: Type) -> Value:
        return string(expand(self.host, args[0].as_string()))


def functions(host: HostEnvironment) -> dict[str, Function]:
    places = _Places(host)
    return {
        "abspath": Function((_PATH,), None, STRING, places.absolute, NOT_NULL_RESULT),
        "basename": Function((_PATH,), None, STRING, _basename, NOT_NULL_RESULT),
        "dirname": Function((_PATH,), None, STRING, _dirname, NOT_NULL_RESULT),
        "pathexpand": Function((_PATH,), None, STRING, places.expanded, NOT_NULL_RESULT),
    }
