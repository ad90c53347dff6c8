"""Which differences are meant, but for those of a destroy, of forgetting and of plans of a part."""

from __future__ import annotations

import json
import re
from typing import Final

from fuzz.story.comparing import BEYOND, PROTECTION
from fuzz.story.difference import ABSENT, Difference
from fuzz.story.events import UNENDED
from fuzz.story.judging import (
    Complaint,
    are_apart,
    block_at,
    called_text,
    calls,
    complaints,
    declaration,
    dependents,
    destroys,
    gone,
    instances,
    is_as_before,
    is_declared_there,
    like,
    moved,
    name_of,
    printed,
    sides_of,
    singled_out,
    subjects,
    unquoted,
    without_keys,
)
from fuzz.story.owners import object_name
from fuzz.story.telling import PLAN, Step
from tests.real.alike import Tree

_CALL: Final = r'(?m)^module "(\w+)" {'


def falls_back(step: Step, _: list[str], difference: Difference) -> bool:
    """Whether the real program does not find the provider of instances that are no longer declared,
    as it looks for another one than the state has.
    """
    failure = "Unable to use fallback provider from state|Provider instance not present"
    if not like(difference, f"(exit code 1 / 0: |diagnostics: -error )({failure})"):
        return False
    wanted = re.findall(
        r"To work with (\S+) its original provider instance at (\S+) is required", difference.text
    )
    kept = re.findall(r"provider from state (\S+) for resource (\S+)", difference.text)
    is_other = all(provider not in step.before.providers({at}) for at, provider in wanted)
    is_stored = all(
        any(each.startswith(provider) for each in step.before.providers({at}))
        for provider, at in kept
    )
    return bool(wanted or kept) and is_other and is_stored


def reads_in_own_instance(step: Step, _: list[str], difference: Difference) -> bool:
    """Whether data in instances of a module was read while planning, not while applying: our plan
    has not left it.
    """
    if like(difference, "reads: missing (- / look|look / -) more"):
        return True
    addresses = re.findall(r'"(?:addr|address)": "((?:[^"\\]|\\.)*)"', difference.text)
    if not addresses or not all(re.match(r"module\..*\].*\.data\.", each) for each in addresses):
        return False
    if like(difference, "events: (more|missing) apply_(start|complete) read$"):
        return True
    if {f"read {unquoted(each)}" for each in addresses} & set(map(unquoted, step.ours)):
        return False
    pending = "read_because_dependency_pending"
    lines = [line for line in difference.text.splitlines() if '"addr' in line]
    is_left = all(pending in line for line in lines)
    return is_left and like(
        difference, "events: missing planned_change read$", r"plan: resource_changes\.\*$"
    )


def opens_in_own_instance(_: Step, command: list[str], difference: Difference) -> bool:
    """Whether ephemeral resources in instances of a module were opened while planning."""
    is_more = like(difference, "events: more ephemeral_action_(started|complete)$")
    found = instances(difference)
    is_inside = all(re.match(r"module\..*\].*\.ephemeral\.", each) for each in found)
    return command[0] == "plan" and is_more and bool(found) and is_inside


def knows_in_own_instance(_: Step, __: list[str], difference: Difference) -> bool:
    """Whether only more is known in instances of modules, because their data was read."""
    is_more = like(
        difference,
        "events: planned_change.change.reason$",
        "events: missing planned_change update$",
        r"plan: resource_changes\.\*\.(action_reason|change\.(actions|after|after_unknown))",
    )
    if like(difference, "plan: checks$"):
        theirs, ours = sides_of(difference)
        return theirs.count('"unknown"') > ours.count('"unknown"')
    found = instances(difference)
    return is_more and bool(found) and all(re.match(r"module\.\S*\]", each) for each in found)


def had_read_in_own_instance(step: Step, command: list[str], difference: Difference) -> bool:
    """Whether data in instances of a module need not be read while a plan is applied that has it."""
    data = re.findall(
        r'"addr": "((?:[^"\\]|\\.)*)"|^resources (\S+)', difference.text, re.MULTILINE
    )
    is_known = like(
        difference, "events: missing apply_(start|complete) read$", r"state: resources\.\*$"
    )
    is_data = all(re.match(r"module\..*\].*\.data\.", addr or path) for addr, path in data)
    # Ours was read while planning: OpenTofu's plan has left it, and ours has not.
    left = {unquoted(each.removeprefix("read ")) for each in step.planned - step.ours}
    is_left = like(difference, "state") or instances(difference) <= left
    return PLAN in command and is_known and bool(data) and is_data and is_left


