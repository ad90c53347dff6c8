"""The journal of the last apply for the page: its entries without secrets, also while it grows."""

from __future__ import annotations

import threading
from typing import Final

from nigari.explore.event_stream import Event, Feed, Scrub
from nigari.explore.graph import operations_data
from nigari.json_shape import ShapeError
from nigari.plan.model.execution_graph import ExecutionGraph
from nigari.workspace.session.apply_events import Entry
from nigari.workspace.session.apply_journal import (
    is_going_on,
    journal_entries,
    parsed,
)

_POLL: Final = 0.2
_BEGINNING: Final = 100
"""The number of bytes, with the time in them, by which journals differ."""
_TEXTS: Final = ("text", "detail")
_END: Final = "end"


def event_of(entry: Entry, scrub: Scrub) -> Event:
    """The event of an entry for the page."""
    event = {name: scrub(str(each)) if name in _TEXTS else each for name, each in entry.items()}
    event.pop("variables", None)
    operations = event.get("operations")
    if isinstance(operations, list):
        try:
            event["operations"] = operations_data(ExecutionGraph.from_json(operations), {})
        except ShapeError:
            # The line is damaged. The page shows the apply without its operations.
            event["operations"] = []
    return event


def journal_events(path: str, scrub: Scrub) -> list[Event]:
    """The events of the last apply, from its journal; none where there was none."""
    found = [event_of(each, scrub) for each in journal_entries(path)]
    if found and found[-1]["type"] != _END and not is_going_on(path):
        found.append(_stopped(found[-1]))
    return found


def _stopped(last: Event) -> Event:
    """The end of an apply that had no time to say so."""
    return {"type": "stopped", "at": last["at"]}


def journal_summary(path: str) -> Event | None:
    """When an apply was, and what has come of it, or how far it is; None where there was none."""
    entries = journal_entries(path)
    if not entries:
        return None
    first, last = entries[0], entries[-1]
    kinds = [each["type"] for each in entries]
    found: Event = {
        "start": first["at"],
        "end": last["at"],
        "done": kinds.count("apply_complete"),
        "running": kinds.count("apply_start")
        - kinds.count("apply_complete")
        - kinds.count("apply_errored"),
        "mode": first.get("mode", ""),
    }
    if last["type"] == _END:
        state = "done" if last.get("succeeded") else "failed"
        return {**found, "state": state, "counts": last.get("counts", {})}
    return {**found, "state": "running" if is_going_on(path) else "stopped"}


class JournalFollower:
    """Puts the journals of applies into a feed, one after the other, as they are written."""

    def __init__(self, path: str, scrub: Scrub, feed: Feed) -> None:
        self._path = path
        self._scrub = scrub
        self._feed = feed
        self._beginning = b""
        self._read = 0
        self._kept = b""
        self._last: Event | None = None

    def run(self, is_closing: threading.Event) -> None:
        """Follow until it is stopped."""
        while not is_closing.is_set():
            self.step()
            is_closing.wait(_POLL)

    def step(self) -> None:
        """Read what has been written since."""
        goes_on = is_going_on(self._path)
        try:
            with open(self._path, "rb") as file:
                beginning = file.read(_BEGINNING)
                if not beginning.startswith(self._beginning):
                    # The next apply has begun.
                    self._read, self._kept = 0, b""
                self._beginning = beginning
                file.seek(self._read)
                data = file.read()
        except OSError:
            return
        self._read += len(data)
        *lines, self._kept = (self._kept + data).split(b"\n")
        for line in lines:
            entry = parsed(line.decode("utf-8", "replace"))
            if entry is not None:
                self._last = event_of(entry, self._scrub)
                self._feed.add(self._last)
        if not goes_on and not data:
            self._note_stop()

    def _note_stop(self) -> None:
        if self._last is not None and self._last["type"] not in (_END, "stopped"):
            self._last = _stopped(self._last)
            self._feed.add(self._last)
