"""States of units that could not be stored: where they are until they can be.

As long as there is one, the unit is not planned, and an apply stores it before anything else.
"""

from __future__ import annotations

import os
import tempfile
from typing import Final

from nigari.backends.disk import write_beside, write_unused
from nigari.diagnostics import Diagnostic, Severity
from nigari.fleet.units.unit import Unit
from nigari.fleet.work.tasks import Task

_PRIVATE: Final = 0o600


def _path(unit: Unit) -> str:
    return os.path.join(unit.path, unit.rescued_state)


def read_rescued(unit: Unit) -> bytes | None:
    """The state of a unit that could not be stored; None where there is none."""
    try:
        with open(_path(unit), "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def keep_rescued(unit: Unit, state: bytes | None) -> None:
    """Have this state where the unit is, or none."""
    if state is not None:
        write_beside(_path(unit), state, _PRIVATE)
    elif os.path.exists(_path(unit)):
        os.unlink(_path(unit))


def keep_elsewhere(task: Task, state: bytes) -> Diagnostic:
    """Put a state that cannot even be written to the directory of its unit where there is room."""
    unit, reasons = task.unit, list[str]()
    for directory in (os.path.dirname(task.plan or task.agreed), tempfile.gettempdir()):
        path = os.path.join(directory, unit.rescued_state)
        try:
            path = write_unused(path, state, _PRIVATE)
        except OSError as error:
            reasons.append(f"{path}: {error.strerror}")
            continue
        return Diagnostic(
            Severity.ERROR,
            "State kept elsewhere",
            f"The state of {unit.name} is in {path}. Move it to {_path(unit)} before you run the "
            "command again, which stores it then.",
        )
    return Diagnostic(Severity.ERROR, "State lost", f"There is no room left. {'; '.join(reasons)}.")


def not_stored_yet(unit: Unit) -> Diagnostic:
    """A unit that cannot be worked with, because its state is older than what exists."""
    return Diagnostic(
        Severity.ERROR,
        "State of an earlier apply not stored",
        f"The last apply of {unit.name} could not store its state, which is in the file "
        f'{unit.rescued_state} in its directory. "nigari fleet apply" stores it before it goes on; '
        f'in the directory of the unit, "nigari state push {unit.rescued_state}" does. Remove the '
        "file once it is stored.",
    )