def goes_on_elsewhere(step: Step, _: list[str], difference: Difference) -> bool:
    """Whether more was done in instances of a module in others of which something failed: it was
    planned by both.
    """
    is_more = like(
        difference,
        "calls: missing - / [a-z ]+ more$",
        "provisioners: - / ",
        r"diagnostics: \+error ",
        "events: more (apply|provision)_",
        r"state: resources\.\*",
    )
    failed = [*map(unquoted, step.failed)]
    planned = {unquoted(each.partition(" ")[2]) for each in step.planned}
    found = instances(difference)
    return is_more and all(
        each in planned and any(are_apart(each, other) for other in failed) for each in found
    )


def keeps_marks_of_failed(step: Step, _: list[str], difference: Difference) -> bool:
    """Whether objects of which only a part was made are forgotten in the end, as configured."""
    is_kept = set(sides_of(difference)) == {'theirs "<absent>"', "ours   true"}
    has_failed = any(each.startswith("half create ") for each in step.failures)
    return like(difference, r"state: resources\.\*\.skip_destroy$") and is_kept and has_failed


def waits_for_dependents(step: Step, command: list[str], difference: Difference) -> bool:
    """Whether only objects were left as they are that have moved, and on which something depended
    that could not be destroyed; or that need those, or are needed by them.
    """
    may_fail = any(each.startswith("delete ") for each in step.failures) or any(
        re.search(r"when = destroy\n.*; exit 1", text) for text in step.files.values()
    )
    if command[0] not in ("apply", "destroy") or not may_fail or not step.failed:
        return False
    places = moved(step)
    waiting = [new for new, old in places.items() if old in step.before.dependencies()]
    if like(
        difference,
        "calls: missing [a-z ]+ / - more$",
        r"events: missing apply_(start|complete|errored) (create|update|delete)$",
        r"state: resources\.\*",
    ):
        found = {places.get(each, each) for each in subjects(difference)}
    else:
        return False
    known = {places[each] for each in waiting}
    return bool(found) and all(
        each in known or any(_is_related(each, other, step.files) for other in waiting)
        for each in found
    )


def _is_related(address: str, other: str, files: dict[str, str]) -> bool:
    """Whether one of two resources of a module refers to the other."""
    module, name = _parts(address)
    same, other_name = _parts(other)
    refers = name in declaration(other, files) or other_name in declaration(address, files)
    return module == same and refers


def _parts(address: str) -> tuple[str, str]:
    """The module of a resource, and its name there."""
    *module, kind, name = address.split(".")
    return ".".join(module), f"{kind}.{name}"


def edits_with_mistakes(step: Step, command: list[str], difference: Difference) -> bool:
    """Whether a state was edited although `validate` of OpenTofu refuses the configuration."""
    found = printed(difference) if like(difference, "exit code 1 / 0: ") else []
    is_edit = command[0] in ("state", "taint", "untaint")
    return is_edit and bool(found) and step.invalid.issuperset(found)


def goes_beyond(step: Step, _: list[str], difference: Difference) -> bool:
    """Whether the errors are true that the real program has not come to: what the provider says was
    to fail, and the rest points into the block that it is about.
    """
    failing = {each.rpartition(" ")[2] for each in step.failures}
    found = complaints(difference, "more")
    kind = r"diagnostics: \+error (Wrong value type|Condition that never changes)$"
    is_beyond = like(difference, BEYOND, kind) and bool(found)
    return is_beyond and all(
        object_name(each.address) in failing
        or is_declared_there(each, step.files)
        or _is_wrong_by_itself(each, step.files)
        for each in found
    )


def _is_wrong_by_itself(found: Complaint, files: dict[str, str]) -> bool:
    """Whether an error points at a map that is no map, or at a condition of nothing but texts."""
    lines = files.get(found.file, "").splitlines()[found.line - 1 : found.line]
    wrong = r'\s*(tags = (?!{)|condition += \("\w+"\) != "\w+"$)'
    return any(re.match(wrong, line) for line in lines)


