"""Text layout: display width, wrapping, control characters and the capabilities of an output
stream.

Turns any text into lines that fit and that cannot steer the terminal. Deliberately unknown here:
diagnostics.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO


_WIDTH_WITHOUT_TERMINAL = 78
_TAB = "    "
_BULLETS = ("- ", "* ")


@record
class Layout:
    """Capabilities of the reader's screen."""

    width: int = _WIDTH_WITHOUT_TERMINAL
    """Columns to wrap at; 0 for no wrapping."""
    colour: bool = False

    @staticmethod
    def for_stream(stream: TextIO, environ: Mapping[str, str], no_color: bool = False) -> Layout:
        """Choose the layout for a stream: colours on a terminal only, and never against `NO_COLOR`."""
        if not stream.isatty():
            return Layout()
        colour = not (no_color or environ.get("NO_COLOR") or environ.get("TERM") == "dumb")
        return Layout(_terminal_width(stream), colour)


def _terminal_width(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or _WIDTH_WITHOUT_TERMINAL
    except OSError:
        return _WIDTH_WITHOUT_TERMINAL


def display_width(text: str) -> int:
    """Count the columns of a text; control characters must have been replaced."""
    if text.isascii():
        return len(text)
    from wcwidth import wcswidth

    return max(wcswidth(text), 0)


_UNSAFE = "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
"""Control characters and bidirectional overrides, which could make a message show something else.
Newlines are allowed.
"""


def printable(text: str) -> str:
    """Replace every character that could steer the terminal by a visible one."""
    if text.replace("\n", "").isprintable():
        return text
    return re.sub(_UNSAFE, _picture, text)


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if match[0] == "\t":
        return _TAB
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd"


def wrap(text: str, width: int) -> list[str]:
    """Break a text between words so that no line is wider than `width`.

    Indented lines stay indented, and list items wrap below their text. A single word that is too
    long is left alone. A width of zero or less means no limit.
    """
    lines: list[str] = []
    for line in text.split("\n"):
        if width <= 0 or display_width(line) <= width:
            lines.append(line)
        else:
            lines.extend(_wrap_indented(line, width))
    return lines


def _wrap_indented(line: str, width: int) -> list[str]:
    indent = len(line) - len(line.lstrip(" "))
    hanging = indent + 2 if line.startswith(_BULLETS, indent) else indent
    if hanging > width // 2:
        # There is hardly room for words: the terminal does no worse.
        return [line]
    first, *rest = _wrap_line(line[hanging:], width - hanging)
    return [line[:hanging] + first, *(" " * hanging + each for each in rest)]


def _wrap_line(line: str, width: int) -> list[str]:
    lines: list[str] = []
    words: list[str] = []
    used = 0
    for word in line.split(" "):
        size = display_width(word)
        if words and used + 1 + size > width:
            lines.append(" ".join(words).rstrip())
            words, used = [], 0
        used += size + (1 if words else 0)
        words.append(word)
    lines.append(" ".join(words).rstrip())
    return lines
