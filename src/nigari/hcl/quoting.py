"""Quoting: texts as quoted strings of the native syntax, and escapes for unquoted output."""

from __future__ import annotations

import re

from nigari.lazy import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_ESCAPES: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}

_STEERING: Final = lazy_pattern(
    "[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|\r(?!\\n|\\Z)"
)
"""Control characters and bidirectional overrides; line ends and tabs are allowed."""


def visible(text: str) -> str:
    """Escape every character that could steer a terminal."""
    if text.isprintable():
        return text
    return _STEERING.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def with_article(noun: str) -> str:
    """Put the indefinite article before a noun: "a module", "an output"."""
    return f"an {noun}" if noun[:1] in "aeiou" else f"a {noun}"


def at_the_start(text: str) -> str:
    """Capitalize a text as the beginning of a sentence."""
    return text[:1].upper() + text[1:]


def quoted(text: str) -> str:
    """Quote a text so that it reads back unchanged."""
    if text.isprintable() and '"' not in text and "\\" not in text and "{" not in text:
        return f'"{text}"'
    return f'"{_escaped(text, True)}"'


def escaped_template(text: str) -> str:
    """Escape a template for use between quotes; its sequences keep their meaning."""
    return _escaped(text, False)


def _escaped(text: str, doubles_marks: bool) -> str:
    parts: list[str] = []
    for index, character in enumerate(text):
        escape = _ESCAPES.get(character)
        if escape is not None:
            parts.append(escape)
        elif doubles_marks and character in "$%" and text.startswith("{", index + 1):
            parts.append(character * 2)
        elif character.isprintable():
            parts.append(character)
        else:
            code = ord(character)
            parts.append(f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")
    return "".join(parts)