def depends_on_mistake(step: Step, _: list[str], difference: Difference) -> bool:
    """Whether only blocks are complained about that need those which the real program refuses."""
    found = re.findall(r"^(more|reported) error (\S+):(\d+) with", difference.text, re.MULTILINE)
    more, reported = (
        {
            (file, name_of(block_at(step.files.get(file, ""), int(line))))
            for word, file, line in found
            if word == kind
        }
        for kind in ("more", "reported")
    )
    # That something must not be destroyed is compared without its place.
    for address in re.findall(r"Resource instance (\S+) has prevent_destroy set", difference.text):
        kind, name = without_keys(address).split(".")[-2:]
        reported |= {
            (file, f"{kind}.{name}")
            for file, text in step.files.items()
            if f'"{kind}" "{name}" {{' in text
        }
    wrong = {file.partition("/")[0] for file, _ in reported}
    for file, text in [*step.files.items()] * 2:  # no module is called by more than two others
        if calls(text, wrong):
            wrong.add(file.partition("/")[0])
    needing = {
        (file, name)
        for file, text in step.files.items()
        for name in dependents(
            text, {name for where, name in reported if where == file and name} | calls(text, wrong)
        )
    } - reported
    return difference.kind.startswith("diagnostics: +error") and bool(more) and more <= needing


def finds_more_than_what_is_unread(step: Step, __: list[str], difference: Difference) -> bool:
    """Whether only instances have more mistakes that the real program could not read."""
    theirs = difference.text.partition("--- ours")[0]
    found = re.findall(r"^(more|reported) error \S+ with (\S+): (.*)$", theirs, re.MULTILINE)
    more = {name for word, name, _ in found if word == "more"}
    is_about = all(is_declared_there(each, step.files) for each in complaints(difference, "more"))
    unread = {name for word, name, text in found if (word, text) == ("reported", "Told to fail")}
    is_reading = re.search(r"^read of ", theirs, re.MULTILINE) is not None
    is_more = difference.kind.startswith("diagnostics: +error")
    return is_more and is_reading and is_about and bool(more) and more <= unread


def finds_more_than_imports(_: Step, __: list[str], difference: Difference) -> bool:
    """Whether the real program has only said that imports name instances that are not declared."""
    found = re.findall(r"^reported (.*)$", difference.text, re.MULTILINE)
    undeclared = "error nowhere with nothing: Configuration for import target does not exist"
    return difference.kind.startswith("diagnostics: +error") and set(found) == {undeclared}


def reads_beyond(_: Step, __: list[str], difference: Difference) -> bool:
    """Whether only reading was tried, and in vain, of what needs something that went wrong."""
    calls = difference.text.splitlines()
    is_more = difference.kind == "calls: missing - / fail more"
    return is_more and all(call.startswith('more ["fail", "read", ') for call in calls)


def is_protection(_: Step, command: list[str], difference: Difference) -> bool:
    """Whether a refresh, which destroys nothing, is refused only to protect objects."""
    found = complaints(difference, "reported")
    is_refresh = command[0] == "refresh" and bool(found)
    return is_refresh and all(each.summary in PROTECTION for each in found)


def protects_each(step: Step, _: list[str], difference: Difference) -> bool:
    """Whether all instances are named that must not be destroyed, and not just the one at which the
    real program stops, without a look at other instances of the resource and at what they need.
    """
    more, theirs = (complaints(difference, word) for word in ("more", "reported"))
    known = {without_keys(each.address) for each in theirs if each.summary in PROTECTION}
    for address, instance in step.before.instances():
        if without_keys(unquoted(address)) in known:
            # What the state lists is all that it needs, at whatever distance.
            needed = instance.get("dependencies")
            known |= {str(each) for each in needed} if isinstance(needed, list) else set()
    stored = set(map(unquoted, step.before.addresses()))
    is_more = like(difference, r"diagnostics: \+error ") and bool(more)
    return is_more and all(
        each.summary in PROTECTION
        and each.address in stored
        and without_keys(each.address) in known
        for each in more
    )


