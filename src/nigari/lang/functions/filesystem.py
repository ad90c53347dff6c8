"""Functions that read files, through the `Files` that the world has.

A file that never ends, such as a device, is cut off with an error. Knows no directories: see
`globs`; nor templates: see `templates`.
"""

from __future__ import annotations

from nigari.cty.function import NOT_NULL_RESULT, Function, FunctionError, Parameter
from nigari.cty.types import BOOL, STRING, SetType, Type
from nigari.cty.values import FALSE, TRUE, Value, set_value, string
from nigari.lang.functions.encoding import to_base64
from nigari.lang.functions.paths import clean, join, locate
from nigari.lang.functions.world import World, redacted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


LARGEST_FILE: Final = 256 * 1024 * 1024
_PATH: Final = Parameter("path", STRING, allow_marked=True)


def read_file(
    world: World, path: Value, argument: int | None = None, any_size: bool = False
) -> bytes:
    """The content of the file that an argument names; a `FunctionError` where it has none.

    With `any_size` a regular file may be of any size; what only looks like one never may.
    """
    text, marks = path.as_string(), path.marks
    place = locate(world, text)
    limit = None if any_size and _is_regular(world, place) else LARGEST_FILE
    try:
        content = world.files.read(place, limit)
    except FileNotFoundError:
        raise FunctionError(
            f"there is no file {redacted(text, marks)}. Only files that exist before planning "
            "can be read; a file that a resource creates does not exist yet, so use an attribute "
            "of that resource instead",
            argument,
        ) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise FunctionError(
            f"the file {redacted(text, marks)} cannot be read: {reason or 'not a valid path'}",
            argument,
        ) from None
    if limit is not None and len(content) > limit:
        most = LARGEST_FILE // (1024 * 1024)
        raise FunctionError(f"{redacted(text, marks)} is larger than {most} MiB", argument)
    return content


def _is_regular(world: World, place: str) -> bool:
    try:
        return world.files.is_file(place)
    except (OSError, ValueError):
        return False


def read_text(world: World, path: Value, argument: int | None = None) -> str:
    """The content of a file of UTF-8 text."""
    try:
        return read_file(world, path, argument).decode("utf-8")
    except UnicodeDecodeError:
        raise FunctionError(
            f"the file {redacted(path.as_string(), path.marks)} is not UTF-8 text; use "
            "filebase64 to read it, or filesha256 and similar functions to hash it"
        ) from None


class _Reading:
    """The implementations, with the world that they look at."""

    __slots__ = ("world",)

    def __init__(self, world: World) -> None:
        self.world = world

    def file(self, args: list[Value], _: Type) -> Value:
        return string(read_text(self.world, args[0], 0)).with_marks(args[0].marks)

    def file_base64(self, args: list[Value], _: Type) -> Value:
        content = read_file(self.world, args[0], 0)
        return string(to_base64(content)).with_marks(args[0].marks)

    def file_exists(self, args: list[Value], _: Type) -> Value:
        path, marks = args[0].as_string(), args[0].marks
        try:
            found = self.world.files.is_file(locate(self.world, path))
        except (OSError, ValueError):
            raise FunctionError(f"{redacted(path, marks)} is not a regular file") from None
        return (TRUE if found else FALSE).with_marks(marks)

    def file_set(self, args: list[Value], _: Type) -> Value:
        from nigari.lang.functions.globs import find

        path, pattern = args[0].as_string(), args[1].as_string()
        marks = args[0].marks | args[1].marks
        if not path.startswith("/"):
            path = f"{self.world.working_directory or '.'}/{path}"
        path = clean(path)
        found = find(self.world.files, path, join(path, pattern), marks)
        return set_value(STRING, [string(name) for name in found]).with_marks(marks)


def functions(world: World) -> dict[str, Function]:
    """The functions of this theme."""
    reading = _Reading(world)
    return {
        "file": Function((_PATH,), None, STRING, reading.file, NOT_NULL_RESULT),
        "filebase64": Function((_PATH,), None, STRING, reading.file_base64, NOT_NULL_RESULT),
        "fileexists": Function((_PATH,), None, BOOL, reading.file_exists, NOT_NULL_RESULT),
        "fileset": Function(
            (_PATH, Parameter("pattern", STRING, allow_marked=True)),
            None,
            SetType(STRING),
            reading.file_set,
            NOT_NULL_RESULT,
        ),
    }
