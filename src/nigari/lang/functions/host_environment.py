"""Host environment of functions: files, directories and the time of the plan.

The caller passes everything: nothing here reads the environment, a clock or the process's working
directory.
"""

from __future__ import annotations

from collections.abc import Callable

from nigari.cty.values import Mark
from nigari.lang.files import Files
from nigari.record import record


@record
class HostEnvironment:
    """The files, directories and plan time that functions may use."""

    files: Files
    working_directory: str
    """The directory against which relative paths are resolved."""
    home_directory: str | None = None
    """Expansion of `~`; None if the user has no home directory."""
    plan_timestamp: str | None = None
    """Time of the plan, by RFC 3339; None before planning."""
    deferral: Callable[[str], object] | None = None
    """In a phase too early for impure functions: maps a function's name to the cause of its unknown
    result. None if they may run.
    """
    root: str = ""
    """The absolute path to which `working_directory` is relative; empty for the process's current
    directory.
    """


def redacted(text: str, marks: frozenset[Mark]) -> str:
    """Quote a text for a message, unless its marks forbid showing it."""
    from nigari.lang.marks import EPHEMERAL, SENSITIVE

    if SENSITIVE in marks:
        return "(sensitive value)"
    if EPHEMERAL in marks:
        return "(ephemeral value)"
    return f'"{text}"'
