"""The progress of the last plan or apply of a fleet, for observers in other processes.

    .nigari/fleet/progress.jsonl    one line for each event

Nothing depends on it, so that what cannot be written is left out. Neither values nor problems are in
it, since both can have secrets in them. As long as the command runs, the file is locked.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import Final

from nigari.fleet.runs.results import FleetEvent, ListenFleet, UnitResult, UnitStarted
from nigari.fleet.units.unit import fleet_directory
from nigari.plan.model.changes import PlanMode
from nigari.workspace.session.apply_journal import FORMAT, opened_journal

_FILE: Final = "progress.jsonl"

Entry = dict[str, object]


def progress_path(root: str) -> str:
    """Find the progress file of a fleet, if there is any."""
    return os.path.join(fleet_directory(root), _FILE)


class FleetProgress:
    """Writes down what happens to units, and passes it on."""

    def __init__(self, root: str, listen: ListenFleet) -> None:
        self._root = root
        self._path = progress_path(root)
        self._listen = listen
        self._file: int | None = None
        self._has_failed = False

    def begin(self, phase: str, mode: PlanMode, units: Sequence[str]) -> FleetProgress:
        """Begin with these units, in place of what was there."""
        with suppress(OSError):
            self._file = opened_journal(self._path)
        header = {"format": FORMAT, "phase": phase, "mode": mode.value, "units": list(units)}
        self._write("fleet", header)
        return self

    def __enter__(self) -> FleetProgress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._file is not None:
            self._write("end", {"succeeded": kind is None and not self._has_failed})
            os.close(self._file)
            self._file = None

    def __call__(self, event: FleetEvent) -> None:
        if isinstance(event, UnitStarted):
            self._write("unit_start", {"unit": event.unit})
        else:
            self._has_failed = self._has_failed or not event.result.is_done
            self._write("unit_end", _result(event.result, self._root))
        self._listen(event)

    def _write(self, type: str, members: Entry) -> None:
        if self._file is None:
            return
        entry = {"type": type, "at": round(time.time(), 3), **members}
        with suppress(OSError):
            os.write(self._file, f"{json.dumps(entry)}\n".encode())


def _result(result: UnitResult, root: str) -> Entry:
    """The outcome of a unit, without anything that could be secret."""
    found: Entry = {"unit": result.unit, "status": result.status.value}
    if result.because_of:
        found["because_of"] = result.because_of
    if result.log:
        found["log"] = os.path.relpath(result.log, root)
    changes = result.changes
    if changes is not None:
        found["changes"] = {
            "add": changes.add,
            "change": changes.change,
            "destroy": changes.destroy,
            "import": changes.import_,
            "forget": changes.forget,
            "outputs": changes.outputs,
            "drift": len(changes.drift),
        }
        found["is_empty"] = changes.is_empty
    return found
