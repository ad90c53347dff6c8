"""The journal of the last apply for the page: its entries without secrets, also while it grows."""

from __future__ import annotations

import os
import threading
from typing import Final

from nigari.explore.feed import Event, Feed, Scrub
from nigari.explore.graph import operations_data
from nigari.plan.model.execution_graph import ExecutionGraph
from nigari.workspace.session.apply_events import Entry
from nigari.workspace.session.apply_journal import (
    is_going_on,
    journal_entries,
    journal_path,
    parsed,
)

_POLL: Final = 0.2
_TEXTS: Final = ("text", "detail")
_END: Final = "end"
_HEADER: Final = "apply"


def event_of(entry: Entry, scrub: Scrub) -> Event:
    """What the page shows of an entry."""
    event = {name: scrub(str(each)) if name in _TEXTS else each for name, each in entry.items()}
    event.pop("variables", None)
    operations = event.get("operations")
    if isinstance(operations, list):
        event["operations"] = operations_data(ExecutionGraph.from_json(operations), {})
    return event


def journal_events(data_directory: str, workspace: str, scrub: Scrub) -> list[Event]:
    """The events of the last apply in a directory; none where there was none."""
    found = [event_of(each, scrub) for each in journal_entries(data_directory, workspace)]
    if found and found[-1]["type"] != _END and not is_going_on(data_directory):
        found.append(_stopped(found[-1]))
    return found


def _stopped(last: Event) -> Event:
    """The end of an apply that had no time to say so."""
    return {"type": "stopped", "at": last["at"]}


class JournalFollower:
    """Puts the journals of applies in a directory into a feed, one after the other."""

    def __init__(self, data_directory: str, workspace: str, scrub: Scrub, feed: Feed) -> None:
        self._directory = data_directory
        self._workspace = workspace
        self._scrub = scrub
        self._feed = feed
        self._read = 0
        self._kept = b""
        self._last: Event | None = None
        self._is_ours = False

    def run(self, is_closing: threading.Event) -> None:
        """Follow until somebody wants it to end."""
        while not is_closing.is_set():
            self.step()
            is_closing.wait(_POLL)

    def step(self) -> None:
        """Read what has been written since."""
        goes_on = is_going_on(self._directory)
        try:
            with open(journal_path(self._directory), "rb") as file:
                if os.fstat(file.fileno()).st_size < self._read:
                    # The next apply has begun.
                    self._read, self._kept = 0, b""
                file.seek(self._read)
                data = file.read()
        except OSError:
            return
        self._read += len(data)
        *lines, self._kept = (self._kept + data).split(b"\n")
        for line in lines:
            entry = parsed(line.decode("utf-8", "replace"))
            if entry is not None:
                self._add(entry)
        if not goes_on and not data:
            self._note_stop()

    def _add(self, entry: Entry) -> None:
        if entry["type"] == _HEADER:
            self._is_ours = entry.get("workspace") == self._workspace
        if self._is_ours:
            self._last = event_of(entry, self._scrub)
            self._feed.add(self._last)

    def _note_stop(self) -> None:
        if self._last is not None and self._last["type"] not in (_END, "stopped"):
            self._last = _stopped(self._last)
            self._feed.add(self._last)
