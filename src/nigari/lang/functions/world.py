"""The outside world as functions may see it, and how they refer to it.

Everything is handed in: nothing here reads the environment, a clock or the working directory of
the process by itself.
"""

from __future__ import annotations

from collections.abc import Callable

from nigari.cty.values import Mark
from nigari.lang.files import Files
from nigari.lang.marks import EPHEMERAL, SENSITIVE
from nigari.record import record


@record
class World:
    """What is around: files, places, and what time the plan was made."""

    files: Files
    working_directory: str
    """Where relative paths start."""
    home_directory: str | None = None
    """What `~` stands for; None where nobody has a home."""
    plan_timestamp: str | None = None
    """When the plan was made, by RFC 3339; None before planning."""
    deferral: Callable[[str], object] | None = None
    """In a phase too early for functions whose result differs from call to call: gives for such a
    function's name the cause that its unknown result carries. None where they may run.
    """
    root: str = ""
    """Where the working directory is itself, as an absolute path; empty for where the process is."""


def redacted(text: str, marks: frozenset[Mark]) -> str:
    """The text in quotes for a message, unless its marks forbid to show it."""
    if SENSITIVE in marks:
        return "(sensitive value)"
    if EPHEMERAL in marks:
        return "(ephemeral value)"
    return f'"{text}"'
