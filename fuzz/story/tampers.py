"""Faults made by hand in results of Nigari, each as a real fault would show: in all its accounts.

A tamper changes a copy of what Nigari printed, planned, stored and did. The judge must report it, in
whatever command it happens. Deliberately unknown: the judge.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from fuzz.story.command_run import CommandRun
from fuzz.story.events import event_kind, subject
from fuzz.story.sides import Finished, Outcome

Json = Any
"""What `json` reads; a tamper changes it in place."""
Event = dict[str, Json]


@dataclass
class Answer:
    """Nigari's result as data."""

    status: int
    events: list[Event]
    plan: Json
    state: Json
    journal: list[list[str]]
    log: list[str]

    @classmethod
    def of(cls, run: CommandRun) -> Answer:
        """Return a copy of the result of a command."""
        lines = [json.loads(each) for each in run.ours.stdout.splitlines() if each.startswith("{")]
        plan = run.plan()
        ours = copy.deepcopy(run.outcomes[1])
        return cls(run.ours.status, lines, plan, json.loads(ours.state), ours.journal, ours.log)

    def put_into(self, run: CommandRun) -> CommandRun:
        """Return the command with this result."""
        printed = "\n".join(map(json.dumps, self.events))
        outcome = Outcome(json.dumps(self.state), self.journal, self.log)
        shown = run.shown and (run.shown[0], Finished(0, json.dumps(self.plan), ""))
        return replace(
            run,
            ours=Finished(self.status, printed, run.ours.stderr),
            outcomes=(run.outcomes[0], outcome),
            shown=shown,
        )

    def instances(self) -> list[Json]:
        """The stored managed objects."""
        managed = (each for each in self.state["resources"] if each["mode"] == "managed")
        return [instance for each in managed for instance in each["instances"]]

    def errors(self) -> list[Event]:
        return [each for each in self.events if _severity(each) == "error"]

    def of_kind(self, *kinds: str) -> list[Event]:
        return [each for each in self.events if each.get("type") in kinds]

    def without(self, *removed: Event) -> None:
        self.events = [each for each in self.events if not any(each is other for other in removed)]


def _severity(event: Event) -> str:
    found = event.get("diagnostic")
    return str(found["severity"]) if isinstance(found, dict) else ""


def _address(event: Event) -> str:
    return subject(event).partition(" ")[2]


Tamper = Callable[[Answer, random.Random], bool]
"""Changes an answer; says whether it could."""


def output_not_sensitive(answer: Answer, chance: random.Random) -> bool:
    names = [
        name
        for event in answer.of_kind("outputs")
        for name, each in dict(event["outputs"]).items()
        if each["sensitive"]
    ]
    if not names:
        return False
    name = chance.choice(names)
    for event in answer.of_kind("outputs"):
        event["outputs"][name]["sensitive"] = False
    change = (answer.plan or {}).get("output_changes", {}).get(name, {})
    change |= dict.fromkeys(("before_sensitive", "after_sensitive"), False) if change else {}
    stored = answer.state.get("outputs", {}).get(name, {})
    stored.pop("sensitive", None)
    return True


def outputs_unchanged(answer: Answer, _: random.Random) -> bool:
    found = answer.of_kind("outputs")
    answer.without(*found)
    if answer.plan:
        answer.plan["output_changes"] = {}
    return bool(found)


def output_value(answer: Answer, chance: random.Random) -> bool:
    names = sorted(answer.state.get("outputs", {}))
    shown = [each for each in answer.of_kind("outputs") if "action" not in json.dumps(each)]
    if not names or not shown:
        return False
    name = chance.choice(names)
    answer.state["outputs"][name] |= {"value": "tampered", "type": "string"}
    for event in shown:
        each: Json = event["outputs"][name]
        each |= {"type": "string"} if each["sensitive"] else {"value": "tampered", "type": "string"}
    return True


def error_lost(answer: Answer, chance: random.Random) -> bool:
    found = answer.errors()
    if found:
        answer.without(chance.choice(found))
        answer.status = int(len(found) > 1)
    return bool(found)


def errors_lost(answer: Answer, _: random.Random) -> bool:
    found = answer.errors()
    answer.without(*found)
    answer.status = 0
    return bool(found)


def error_of_another(answer: Answer, chance: random.Random) -> bool:
    found: Json = [each for each in answer.errors() if each["diagnostic"].get("address")]
    if found:
        chance.choice(found)["diagnostic"]["address"] = "world_thing.another"
    return bool(found)


