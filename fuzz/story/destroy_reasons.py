"""Which differences of a destroy are meant: what it reads, what it reports and what it leaves."""

from __future__ import annotations

import json
import re
from typing import Final

from fuzz.story.comparing import PROTECTION
from fuzz.story.difference import ABSENT, Difference
from fuzz.story.judging import (
    Complaint,
    called,
    called_text,
    complaints,
    declaration,
    destroys,
    gone,
    instances,
    is_as_before,
    is_in_world,
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

_UNKNOWN: Final = "Invalid value for prevent_destroy"


def is_lenient_destroy(step: Step, command: list[str], difference: Difference) -> bool:
    """Whether OpenTofu has stopped only at mistakes that a destroy has nothing to do with: `validate`
    does not find them, and they are neither about what is destroyed nor about what that needs.
    """
    if not destroys(step, command) or command[0] == "apply" or difference.has_plan:
        return False
    if not like(difference, "exit code 1 / 0", "diagnostics: -error"):
        return False
    word = "missing" if like(difference, "diagnostics") else "reported"
    found = complaints(difference, word)
    failures = re.findall(r"^(\w+) of (\S+)\.$", difference.text, re.MULTILINE)
    names = {object_name(each) for each in step.ended}
    is_apart = all(
        word in ("read", "look", "open") and name not in names for word, name in failures
    )
    return bool(found) and is_apart and all(_may_pass(each, step) for each in found)


def moves_in_cycle(step: Step, command: list[str], difference: Difference) -> bool:
    """Whether both refuse the `moved` blocks of a destroy, each another one."""
    missing, more = (complaints(difference, word) for word in ("missing", "more"))
    is_move = all(each.block(step.files).startswith("moved ") for each in (*missing, *more))
    return destroys(step, command) and is_move and bool(missing and more)


def _may_pass(found: Complaint, step: Step) -> bool:
    """Whether a destroy need not report a mistake."""
    if found.summary in (*PROTECTION, _UNKNOWN) or (found.file, found.line) in step.invalid:
        return False
    block = found.block(step.files)
    return bool(block) and not block.startswith(("provider ", "variable "))


def keeps_secrets(step: Step, command: list[str], difference: Difference) -> bool:
    is_left = destroys(step, command) or instances(difference) <= set(map(unquoted, step.failed))
    if not is_left or not like(difference, r"state: resources\.\*\.sensitive_attributes"):
        return False
    sides = [json.loads(each.split(maxsplit=1)[1]) for each in sides_of(difference)]
    pairs = zip(sides[::2], sides[1::2], strict=True)
    return all(each in ours for theirs, ours in pairs for each in theirs)


def leaves_validations_open(step: Step, command: list[str], difference: Difference) -> bool:
    """Whether our results of conditions are those of the real program, but for those of variables,
    which it has where something that is destroyed needs the variable.
    """
    if not destroys(step, command) or not like(
        difference, "plan: checks$", "state: check_results$"
    ):
        return False
    theirs, ours = (json.loads(each.split(maxsplit=1)[1]) for each in sides_of(difference))
    objects = "instances" if like(difference, "plan") else "objects"
    left = [
        {**each, "status": "unknown", objects: []} if "var." in json.dumps(each) else each
        for each in theirs
    ]
    return bool(ours == left)


def reads_what_providers_need(step: Step, command: list[str], difference: Difference) -> bool:
    """Whether only data was not read with which no provider is configured that destroys anything."""
    found = re.findall(r'"addr": "(?:module\.[^"]*\.)?(data\.\w+\.\w+)', difference.text)
    blocks = re.findall(r"(?ms)^provider .*?^}$", step.files["main.tf"])
    providers = step.before.providers(step.ended)
    used = [
        each
        for each in blocks
        if (alias := re.search(r'alias *= "(\w+)"', each)) is None
        or any(f"].{alias[1]}" in provider for provider in providers)
    ]
    is_reading = like(difference, "events: missing apply_(start|complete) read$")
    return destroys(step, command) and is_reading and not any(e in "".join(used) for e in found)


def looks_at_what_providers_need(step: Step, command: list[str], difference: Difference) -> bool:
    return destroys(step, command) and like(difference, "reads: missing look / - more")


def reads_what_it_destroys(step: Step, command: list[str], difference: Difference) -> bool:
    """Whether a destroy of a part has read what it destroys, and left the rest as it was."""
    if not destroys(step, command) or not is_part(step):
        return False
    ended = {unquoted(each) for each in step.ended}
    if like(difference, "events: missing refresh"):
        return not instances(difference) & (ended | gone(step) & _chosen(step))
    if like(difference, "events: more refresh"):
        return instances(difference) <= ended | gone(step)
    if like(difference, "reads: missing (read|-) / (read|-) more"):
        places = moved(step)
        calls = [*called(difference)]
        going = {without_keys(each) for each in ended}
        going |= {places[each] for each in going if each in places}
        return all(
            without_keys(name) in going or name in gone(step)
            if word == "more"
            else name not in ended
            for word, name in calls
        )
    if like(difference, r"state: resources\.\*$"):
        return _is_all_gone(step, difference) or (
            _is_data(difference) and is_as_before(step, difference)
        )
    is_value = like(
        difference,
        r"state: resources\.\*\.(attributes|sensitive_attributes|dependencies|provider|create_before)",
    )
    return is_value and is_as_before(step, difference)


def _chosen(step: Step) -> set[str]:
    """The instances that a destroy of a part is to destroy, by the dependencies in the state."""
    stored = {
        unquoted(address): each.get("dependencies") for address, each in step.before.instances()
    }
    targets, excluded = singled_out(step, "-target"), singled_out(step, "-exclude")

    def is_named(address: str, names: list[str]) -> bool:
        return any(address.startswith(name) for name in names)

    if targets:
        named = {without_keys(each) for each in stored if is_named(each, targets)}
        return {
            each
            for each, needs in stored.items()
            if is_named(each, targets) or (isinstance(needs, list) and named & set(needs))
        }
    kept = {
        name
        for each, needs in stored.items()
        if is_named(each, excluded) and isinstance(needs, list)
        for name in needs
    }
    return {e for e in stored if not is_named(e, excluded) and without_keys(e) not in kept}


def keeps_data(step: Step, command: list[str], difference: Difference) -> bool:
    """Whether data is in our state as before where something could not be destroyed: OpenTofu has
    lost what that needs, or has stored what nothing needs.
    """
    is_kept = like(difference, r"state: resources\.\*$") and _is_data(difference)
    has_failed = bool(step.failed) and destroys(step, command)
    return has_failed and is_kept and is_as_before(step, difference)


def goes_by_where_things_are(step: Step, command: list[str], difference: Difference) -> bool:
    """Whether a destroy of a part has kept what has moved and something depended on, or destroyed
    what depended on it: OpenTofu takes it for something else.
    """
    if not destroys(step, command) or not is_part(step):
        return False
    if like(
        difference,
        "calls: missing (delete / -|- / delete) more$",
        "events: (missing|more) (refresh_|(planned_change|apply_start|apply_complete) delete$)",
        r"plan: resource_changes\.\*$",
        r"state: resources\.\*$",
    ):
        found = subjects(difference)
    else:
        return False
    needed = step.before.dependencies()
    places = {new: old for new, old in moved(step).items() if old in needed}
    users = {without_keys(each) for each in step.before.dependents(set(places.values()))}
    return bool(found) and found <= {*places, *places.values(), *users}


def deletes_what_is_gone(step: Step, command: list[str], difference: Difference) -> bool:
    """OpenTofu also asks for the end of objects that it has not read, and that are gone."""
    if not destroys(step, command) or not is_part(step):
        return False
    if like(difference, "calls: missing delete / - more"):
        return instances(difference) <= gone(step)
    is_ending = like(
        difference, "events: missing (planned_change|apply_start|apply_complete) delete"
    )
    return is_ending and instances(difference) <= gone(step)


def protects_what_is_gone(step: Step, command: list[str], difference: Difference) -> bool:
    """OpenTofu refuses to destroy objects that it has not read, and that are gone."""
    found = re.findall(r"Resource instance (\S+) has prevent_destroy set", difference.text)
    is_refusal = like(
        difference,
        "exit code 1 / 0: Resource instance cannot be destroyed$",
        "diagnostics: -error Resource instance cannot be destroyed$",
    )
    is_gone = bool(found) and {unquoted(each) for each in found} <= gone(step)
    return destroys(step, command) and is_part(step) and is_refusal and is_gone


def knows_what_is_not_there(step: Step, command: list[str], difference: Difference) -> bool:
    """Whether only protections are not known to the real program that need resources without
    instances, of which it knows nothing while it plans a destroy.
    """
    found = re.findall(r"Resource instance (\S+) has a prevent_destroy argument", difference.text)
    is_unknown = like(
        difference,
        "exit code 1 / 0: Invalid value for prevent_destroy$",
        "diagnostics: -error Invalid value for prevent_destroy$",
    )
    is_needed = bool(found) and all(_is_passed_what_is_absent(each, step) for each in found)
    return destroys(step, command) and is_unknown and is_needed


def _is_passed_what_is_absent(address: str, step: Step) -> bool:
    """Whether a call on the way to an instance is passed something that has no instances."""
    stored = {without_keys(each) for each in step.before.addresses()}
    prefix, text = "", step.files["main.tf"]
    for name in re.findall(r"module\.(\w+)", address):
        passed = re.search(rf'module "{name}" {{.*?^  v = ([^\n]*)', text, re.DOTALL | re.MULTILINE)
        names = re.findall(r"\b(?:world_thing|terraform_data)\.\w+", passed[1] if passed else "")
        if any(f"{prefix}{each}" not in stored for each in names):
            return True
        prefix, text = f"{prefix}module.{name}.", called_text(name, text, step.files)
    return False


def destroys_with_excluded(step: Step, command: list[str], difference: Difference) -> bool:
    """Whether objects were destroyed, as both planned, whose provider is configured from something
    that is excluded: OpenTofu leaves those out when it applies the plan.
    """
    excluded = {without_keys(each) for each in singled_out(step, "-exclude")}
    if command[0] != "apply" or not destroys(step, command):
        return False
    places = moved(step)
    if like(
        difference,
        "calls: missing - / delete more$",
        "events: more apply_(start|complete) delete$",
        r"state: resources\.\*$",
    ):
        found = {places.get(each, each) for each in subjects(difference)}
        if any(side != f'ours   "{ABSENT}"' for side in sides_of(difference)[1::2]):
            return False
    else:
        return False
    # What has moved has the provider that its new module was given.
    passed = {old: _passed(new, step) for new, old in places.items() if old in found}
    stored = {each for each in step.before.addresses() if without_keys(each) in found - set(passed)}
    providers = step.before.providers(stored).union(*passed.values())
    return bool(providers) and all(_is_configured_from(each, excluded, step) for each in providers)


def _passed(address: str, step: Step) -> set[str]:
    """The provider configurations that a call of the root module passes, as a state writes them."""
    call = re.match(r"module\.(\w+)\.", address)
    if call is None:
        return {""}
    blocks = re.findall(rf'(?ms)^module "{call[1]}" {{.*?^}}$', step.files["main.tf"])
    return {f"].{alias}" for each in blocks for alias in re.findall(r" = world\.(\w+)", each)}


def _is_configured_from(provider: str, names: set[str], step: Step) -> bool:
    """Whether a provider configuration refers to one of these resources of the root module."""
    alias = re.search(r"\]\.(\w+)", provider)
    blocks = re.findall(r"(?ms)^provider .*?^}$", step.files["main.tf"])
    used = [each for each in blocks if alias and f'"{alias[1]}"' in each]
    return any(name in each for name in names for each in used)


def _is_all_gone(step: Step, difference: Difference) -> bool:
    """Whether all that only our state has are objects that no longer exist."""
    is_more = all(each == f'theirs "{ABSENT}"' for each in sides_of(difference)[::2])
    return is_more and _is_about_what_is_gone(step, difference)


def _is_about_what_is_gone(step: Step, difference: Difference) -> bool:
    """Whether it is about objects that no longer exist, and resources that have no others left."""
    left = {unquoted(each) for each in step.before.addresses()} - gone(step)
    return all(
        each not in left and not any(other.startswith(f"{each}[") for other in left - step.ended)
        for each in instances(difference)
    )


def _is_data(difference: Difference) -> bool:
    """Whether all that a state has and the other has not was only read."""
    paths = re.findall(r"^resources (.*)$", difference.text, re.MULTILINE)
    return bool(paths) and all(re.match(r"(module\.\S*)?\.?data\.", each) for each in paths)


def reads_all_it_destroys(step: Step, command: list[str], difference: Difference) -> bool:
    """What depends on something excluded is destroyed as it is now, not as it was."""
    if not destroys(step, command) or not is_part(step):
        return False
    if like(difference, r"plan: resource_changes\.\*$", "events: missing planned_change delete"):
        return instances(difference) <= gone(step)
    is_changed = like(difference, r"plan: resource_changes\.\*\.change\.before\.")
    is_ended = instances(difference) <= {unquoted(each) for each in step.ended}
    return is_changed and is_ended and is_in_world(step, difference)


def leaves_what_it_read(step: Step, command: list[str], difference: Difference) -> bool:
    """Whether what could not be destroyed is in our state as it is now, and not as it was."""
    is_left = destroys(step, command) and is_part(step)
    is_value = like(difference, r"state: resources\.\*\.attributes\.")
    return is_left and is_value and instances(difference) <= set(map(unquoted, step.failed))


def notices_what_is_gone(step: Step, command: list[str], difference: Difference) -> bool:
    """Whether only objects are not in our state any more that no longer exist: the real program has
    not read them, and has left them out.
    """
    if not destroys(step, command) or not is_part(step):
        return False
    if not like(difference, r"state: resources\.\*$"):
        return False
    is_less = all(each == f'ours   "{ABSENT}"' for each in sides_of(difference)[1::2])
    return is_less and _is_about_what_is_gone(step, difference)


def fails_to_read(step: Step, command: list[str], difference: Difference) -> bool:
    """Whether a destroy of a part fails only because what it takes along cannot be read."""
    failures = re.findall(r"^(\w+) of (\S+)\.$", difference.text, re.MULTILINE)
    is_failure = like(
        difference, r"(exit code 0 / 1:|diagnostics: \+error) (Told to fail|Half done)$"
    )
    going = {object_name(each) for each in _chosen(step)}
    is_read = bool(failures) and all(word == "read" and name in going for word, name in failures)
    return destroys(step, command) and is_part(step) and is_failure and is_read


def takes_all_instances(step: Step, command: list[str], difference: Difference) -> bool:
    """Whether all of it is about instances that need nothing as they were stored, of resources whose
    other instances need a target.
    """
    is_more = like(
        difference,
        "events: more (planned_change|apply_start|apply_complete) delete$",
        r"(plan: resource_changes|state: resources)\.\*$",
    )
    needs = {
        unquoted(address): each.get("dependencies") for address, each in step.before.instances()
    }
    needing = {without_keys(address) for address, found in needs.items() if found}
    return (
        destroys(step, command)
        and is_part(step)
        and is_more
        and all(
            not needs.get(each) and without_keys(each) in needing for each in instances(difference)
        )
    )


def protects_what_is_not_read(step: Step, command: list[str], difference: Difference) -> bool:
    theirs, _, _ = difference.text.partition("--- ours")
    is_unread = re.search(r"^(read|look|open) of", theirs, re.MULTILINE) is not None
    is_more = difference.kind == "diagnostics: +error Destroying is prevented"
    is_protected = all(
        "prevent_destroy" in declaration(each, step.files) for each in subjects(difference)
    )
    return destroys(step, command) and is_unread and is_more and is_protected
