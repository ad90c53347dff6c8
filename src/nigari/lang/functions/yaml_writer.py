"""YAML output, byte for byte as in OpenTofu.

Every string is in double quotes, or a literal block if it has line breaks that such a block can
represent; collections are blocks unless they are empty.
"""

from __future__ import annotations

from nigari.cty import numbers
from nigari.cty.function import FunctionError
from nigari.cty.types import KIND_BOOL, KIND_CAPSULE, KIND_NUMBER, USUAL_DEPTH, allow_depth
from nigari.cty.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_WIDTH: Final = 80
_LONGEST_SIMPLE_KEY: Final = 128
_STEP: Final = 2
_BREAKS: Final = "\r\n\x85\u2028\u2029"
_ESCAPES: Final = {
    "\x00": "0",
    "\a": "a",
    "\b": "b",
    "\t": "t",
    "\n": "n",
    "\v": "v",
    "\f": "f",
    "\r": "r",
    "\x1b": "e",
    '"': '"',
    "\\": "\\",
    "\x85": "N",
    "\xa0": "_",
    "\u2028": "L",
    "\u2029": "P",
}


def write_yaml(value: Value) -> str:
    """Write a wholly known, unmarked value as a document."""
    if value.type.depth > USUAL_DEPTH:
        allow_depth(value.type.depth)
    writer = _Writer()
    writer.node(value, 0, True)
    writer.new_line(0)
    if not isinstance(value.data, str | tuple | dict):
        writer.put("...\n")  # marks the end of a plain scalar
    return "".join(writer.parts)


class _Writer:
    """Collects the text and tracks the column."""

    __slots__ = ("column", "parts")

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.column = 0

    def put(self, text: str) -> None:
        self.parts.append(text)
        self.column += len(text)

    def new_line(self, indent: int) -> None:
        """Move to a column of a new line; an empty current line is reused."""
        if self.column:
            self.parts.append("\n")
            self.column = 0
        self.put(" " * indent)

    def node(self, value: Value, indent: int, in_line: bool) -> None:
        """Write a value. The items of a collection start in the column `indent`, the first one at
        the current position if `in_line`.
        """
        data = value.data
        if isinstance(data, dict):
            if data:
                self._mapping(data, indent, in_line)
            else:
                self.put("{}")
        elif isinstance(data, tuple):
            if data:
                self._sequence(data, indent, in_line)
            else:
                self.put("[]")
        elif isinstance(data, str):
            self._string(data, indent)
        else:
            self.put(_plain(value))

    def _mapping(self, elements: dict[str, Value], indent: int, in_line: bool) -> None:
        for i, key in enumerate(sorted(elements)):
            if i or not in_line:
                self.new_line(indent)
            value = elements[key]
            # YAML 1.1: a key without "? " fits on one line and has at most 1024
            # characters; libyaml writes up to 128.
            if _is_simple_key(key):
                self._quoted(key, None)
                self.put(":")
                nested = isinstance(value.data, dict | tuple) and value.data
                if not nested:
                    self.put(" ")
                # As in OpenTofu, a list is not indented below its key.
                step = 0 if nested and isinstance(value.data, tuple) else _STEP
                self.node(value, indent + step, False)
            else:
                self.put("? ")
                self._string(key, indent + _STEP)
                self.new_line(indent)
                self.put(": ")
                self.node(value, indent + _STEP, True)

    def _sequence(self, elements: tuple[Value, ...], indent: int, in_line: bool) -> None:
        for i, element in enumerate(elements):
            if i or not in_line:
                self.new_line(indent)
            self.put("- ")
            self.node(element, indent + _STEP, True)

    def _string(self, text: str, indent: int) -> None:
        # At the beginning of a document there is no collection to indent from.
        indent = max(indent, _STEP)
        if "\n" in text and _fits_block(text):
            self._block(text, indent)
        else:
            self._quoted(text, indent)

    def _block(self, text: str, indent: int) -> None:
        # YAML: leading white space needs an explicit indentation, and "-" and "+" say
        # whether final line breaks count.
        hint = str(_STEP) if text[0] == " " or text[0] in _BREAKS else ""
        if text[-1] not in _BREAKS:
            hint += "-"
        elif len(text) == 1 or text[-2] in _BREAKS:
            hint += "+"
        self.put(f"|{hint}\n")
        self.column = 0
        for char in text:
            if char in _BREAKS:
                self.parts.append(char)
                self.column = 0
            else:
                if not self.column:
                    self.put(" " * indent)
                self.put(char)

    def _quoted(self, text: str, indent: int | None) -> None:
        """Write a double-quoted string, folded at spaces beyond the width unless `indent` is None."""
        self.put('"')
        marked = text.startswith("\ufeff")
        after_space = False
        for i, char in enumerate(text):
            if char == " " and not marked:
                # libyaml folds at single spaces only, never at the start or the
                # end, where the space would be lost.
                foldable = indent is not None and not after_space and 0 < i < len(text) - 1
                if foldable and self.column > _WIDTH:
                    self.new_line(indent or 0)
                    if text[i + 1] == " ":
                        self.put("\\")
                else:
                    self.put(" ")
                after_space = True
                continue
            after_space = False
            plain = _is_printable(char) and char not in '"\\' and char not in _BREAKS
            self.put(char if plain and not marked else _escape(char))
        self.put('"')


def _plain(value: Value) -> str:
    if value.data is None:
        return "null"
    if value.type.kind == KIND_BOOL:
        return "true" if value.data else "false"
    if value.type.kind == KIND_NUMBER:
        return numbers.to_text(value.as_number())
    assert value.type.kind == KIND_CAPSULE
    raise FunctionError(f"{value.type.with_article()} has no form in YAML")


def _is_simple_key(key: str) -> bool:
    return len(key.encode()) <= _LONGEST_SIMPLE_KEY and not any(char in _BREAKS for char in key)


def _fits_block(text: str) -> bool:
    """Check that a literal block can represent the text: nothing to escape, no space before a
    break.
    """
    if text.endswith(" ") or not all(map(_is_printable, text)):
        return False
    return not any(f" {line_break}" in text for line_break in _BREAKS)


def _is_printable(char: str) -> bool:
    """Check that a character needs no escape. Those beyond 16 bits are escaped too."""
    code = ord(char)
    return (
        char == "\n"
        or 0x20 <= code <= 0x7E
        or 0xA0 <= code <= 0xD7FF
        or (0xE000 <= code <= 0xFFFD and code != 0xFEFF)
    )


def _escape(char: str) -> str:
    if char in _ESCAPES:
        return f"\\{_ESCAPES[char]}"
    code = ord(char)
    if code <= 0xFF:
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"
