"""The journal of an apply: what has begun and what is done, on disk before anything else happens.

    .nigari/fleet/ID/journal.jsonl    one line for each event
    .nigari/fleet/ID/plans/           the plans of units, until all of them are applied
    .nigari/fleet/logs/               what happened to each unit

A continued apply finds in it which units are done. One that has begun and is not done
may be done in part: what exists, its state tells.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TextIO

from nigari.file_lock import FileLock, lock_file
from nigari.fleet.units.unit import HOME, fleet_directory
from nigari.record import record
from nigari.system_calls import NOT_INHERITED

_JOURNAL: Final = "journal.jsonl"
_BEGIN, _END = "begin", "end"
STARTED: Final = "start"
DONE: Final = "done"
_FIELDS: Final = 3


def make_private(directory: str) -> None:
    """Make a directory for what only its owner may read, and which is not committed."""
    root, home, rest = directory.partition(f"{os.sep}{HOME}{os.sep}")
    home = f"{root}{home}".rstrip(os.sep)
    path = home
    for name in ("", *rest.split(os.sep)):
        path = os.path.join(path, name) if name else path
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, 0o700)
    with contextlib.suppress(FileExistsError), open(os.path.join(home, ".gitignore"), "x") as file:
        file.write("*\n")


@record
class JournalEntry:
    """One event of an apply."""

    event: str
    unit: str
    time: str


class Journal:
    """The journal of one apply."""

    def __init__(self, directory: str) -> None:
        self.directory: str = directory
        self.entries: list[JournalEntry] = []
        self.header: Mapping[str, object] = {}
        self.error: OSError | None = None
        """The reason of a failed write."""
        self.damaged: int = 0
        """The number of unreadable lines, whose work is repeated."""
        self._file: TextIO | None = None
        self._states: dict[str, str] = {}
        self._read()

    @property
    def plans(self) -> str:
        """The directory of the units' plans."""
        return os.path.join(self.directory, "plans")

    @property
    def path(self) -> str:
        """The file itself."""
        return os.path.join(self.directory, _JOURNAL)

    @property
    def units(self) -> list[str] | None:
        """The units that are applied; None where it does not say."""
        about = self.header.get("units")
        if not isinstance(about, list):
            return None
        names = [each for each in about if isinstance(each, str)]
        return names if len(names) == len(about) else None

    @property
    def has_begun(self) -> bool:
        return bool(self.header)

    @property
    def has_ended(self) -> bool:
        """Return whether the apply is complete."""
        return any(each.event == _END for each in self.entries)

    def state(self, unit: str) -> str:
        """The last that is known of a unit: `start`, `done`, another word for how it ended, or
        nothing.
        """
        return self._states.get(unit, "")

    def _read(self) -> None:
        try:
            with open(self.path, "rb") as file:
                *lines, last = file.read().split(b"\n")
        except FileNotFoundError:
            return
        self.damaged = sum(not self._note(line) for line in lines)
        # The last line is cut short where the machine went down.
        self._note(last)

    def _note(self, line: bytes) -> bool:
        """Take note of an event; False where a line is not one."""
        try:
            data = json.loads(line)
        except (ValueError, RecursionError):
            return False
        if not isinstance(data, dict):
            return False
        event, unit, time_ = (data.get(name, "") for name in ("event", "unit", "time"))
        texts = [each for each in (event, unit, time_) if isinstance(each, str)]
        if len(texts) < _FIELDS or not event:
            return False
        self.entries.append(JournalEntry(*texts))
        self._states[unit] = event
        if event == _BEGIN:
            self.header = data
        return True

    def begin(self, plan: str, units: Sequence[str], is_saved: bool) -> None:
        """Begin to apply a plan of these units, or go on with it."""
        make_private(self.directory)
        _drop_torn_line(self.path)
        descriptor = os.open(
            self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | NOT_INHERITED, 0o600
        )
        self._file = os.fdopen(descriptor, "a", encoding="utf-8")
        if not self.has_begun:
            self.header = {"plan": plan, "units": list(units), "is_saved": is_saved}
            self._write(_BEGIN, "", self.header)

    def start(self, unit: str) -> bool:
        """A unit is about to be applied; False where that cannot be noted, so that it must not."""
        return self._write(STARTED, unit)

    def finish(self, unit: str, how: str) -> None:
        """It has come to an end: `done`, or in another way. If that cannot be noted, the run that goes
        on learns it from the state.
        """
        self._write(how, unit)

    def end(self) -> None:
        """Remove the plans once everything is done: they contain secrets."""
        self._write(_END, "")
        shutil.rmtree(self.plans, ignore_errors=True)

    def close(self) -> None:
        """Nothing more is written."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()
            self._file = None

    def _write(self, event: str, unit: str, more: Mapping[str, object] | None = None) -> bool:
        assert self._file is not None
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        line = json.dumps({"event": event, "unit": unit, "time": now, **(more or {})})
        try:
            self._file.write(f"{line}\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            self.error = error
            return False
        self.entries.append(JournalEntry(event, unit, now))
        self._states[unit] = event
        return True


def _drop_torn_line(path: str) -> None:
    """Remove what is left of a line that was being written when the machine went down."""
    with contextlib.suppress(FileNotFoundError), open(path, "rb+") as file:
        file.truncate(file.read().rfind(b"\n") + 1)


def unfinished(root: str) -> Journal | None:
    """The apply that was begun last without a saved plan, and has not come to its end."""
    directory = fleet_directory(root)
    try:
        names = [each.path for each in os.scandir(directory) if each.is_dir()]
    except FileNotFoundError:
        return None
    found = [Journal(each) for each in names]
    open_ones = [
        each
        for each in found
        if each.has_begun and not each.has_ended and not each.header.get("is_saved")
    ]
    return max(open_ones, key=lambda each: each.entries[-1].time, default=None)


def abandon(directory: str) -> None:
    """Forget an apply that is not to be gone on with."""
    shutil.rmtree(directory, ignore_errors=True)


@contextlib.contextmanager
def exclusive(root: str) -> Iterator[FileLock]:
    """Keep other applies of this fleet away while this is open, unless one of them has the lock."""
    directory = fleet_directory(root)
    make_private(directory)
    with lock_file(os.path.join(directory, "lock"), waits=False) as found:
        yield found
