"""Which differences are meant where objects are forgotten and not destroyed: no provider is asked."""

from __future__ import annotations

import json
import re
from typing import Any

from fuzz.story.difference import ABSENT, Difference, plain
from fuzz.story.judging import (
    destroys,
    gone,
    instances,
    is_forgotten,
    is_part,
    like,
    moved,
    sides_of,
    singled_out,
    subjects,
    unquoted,
    without_keys,
)
from fuzz.story.owners import object_name
from fuzz.story.telling import Step
from tests.real.alike import Tree


def forgets(step: Step, _: list[str], difference: Difference) -> bool:
    """Whether nothing is known of what has become of objects that are forgotten."""
    is_read = like(
        difference,
        "events: missing (resource_drift|refresh)",
        r"plan: resource_drift\.\*$",
        r"plan: resource_changes\.\*\.change\.before\.",
    )
    if like(difference, r"plan: resource_changes\.\*\.change\.before\.") and not _is_stored(
        step, difference
    ):
        return False
    return is_read and _is_about_forgotten(step, difference) and _are_planned(step, difference)


def _are_planned(step: Step, difference: Difference) -> bool:
    """Whether Nigari plans to forget all that a difference is about, and does not keep it."""
    planned = {unquoted(each) for each in step.forgotten}
    places = {old: new for new, old in moved(step).items()}
    return all(
        each in planned or places.get(without_keys(each), "") in map(without_keys, planned)
        for each in instances(difference)
    )


def _is_stored(step: Step, difference: Difference) -> bool:
    """Whether our plan has the attributes that the state has."""
    places = moved(step)
    stored: dict[str, list[Tree]] = {}
    for address, each in step.before.instances():
        attributes = json.loads(plain(json.loads(json.dumps(each.get("attributes")))))
        stored.setdefault(without_keys(unquoted(address)), []).append(attributes)
    lines = difference.text.splitlines()
    for path, ours in zip(lines[::3], lines[2::3], strict=True):
        _, address, _, _, name = path.split(" ")[:5]
        at = without_keys(unquoted(address))
        found = stored.get(places.get(at, at), [])
        value = json.loads(ours.removeprefix("  ours   "))
        if not any(isinstance(each, dict) and each.get(name) == value for each in found):
            return False
    return True


def does_not_read(step: Step, _: list[str], difference: Difference) -> bool:
    is_less = difference.kind == "reads: missing read / - more"
    is_about = _is_about_forgotten(step, difference)
    return is_less and is_about and _are_planned(step, difference)


def forgets_what_is_gone(step: Step, _: list[str], difference: Difference) -> bool:
    if like(difference, r"plan: resource_changes\.\*$", "events: more planned_change remove"):
        is_absent = all(side == 'theirs "<absent>"' for side in sides_of(difference)[::2])
        return is_absent and _is_about_forgotten(step, difference)
    is_warning = like(difference, r"diagnostics: \+warning Object will be forgotten")
    # OpenTofu's warnings have no address, so any of ours may be the one that it has not.
    forgotten, found = {unquoted(each) for each in step.forgotten}, instances(difference)
    return is_warning and found <= forgotten and 0 < len(found) <= len(forgotten & gone(step))


def counts_what_is_replaced(step: Step, _: list[str], difference: Difference) -> bool:
    """Whether the sum has only more forgotten objects: those that a plan replaces without destroying
    them, and those that no longer exist.
    """
    if not like(difference, "events: change_summary.changes.forget"):
        return False
    theirs, ours = (
        json.loads(each.split(maxsplit=1)[1])["changes"]["forget"] for each in sides_of(difference)
    )
    found: Any = step.shown.get("resource_changes") or []
    replaced = sum({"forget", "create"} == {*each["change"]["actions"]} for each in found)
    lost = {unquoted(each) for each in step.forgotten} & gone(step)
    return int(theirs) < int(ours) <= int(theirs) + replaced + len(lost)


def takes_along_with_what_is_gone(step: Step, command: list[str], difference: Difference) -> bool:
    """Whether only more is destroyed that needs targets which are forgotten, and are gone."""
    is_more = like(
        difference,
        "events: more (planned_change|apply_start|apply_complete) delete$",
        r"(plan: resource_changes|state: resources)\.\*$",
        "calls: missing - / delete more$",
    )
    targets = singled_out(step, "-target")
    left = {each for each in gone(step) if any(each.startswith(name) for name in targets)}
    blocks = {without_keys(each) for each in left}
    needing = {
        unquoted(address)
        for address, each in step.before.instances()
        if isinstance(needs := each.get("dependencies"), list) and blocks & set(needs)
    }
    found = instances(difference)
    has_forgotten = any(is_forgotten(each, step) for each in blocks)
    return destroys(step, command) and is_more and has_forgotten and found <= needing | left


def forgets_what_cannot_be_read(step: Step, __: list[str], difference: Difference) -> bool:
    theirs, _, ours = difference.text.partition("--- ours")
    failures = re.findall(r"^(\w+) of (\S+)\.$", theirs, re.MULTILINE)
    is_failure = like(difference, "exit code 1 / 0: Told to fail$") or (
        like(difference, "diagnostics: -error Told to fail$") and "Object will be forgotten" in ours
    )
    if like(difference, "calls: missing fail / - more$"):
        found = r'^missing \["fail", "(\w+)", "([^"]*)"\]'
        failures = re.findall(found, difference.text, re.MULTILINE)
        is_failure = True
    names = {object_name(each) for each in step.forgotten}
    is_forgotten = all(word == "read" and name in names for word, name in failures)
    return is_failure and bool(failures) and is_forgotten


def reports_what_is_gone(step: Step, command: list[str], difference: Difference) -> bool:
    """Whether a destroy has failed only because it has forgotten objects that no longer exist."""
    is_failure = like(
        difference,
        "exit code 0 / 1: Objects are left behind$",
        r"diagnostics: \+error Objects are left behind$",
    )
    counted = re.search(r"forgotten instead of destroyed: (\d+)", difference.text)
    forgotten = [each for each in gone(step) if is_forgotten(without_keys(each), step)]
    is_all = counted is not None and int(counted[1]) == len(forgotten)
    return destroys(step, command) and is_failure and is_all


def keeps_what_is_needed(step: Step, _: list[str], difference: Difference) -> bool:
    """Whether objects stay in the state because something that needs them could not be destroyed."""
    is_kept = like(difference, r"state: resources\.\*$") and all(
        side == 'theirs "<absent>"' for side in sides_of(difference)[::2]
    )
    return is_kept and _is_about_forgotten(step, difference)


def forgets_in_part(step: Step, command: list[str], difference: Difference) -> bool:
    """Whether objects were forgotten, as both planned, that OpenTofu leaves in the state because
    they depend on something that is excluded.
    """
    is_more = like(difference, r"state: resources\.\*$") and all(
        side == f'ours   "{ABSENT}"' for side in sides_of(difference)[1::2]
    )
    is_applied = command[0] == "apply" and is_part(step)
    return is_more and is_applied and _is_about_forgotten(step, difference)


def _is_about_forgotten(step: Step, difference: Difference) -> bool:
    """Whether all resources that a difference is about are to be forgotten."""
    found, places = subjects(difference), {old: new for new, old in moved(step).items()}
    return bool(found) and all(
        is_forgotten(each, step) or is_forgotten(places.get(each, each), step) for each in found
    )
