"""States of units that could not be stored: where they are until they can be.

As long as there is one, the unit is not planned, and an apply stores it before anything else.
"""

from __future__ import annotations

import contextlib
import glob
import os
from typing import Final

from nigari.backends.disk import write_beside
from nigari.diagnostics import Diagnostic, Severity
from nigari.fleet.units.unit import Unit
from nigari.fleet.work.tasks import Kind, Task, TaskOutcome
from nigari.record import replace
from nigari.system_calls import is_own

_PRIVATE: Final = 0o600


def rescued_file(unit: Unit) -> str:
    """The file with the state of a unit that could not be stored; empty if there is none."""
    *ours, temporary = map(_like, unit.rescued_states)
    # Anybody can make a file among temporary ones, but not in our name.
    mine = [each for each in temporary if is_own(os.lstat(each))]
    found = [*(path for paths in ours for path in paths), *mine]
    return max(found, key=lambda path: os.lstat(path).st_mtime) if found else ""


def _like(path: str) -> list[str]:
    """The files of that name, or with a number in it if another file has the name."""
    stem, suffix = os.path.splitext(path)
    return glob.glob(f"{glob.escape(stem)}*{suffix}")


def read_rescued(unit: Unit) -> bytes | None:
    """The state of a unit that could not be stored; None if there is none."""
    path = rescued_file(unit)
    if not path:
        return None
    with open(path, "rb") as file:
        return file.read()


def keep_rescued(unit: Unit, state: bytes | None) -> None:
    """Have this state where an apply looks for it, or none; an `OSError` where there is no room."""
    if state is None:
        while path := rescued_file(unit):
            os.unlink(path)
        return
    *first, last = unit.rescued_states
    for path in first:
        with contextlib.suppress(OSError):
            write_beside(path, state, _PRIVATE)
            return
    write_beside(last, state, _PRIVATE)


def with_state_kept(task: Task, outcome: TaskOutcome) -> TaskOutcome:
    """The outcome of a task, once a state that is in no file where it was done has been written to one
    here.
    """
    unit, added = task.unit, None
    if outcome.unsaved is None:
        return outcome
    try:
        keep_rescued(unit, outcome.unsaved)
        added = _kept(unit) if task.kind is Kind.APPLY else None
    except OSError as error:
        added = _lost(unit, error)
    if added is None:
        return outcome
    return replace(outcome, diagnostics=(*outcome.diagnostics, added))


def _kept(unit: Unit) -> Diagnostic:
    return Diagnostic(
        Severity.ERROR,
        "State saved to a local file",
        f"The state of {unit.name} could not be stored, so it was saved to {rescued_file(unit)}. The "
        'next "nigari fleet apply" stores it first.',
    )


def _lost(unit: Unit, error: OSError) -> Diagnostic:
    return Diagnostic(
        Severity.ERROR,
        "State lost",
        f"The state of {unit.name} cannot be written to any of {', '.join(unit.rescued_states)}: "
        f"{error.strerror}. What the last apply made is not in its state: import it, or remove it "
        "by hand.",
    )


def not_stored_yet(unit: Unit) -> Diagnostic:
    """A unit that cannot be worked with, because its state is older than what exists."""
    path = rescued_file(unit)
    name = os.path.basename(path) if os.path.dirname(path) == unit.path else path
    return Diagnostic(
        Severity.ERROR,
        "State of an earlier apply not stored",
        f"The last apply of {unit.name} could not store its state, which is in the file "
        f'{path}. "nigari fleet apply" stores it before it goes on; '
        f'in the directory of the unit, "nigari state push {name}" does. Remove the '
        "file once it is stored.",
    )
