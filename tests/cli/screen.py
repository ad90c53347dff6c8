"""A terminal in memory."""

from __future__ import annotations

from io import StringIO


class Screen(StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True