def knows_removed_instances(step: Step, command: list[str], difference: Difference) -> bool:
    """Whether only protections are not known to the real program that come from the arguments of
    calls, of objects in instances of modules that are no longer declared.
    """
    found = re.findall(r"Resource instance (\S+) has a prevent_destroy argument", difference.text)
    is_unknown = like(
        difference,
        "exit code 1 / 0: Invalid value for prevent_destroy$",
        "diagnostics: -error Invalid value for prevent_destroy$",
    )
    ending = {*map(unquoted, step.ended), *singled_out(step, "-exclude")}
    return (
        is_unknown
        and bool(found)
        and all(
            each.startswith("module.")
            and unquoted(each) in ending
            and "prevent_destroy = var." in declaration(without_keys(each), step.files)
            for each in found
        )
    )


def opens_what_is_used(step: Step, command: list[str], difference: Difference) -> bool:
    """Whether ephemeral resources are not opened that no change uses, while data of checks is read
    or nothing changes but the state, and objects in other instances of their modules.
    """
    is_less = like(difference, "events: missing ephemeral_action_(started|complete)$")
    has_data = any(
        re.search(r'(?m)^check "\w+" {\n  data ', text) is not None for text in step.files.values()
    )
    found = instances(difference)
    changed = set() if _refreshes_only(step) else {unquoted(each) for each in _made(step.ours)}
    is_idle = all(are_apart(each, other) for each in found for other in changed)
    may_differ = (has_data or is_idle) and not destroys(step, command)
    is_used = any(
        ".".join(each.split(".")[-3:]) in declaration(without_keys(other), step.files)
        for each in found
        for other in changed
        if not are_apart(each, other)
    )
    return command[0] == "apply" and is_less and may_differ and not is_used


def _made(planned: set[str]) -> set[str]:
    """The instances that a plan makes something of; what only moves or goes is not evaluated."""
    actions = ("create ", "update ", "read ")
    return {each.partition(" ")[2] for each in planned if each.startswith(actions)}


def inherits(step: Step, _: list[str], difference: Difference) -> bool:
    """Whether objects only have the mark that they had; what has moved had it elsewhere."""
    is_lost = set(sides_of(difference)) == {'theirs "<absent>"', "ours   true"}
    places = moved(step)
    had = {
        without_keys(unquoted(address))
        for address, each in step.before.instances()
        if each.get("create_before_destroy")
    }
    is_mark = like(difference, r"state: resources\.\*\.create_before_destroy")
    return is_lost and is_mark and {places.get(e, e) for e in subjects(difference)} <= had


def inherits_from_first(step: Step, _: list[str], difference: Difference) -> bool:
    """Whether objects are marked because something that is created first depends on them: another
    resource of a module, or a module that has such a resource.
    """
    is_lost = set(sides_of(difference)) == {'theirs "<absent>"', "ours   true"}
    if not is_lost or not like(difference, r"state: resources\.\*\.create_before_destroy"):
        return False
    first = {
        name_of(block.strip())
        for text in step.files.values()
        for block in re.split(r"(?m)^}$", text)
        if "create_before_destroy = true" in block
    }
    first |= {
        call
        for text in step.files.values()
        for call in re.findall(_CALL, text)
        if _creates_first(called_text(call, text, step.files), step.files)
    }
    needing = [_dependents_anywhere(name, step.files) for name in subjects(difference)]
    return bool(needing) and all(found & first for found in needing)


def _dependents_anywhere(address: str, files: dict[str, str]) -> set[str]:
    """The names of blocks that need a resource, also through outputs of the modules that it is in, or
    that need the whole of one of their calls.
    """

    def needing(names: set[str]) -> set[str]:
        return set().union(*(dependents(text, names) for text in files.values()))

    found = needing({_parts(address)[1]})
    for call in reversed(re.findall(r"module\.(\w+)\.", address)):
        found |= needing({f"module.{call}.{each}" for each in found if "." not in each})
        whole = re.compile(rf"module\.{call}(?![\w.\[])")
        for text in files.values():
            blocks = [each for each in re.split(r"(?m)^}$", text) if whole.search(each)]
            found |= dependents(text, {name_of(each.strip()) for each in blocks} - {""})
    return found


def _creates_first(text: str, files: dict[str, str]) -> bool:
    """Whether a module, or one that it calls, has a resource that is created first."""
    return "create_before_destroy = true" in text or any(
        _creates_first(called_text(call, text, files), files) for call in re.findall(_CALL, text)
    )


