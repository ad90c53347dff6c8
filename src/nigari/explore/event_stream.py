"""The feed of an apply or a test: what `-json` tells of it, reduced to what the page shows.

The events come from the file that `-json-into` writes, while it grows or afterwards.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from nigari.explore.secrets import without_literals

Event = dict[str, object]
EventData = dict[str, Any]  # what another process has written
Scrub = Callable[[str], str]

_HOOKS: Final = frozenset(
    (
        "apply_start",
        "apply_progress",
        "apply_complete",
        "apply_errored",
        "refresh_start",
        "refresh_complete",
        "provision_start",
        "provision_progress",
        "provision_complete",
        "provision_errored",
    )
)
_POLL: Final = 0.1
_HIDDEN: Final = "(sensitive value)"


class Feed:
    """Events in their order, for any number of listeners."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._changed = threading.Condition()
        self._is_over = False

    def add(self, event: Event) -> None:
        """Tell everybody."""
        with self._changed:
            self._events.append(event)
            self._changed.notify_all()

    def end(self) -> None:
        """There will be no more."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()

    def after(self, number: int, seconds: float) -> tuple[list[Event], bool]:
        """The events after so many, waiting for some if there are none; and whether it is over."""
        with self._changed:
            if len(self._events) <= number and not self._is_over:
                self._changed.wait(seconds)
            return self._events[number:], self._is_over


def read_events(path: Path, scrub: Scrub) -> list[Event]:
    """The events in a file."""
    with path.open(encoding="utf-8", errors="replace") as lines:
        return list(_reduced_all(lines, scrub))


def follow(path: Path, scrub: Scrub, feed: Feed, is_closing: threading.Event) -> None:
    """Put the events of a file into a feed while it is written, until it is over."""
    kept = ""
    while not is_closing.is_set() and not path.exists():
        time.sleep(_POLL)
    if is_closing.is_set():
        return
    with path.open(encoding="utf-8", errors="replace") as stream:
        while not is_closing.is_set():
            piece = stream.read()
            *lines, kept = (kept + piece).split("\n")
            for event in _reduced_all(lines, scrub):
                feed.add(event)
                if event["type"] == "end":
                    feed.end()
                    return
            if not piece:
                time.sleep(_POLL)


def _reduced_all(lines: Iterable[str], scrub: Scrub) -> Iterator[Event]:
    for line in lines:
        event = reduced(line, scrub)
        if event is not None:
            yield event


def reduced(line: str, scrub: Scrub) -> Event | None:
    """The event of one line for the page, if any."""
    try:
        record = json.loads(line)
        at = datetime.fromisoformat(record["@timestamp"]).timestamp()
        kind = record["type"]
    except (ValueError, TypeError, KeyError):
        return None
    event: Event = {"type": kind, "at": round(at, 3)}
    if kind in _HOOKS:
        hook = record["hook"]
        event["address"] = hook["resource"]["addr"]
        for name in ("action", "provisioner"):
            if name in hook:
                event[name] = hook[name]
        if "output" in hook:
            event["text"] = scrub(hook["output"])
        return event
    about = _ABOUT.get(kind)
    return None if about is None or not about(record, event, scrub) else event


def _diagnostic(record: EventData, event: Event, scrub: Scrub) -> bool:
    found = record["diagnostic"]
    event["severity"] = found["severity"]
    event["text"] = scrub(found["summary"])
    event["detail"] = scrub(found.get("detail", ""))
    event["address"] = found.get("address", "")
    if "@testrun" in record or "@testfile" in record:
        event["file"], event["run"] = record.get("@testfile", ""), record.get("@testrun", "")
        event["origins"] = [scrub(each) for each in found.get("origins", ())]
        code = (found.get("snippet") or {}).get("code", "").strip()
        if any(_HIDDEN in each for each in found.get("origins", ())):
            # What a secret is compared with is as good as the secret.
            code = without_literals(code)
        event["code"] = scrub(code)
        where = found.get("range")
        event["where"] = f"{where['filename']}:{where['start']['line']}" if where else ""
    return True


def _summary(record: EventData, event: Event, _: Scrub) -> bool:
    event["type"] = "end"
    event["text"] = record["@message"]
    return record["changes"].get("operation") in ("apply", "destroy")


def _test_abstract(record: EventData, event: Event, _: Scrub) -> bool:
    event["files"] = {name: runs or [] for name, runs in record["test_abstract"].items()}
    return True


def _test_file(record: EventData, event: Event, _: Scrub) -> bool:
    event["file"], event["status"] = record["test_file"]["path"], record["test_file"]["status"]
    return True


def _test_run(record: EventData, event: Event, _: Scrub) -> bool:
    found = record["test_run"]
    event["file"], event["run"], event["status"] = found["path"], found["run"], found["status"]
    return True


def _test_coverage(record: EventData, event: Event, _: Scrub) -> bool:
    found = record["test_coverage"]
    event["counts"] = found["counts"]
    event["items"] = [
        {
            "kind": each["kind"],
            "module": each["module"],
            "name": each["name"],
            "covered": each["covered"],
            "missing": each.get("missing", ""),
            "where": f"{each['range']['filename']}:{each['range']['start']['line']}",
        }
        for each in found["items"]
    ]
    return True


def _test_summary(record: EventData, event: Event, _: Scrub) -> bool:
    event["type"] = "end"
    event["text"] = record["@message"]
    event["summary"] = record["test_summary"]
    return True


_ABOUT: Final[Mapping[str, Callable[[EventData, Event, Scrub], bool]]] = {
    "diagnostic": _diagnostic,
    "change_summary": _summary,
    "test_abstract": _test_abstract,
    "test_file": _test_file,
    "test_run": _test_run,
    "test_coverage": _test_coverage,
    "test_summary": _test_summary,
}
"""For each type of event what the page shows of it; they say whether it is anything."""
