"""Functions that read files, through the host environment's `Files`.

A file without an end, such as a device, is an error once it exceeds a limit. Directories are in
`globs`, templates in `templates`.
"""

from __future__ import annotations

from nigari.cty.function import NOT_NULL_RESULT, Function, FunctionError, Parameter
from nigari.cty.types import BOOL, STRING, SetType, Type
from nigari.cty.values import FALSE, TRUE, Value, set_value, string
from nigari.lang.functions.encoding import to_base64
from nigari.lang.functions.host_environment import HostEnvironment, redacted
from nigari.lang.functions.paths import clean, join, locate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


LARGEST_FILE: Final = 256 * 1024 * 1024
_PATH: Final = Parameter("path", STRING, allow_marked=True)


def read_file(
    host: HostEnvironment, path: Value, argument: int | None = None, any_size: bool = False
) -> bytes:
    """Read the file that an argument names; raise `FunctionError` on failure.

    With `any_size` a regular file may have any size; a device never may.
    """
    text, marks = path.as_string(), path.marks
    place = locate(host, text)
    limit = None if any_size and _is_regular(host, place) else LARGEST_FILE
    try:
        content = host.files.read(place, limit)
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


def _is_regular(host: HostEnvironment, place: str) -> bool:
    try:
        return host.files.is_file(place)
    except (OSError, ValueError):
        return False


def read_text(host: HostEnvironment, path: Value, argument: int | None = None) -> str:
    """Read a file of UTF-8 text."""
    try:
        return read_file(host, path, argument).decode("utf-8")
    except UnicodeDecodeError:
        raise FunctionError(
            f"the file {redacted(path.as_string(), path.marks)} is not UTF-8 text; use "
            "filebase64 to read it, or filesha256 and similar functions to hash it"
        ) from None


class _Reading:
    """Implementations, with the host environment that they read from."""

    __slots__ = ("host",)

    def __init__(self, host: HostEnvironment) -> None:
        self.host = host

    def file(self, args: list[Value], _: Type) -> Value:
        return string(read_text(self.host, args[0], 0)).with_marks(args[0].marks)

    def file_base64(self, args: list[Value], _: Type) -> Value:
        content = read_file(self.host, args[0], 0)
        return string(to_base64(content)).with_marks(args[0].marks)

    def file_exists(self, args: list[Value], _: Type) -> Value:
        path, marks = args[0].as_string(), args[0].marks
        try:
            found = self.host.files.is_file(locate(self.host, path))
        except (OSError, ValueError):
            # FileExists: a path that cannot be examined is an error, not false.
            raise FunctionError(f"{redacted(path, marks)} is not a regular file") from None
        return (TRUE if found else FALSE).with_marks(marks)

    def file_set(self, args: list[Value], _: Type) -> Value:
        from nigari.lang.functions.globs import find

        path, pattern = args[0].as_string(), args[1].as_string()
        marks = args[0].marks | args[1].marks
        # FileSet resolves the directory like any path, and the matches relative to it.
        if not path.startswith("/"):
            path = f"{self.host.working_directory or '.'}/{path}"
        path = clean(path)
        found = find(self.host.files, path, join(path, pattern), marks)
        return set_value(STRING, [string(name) for name in found]).with_marks(marks)


def functions(host: HostEnvironment) -> dict[str, Function]:
    reading = _Reading(host)
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