def error_elsewhere(answer: Answer, chance: random.Random) -> bool:
    found: Json = [each for each in answer.errors() if each["diagnostic"].get("range")]
    if found:
        chance.choice(found)["diagnostic"]["range"]["start"]["line"] += 2
    return bool(found)


def error_more(answer: Answer, chance: random.Random) -> bool:
    addresses = sorted({_address(each) for each in answer.events} - {""})
    if not addresses:
        return False
    where = {"filename": "main.tf", "start": {"line": 3, "column": 1, "byte": 1}}
    diagnostic = {
        "severity": "error",
        "summary": "Tampered",
        "detail": "",
        "address": chance.choice(addresses),
        "range": {**where, "end": where["start"]},
    }
    answer.events.append({"type": "diagnostic", "diagnostic": diagnostic})
    answer.status = 1
    return True


def change_unplanned(answer: Answer, chance: random.Random) -> bool:
    found = answer.of_kind("planned_change")
    if not found:
        return False
    event = chance.choice(found)
    answer.without(event)
    if answer.plan:
        changes = answer.plan["resource_changes"]
        answer.plan["resource_changes"] = [e for e in changes if e["address"] != _address(event)]
    _count_again(answer)
    return True


def _count_again(answer: Answer) -> None:
    words = [event_kind(each).partition(" ")[2] for each in answer.of_kind("planned_change")]
    for each in answer.of_kind("change_summary"):
        sums: Json = each["changes"]
        if sums["operation"] == "plan":
            sums["add"] = sum(word in ("create", "replace") for word in words)
            sums["change"] = words.count("update")
            sums["remove"] = sum(word in ("delete", "replace") for word in words)
            sums["forget"] = words.count("remove")


def change_of_another_kind(answer: Answer, chance: random.Random) -> bool:
    wanted = ("create", "delete", "update", "remove", "replace")
    found: Json = [
        each
        for each in answer.of_kind("planned_change")
        if event_kind(each).partition(" ")[2] in wanted
    ]
    if not found:
        return False
    event = chance.choice(found)
    event["change"]["action"] = "update" if event["change"]["action"] != "update" else "create"
    for each in (answer.plan or {}).get("resource_changes", ()):
        if each["address"] == _address(event):
            each["change"]["actions"] = [event["change"]["action"]]
    _count_again(answer)
    return True


def drift_unreported(answer: Answer, _: random.Random) -> bool:
    found = answer.of_kind("resource_drift")
    answer.without(*found)
    if answer.plan:
        answer.plan["resource_drift"] = []
    return bool(found)


def planned_value(answer: Answer, chance: random.Random) -> bool:
    changes = (answer.plan or {}).get("resource_changes", ())
    found = [
        (each["change"][side], name)
        for each in changes
        for side in ("before", "after")
        for name in each["change"][side] or ()
        if each["change"]["actions"] != ["no-op"]
    ]
    if found:
        values, name = chance.choice(found)
        values[name] = "tampered"
    return bool(found)


def planned_mark(answer: Answer, chance: random.Random) -> bool:
    found = [
        (each["change"], side)
        for each in (answer.plan or {}).get("resource_changes", ())
        for side in ("before_sensitive", "after_sensitive")
        if isinstance(each["change"].get(side), dict) and each["change"][side]
    ]
    if found:
        change, side = chance.choice(found)
        change[side].popitem()
    return bool(found)


def unrefreshed(answer: Answer, chance: random.Random) -> bool:
    found = answer.of_kind("refresh_complete")
    if not found:
        return False
    event: Json = chance.choice(found)
    address, identifier = _address(event), event["hook"].get("id_value")
    refreshed = answer.of_kind("refresh_start", "refresh_complete")
    answer.without(*(each for each in refreshed if _address(each) == address))
    answer.journal = [each for each in answer.journal if each != ["read", identifier]]
    return True


def undone(answer: Answer, chance: random.Random) -> bool:
    """An operation that was left out; the state stays as it is, which a fault may do, too."""
    found: Json = [
        each for each in answer.of_kind("apply_complete") if not event_kind(each).endswith(" read")
    ]
    if not found:
        return False
    event = chance.choice(found)
    word = event["hook"]["action"]
    same = answer.of_kind("apply_start", "apply_complete")
    answer.without(
        *(e for e in same if _address(e) == _address(event) and event_kind(e).endswith(word))
    )
    identifier = event["hook"].get("id_value")
    calls = [each for each in answer.journal if each[0] == word and identifier in (None, each[1])]
    if calls and "world_thing" in _address(event):
        answer.journal.remove(chance.choice(calls))
    for each in answer.of_kind("change_summary"):
        sums: Json = each["changes"]
        name = {"create": "add", "update": "change", "delete": "remove"}.get(word, "forget")
        if sums["operation"] != "plan" and sums.get(name, 0):
            sums[name] -= 1
    return True


