"""JSON strings: decoding, and the source position of each decoded character.

Owns JSON's escapes; knows neither JSON's structure nor templates.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from nigari.diagnostics import Pos
from nigari.hcl.source import Source

# Patterns are stored as texts and compiled on first use.
_ESCAPE = (
    r"(?s)\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"
    r"|u([0-9a-fA-F]{4})|(.))"
)
_SIMPLE_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_LONE_SURROGATE = r"[\ud800-\udfff]"
_REPLACEMENT = "\ufffd"


def decode_string(raw: str) -> str:
    """Decode the text between the quotes of a JSON string.

    As in Go, lone surrogates and bytes that are not UTF-8 become U+FFFD. An invalid escape, which
    the parser has reported by then, stands for the escaped character.
    """
    text = re.sub(_ESCAPE, _unescape, raw) if "\\" in raw else raw
    if text.isascii():
        return text
    return re.sub(_LONE_SURROGATE, _REPLACEMENT, text)


def _unescape(match: re.Match[str]) -> str:
    high, low, single, simple = match.groups()
    if simple is not None:
        return _SIMPLE_ESCAPES.get(simple, simple)
    if single is not None:
        # encoding/json of Go: a surrogate without its counterpart becomes U+FFFD, as the caller
        # does.
        return chr(int(single, 16))
    return chr(0x10000 + ((int(high, 16) & 0x3FF) << 10) + (int(low, 16) & 0x3FF))


class StringSource(Source):
    """The decoded text of a JSON string as a source, for parsers of the native syntax.

    Its positions are those in the JSON file.
    """

    __slots__ = ("_decoded_offsets", "_end", "_file", "_file_offsets", "_start")

    def __init__(self, file: Source, start: int, end: int) -> None:
        """`start` and `end` are the offsets between the quotes."""
        raw = file.text[start:end]
        super().__init__(file.filename, decode_string(raw))
        self._file = file
        self._start = start
        self._end = end
        self._decoded_offsets = [0]
        self._file_offsets = [start]
        if "\\" in raw:
            self._note_escapes(raw, start)

    def __reduce__(self) -> tuple[object, ...]:
        return (StringSource, (self._file, self._start, self._end))

    def _note_escapes(self, raw: str, start: int) -> None:
        """Record, for each escape, the offsets after it in the decoded text and in the file."""
        shrunk = 0
        for match in re.finditer(_ESCAPE, raw):
            shrunk += match.end() - match.start() - 1
            self._decoded_offsets.append(match.end() - shrunk)
            self._file_offsets.append(start + match.end())

    def pos(self, offset: int) -> Pos:
        index = bisect_right(self._decoded_offsets, offset) - 1
        return self._file.pos(self._file_offsets[index] + offset - self._decoded_offsets[index])