def outlives_what_went(step: Step, _: list[str], difference: Difference) -> bool:
    """Whether objects are not marked that depended on others which were created first, and which this
    apply destroys: OpenTofu marks them, too.
    """
    is_lost = set(sides_of(difference)) == {"theirs true", 'ours   "<absent>"'}
    if not is_lost or not like(difference, r"state: resources\.\*\.create_before_destroy"):
        return False
    stored = list(step.before.instances())
    went = {
        without_keys(address)
        for address, each in stored
        if each.get("create_before_destroy") and address in step.ended
    }
    needing = {
        unquoted(address)
        for address, each in stored
        if isinstance(needs := each.get("dependencies"), list) and went & set(needs)
    }
    return instances(difference) <= needing


def depends_on_own_module(_: Step, __: list[str], difference: Difference) -> bool:
    """Whether only resources of the same module are missing in the real program's `dependencies`, of
    objects in one of its instances: it loses them where they change in other instances only.
    """
    modules = re.findall(r"^resources (module\.\S*\])\.managed\.", difference.text, re.MULTILINE)
    pairs = _dependencies(difference)
    return len(modules) == len(pairs) > 0 and all(
        set(theirs) < set(ours)
        and all(name.startswith(f"{without_keys(module)}.") for name in set(ours) - set(theirs))
        for module, (theirs, ours) in zip(modules, pairs, strict=True)
    )


def _dependencies(difference: Difference) -> list[tuple[list[str], list[str]]]:
    """The dependencies that both programs have stored, if the difference is about those."""
    if not like(difference, r"state: resources\.\*\.dependencies"):
        return []
    lists = [json.loads(each.split(maxsplit=1)[1]) for each in sides_of(difference)]
    lists = [[] if each == "<absent>" else each for each in lists]
    return list(zip(lists[::2], lists[1::2], strict=True))


def depends_on_what_went(step: Step, command: list[str], difference: Difference) -> bool:
    """Whether only resources that this apply destroys are not among the dependencies, and data that
    are not declared any more.
    """
    pairs = _dependencies(difference)
    if not pairs:
        return False
    extra = {name for theirs, ours in pairs for name in theirs if name not in ours}
    ended = {without_keys(unquoted(each)) for each in step.ended}
    return (
        command[0] != "plan"
        and {name for name in extra if ".data." not in name} <= ended
        and all(set(ours) < set(theirs) for theirs, ours in pairs)
        and all(name.startswith("module.") and not declaration(name, step.files) for name in extra)
    )


def keeps_outputs(step: Step, command: list[str], difference: Difference) -> bool:
    """Whether the state has only outputs as before which the real program has lost; events report
    what the state has, by an invariant.
    """
    if not _refreshes_only(step) or command[0] == "plan":
        return False
    return like(difference, r"events: outputs\.outputs") or (
        like(difference, r"state: outputs\.") and is_as_before(step, difference)
    )


def counts_as_stored(step: Step, _: list[str], difference: Difference) -> bool:
    """Whether only outputs differ that come from objects which a refresh finds to be gone: those that
    are no longer declared are read too late to matter.
    """
    is_output = like(
        difference, r"plan: output_changes\.\*\.after", r"state: outputs\.", "events: outputs"
    )
    if not is_output or not _refreshes_only(step):
        return False
    places = {old: new for new, old in moved(step).items()}
    lost = {places.get(each, each) for each in map(without_keys, gone(step))}
    names = re.findall(r"^(?:output_changes|outputs) (\w+)", difference.text, re.MULTILINE)
    blocks = [
        re.search(rf'(?ms)^output "{name}" {{.*?^}}$', step.files["main.tf"]) for name in names
    ]
    return bool(names) and all(
        block is not None and any(_parts(each)[1] in block[0] for each in lost) for block in blocks
    )


def keeps_providers(step: Step, _: list[str], difference: Difference) -> bool:
    """Whether objects that have moved to where nothing is declared have the provider that they had:
    OpenTofu names the one of their new place when it refreshes them, or cannot destroy them.
    """
    places, found = moved(step), subjects(difference)
    is_left = _refreshes_only(step) or found <= {without_keys(each) for each in step.failed}
    if not is_left or not like(difference, r"state: resources\.\*\.provider$"):
        return False
    stored = {
        address
        for address in step.before.addresses()
        if without_keys(address) in {places.get(each, "") for each in found}
    }
    ours = {json.loads(each.removeprefix("ours   ")) for each in sides_of(difference)[1::2]}
    return bool(stored) and ours <= step.before.providers(stored)


