"""Texts written as quoted strings of the native syntax."""

from __future__ import annotations

from typing import Final

_ESCAPES: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}


def quoted(text: str) -> str:
    """The quoted string that reads back as the text."""
    if text.isprintable() and '"' not in text and "\\" not in text and "{" not in text:
        return f'"{text}"'
    parts: list[str] = []
    for index, character in enumerate(text):
        escape = _ESCAPES.get(character)
        if escape is not None:
            parts.append(escape)
        elif character in "$%" and text.startswith("{", index + 1):
            parts.append(character * 2)
        elif character.isprintable():
            parts.append(character)
        else:
            code = ord(character)
            parts.append(f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")
    return f'"{"".join(parts)}"'
