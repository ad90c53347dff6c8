"""What must hold of a result of Nigari whatever OpenTofu did, so that no promise can hide it.

A result is told several times over: by the events, the plan, the state, the calls of the provider
and the lines that provisioners wrote. All of them must tell the same.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from fuzz.story.comparing import PROTECTION, begun, by_name, planned
from fuzz.story.difference import ABSENT, Difference
from fuzz.story.events import Event, event_kind, read_events
from fuzz.story.judging import (
    block_at,
    gone,
    is_forgotten,
    is_part,
    moved,
    name_of,
    unquoted,
    without_keys,
)
from fuzz.story.order import too_early
from fuzz.story.owners import objects_of
from fuzz.story.result import Result, is_destroy
from fuzz.story.telling import PLAN, Step
from tests.real.alike import Tree

_ACTIONS: Final = {
    ("create",): "create",
    ("update",): "update",
    ("delete",): "delete",
    ("read",): "read",
    ("forget",): "remove",
    ("delete", "create"): "replace",
    ("create", "delete"): "replace",
}
"""The actions of a planned change in `show -json`, and the word that its event has for them."""
_VERBS: Final = ("create", "update", "delete")
_THING: Final = "world_thing"


def invariants(step: Step, command: list[str], before: str, ours: Result) -> Iterator[Difference]:
    """Yield what is wrong with a result, without any regard to another program's."""
    yield from _lost_objects(ours)
    told = list(read_events(ours.finished.stdout))
    if told:
        yield from _told_otherwise(told, before, ours)
        yield from _misplaced(step, told)
    if command[0] == "plan":
        if by_name(json.loads(before))["resources"] != ours.state()["resources"]:
            yield Difference("contradiction: a plan changes the state", ours.outcome.state)
        if told and not ours.finished.status:
            yield from _unread(step, command, before, told, ours)
    if not ours.finished.status:
        early = too_early(before, ours.outcome.state, ours.outcome.journal, _configuring(step))
        if early:
            yield Difference("order: an operation came too early", "\n".join(early))
        if is_destroy(step, command) and not is_part(step):
            yield from _left_after_destroy(step, command, ours)


def _configuring(step: Step) -> frozenset[str]:
    """The resources that provider configurations refer to."""
    blocks = re.findall(r"(?ms)^provider .*?^}$", step.files.get("main.tf", ""))
    return frozenset(name for each in blocks for name in re.findall(r"\w+_\w+\.\w+", each))


def _lost_objects(ours: Result) -> Iterator[Difference]:
    """An object that was created and not deleted is in the state; one that was deleted is not."""
    stored = {
        str((instance.get("attributes") or {}).get("id"))
        for resource in json.loads(ours.outcome.state)["resources"]
        for instance in resource["instances"]
    }
    journal = ours.outcome.journal
    last = {call[1]: call[0] for call in journal if call[0] in ("create", "delete")}
    for identifier, verb in last.items():
        if (verb == "create") is not (identifier in stored):
            yield Difference(f"state: does not know of a {verb}", f"{verb} {identifier}")


def _left_after_destroy(step: Step, command: list[str], ours: Result) -> Iterator[Difference]:
    """A destroy that succeeds plans the end of every stored object, and leaves nothing."""
    if PLAN not in command:
        missing = set() if "-refresh=false" in command else gone(step)
        stored = {
            each
            for each in map(unquoted, step.before.addresses())
            if each not in missing or is_forgotten(without_keys(each), step)
        }
        found = {unquoted(each) for each in planned(ours.finished)}
        missing, more = stored - found, found - stored
        places = {old: new for new, old in moved(step).items()}
        # What has no key any more, or `[0]` only now, has moved without being told to.
        moving = Counter(
            places.get(without_keys(each), each.replace("[0]", "")) for each in missing
        )
        stated = {*places.values(), *places}
        arrived = Counter(
            without_keys(each) if without_keys(each) in stated else each.replace("[0]", "")
            for each in more
        )
        if moving != arrived:
            text = f"missing {sorted(missing)}\nmore {sorted(more)}"
            yield Difference("plan: a destroy does not plan the end of everything", text)
        others = planned(ours.finished) - planned(ours.finished, " delete", " remove")
        if others:
            yield Difference("plan: a destroy does something else", "\n".join(others))
    if command[0] != "plan" and begun(ours.finished) and ours.state()["resources"]:
        text = json.dumps(ours.state()["resources"])
        yield Difference("state: a destroy that succeeded has left something", text)


def _misplaced(step: Step, told: list[Event]) -> Iterator[Difference]:
    """An error about a resource points into its block, one about its protection at the reason."""
    for event in told:
        found = event.get("diagnostic")
        if not isinstance(found, dict) or not found.get("address"):
            continue
        where = found.get("range")
        address = str(found["address"])
        if not isinstance(where, dict) or without_keys(address).split(".")[-2] == "module":
            continue
        file, line = str(where["filename"]), int(str(_dict(where["start"])["line"]))
        text = step.files.get(file, "")
        name = ".".join(without_keys(address).split(".")[-2:])
        block = block_at(text, line)
        is_there = f".{name_of(block)}".endswith(f".{name.removeprefix('check.')}") or (
            block.startswith(("import ", "moved ", "removed ", "check ")) and name in block
        )
        is_reason = (
            found["summary"] not in PROTECTION or "prevent_destroy" in (text.splitlines()[line - 1])
        )
        if not is_there or not is_reason:
            yield Difference("contradiction: an error is elsewhere", f"{file}:{line} {found}")


