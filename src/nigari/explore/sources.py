"""Source texts of the page: numbered, without secrets, with places as offsets into their strings."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping

from nigari.diagnostics import Range
from nigari.explore.secrets import Secrets

Place = list[int]
"""The number of a file, and where something begins and ends in its text."""


class SourceTable:
    """The files that anything on the page is written in."""

    def __init__(self, sources: Mapping[str, bytes]) -> None:
        self._sources = sources
        self._numbers: dict[str, int] = {}
        self._offsets: dict[str, _Offsets | None] = {}

    def number(self, filename: str) -> int | None:
        """The number of a file; None for what is no file that was read."""
        if filename not in self._numbers:
            if filename not in self._sources:
                return None
            self._numbers[filename] = len(self._numbers)
        return self._numbers[filename]

    def place(self, where: Range | None) -> Place | None:
        """A range on the page; None where it is in no file."""
        number = None if where is None else self.number(where.filename)
        if where is None or number is None:
            return None
        offsets = self._offset_table(where.filename)
        start, end = where.start.byte, where.end.byte
        if offsets is not None:
            start, end = offsets.at(start), offsets.at(end)
        return [number, start, end]

    def _offset_table(self, filename: str) -> _Offsets | None:
        if filename not in self._offsets:
            data = self._sources[filename]
            self._offsets[filename] = None if data.isascii() else _Offsets(data)
        return self._offsets[filename]

    def files(self) -> list[tuple[str, bytes]]:
        """Every file that was numbered, as it was read."""
        return [(name, self._sources[name]) for name in self._numbers]

    def data(self, secrets: Secrets) -> list[dict[str, object]]:
        """Every file that was numbered, with its text."""
        return [
            {"name": name, "text": secrets.masked(name, self._sources[name])}
            for name in self._numbers
        ]


class _Offsets:
    """The positions of a file's bytes in the string that a browser makes of it."""

    def __init__(self, data: bytes) -> None:
        self._bytes: list[int] = [0]
        self._units: list[int] = [0]
        at = units = 0
        for line in data.splitlines(keepends=True):
            text = line.decode("utf-8", "replace")
            at += len(line)
            units += len(text.encode("utf-16-le")) // 2
            self._bytes.append(at)
            self._units.append(units)
        self._data = data

    def at(self, byte: int) -> int:
        line = bisect_right(self._bytes, byte) - 1
        text = self._data[self._bytes[line] : byte].decode("utf-8", "replace")
        return self._units[line] + len(text.encode("utf-16-le")) // 2