def _refreshes_only(step: Step) -> bool:
    return any("-refresh-only" in each for each in step.commands)


def leaves_conditions_open(step: Step, _: list[str], difference: Difference) -> bool:
    """Whether conditions need an object that is not there, while a refresh alone is planned."""
    mistake = "Attempt to get attribute from null value"
    if not _refreshes_only(step) or not like(
        difference, f"exit code 1 / 0: {mistake}$", f"diagnostics: -error {mistake}$"
    ):
        return False
    found = re.findall(r"^reported error (\S+):(\d+) with", difference.text, re.MULTILINE)
    blocks = [block_at(step.files[file], int(line)) for file, line in found]
    lines = [step.files[file].splitlines()[int(line) - 1] for file, line in found]
    has_self = all("(self." in each for each in lines)
    return bool(found) and has_self and all("enabled = " in each for each in blocks)


def may_fail(step: Step, __: list[str], difference: Difference) -> bool:
    """Whether the warnings are about resources that have provisioners whose failure may be ignored."""
    kind = "diagnostics: +warning Provisioner local-exec failed"
    return difference.kind == kind and all(
        "on_failure = continue" in declaration(each, step.files) for each in subjects(difference)
    )


def reports_failed_end(step: Step, _: list[str], difference: Difference) -> bool:
    may_fail = any(each.startswith("delete ") for each in step.failures)
    is_end = difference.kind == f"events: more apply_errored delete {UNENDED}"
    return may_fail and is_end


def triggers_nothing(step: Step, __: list[str], difference: Difference) -> bool:
    """Whether the real program has only not found what is no managed object: data, resources without
    instances, or those that have several.
    """
    found = {
        without_keys(each) for each in re.findall(r"no change found for (\S+)", difference.text)
    }
    changed = {unquoted(each.partition(" ")[2]) for each in step.ours}
    is_stop = like(difference, "(exit code 1 / 0: |diagnostics: -error )no change found for ")
    return is_stop and bool(found) and not found & changed


def goes_on_without_triggers(step: Step, command: list[str], difference: Difference) -> bool:
    """Whether what we have planned was done, too: the real program stops there."""
    is_more = like(
        difference, "events: more ", "state: ", "(calls|reads): missing - / ", "provisioners: - / "
    )
    planned = {unquoted(each.partition(" ")[2]) for each in step.ours}
    found = instances(difference)
    return command[0] != "plan" and is_more and bool(found) and found <= planned


def points_into_block(_: Step, __: list[str], difference: Difference) -> bool:
    """Whether only the place differs of an ephemeral value in a block beside a `dynamic` one."""
    kind = "diagnostics: -error Ephemeral value used in non-ephemeral context"
    found = re.findall(
        r"^(missing|more) error (\S+):\d+ with (\S+): ", difference.text, re.MULTILINE
    )
    missing, more = (
        {(file, name) for word, file, name in found if word == which}
        for which in ("missing", "more")
    )
    is_inside = re.search(r'^Attribute "\.\w+\[\d+\]\.', difference.text, re.MULTILINE) is not None
    return difference.kind == kind and is_inside and missing == more


def is_circle(step: Step, _: list[str], difference: Difference) -> bool:
    """Whether only operations cannot be ordered, and nothing in a valid configuration: that each
    operation of ours waits for what it needs is an invariant.
    """
    found = complaints(difference, "reported" if like(difference, "exit code 1 / 0") else "missing")
    is_failure = like(difference, "exit code 1 / 0", "diagnostics: -error") and bool(found)
    is_valid = not step.invalid
    return is_failure and is_valid and all(each.summary.startswith("Cycle: ") for each in found)


def is_told_once(step: Step, __: list[str], difference: Difference) -> bool:
    """Whether checks are only said to have no assertion that have one, which is wrong."""
    found = complaints(difference, "missing")
    is_other = difference.kind == "diagnostics: -error Zero assert blocks"
    return is_other and all("assert {" in each.block(step.files) for each in found)


def keeps_marks_in_try(step: Step, _: list[str], difference: Difference) -> bool:
    is_mark = like(difference, r"plan: resource_changes\.\*\.change\.after_sensitive\.")
    sides = [json.loads(each.split(maxsplit=1)[1]) for each in sides_of(difference)]
    pairs = zip(sides[::2], sides[1::2], strict=True)
    has_try = "try(" in "".join(step.files.values())
    return is_mark and has_try and all(_marks_more(ours, theirs) for theirs, ours in pairs)


