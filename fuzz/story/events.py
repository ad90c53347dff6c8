"""What is different in the events of `-json`, which count as a set."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from fuzz.story.difference import Difference, paths, plain
from fuzz.story.sides import Finished
from tests.real.alike import Tree

_IGNORED_EVENTS: Final = (
    "version",
    "log",
    "apply_progress",
    "provision_progress",
    "init_output",
    "state_lock_acquire",
    "state_lock_release",
)
"""What is not compared: texts, and what is reported only when something takes long."""
_PLANNING_EVENTS: Final = (
    *_IGNORED_EVENTS,
    "planned_change",
    "resource_drift",
    "change_summary",
    "outputs",
    "refresh_start",
    "refresh_complete",
    "ephemeral_action_started",
    "ephemeral_action_complete",
)
_EPHEMERAL_EVENTS: Final = ("ephemeral_action_started", "ephemeral_action_complete")
_ENDS: Final = ("apply_complete", "apply_errored")
_SUM: Final = "change_summary"
_SIDES: Final = ("theirs", "ours  ")
_COUNTED: Final = {
    "add": ("create", "replace"),
    "change": ("update",),
    "remove": ("delete", "replace"),
    "forget": ("remove",),
}
"""The actions that a sum counts under a name."""
UNENDED: Final = "of which the real program reports only the beginning"
_IGNORED_MEMBERS: Final = ("@message", "@timestamp", "@module", "@level", "elapsed_seconds")

Event = dict[str, Tree]


def events(theirs: Finished, ours: Finished, covered: Iterable[str] = ()) -> Iterator[Difference]:
    """Whether something else was reported while the command was at work, besides covered types."""
    # How far planning comes that fails is up to the program, and OpenTofu closes nothing then.
    ignored = (*_IGNORED_EVENTS, *covered)
    if theirs.status:
        is_planned = all(any(map(_is_change, read_events(each.stdout))) for each in (theirs, ours))
        ignored = (*ignored, *(_EPHEMERAL_EVENTS if is_planned else _PLANNING_EVENTS))
    left, right = (list(_told(each.stdout, ignored)) for each in (theirs, ours))
    if theirs.status and not any(map(_is_total, left)):
        # An error stands in for what is said at the end.
        right = [each for each in right if not _is_total(each)]
    if theirs.status and not any(_is_change(each) for each in (*left, *right)):
        left, right = ([e for e in each if not _is_reading(e)] for each in (left, right))
    doubled = _ended_twice(left)
    if not doubled:
        yield from _miscounted(left, right)
    kinds: dict[str, list[str]] = {}
    for kind, text in _differing(left, right, doubled):
        kinds.setdefault(kind, []).append(text)
    for kind, texts in kinds.items():
        yield Difference(f"events: {kind}", "\n".join(texts))


def _is_total(event: Event) -> bool:
    """Whether it is the sum of what was done or what has become of outputs, and not of a plan."""
    sums, outputs = event.get("changes"), event.get("outputs")
    is_sum = isinstance(sums, dict) and sums["operation"] != "plan"
    return is_sum or (isinstance(outputs, dict) and '"action"' not in json.dumps(outputs))


def _is_change(event: Event) -> bool:
    return event["type"] == "apply_start" and not _is_reading(event)


def _is_reading(event: Event) -> bool:
    return str(event["type"]).startswith("apply_") and event_kind(event).endswith(" read")


def _differing(
    left: list[Event], right: list[Event], doubled: set[str]
) -> Iterator[tuple[str, str]]:
    """Classes of events that only one side has, or that are not the same in both, with texts."""
    texts, more_texts = (
        Counter(plain(e) for e in each if not _is_lost(e, doubled)) for each in (left, right)
    )
    missing = [json.loads(each) for each in (texts - more_texts).elements()]
    more = [json.loads(each) for each in (more_texts - texts).elements()]
    others = {subject(each): each for each in missing}
    endless = _endless(left)
    for each in more:
        other = others.pop(subject(each), None)
        if other is None:
            ending = f" {UNENDED}" if _operation(each) in endless else ""
            yield f"more {event_kind(each)}{ending}", plain(each)
            continue
        for path in paths(other, each):
            yield f"{each['type']}.{path}", f"theirs {plain(other)}\nours   {plain(each)}"
    for each in others.values():
        yield f"missing {event_kind(each)}", plain(each)


def _endless(told: list[Event]) -> set[str]:
    """Operations that began more often than an end was reported: an instance may have several
    objects.
    """
    begun = Counter(_operation(each) for each in told if each["type"] == "apply_start")
    return set(begun - Counter(_operation(each) for each in told if each["type"] in _ENDS))


def _operation(event: Event) -> str:
    return f"{event_kind(event).partition(' ')[2]} {subject(event).partition(' ')[2]}"


def _miscounted(left: list[Event], right: list[Event]) -> Iterator[Difference]:
    """Whether sums differ by something else than by as much as what was reported one by one."""
    theirs, ours = (
        {_of_summary(e): e for e in each if e["type"] == _SUM} for each in (left, right)
    )
    for operation in theirs.keys() | ours.keys():
        pair = [each.get(operation, {}) for each in (theirs, ours)]
        counts = [_counts(each) for each in pair]
        for name in sorted({*counts[0], *counts[1]}):
            done = [_counted(each, operation, name) for each in (left, right)]
            if counts[0][name] - counts[1][name] != done[0] - done[1]:
                text = "\n".join(f"{w} {plain(e)}" for w, e in zip(_SIDES, pair, strict=True))
                yield Difference(f"events: {_SUM}.changes.{name}", text)


def _of_summary(event: Event) -> str:
    changes = event["changes"]
    assert isinstance(changes, dict)
    return str(changes["operation"])


def _counts(event: Event) -> Counter[str]:
    changes = event.get("changes", {})
    assert isinstance(changes, dict)
    return Counter({name: int(str(n)) for name, n in changes.items() if name != "operation"})


def _counted(told: list[Event], operation: str, name: str) -> int:
    """How many events were reported one by one of what a sum counts."""
    # Nothing is reported when an object was imported or forgotten.
    is_planned = operation == "plan" or name in ("import", "forget")
    kind = "planned_change" if is_planned else "apply_complete"
    found = [each for each in told if each["type"] == kind]
    if name == "import":
        return sum("importing" in json.dumps(each) for each in found)
    return sum(event_kind(each).partition(" ")[2] in _COUNTED[name] for each in found)


def _ended_twice(told: list[Event]) -> set[str]:
    """The instances of which several objects were destroyed, current and deposed ones."""
    ended = Counter(subject(e) for e in told if event_kind(e) == "apply_start delete")
    return {name.split()[1] for name, times in ended.items() if times > 1}


def _is_lost(event: Event, doubled: set[str]) -> bool:
    """Whether OpenTofu may lose it, which knows objects under way by their instances; a sum is
    compared by itself.
    """
    if event["type"] == "apply_complete":
        return subject(event).split()[1] in doubled
    return event["type"] == _SUM


def event_kind(event: Event) -> str:
    """Its type and, if it is about a change, what is done."""
    change = event.get("change") or event.get("hook") or {}
    action = change.get("action", "") if isinstance(change, dict) else ""
    return f"{event['type']} {action}".strip()


def subject(event: Event) -> str:
    """Its type and the resource instance that it is about."""
    change = event.get("change") or event.get("hook") or {}
    resource = change.get("resource") if isinstance(change, dict) else None
    address = resource.get("addr") if isinstance(resource, dict) else ""
    return f"{event['type']} {address}"


def _told(stdout: str, ignored: tuple[str, ...]) -> Iterator[Event]:
    for event in read_events(stdout):
        if event["type"] not in ignored and "diagnostic" not in event:
            kept = {name: each for name, each in event.items() if name not in _IGNORED_MEMBERS}
            hook = kept.get("hook")
            if isinstance(hook, dict):
                hook.pop("elapsed_seconds", None)
            yield kept


def read_events(stdout: str) -> Iterator[Event]:
    """The events among the lines that a program has printed."""
    for line in stdout.splitlines():
        if line.startswith("{"):
            found = json.loads(line)
            if "type" in found:
                yield found
