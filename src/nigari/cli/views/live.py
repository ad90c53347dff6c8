"""Lines on a terminal that change while something is under way, and are gone afterwards."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, TextIO


_BETWEEN: Final = 0.1
"""Seconds between two drawings: eyes are not faster."""
_UP_AND_ERASE: Final = "\x1b[1A\x1b[2K"
_UNITS: Final = {"kB": 1_000, "MB": 1_000_000}
_LINES_WITHOUT_TERMINAL: Final = 24
_FEWEST: Final = 5


class LiveLines:
    """One line per piece of work, drawn below everything that was written before, and no more of
    them than the terminal has.
    """

    def __init__(self, stream: TextIO, width: int) -> None:
        self._stream = stream
        self._width = width
        self._lines: dict[str, str] = {}
        self.summary: str = ""
        """A line below the others."""
        self._drawn = 0
        self._drawn_at = 0.0

    def show(self, key: str, text: str) -> None:
        """Change a line, or add one."""
        self._lines[key] = text
        self._draw_soon()

    def show_all(self, lines: Mapping[str, str], summary: str) -> None:
        """Have these lines and no others."""
        self._lines, self.summary = dict(lines), summary
        self._draw_soon()

    def _draw_soon(self) -> None:
        now = time.monotonic()
        if now - self._drawn_at >= _BETWEEN:
            self._drawn_at = now
            self._draw()

    def remove(self, key: str) -> None:
        """End a piece of work."""
        if self._lines.pop(key, None) is not None:
            self._draw()

    def clear(self) -> None:
        """Erase the lines, so that others can be written; they come back when one changes."""
        self._stream.write(_UP_AND_ERASE * self._drawn)
        self._drawn, self._drawn_at = 0, 0.0
        self._stream.flush()

    def _draw(self) -> None:
        texts = [*self._lines.values(), *([self.summary] if self.summary else [])]
        room = _height(self._stream) - 1
        if len(texts) > room:
            hidden = len(texts) - room + 1
            texts[room - 2 : -1] = [f"… and {hidden} more"]
        lines = [text[: self._width - 1] for text in texts]
        self._stream.write(_UP_AND_ERASE * self._drawn + "".join(f"{line}\n" for line in lines))
        self._drawn = len(lines)
        self._stream.flush()


def _height(stream: TextIO) -> int:
    """The height of the terminal; if it is not known, a small number that is enough for most
    output.
    """
    try:
        return max(os.get_terminal_size(stream.fileno()).lines, _FEWEST)
    except OSError:
        return _LINES_WITHOUT_TERMINAL


class Download:
    """The words for how far a download is."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._begin = time.monotonic()

    def line(self, size: int, total: int | None) -> str:
        elapsed = time.monotonic() - self._begin
        unit = _unit(size if total is None else total)
        of = f" of {total / _UNITS[unit]:.1f}" if total is not None else ""
        speed = f", {_amount(size / elapsed)}/s" if elapsed > 0.5 else ""
        return f"- {self._name}: {size / _UNITS[unit]:.1f}{of} {unit}{speed}"


def _unit(size: float) -> str:
    return "MB" if size >= _UNITS["MB"] else "kB"


def _amount(size: float) -> str:
    unit = _unit(size)
    return f"{size / _UNITS[unit]:.1f} {unit}"