def _unread(
    step: Step, command: list[str], before: str, told: list[Event], ours: Result
) -> Iterator[Difference]:
    """A plan of everything reads all objects but those that it forgets, and imports others."""
    read = {_identifier(e) for e in told if e["type"] == "refresh_start" and _THING in _address(e)}
    called = {call[1] for call in ours.outcome.journal if call[0] == "read"}
    if read - called:
        yield Difference("contradiction: refreshed and not read", f"{read}\n{called}")
    if is_part(step) or "-refresh=false" in command:
        return
    for identifier, address in objects_of(before):
        if f"{_THING}." not in address or identifier in read:
            continue
        if not is_forgotten(without_keys(unquoted(address)), step):
            yield Difference("contradiction: not refreshed", f"{identifier} {address}")


def _told_otherwise(told: list[Event], before: str, ours: Result) -> Iterator[Difference]:
    """Yield where two accounts of the same contradict each other."""
    yield from _status(told, ours)
    yield from _unfinished(told)
    yield from _miscounted(told)
    if ours.plan is not None:
        yield from _planned_otherwise(told, ours.plan)
    yield from _called_otherwise(told, _unchanged(before, ours.outcome.state), ours)
    yield from _provisioned_otherwise(told, ours)
    if any(each["type"] == "apply_start" for each in told) or _sums(told, "apply"):
        yield from _stored_otherwise(told, ours)


def _unlike(what: str, one: Iterable[object], other: Iterable[object]) -> Iterator[Difference]:
    """Yield a difference if two accounts do not have the same, however often each."""
    left, right = Counter(map(str, one)), Counter(map(str, other))
    if left != right:
        text = f"only the first {dict(left - right)}\nonly the second {dict(right - left)}"
        yield Difference(f"contradiction: {what}", text)


def _status(told: list[Event], ours: Result) -> Iterator[Difference]:
    found = (each.get("diagnostic") for each in told)
    errors = [each for each in found if isinstance(each, dict) and each["severity"] == "error"]
    if bool(errors) is not bool(ours.finished.status):
        yield Difference("contradiction: exit code and errors", json.dumps(errors))


def _address(event: Event) -> str:
    hook = event.get("hook") or event.get("change")
    resource = hook.get("resource") if isinstance(hook, dict) else None
    return str(resource["addr"]) if isinstance(resource, dict) else ""


def _identifier(event: Event) -> str:
    hook = event.get("hook")
    return str(hook.get("id_value", "")) if isinstance(hook, dict) else ""


def _unfinished(told: list[Event]) -> Iterator[Difference]:
    """What begins also ends, once, with the same address."""
    for kind, ends in (
        ("apply", ("complete", "errored")),
        ("provision", ("complete", "errored")),
        ("ephemeral_action", ("complete", "errored")),
    ):
        starts = (f"{kind}_start", f"{kind}_started")
        ending = tuple(f"{kind}_{each}" for each in ends)
        yield from _unlike(
            f"{kind} begins and ends", _operations(told, starts), _operations(told, ending)
        )


def _operations(told: list[Event], kinds: tuple[str, ...]) -> Iterator[str]:
    """Actions and instances; a data source that cannot be read only begins."""
    for event in told:
        word = event_kind(event).partition(" ")[2]
        if event["type"] in kinds and word != "read":
            yield f"{word} {_address(event)}"


def _sums(told: list[Event], operation: str) -> list[dict[str, Tree]]:
    found = (each["changes"] for each in told if each["type"] == "change_summary")
    return [each for each in found if isinstance(each, dict) and each["operation"] == operation]


def _miscounted(told: list[Event]) -> Iterator[Difference]:
    """A sum of a plan counts its changes."""
    found = Counter(
        event_kind(each).partition(" ")[2] for each in told if each["type"] == "planned_change"
    )
    replaced = found["replace"]
    for each in _sums(told, "plan"):
        # What is forgotten and created again has no action in its event.
        unnamed = found["noop"] + found["move"] + found["import"]
        renewed = min(unnamed, max(0, _number(each, "forget") - found["remove"]))
        expected = {
            "add": found["create"] + replaced + renewed,
            "change": found["update"],
            "remove": found["delete"] + replaced,
            "forget": found["remove"] + renewed,
        }
        if any(each.get(name, 0) != number for name, number in expected.items()):
            yield Difference("contradiction: the sum of a plan", f"{each}\n{dict(found)}")


def _number(sums: dict[str, Tree], name: str) -> int:
    number = sums.get(name, 0)
    assert isinstance(number, int)
    return number


