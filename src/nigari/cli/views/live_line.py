"""The last line of a terminal, which says how far things are until it goes away."""

from __future__ import annotations

from nigari.cli.command import Terminal
from nigari.diagnostics.layout import Layout, display_width

_ERASED = "\r\x1b[K"


class LiveLine:
    """A line that is written over and over; on what is no terminal there is none."""

    def __init__(self, terminal: Terminal) -> None:
        self._stream = terminal.stdout
        layout = Layout.for_stream(terminal.stdout, terminal.environ)
        self._width = layout.width - 1
        self._is_possible = terminal.stdout.isatty() and terminal.environ.get("TERM") != "dumb"
        self._shown = ""

    def show(self, text: str) -> None:
        """Put a text in place of the one that is there."""
        if not self._is_possible or text == self._shown:
            return
        while display_width(text) > self._width:
            text = text[:-2] + "…"
        self._stream.write(f"{_ERASED}{text}")
        self._stream.flush()
        self._shown = text

    def clear(self) -> None:
        """Take the line away, so that others can be written."""
        if self._shown:
            self._stream.write(_ERASED)
            self._shown = ""