def _marks_more(ours: Tree, theirs: Tree) -> bool:
    """Whether one side has all marks of the other, and nothing else but marks."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return theirs.keys() <= ours.keys() and all(
            _marks_more(each, theirs.get(name, ABSENT)) for name, each in ours.items()
        )
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(_marks_more, ours, theirs))
    return ours == theirs or (ours is True and theirs == ABSENT)


def refuses_marks_in_try(step: Step, _: list[str], difference: Difference) -> bool:
    names = re.findall(r'The value of output "(\w+)" is sensitive', difference.text)
    outputs = [
        re.search(rf'output "{each}" {{\n  value = (.*)', step.files["main.tf"]) for each in names
    ]
    is_refusal = like(
        difference,
        "exit code 0 / 1: Sensitive value in an output$",
        r"diagnostics: \+error Sensitive value in an output$",
    )
    return is_refusal and bool(names) and all(each and "try(" in each[1] for each in outputs)


def replaces_nothing(step: Step, command: list[str], difference: Difference) -> bool:
    """Whether a plan that replaces nothing says so."""
    names = [
        unquoted(each)
        for word, _, each in (w.partition("=") for w in command)
        if word == "-replace"
    ]
    changed = {unquoted(each.partition(" ")[2]) for each in step.ours if each.startswith("delete ")}
    is_warning = difference.kind == "diagnostics: +warning Nothing to replace"
    return is_warning and any(each not in changed for each in names)


def replaces_exactly(step: Step, command: list[str], difference: Difference) -> bool:
    """Whether the real program only misses the keys of resources that have the name of one to
    replace and are in other modules, while that one is planned.
    """
    warning = "Incompletely-matched force-replace resource instance"
    found = [w.removeprefix("-replace=") for w in command if w.startswith("-replace=")]
    planned = {each.partition(" ")[2] for each in step.ours}
    return difference.kind == f"diagnostics: -warning {warning}" and any(
        each in planned and not each.endswith("]") and _has_namesake(each, step) for each in found
    )


def _has_namesake(address: str, step: Step) -> bool:
    """Whether there are instances with keys of a resource of this name in another module."""
    _, name = _parts(address)
    known = {*step.before.addresses(), *(each.partition(" ")[2] for each in step.ours)}
    found = {each.rpartition("[")[0] for each in known if each.endswith("]")} - {address}
    return any(each.endswith(name) for each in found)


def moves_below_call(step: Step, _: list[str], difference: Difference) -> bool:
    """Whether all of it is about modules called by one whose `count` was added or taken away, and
    of whose own resources the state has none.
    """
    found = [_called_below(line) for line in difference.text.splitlines()]
    if not all(_is_repeated_otherwise(name, step) for names in found for name in names):
        return False
    calls_in_turn = {name for names in found for name in names}
    return any(found) and not any(
        re.match(rf"module\.{name}(\[0\])?\.(?!module\.)", each)
        for name in calls_in_turn
        for each in step.before.addresses()
    )


def _is_repeated_otherwise(name: str, step: Step) -> bool:
    """Whether the state has instances of a call with keys and it has no `count`, or the reverse."""
    block = re.search(rf'(?ms)^module "{name}" {{.*?^}}$', step.files["main.tf"])
    has_count = block is not None and re.search(r"(?m)^  count = ", block[0]) is not None
    begin = f"module.{name}[0]." if not has_count else f"module.{name}."
    put = [command[3] for command in step.commands if command[:2] == ["state", "mv"]]
    return any(f"{each}.".startswith(begin) for each in (*step.before.addresses(), *put))


def _called_below(line: str) -> set[str]:
    """The calls in the root module that a line is about, as far as it is about calls below them."""
    if line.startswith(("missing [", "more [")):
        return set(re.findall(r'"(c\d+)(?:-0)?\.c\d', line))
    about = re.findall(r"module\.(\w+)(?:\[0\])?\.module\.", line)
    is_other = re.search(r"(^|resource_(changes|drift) |\"addr\": \")(?!module\.)\w+\.\w", line)
    return set(about) if is_other is None else {""}
