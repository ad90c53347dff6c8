"""Putting lines together until what they say is complete.

A statement goes on while a bracket, an interpolation, a heredoc or a comment is open, or when its
line ends in a backslash. What is open is a list of the texts that opened it: scanned before the
next line, they restore the state of the scanner, so that no line is scanned twice.
"""

from __future__ import annotations

from nigari.hcl.scanner import scan_expression
from nigari.hcl.tokens import (
    CLOSE_BRACE,
    CLOSE_BRACKET,
    CLOSE_HEREDOC,
    CLOSE_PARENTHESIS,
    CLOSE_QUOTE,
    DIRECTIVE,
    INTERPOLATION,
    OPEN_BRACE,
    OPEN_BRACKET,
    OPEN_HEREDOC,
    OPEN_PARENTHESIS,
    OPEN_QUOTE,
    SEQUENCE_END,
    SLASH,
    STAR,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_CLOSES: Final = {
    CLOSE_BRACE: OPEN_BRACE,
    CLOSE_BRACKET: OPEN_BRACKET,
    CLOSE_PARENTHESIS: OPEN_PARENTHESIS,
    CLOSE_QUOTE: OPEN_QUOTE,
    CLOSE_HEREDOC: OPEN_HEREDOC,
    SEQUENCE_END: INTERPOLATION,
}
_OPENS: Final = frozenset(_CLOSES.values())


class Statement:
    """The lines of a statement so far."""

    __slots__ = ("_has_heredoc", "_is_broken", "_lines", "_open", "_spare_line_end")

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._open: list[tuple[int, str]] = []
        self._spare_line_end = False
        self._is_broken = False
        self._has_heredoc = False

    @property
    def text(self) -> str:
        """Everything so far."""
        # The last line of a heredoc must be ended, or it does not count as its end.
        return "\n".join(self._lines) + "\n" * self._has_heredoc

    @property
    def depth(self) -> int:
        """The number of open brackets; nothing if the statement is complete or cannot become so."""
        if self._is_broken:
            return 0
        quotes = sum(1 for kind, _ in self._open if kind == OPEN_QUOTE)
        return len(self._open) - quotes + self._spare_line_end

    @property
    def is_begun(self) -> bool:
        """Return whether the statement has at least one line."""
        return bool(self._lines)

    def add(self, line: str) -> None:
        """Take one more line, given without its line end."""
        if not self._is_in_heredoc:
            line = line.strip()
            self._spare_line_end = line.endswith("\\") and not line.endswith("\\\\")
            if self._spare_line_end:
                line = line[:-1]
        self._lines.append(line)
        self._scan(line)

    @property
    def _is_in_heredoc(self) -> bool:
        return any(kind == OPEN_HEREDOC for kind, _ in self._open)

    def _scan(self, line: str) -> None:
        text = "".join([opener for _, opener in self._open]) + line + "\n"
        tokens = scan_expression(text)
        kinds, starts, texts = tokens.kinds, tokens.starts, tokens.texts
        found: list[tuple[int, str]] = []
        for position, kind in enumerate(kinds):
            if kind in _CLOSES:
                if not found or found.pop()[0] != _CLOSES[kind]:
                    self._is_broken = True
                    return
            elif kind in _OPENS or kind == DIRECTIVE:
                found.append((INTERPOLATION if kind == DIRECTIVE else kind, texts[position]))
            elif kind == SLASH and kinds[position + 1] == STAR:
                if starts[position + 1] == starts[position] + 1:
                    found.append((SLASH, "/*"))
                    break
            self._has_heredoc |= kind == OPEN_HEREDOC
        self._open = found
        # A quoted string ends with its line; one that has not is an error to be reported at once.
        self._is_broken = bool(tokens.broken_strings) or bool(found and found[-1][0] == OPEN_QUOTE)
