r"""Texts of documents and positions in them, as the protocol counts: lines, and units of an encoding.

A line ends with `\n`, `\r\n` or `\r`. Offsets are those of Python, in code points.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence

from nigari.lazy import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

UTF8: Final = "utf-8"
UTF16: Final = "utf-16"
UTF32: Final = "utf-32"
ENCODINGS: Final = (UTF32, UTF16, UTF8)
"""Units of positions; the cheapest here comes first."""

_LINE_END = lazy_pattern(r"\r\n|\n|\r")


def choose_encoding(offered: Sequence[str] | None) -> str:
    """The encoding of positions; without an offer it is UTF-16, which every client knows."""
    return next((each for each in ENCODINGS if each in (offered or ())), UTF16)


class LineMap:
    """The offsets of a text's lines, in one encoding."""

    __slots__ = ("_encoding", "_is_ascii", "_starts", "text")

    def __init__(self, text: str, encoding: str) -> None:
        self.text: str = text
        self._encoding = encoding
        self._is_ascii = text.isascii()
        self._starts = [0, *[found.end() for found in _LINE_END.finditer(text)]]

    def offset(self, position: Mapping[str, Any]) -> int:
        """The offset of a position; one behind the end of its line is the end of that line."""
        line, units = int(position["line"]), int(position["character"])
        if line >= len(self._starts):
            return len(self.text)
        start, end = self._starts[line], self._line_end(line)
        if self._is_ascii or self._encoding == UTF32:
            return min(start + units, end)
        return start + self._code_points(self.text[start:end], units)

    def position(self, offset: int) -> dict[str, object]:
        """The position of an offset."""
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self._starts, offset) - 1
        start = self._starts[line]
        return {"line": line, "character": self.units(self.text[start:offset])}

    def range(self, start: int, end: int) -> dict[str, object]:
        """The range from one offset up to another."""
        return {"start": self.position(start), "end": self.position(end)}

    def line_of(self, offset: int) -> int:
        """The number of the line that an offset is in."""
        return bisect_right(self._starts, min(offset, len(self.text))) - 1

    def units(self, text: str) -> int:
        """The length of a text in units of the encoding."""
        if self._encoding == UTF32 or text.isascii():
            return len(text)
        if self._encoding == UTF8:
            return len(text.encode("utf-8", "surrogatepass"))
        return len(text.encode("utf-16-le", "surrogatepass")) // 2

    def _line_end(self, line: int) -> int:
        if line + 1 >= len(self._starts):
            return len(self.text)
        end = self._starts[line + 1]
        return end - 2 if self.text.endswith("\r\n", 0, end) else end - 1

    def _code_points(self, line: str, units: int) -> int:
        """The code points that so many units make; a part of one does not count."""
        used = 0
        for index, char in enumerate(line):
            used += self.units(char)
            if used > units:
                return index
        return len(line)


def edited(text: str, changes: Sequence[Mapping[str, Any]], encoding: str) -> str:
    """The text after changes as `textDocument/didChange` has them, each on the result of the last."""
    for change in changes:
        where = change.get("range")
        if where is None:
            text = str(change["text"])
            continue
        lines = LineMap(text, encoding)
        start, end = lines.offset(where["start"]), lines.offset(where["end"])
        text = text[:start] + str(change["text"]) + text[max(start, end) :]
    return text
