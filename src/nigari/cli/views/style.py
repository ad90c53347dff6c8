"""Colours on a terminal, for those who see them; everywhere else the bare text."""

from __future__ import annotations

from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.cli.command import Terminal

_RESET: Final = "\x1b[0m"
_BOLD: Final = "\x1b[1m"
_RED: Final = "\x1b[31m"
_GREEN: Final = "\x1b[32m"
_YELLOW: Final = "\x1b[33m"
_CYAN: Final = "\x1b[36m"
_GREY: Final = "\x1b[90m"


@record
class Style:
    """The terminal style of texts."""

    has_colours: bool = False

    def bold(self, text: str) -> str:
        return self._dressed(_BOLD, text)

    def red(self, text: str) -> str:
        return self._dressed(_RED, text)

    def green(self, text: str) -> str:
        return self._dressed(_GREEN, text)

    def yellow(self, text: str) -> str:
        return self._dressed(_YELLOW, text)

    def cyan(self, text: str) -> str:
        return self._dressed(_CYAN, text)

    def grey(self, text: str) -> str:
        return self._dressed(_GREY, text)

    def _dressed(self, dress: str, text: str) -> str:
        return f"{dress}{text}{_RESET}" if self.has_colours and text else text


PLAIN: Final = Style()


def style_of(terminal: Terminal) -> Style:
    """The style for what is printed on a terminal."""
    if not terminal.stdout.isatty():
        return PLAIN
    from nigari.diagnostics import Layout

    no_color = terminal.is_on("no-color")
    return Style(Layout.for_stream(terminal.stdout, terminal.environ, no_color).colour)
