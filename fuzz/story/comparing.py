"""What is different after a command: one entry for each kind of thing, with a name for its class.

Texts are never compared, nor moments, lineages and serials. Of diagnostics, severity, location and
address count; events and calls of the provider count as sets, and their order by what it promises.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from fuzz.story.difference import Difference, listed, plain, trees
from fuzz.story.events import event_kind, events, read_events, subject
from fuzz.story.owners import Owners
from fuzz.story.sides import EARLY, Finished, Outcome
from fuzz.story.world import SUMMARIES
from tests.real.alike import Tree, states

_CHANGING: Final = ("create", "update", "delete", "import", "fail")
_READING: Final = ("read", "look")
_IMPORTING: Final = "import"
_VERDICTS: Final = ("format_version", "applyable", "complete", "errored")
PROTECTION: Final = ("Resource instance cannot be destroyed", "Destroying is prevented")
"""What the programs report at different places, which `docs/differences.md` promises."""
_PROTECTED: Final = re.compile(r"Resource instance (\S+) has prevent_destroy set")
_LEFT_BEHIND: Final = "Destroy was successful but left behind forgotten instances"
"""What OpenTofu reports in place of what it has done."""
_FORGOTTEN: Final = ("left behind forgotten instances", "Objects are left behind")
"""What is reported after a destroy that was carried out, and has forgotten something."""
Covered = frozenset[tuple[str, ...]]
"""The paths that oracles have checked, which are not compared."""
BEYOND: Final = "diagnostics: of what the real program has not come to"


Two = tuple[Finished, Finished]


def differences(
    command: list[str],
    ended: Two,
    outcomes: tuple[Outcome, Outcome],
    covered: Covered,
    owners: Owners | None = None,
) -> Iterator[Difference]:
    """All that is different after a command, but for the plan that it has written."""
    theirs, ours = ended
    yield from exit_codes(theirs, ours)
    yield from diagnostics(theirs, ours)
    if theirs.status != ours.status:
        return
    # How far a plan comes that fails is up to the program.
    if command[0] != "plan" or not theirs.status:
        yield from events(theirs, ours, (path[1] for path in covered if path[0] == "events"))
    yield from results(*outcomes, theirs, covered, owners)
    if not theirs.status:
        yield from reads(*outcomes, owners)


def exit_codes(theirs: Finished, ours: Finished) -> Iterator[Difference]:
    """Whether a command ended in another way."""
    if ours.status != theirs.status:
        failed = theirs if theirs.status else ours
        said = _texts(failed)
        kind = f"exit code {theirs.status} / {ours.status}: {_summary(said)}"
        yield Difference(kind, f"{_reported(_diagnostics(failed))}\n{said}", _has_plan(theirs))
    if "Traceback" in ours.stderr or "Internal error" in ours.stdout + ours.stderr:
        yield Difference("crash", ours.stderr + ours.stdout)
    if EARLY in ours.stderr:
        yield Difference("order: a value was used too early", ours.stderr)


def went_on(theirs: Finished, ours: Finished) -> Difference | None:
    """Whether both failed, but ours only while it applied a plan, which the other did not have."""
    if not (theirs.status and ours.status) or begun(theirs) or not begun(ours):
        return None
    complaints = {found.summary for found in _diagnostics(theirs) if found.severity == "error"}
    if _has_plan(theirs) and not all(each.startswith("Cycle: ") for each in complaints):
        return None
    said = _texts(theirs)
    text = f"{_reported(_diagnostics(theirs))}\n{said}"
    return Difference(f"exit code 1 / 0: {_summary(said)}", text)


def _has_plan(finished: Finished) -> bool:
    return any(event["type"] == "change_summary" for event in read_events(finished.stdout))


def begun(finished: Finished) -> bool:
    """Whether a program began to apply a plan, or has applied one that only forgets objects."""
    return any(
        (event["type"] == "apply_start" and event_kind(event) != "apply_start read")
        or any(each in str(event.get("@message")) for each in _FORGOTTEN)
        for event in read_events(finished.stdout)
    )


def is_carried_out(finished: Finished) -> bool:
    """Whether all of a plan was applied, even if it is an error that something was forgotten."""
    found = (each.get("diagnostic") for each in read_events(finished.stdout))
    errors = [each for each in found if isinstance(each, dict) and each["severity"] == "error"]
    told = (str(each["summary"]).endswith(_FORGOTTEN) for each in errors)
    return not finished.status or (bool(errors) and all(told))


def _summary(said: str) -> str:
    return said.splitlines()[0] if said else ""


def _texts(finished: Finished) -> str:
    """What a program complained about, for the reader."""
    found = []
    for event in read_events(finished.stdout):
        diagnostic = event.get("diagnostic")
        if isinstance(diagnostic, dict) and diagnostic["severity"] == "error":
            found.append(f"{diagnostic['summary']}\n{diagnostic.get('detail', '')}")
    return "\n".join(found) or finished.stderr or finished.stdout[-2000:]


@dataclass(frozen=True, order=True)
class _Diagnostic:
    """What is compared of a diagnostic, and its summary, which only names the class."""

    severity: str
    file: str
    line: int
    address: str
    said: str
    """What the provider says, if it is that: it says the same to both."""
    summary: str = field(compare=False)

    def says_more_than(self, other: _Diagnostic) -> bool:
        """Whether it may be the other, with a location or an address that the other has not."""
        same_place = not other.file or (other.file, other.line) == (self.file, self.line)
        same_address = other.address in ("", self.address)
        same_kind = (self.said, self.severity) == (other.said, other.severity)
        return same_kind and same_place and same_address

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.file else "nowhere"
        return f"{self.severity} {where} with {self.address or 'nothing'}: {self.summary}"


def diagnostics(theirs: Finished, ours: Finished) -> Iterator[Difference]:
    """Whether other things were complained about, or elsewhere."""
    # Sets, as a mistake may be reported once that was reported twice. What is also warned of before
    # a command fails depends on how far it comes.
    left, right = (
        Counter(
            found for found in _diagnostics(each) if found.severity == "error" or not theirs.status
        )
        for each in (theirs, ours)
    )
    missing, more = _unmatched(left, sorted(set(right) - set(left)), set(right))
    reached = _reached(theirs)
    beyond = [each for each in more if theirs.status and each.address not in reached]
    said = f"{_reported(left)}\n{_texts(theirs)}\n--- ours\n{_texts(ours)}"
    if beyond:
        more = [each for each in more if each not in beyond]
        yield Difference(BEYOND, f"{listed([], [str(each) for each in beyond])}\n\n{said}")
    if not missing and not more:
        return
    lines = listed([str(each) for each in missing], [str(each) for each in more])
    kinds = sorted({f"-{each.severity} {each.summary}" for each in missing})
    if not kinds:
        kinds = sorted({f"+{each.severity} {each.summary}" for each in more})
    kind = f"diagnostics: {', '.join(kinds)}"
    yield Difference(kind, f"{lines}\n\n{said}", _has_plan(theirs))


def _reported(found: Iterable[_Diagnostic]) -> str:
    return "\n".join(f"reported {each}" for each in sorted(found))


def _reached(finished: Finished) -> set[str]:
    """The resource instances that a program did or said something about, and everything else."""
    found = {""}
    for event in read_events(finished.stdout):
        found.add(subject(event).partition(" ")[2])
        diagnostic = event.get("diagnostic")
        if isinstance(diagnostic, dict):
            found.add(str(diagnostic.get("address", "")))
    return found


def _unmatched(
    theirs: Counter[_Diagnostic], more: list[_Diagnostic], ours: set[_Diagnostic]
) -> tuple[list[_Diagnostic], list[_Diagnostic]]:
    """Both without those of ours that say more: where it is, or what it is about.

    Several of ours may be about one location; of theirs without one, each is one of ours.
    """
    left = []
    vague = {
        each for each in theirs if not (each.file and each.address) and theirs[each] > 1
    } & ours
    missing = sorted((set(theirs) - ours) | vague)
    for each in sorted(missing, key=lambda found: (not found.file, not found.address)):
        clearer = [other for other in more if other.says_more_than(each)]
        if not clearer and each not in vague:
            left.append(each)
        elif not each.file or each in vague:
            clearer = clearer[: theirs[each] - (each in vague)]
        more = [other for other in more if other not in clearer]
    return left, more


def _diagnostics(finished: Finished) -> Iterator[_Diagnostic]:
    for event in read_events(finished.stdout):
        found = event.get("diagnostic")
        if isinstance(found, dict):
            where = found.get("range") or {}
            assert isinstance(where, dict)
            start = where.get("start") or {}
            assert isinstance(start, dict)
            summary = str(found["summary"])
            if summary in PROTECTION:
                named = _PROTECTED.search(str(found.get("detail", "")))
                address = str(found.get("address") or (named[1] if named else ""))
                yield _Diagnostic("error", "", 0, address, "", summary)
                continue
            yield _Diagnostic(
                str(found["severity"]),
                str(where.get("filename", "")),
                int(str(start.get("line", 0))),
                str(found.get("address", "")),
                str(found.get("detail", "")) if summary in SUMMARIES else "",
                summary,
            )


def planned(finished: Finished, *actions: str) -> set[str]:
    """The instances that a program plans to change, with one of some actions if any are given."""
    events = read_events(finished.stdout)
    changes = (each for each in events if each["type"] == "planned_change")
    found = (subject(each) for each in changes if not actions or event_kind(each).endswith(actions))
    return {each.partition(" ")[2] for each in found}


def planned_actions(finished: Finished) -> set[str]:
    """What a program plans: the actions, each with its instance; a replacement is two of them."""
    found = set()
    for event in read_events(finished.stdout):
        if event["type"] == "planned_change":
            action = event_kind(event).partition(" ")[2]
            address = subject(event).partition(" ")[2]
            actions = ("delete", "create") if action == "replace" else (action,)
            found |= {f"{each} {address}" for each in actions}
    return found


def invalid(validated: Finished) -> frozenset[tuple[str, int]]:
    """The files and lines of the errors that `validate -json` reports."""
    return frozenset(
        (each["range"]["filename"], each["range"]["start"]["line"]) if "range" in each else ("", 0)
        for each in json.loads(validated.stdout)["diagnostics"]
        if each["severity"] == "error"
    )


def ended(finished: Finished) -> set[str]:
    """The instances that a program plans to destroy."""
    return planned(finished, "delete", "replace")


def failed(finished: Finished) -> set[str]:
    """The instances that a program could not change."""
    told = read_events(finished.stdout)
    return {subject(each).partition(" ")[2] for each in told if each["type"] == "apply_errored"}


def plans(theirs: Finished, ours: Finished, covered: Covered = frozenset()) -> Iterator[Difference]:
    """Whether something else is planned, from `show -json`."""
    if theirs.status or ours.status:
        return
    views = (without(_view(each.stdout), "plan", covered) for each in (theirs, ours))
    yield from trees("plan", *views)


def without(tree: Tree, root: str, covered: Covered) -> Tree:
    """Return a tree without the members that claims cover below a root."""
    left = {path[1] for path in covered if path[0] == root and len(path) == 2}
    assert isinstance(tree, dict)
    return {name: each for name, each in tree.items() if name not in left}


def _view(shown: str) -> Tree:
    """What is compared of a plan: what is to be done, and whether that is all."""
    data = json.loads(shown)
    view = {name: data.get(name) for name in _VERDICTS}
    view["output_changes"] = data.get("output_changes") or {}
    checks = data.get("checks") or []
    for each in checks:
        each["instances"] = sorted(each.get("instances") or [], key=str)
    view["checks"] = sorted(checks, key=str)
    for name in ("resource_changes", "resource_drift"):
        view[name] = {_change_key(each): each for each in data.get(name) or ()}
    found: Tree = json.loads(plain(view))
    return found


def _change_key(change: Tree) -> str:
    """The name of an object that changes; an instance may have several that are deposed."""
    assert isinstance(change, dict)
    if "deposed" not in change:
        return str(change["address"])
    details = change["change"]
    before = details["before"] if isinstance(details, dict) else None
    return f"{change['address']} deposed {before.get('id') if isinstance(before, dict) else ''}"


def results(
    theirs: Outcome,
    ours: Outcome,
    real: Finished,
    covered: Covered,
    owners: Owners | None = None,
) -> Iterator[Difference]:
    """Whether the state, the objects, the calls or what provisioners wrote is different."""
    # How far planning comes that fails is up to the program, and importing is only reading.
    has_failed_plan = real.status and not begun(real)
    counted = [each for each in _CHANGING if each != _IMPORTING or not has_failed_plan]
    yield from changes(theirs, ours, tuple(counted), covered, owners)


def changes(
    theirs: Outcome,
    ours: Outcome,
    counted: tuple[str, ...] = _CHANGING,
    covered: Covered = frozenset(),
    owners: Owners | None = None,
) -> Iterator[Difference]:
    """Whether the state, the calls or what provisioners wrote is different, in any order."""
    found = (by_name(json.loads(plain(each))) for each in states(theirs.state, ours.state))
    yield from trees("state", *(without({**each}, "state", covered) for each in found))
    yield from calls("calls", counted, theirs, ours, owners)
    left, right = Counter(theirs.log), Counter(ours.log)
    if left != right:
        missing, more = list((left - right).elements()), list((right - left).elements())
        yield Difference(
            f"provisioners: {_verbs(map(str.split, missing))} / {_verbs(map(str.split, more))}",
            listed(*(_owned(each, map(str.split, each), owners) for each in (missing, more))),
        )


def _owned(lines: list[str], words: Iterable[list[str]], owners: Owners | None) -> list[str]:
    """Lines with the instances that they are about."""
    found = (owners.of(each) if owners else "" for each in words)
    return [
        f"{line} with {each}" if each else line for line, each in zip(lines, found, strict=True)
    ]


def reads(theirs: Outcome, ours: Outcome, owners: Owners | None = None) -> Iterator[Difference]:
    """Whether other objects or facts were read, however often."""
    for operation in _READING:
        yield from calls("reads", (operation,), theirs, ours, owners)


def by_name(state: Tree) -> dict[str, Tree]:
    """A state whose resources and instances have names."""
    assert isinstance(state, dict)
    found: dict[str, Tree] = {}
    resources = state.get("resources", [])
    assert isinstance(resources, list)
    for each in resources:
        assert isinstance(each, dict)
        instances = each["instances"]
        assert isinstance(instances, list)
        name = ".".join(str(each.get(part, "")) for part in ("module", "mode", "type", "name"))
        found[name] = {part: value for part, value in each.items() if part != "instances"}
        for instance in instances:
            assert isinstance(instance, dict)
            ending = f"{instance.get('index_key')}{' deposed' if 'deposed' in instance else ''}"
            while f"{name}[{ending}]" in found:
                ending += " again"
            found[f"{name}[{ending}]"] = instance
    return {**state, "resources": found}


def calls(
    kind: str,
    operations: tuple[str, ...],
    theirs: Outcome,
    ours: Outcome,
    owners: Owners | None = None,
) -> Iterator[Difference]:
    """Whether the provider got other calls; those that change nothing count once."""
    left, right = (
        Counter(plain([*call]) for call in each.journal if call[0] in operations)
        for each in (theirs, ours)
    )
    if kind != "calls":
        left, right = Counter(set(left)), Counter(set(right))
    if left != right:
        missing, more = list((left - right).elements()), list((right - left).elements())
        verbs = f"{_verbs(map(json.loads, missing))} / {_verbs(map(json.loads, more))}"
        lines = (
            _owned(each, (_about(json.loads(call)) for call in each), owners)
            for each in (missing, more)
        )
        yield Difference(f"{kind}: missing {verbs} more", listed(*lines))


def _about(call: list[str]) -> list[str]:
    """What a call does, to what; a failed one says so in two words."""
    return call[1:3] if call[0] == "fail" else call[:2]


def _verbs(calls: Iterable[list[str]]) -> str:
    return " ".join(sorted({call[0] for call in calls})) or "-"
