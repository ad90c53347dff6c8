"""Audience: whether this process is the command line, or a Python program that uses the library.

Light enough for the start of every command; the words for each are in `nigari.diagnostics.advice`.
"""

from __future__ import annotations

_is_command_line: bool = False


def is_command_line() -> bool:
    """Return whether the user reads this process's reports on a command line."""
    return _is_command_line


def set_command_line(is_so: bool) -> bool:
    """Say who reads from now on, and give what was said before."""
    global _is_command_line
    before, _is_command_line = _is_command_line, is_so
    return before
