"""JSON as text: lossless parsing, and layout as in Go.

Attribute values in a state file stay JSON text until a schema gives their types, because a float
would lose digits that a provider wrote. So the parser returns pieces of the text, and the two
layouts (compact and indented) only change white space. Deliberately unknown here: the meaning of
the JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from json.encoder import encode_basestring as quoted

from nigari.lazy import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, NoReturn, TypeAlias, TypeVar

    T = TypeVar("T")

__all__ = [
    "Reader",
    "compact",
    "end_of_document",
    "escaped_for_html",
    "flag_text",
    "indented",
    "object_text",
    "quoted",
    "read_elements",
    "read_members",
    "read_text",
    "read_value",
]

Reader: TypeAlias = "Callable[[str, int], tuple[T, int]]"
"""Parses the value at an index of a text, and returns it with its end."""


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_VALUES: Final = json.JSONDecoder(parse_constant=_refuse_constant)
_PIECES: Final = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=str, parse_int=str)

# There are few patterns, as compiling one takes as long as parsing a small state.
_SPACE: Final = lazy_pattern(r"[ \t\n\r]*")
# Possessive, so that a long text costs no memory to match.
_STRING: Final = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_KEY: Final = lazy_pattern(rf"({_STRING})[ \t\n\r]*:[ \t\n\r]*")
_NEXT: Final = lazy_pattern(r"[ \t\n\r]*([,}\]])[ \t\n\r]*")


def read_value(text: str, index: int) -> tuple[object, int]:
    """Parse a value as Python data; for values whose numbers are small integers."""
    value: object
    value, end = _VALUES.raw_decode(text, index)
    return value, end


def read_text(text: str, index: int) -> tuple[str, int]:
    """Return a value as its piece of the text."""
    _, end = _PIECES.raw_decode(text, index)
    return text[index:end], end


def read_members(
    text: str,
    index: int,
    readers: Mapping[str, Reader[object]],
    otherwise: Reader[object] = read_value,
) -> tuple[dict[str, object], int]:
    """Parse the members of an object, each with the reader for its name."""
    if not text.startswith("{", index):
        raise json.JSONDecodeError("An object is expected", text, index)
    members: dict[str, object] = {}
    position = _after_space(text, index + 1)
    if text.startswith("}", position):
        return members, position + 1
    while True:
        key = _KEY.match(text, position)
        if key is None:
            raise json.JSONDecodeError("A name in double quotes is expected", text, position)
        quoted_name = key[1]
        name = json.loads(quoted_name) if "\\" in quoted_name else quoted_name[1:-1]
        members[name], end = readers.get(name, otherwise)(text, key.end())
        following = _NEXT.match(text, end)
        if following is None or following[1] == "]":
            raise json.JSONDecodeError("A comma or closing brace is expected", text, end)
        position = following.end()
        if following[1] == "}":
            return members, following.end(1)


def read_elements(text: str, index: int, reader: Reader[T]) -> tuple[list[T], int]:
    """Parse the elements of an array; as in Go, null is an empty one."""
    if not text.startswith("[", index):
        if text.startswith("null", index):
            return [], index + 4
        raise json.JSONDecodeError("An array is expected", text, index)
    elements: list[T] = []
    position = _after_space(text, index + 1)
    if text.startswith("]", position):
        return elements, position + 1
    while True:
        element, end = reader(text, position)
        elements.append(element)
        following = _NEXT.match(text, end)
        if following is None or following[1] == "}":
            raise json.JSONDecodeError("A comma or closing bracket is expected", text, end)
        position = following.end()
        if following[1] == "]":
            return elements, following.end(1)


def end_of_document(text: str, index: int) -> None:
    """Reject anything but white space after the document."""
    after = _after_space(text, index)
    if after != len(text):
        raise json.JSONDecodeError("There is more text after the end of the document", text, after)


def _after_space(text: str, index: int) -> int:
    space = _SPACE.match(text, index)
    return index if space is None else space.end()


_NOT_SPACE: Final = lazy_pattern(rf'(?:{_STRING}|[^" \t\n\r]++)++')
_TOKEN: Final = lazy_pattern(rf'{_STRING}|[\[\]{{}},:]|[^\[\]{{}},:" \t\n\r]+')


def object_text(members: Mapping[str, str]) -> str:
    """Write an object of members that already are JSON."""
    return "{" + ",".join(f"{quoted(name)}:{text}" for name, text in members.items()) + "}"


def flag_text(truth: bool) -> str:
    return "true" if truth else "false"


def compact(text: str) -> str:
    """Remove white space."""
    return "".join(_NOT_SPACE.findall(text))


def indented(text: str, depth: int = 0) -> str:
    """Indent JSON with two spaces per level and one value per line.

    `depth` is the level of the line that contains the value.
    """
    inner = "\n" + "  " * (depth + 1)
    if text.startswith(inner, 1) and text[len(inner) + 1] not in " \t\n\r":
        # Already indented, as are nearly all values in a file.
        return text
    parts: list[str] = []
    after_opening = False
    for token in _TOKEN.findall(text):
        if token in ("}", "]"):
            depth -= 1
            parts.append(token if after_opening else "\n" + "  " * depth + token)
            after_opening = False
            continue
        if after_opening:
            parts.append("\n" + "  " * depth)
        after_opening = token in ("{", "[")
        if after_opening:
            depth += 1
            parts.append(token)
        elif token == ",":
            parts.append(",\n" + "  " * depth)
        elif token == ":":
            parts.append(": ")
        else:
            parts.append(token)
    return "".join(parts)


_FOR_HTML: Final = (
    ("&", "\\u0026"),
    ("<", "\\u003c"),
    (">", "\\u003e"),
    ("\u2028", "\\u2028"),
    ("\u2029", "\\u2029"),
)


def escaped_for_html(text: str) -> str:
    """Escape the characters that Go escapes for HTML.

    They occur in strings only, so that plain replacement is safe.
    """
    for char, escape in _FOR_HTML:
        text = text.replace(char, escape)
    return text
