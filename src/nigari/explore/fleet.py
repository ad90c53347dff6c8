"""A fleet as data for the page: its units, what they need and why, how their applies went, and how far
a plan or an apply of the fleet is.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from nigari.diagnostics.secret_urls import hidden_urls
from nigari.explore.event_stream import Event, Feed
from nigari.explore.journal import JournalFollower, journal_events, journal_summary
from nigari.fleet.runs.journal import DONE, unfinished
from nigari.fleet.runs.progress import progress_path
from nigari.fleet.units.documents import graph_document
from nigari.fleet.units.graph_loader import Survey
from nigari.fleet.units.inspection import apply_journal

Data = dict[str, object]

_POLL: Final = 0.5


def fleet_data(survey: Survey, environ: Mapping[str, str]) -> Data:
    """The units with their edges and last applies, the last plan or apply of the fleet, and whether
    an apply is to be gone on with.
    """
    found: Data = {**graph_document(survey, list(survey.units))}
    applied = {
        name: journal_summary(apply_journal(unit, environ)) for name, unit in survey.units.items()
    }
    found["applied"] = {name: each for name, each in applied.items() if each is not None}
    found["progress"] = journal_events(progress_path(survey.root), hidden_urls)
    found["unfinished"] = _unfinished(survey)
    return found


def _unfinished(survey: Survey) -> Data | None:
    """The progress of an unfinished apply of the fleet, if there is one."""
    journal = unfinished(survey.root)
    if journal is None:
        return None
    names = list(survey.units) if journal.units is None else journal.units
    return {"done": sum(journal.state(name) == DONE for name in names), "units": len(names)}


class FleetFollower:
    """Puts what happens to the units of a fleet into a feed."""

    def __init__(self, survey: Survey, environ: Mapping[str, str], feed: Feed) -> None:
        self._survey = survey
        self._feed = feed
        self._progress = JournalFollower(progress_path(survey.root), hidden_urls, feed)
        self._journals = {name: apply_journal(unit, environ) for name, unit in survey.units.items()}
        self._times: dict[str, int] = {}
        self._told: dict[str, Data] = {}

    def run(self, is_closing: threading.Event) -> None:
        """Follow until it is stopped."""
        while not is_closing.is_set():
            self.step()
            is_closing.wait(_POLL)

    def step(self) -> None:
        """Send what is different from what was sent before."""
        for name, path in self._journals.items():
            if self._has_changed(path) or self._told.get(name, {}).get("state") == "running":
                summary = journal_summary(path)
                if summary is not None:
                    self._tell(name, {"type": "unit", "unit": name, **summary})
        self._progress.step()
        self._tell("", {"type": "unfinished", "apply": _unfinished(self._survey)})

    def _has_changed(self, path: str) -> bool:
        changed = 0
        with suppress(OSError):
            changed = os.stat(path).st_mtime_ns
        known = self._times.get(path, 0)
        self._times[path] = changed
        return changed != known

    def _tell(self, name: str, event: Event) -> None:
        if self._told.get(name) != event:
            self._told[name] = event
            self._feed.add({**event, "at": round(time.time(), 3)})
