"""Source texts, and the conversion of offsets to positions.

Everything in `nigari.hcl` stores offsets into `Source.text`; lines, columns and bytes are computed
here on demand. Deliberately unknown here: the meaning of the text.
"""

from __future__ import annotations

from bisect import bisect_right

from nigari.cty.graphemes import grapheme_count
from nigari.diagnostics import Pos, Range

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

BYTE_ORDER_MARK: Final = "\ufeff"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_START = Pos(1, 1, 0)
_GLIMPSE: Final = 60
"""Characters of a source text in a `repr`."""


class Source:
    """A named text. `origin` is the position of the text in its file, for parts of files.

    Bytes that are not UTF-8 appear in `text` as lone surrogates, one for each byte, so that
    positions stay exact.
    """

    __slots__ = (
        "_ascii",
        "_known_column",
        "_known_offset",
        "_line_bytes",
        "_line_starts",
        "filename",
        "origin",
        "text",
    )

    filename: str
    text: str
    origin: Pos

    def __reduce__(self) -> tuple[object, ...]:
        return (Source, (self.filename, self.text, self.origin))

    def __init__(self, filename: str, text: str, origin: Pos = _START) -> None:
        self.filename = filename
        self.text = text
        self.origin = origin
        self._ascii = text.isascii()
        self._line_starts: list[int] | None = None
        self._line_bytes: list[int] = []
        self._known_offset = 0
        self._known_column = 0

    @staticmethod
    def from_bytes(filename: str, data: bytes) -> Source:
        """Decode a whole file; a byte order mark is not part of its text."""
        if data.startswith(_BYTE_ORDER_MARK):
            text = data[len(_BYTE_ORDER_MARK) :].decode("utf-8", "surrogateescape")
            # Byte offsets count from the start of the file, including the mark.
            return Source(filename, text, Pos(1, 1, len(_BYTE_ORDER_MARK)))
        return Source(filename, data.decode("utf-8", "surrogateescape"))

    @staticmethod
    def from_text(filename: str, text: str) -> Source:
        """Wrap the text of a file that is already decoded."""
        if text.startswith(BYTE_ORDER_MARK):
            return Source(filename, text[1:], Pos(1, 1, len(_BYTE_ORDER_MARK)))
        return Source(filename, text)

    def pos(self, offset: int) -> Pos:
        """Return the position of the character at this offset into `text`."""
        starts = self._lines()
        line = bisect_right(starts, offset) - 1
        start = starts[line]
        if self._ascii:
            column = offset - start
            byte = offset
        else:
            column = self._clusters(start, offset)
            byte = self._line_bytes[line] + _byte_length(self.text[start:offset])
        origin = self.origin
        if line == 0:
            column += origin.column
        else:
            column += 1
        return Pos(origin.line + line, column, origin.byte + byte)

    def range(self, start: int, end: int) -> Range:
        """Return the range between two offsets."""
        return Range(self.filename, self.pos(start), self.pos(end))

    def __repr__(self) -> str:
        return f"<Source {self.filename}, {len(self.text)} characters>"

    def glimpse(self, start: int, end: int) -> str:
        """Return the first words between two offsets on one line, for a `repr`."""
        words = " ".join(self.text[start : min(end, start + _GLIMPSE)].split())
        return words if end <= start + _GLIMPSE else f"{words}…"

    def slice(self, start: int, end: int) -> str:
        """Return the text between two offsets."""
        return self.text[start:end]

    def _lines(self) -> list[int]:
        starts = self._line_starts
        if starts is None:
            text = self.text
            starts = [0]
            found = text.find("\n")
            while found >= 0:
                starts.append(found + 1)
                found = text.find("\n", found + 1)
            if not self._ascii:
                total = 0
                sizes = [0]
                for index in range(1, len(starts)):
                    total += _byte_length(text[starts[index - 1] : starts[index]])
                    sizes.append(total)
                self._line_bytes = sizes
            self._line_starts = starts
        return starts

    def _clusters(self, start: int, offset: int) -> int:
        """Count the grapheme clusters between the start of a line and an offset in it.

        The last result is cached: a caller that walks along one very long line stays linear.
        """
        text = self.text
        from_offset, count = start, 0
        if start <= self._known_offset <= offset:
            from_offset, count = self._known_offset, self._known_column
        # hcl.Pos: columns count grapheme clusters, bytes count UTF-8.
        count += grapheme_count(text[from_offset:offset])
        if start != offset:
            self._known_offset, self._known_column = offset, count
        return count


def _byte_length(text: str) -> int:
    if text.isascii():
        return len(text)
    try:
        return len(text.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:
        return len(text.encode("utf-8", "surrogatepass"))
