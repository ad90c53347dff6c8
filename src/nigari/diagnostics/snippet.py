"""Source snippets: the lines that a diagnostic points at.

Owns which lines belong to a range, and the offsets of the subject within them, counted in bytes as
the JSON form requires. Deliberately unknown here: how a snippet is laid out on a screen.
"""

from __future__ import annotations

from nigari.diagnostics.model import Pos, Range
from nigari.record import record
from nigari.typed import Protocol

_LONGEST_CODE = 64 * 1024
"""A snippet of more bytes, as from a file that is one huge line, shrinks to what surrounds its
subject.
"""

_SURROUNDINGS = 2 * 1024


class Sources(Protocol):
    """Provides the bytes of files by name; a `dict` of bytes is one."""

    def get(self, filename: str, /) -> bytes | None:
        """Return the bytes of a file; None if it is unknown."""
        ...


@record
class Snippet:
    """Whole lines of a source without their line ends, joined by newlines."""

    code: str
    start_line: int
    highlight_start: int
    """Offset of the subject in `code`, in UTF-8 bytes."""
    highlight_end: int

    def split(self) -> tuple[str, str, str]:
        """Split the code into the text before the subject, the subject, and the text after it."""
        data = self.code.encode()
        return (
            data[: self.highlight_start].decode(errors="replace"),
            data[self.highlight_start : self.highlight_end].decode(errors="replace"),
            data[self.highlight_end :].decode(errors="replace"),
        )


def visible_range(subject: Range) -> Range:
    """Widen an empty range to one column, so that it can be seen."""
    start, end = subject.start, subject.end
    if end.byte > start.byte:
        return subject
    return Range(subject.filename, start, Pos(start.line, start.column + 1, start.byte + 1))


def cut_snippet(subject: Range, context: Range | None, sources: Sources) -> Snippet | None:
    """Return the lines that the subject and its context touch; None if the source is not available."""
    data = sources.get(subject.filename)
    if data is None:
        return None
    highlight = visible_range(subject)
    first, last = highlight.start, highlight.end.byte
    if context is not None and context.filename == subject.filename:
        first = context.start if context.start.byte < first.byte else first
        last = max(last, context.end.byte)
    start, end = _line_bounds(data, min(first.byte, len(data)), min(last, len(data)))
    start_line = first.line
    if end - start > _LONGEST_CODE:
        start, end = _window(data, start, end, highlight)
        start_line += data.count(b"\n", min(first.byte, start), start)
    return _snippet(data, start, end, start_line, highlight)


def _line_bounds(data: bytes, first: int, last: int) -> tuple[int, int]:
    """Widen a range to whole lines. The line that starts at its end is included unless it is blank."""
    start = data.rfind(b"\n", 0, first) + 1
    end = data.find(b"\n", last)
    if end < 0:
        end = len(data)
    while end > start and data[end - 1] in b"\r\n":
        end -= 1
    return start, end


def _window(data: bytes, start: int, end: int, highlight: Range) -> tuple[int, int]:
    subject_start = min(max(highlight.start.byte, start), end)
    subject_end = min(max(highlight.end.byte, subject_start), subject_start + _LONGEST_CODE)
    start = _character_start(data, max(start, subject_start - _SURROUNDINGS))
    end = _character_start(data, min(end, subject_end + _SURROUNDINGS))
    return start, end


def _character_start(data: bytes, offset: int) -> int:
    """Return the nearest offset, at or after this one, that does not split a UTF-8 sequence."""
    limit = min(offset + 3, len(data))
    while offset < limit and data[offset] & 0xC0 == 0x80:
        offset += 1
    return offset


def _snippet(data: bytes, start: int, end: int, start_line: int, highlight: Range) -> Snippet:
    begin = min(max(highlight.start.byte, start), end)
    finish = min(max(highlight.end.byte, begin), end)
    before = _code(data[start:begin])
    subject = _code(data[begin:finish])
    after = _code(data[finish:end])
    subject = subject.removesuffix("\r")
    highlight_start = len(before.encode())
    return Snippet(
        code=before + subject + after,
        start_line=start_line,
        highlight_start=highlight_start,
        highlight_end=highlight_start + len(subject.encode()),
    )


def _code(data: bytes) -> str:
    return data.decode(errors="replace").replace("\r\n", "\n")