def object_lost(answer: Answer, chance: random.Random) -> bool:
    found = [each for each in answer.state["resources"] if each["instances"]]
    if found:
        each = chance.choice(found)
        each["instances"].remove(chance.choice(each["instances"]))
    return bool(found)


def stored_value(answer: Answer, chance: random.Random) -> bool:
    found = [each for each in answer.instances() if "force" in each["attributes"]]
    if found:
        chance.choice(found)["attributes"]["value" if chance.random() < 0.5 else "id"] = "tampered"
    return bool(found)


def dependency_lost(answer: Answer, chance: random.Random) -> bool:
    found = [each for each in answer.instances() if each.get("dependencies")]
    if found:
        chance.choice(found)["dependencies"].pop()
    return bool(found)


def mark_lost(answer: Answer, chance: random.Random) -> bool:
    found = [each for each in answer.instances() if each.get("sensitive_attributes")]
    if found:
        chance.choice(found)["sensitive_attributes"] = []
    return bool(found)


def created_first(answer: Answer, chance: random.Random) -> bool:
    found = answer.instances()
    if found:
        each = chance.choice(found)
        each["create_before_destroy"] = not each.get("create_before_destroy", False)
    return bool(found)


def provider_of_another(answer: Answer, chance: random.Random) -> bool:
    found = [each for each in answer.state["resources"] if each["mode"] == "managed"]
    if found:
        chance.choice(found)["provider"] = 'provider["registry.opentofu.org/hashicorp/world"].wrong'
    return bool(found)


def unprovisioned(answer: Answer, chance: random.Random) -> bool:
    if not answer.log:
        return False
    answer.log.remove(chance.choice(answer.log))
    event = answer.of_kind("provision_start")[0]
    kinds = ("provision_start", "provision_complete", "provision_errored")
    same = [each for each in answer.of_kind(*kinds) if _address(each) == _address(event)]
    answer.without(*same[:2])
    return True


def opened_more(answer: Answer, _: random.Random) -> bool:
    resource = {"addr": "module.m[0].ephemeral.world_token.e", "module": "module.m[0]"}
    for action in ("open", "close"):
        for kind in ("ephemeral_action_started", "ephemeral_action_complete"):
            answer.events.append({"type": kind, "hook": {"resource": resource, "action": action}})
    return bool(answer.of_kind("change_summary"))


def unopened(answer: Answer, chance: random.Random) -> bool:
    kinds = ("ephemeral_action_started", "ephemeral_action_complete")
    found = answer.of_kind(*kinds)
    if found:
        address = _address(chance.choice(found))
        answer.without(*(each for each in found if _address(each) == address))
    return bool(found)


def unread_data(answer: Answer, chance: random.Random) -> bool:
    kinds = ("apply_start", "apply_complete")
    found = [each for each in answer.of_kind(*kinds) if event_kind(each).endswith(" read")]
    if found:
        address = _address(chance.choice(found))
        answer.without(*(each for each in found if _address(each) == address))
    return bool(found)


def check_result(answer: Answer, chance: random.Random) -> bool:
    found = [
        each
        for result in answer.state.get("check_results") or ()
        for each in result["objects"] or ()
        if ".data." not in f".{result['config_addr']}"
    ]
    if found:
        each = chance.choice(found)
        each["status"] = "fail" if each["status"] != "fail" else "pass"
    return bool(found)


def warning_lost(answer: Answer, chance: random.Random) -> bool:
    found = [each for each in answer.events if _severity(each) == "warning"]
    if found:
        answer.without(chance.choice(found))
    return bool(found)


TAMPERS: Final[tuple[Tamper, ...]] = (
    output_not_sensitive,
    outputs_unchanged,
    output_value,
    error_lost,
    errors_lost,
    error_of_another,
    error_elsewhere,
    error_more,
    change_unplanned,
    change_of_another_kind,
    drift_unreported,
    planned_value,
    planned_mark,
    unrefreshed,
    undone,
    object_lost,
    stored_value,
    dependency_lost,
    mark_lost,
    created_first,
    provider_of_another,
    unprovisioned,
    opened_more,
    unopened,
    unread_data,
    check_result,
    warning_lost,
)
"""All of them."""
ERRORS: Final[tuple[Tamper, ...]] = (
    error_lost,
    errors_lost,
    error_of_another,
    error_elsewhere,
)
"""Those that change errors, which count even where planning fails."""