def _planned_otherwise(told: list[Event], plan: dict[str, Tree]) -> Iterator[Difference]:
    """The events of planning tell what the plan has."""
    changes = plan.get("resource_changes") or []
    assert isinstance(changes, list)
    found = []
    for each in changes:
        assert isinstance(each, dict)
        change = each["change"]
        assert isinstance(change, dict)
        actions = change["actions"]
        assert isinstance(actions, list)
        word = _ACTIONS.get(tuple(map(str, actions)), "")
        if word:
            found.append(f"{word} {each['address']}")
    yield from _unlike(
        "planned changes",
        found,
        (
            f"{event_kind(each).partition(' ')[2]} {_address(each)}"
            for each in told
            if each["type"] == "planned_change"
            and event_kind(each).partition(" ")[2] not in ("noop", "move", "import")
        ),
    )
    outputs = plan.get("output_changes") or {}
    assert isinstance(outputs, dict)
    yield from _unlike(
        "planned outputs",
        (_output_change(name, each) for name, each in outputs.items()),
        (
            f"{name} {json.dumps(each.get('sensitive'))} {each.get('action')}"
            for event in told
            if event["type"] == "outputs"
            for name, each in _dict(event["outputs"]).items()
            if isinstance(each, dict)
        ),
    )


def _dict(tree: Tree) -> dict[str, Tree]:
    assert isinstance(tree, dict)
    return tree


def _output_change(name: str, tree: Tree) -> str:
    change = _dict(tree)
    actions = change["actions"]
    assert isinstance(actions, list)
    action = "noop" if actions == ["no-op"] else str(actions[0])
    sensitive = change["before_sensitive"] is True or change["after_sensitive"] is True
    return f"{name} {json.dumps(sensitive)} {action}"


def _unchanged(before: str, after: str) -> set[str]:
    """The identifiers of objects that have the attributes that they had."""
    return {identifier for identifier, _ in _attributes(before) & _attributes(after)}


def _attributes(state: str) -> set[tuple[str, str]]:
    found = (
        instance.get("attributes") or {}
        for resource in json.loads(state)["resources"]
        for instance in resource["instances"]
    )
    return {(str(each.get("id")), json.dumps(each, sort_keys=True)) for each in found}


def _called_otherwise(told: list[Event], unchanged: set[str], ours: Result) -> Iterator[Difference]:
    """Operations of the provider are those that events report.

    The provider does nothing if a value that becomes known while applying is the one that it has.
    """
    for verb in _VERBS:
        done = [
            _identifier(each)
            for each in told
            if event_kind(each) == f"apply_complete {verb}" and f"{_THING}." in _address(each)
        ]
        failed = sum(
            event_kind(each) == f"apply_errored {verb}" and f"{_THING}." in _address(each)
            for each in told
        )
        calls = Counter(call[1] for call in ours.outcome.journal if call[0] == verb)
        silent = calls - Counter(done)
        if verb == "delete":
            # The end of an object is reported without its identifier.
            is_like = len(done) <= sum(calls.values()) <= len(done) + failed
        else:
            uncalled = Counter(done) - calls
            needless = unchanged if verb == "update" else set()
            is_like = uncalled.keys() <= needless and sum(silent.values()) <= failed
        if not is_like:
            text = f"events {sorted(done)}\ncalls {dict(calls)}\nerrors {failed}"
            yield Difference(f"contradiction: calls and events of {verb}", text)


def _provisioned_otherwise(told: list[Event], ours: Result) -> Iterator[Difference]:
    """Each provisioner that ran wrote a line."""
    began = sum(each["type"] == "provision_start" for each in told)
    if began != len(ours.outcome.log):
        yield Difference("contradiction: provisioners", f"{began} began\n{ours.outcome.log}")


def _stored_otherwise(told: list[Event], ours: Result) -> Iterator[Difference]:
    """The state has the objects as they were made, and the outputs as they are reported."""
    made = {call[1]: call for call in ours.outcome.journal if call[0] in ("create", "update")}
    for name, each in _dict(ours.state()["resources"]).items():
        attributes = _dict(each).get("attributes")
        if not isinstance(attributes, dict) or str(attributes.get("id")) not in made:
            continue
        call = made[str(attributes["id"])]
        found = [str(attributes.get(word) or "") for word in ("name", "value", "secret")]
        if found != call[2:]:
            yield Difference("contradiction: stored object", f"{name} {found}\n{call}")
    if not ours.finished.status:
        reported = [_dict(each["outputs"]) for each in told if each["type"] == "outputs"]
        outputs = [
            each
            for each in reported
            if all("action" not in _dict(output) for output in each.values())
        ]
        stored = ours.state().get("outputs") or {}
        if outputs:
            yield from _unlike(
                "stored outputs",
                (_shown_output(name, each) for name, each in _dict(stored).items()),
                (_shown_output(name, each) for name, each in _dict(outputs[-1]).items()),
            )


def _shown_output(name: str, tree: Tree) -> str:
    given = _dict(tree)
    sensitive = bool(given.get("sensitive"))
    value = "" if sensitive else json.dumps(given.get("value", ABSENT), sort_keys=True)
    return f"{name} {sensitive} {json.dumps(given.get('type'))} {value}"
