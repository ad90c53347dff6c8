"""Which differences are meant where `-target` or `-exclude` singles out a part."""

from __future__ import annotations

import json
import re
from typing import Any

from fuzz.story.difference import Difference
from fuzz.story.judging import (
    are_apart,
    declaration,
    destroys,
    instances,
    is_as_before,
    is_part,
    like,
    moved,
    sides_of,
    singled_out,
    subjects,
    unquoted,
    without_keys,
)
from fuzz.story.telling import Step


def leaves_excluded(step: Step, _: list[str], difference: Difference) -> bool:
    """Whether all of it is about instances that are excluded, and that OpenTofu destroys."""
    excluded = singled_out(step, "-exclude")
    found = (
        instances(difference)
        if like(
            difference,
            "reads: missing read / - more",
            "calls: missing delete / - more",
            "events: missing (refresh_|(planned_change|apply_start|apply_complete) delete)",
            r"plan: resource_changes\.\*$",
            r"state: resources\.\*$",
        )
        else set()
    )
    return bool(found) and all(
        any(each.startswith(name) or name.startswith(f"{each}[") for name in excluded)
        for each in found
    )


def applies_what_excluded_needed(step: Step, command: list[str], difference: Difference) -> bool:
    """Whether more was done with what excluded objects needed whose instance of a module is no longer
    declared: OpenTofu plans their end, and then leaves out all that would come after it.
    """
    if command[0] != "apply":
        return False
    if not like(
        difference,
        "calls: missing - / [a-z ]+ more$",
        "provisioners: - / ",
        "events: more (apply|provision)_",
        r"state: resources\.\*",
    ):
        return False
    excluded = singled_out(step, "-exclude")
    needed = {
        name
        for address, each in step.before.instances()
        if any(unquoted(address).startswith(name) for name in excluded)
        and isinstance(names := each.get("dependencies"), list)
        for name in names
    }
    return subjects(difference) <= needed


def leaves_providers(step: Step, _: list[str], difference: Difference) -> bool:
    """OpenTofu changes the provider also of what it leaves out, in other module instances."""
    if not like(difference, r"state: resources\.\*\.provider$") or not is_part(step):
        return False
    if not moved(step) and not is_as_before(step, difference):
        return False
    targets, excluded = singled_out(step, "-target"), singled_out(step, "-exclude")
    found = re.findall(r"^resources (module\S*)\.managed\.", difference.text, re.MULTILINE)
    modules = [unquoted(each) for each in found]
    return bool(modules) and all(
        not any(each.startswith(module) for each in targets)
        and (bool(targets) or any(each.startswith(module) for each in excluded))
        for module in modules
    )


def targets_instance(step: Step, _: list[str], difference: Difference) -> bool:
    """Whether only what the real program itself has planned was done, too; resources that got their
    first instance are listed beside it.
    """
    if not singled_out(step, "-target"):
        return False
    if like(difference, r"state: outputs\."):
        return _are_as_planned(step, difference)
    is_more = like(
        difference,
        "events: more (apply|provision)_",
        "state: resources",
        "(calls|reads): missing - / .* more",
        "provisioners: - / ",
    )
    planned = {unquoted(each.partition(" ")[2]) for each in step.planned}
    planned |= {without_keys(each) for each in planned if each.endswith("]")}
    return is_more and all(_base(each) in planned for each in instances(difference))


def _base(address: str) -> str:
    """The address of an object without what a state says of it when it is deposed."""
    return re.sub(r" deposed( again)*\]$", "]", address).removesuffix("[None]")


def _are_as_planned(step: Step, difference: Difference) -> bool:
    """Whether our outputs have the values that the real program has planned, if those are known."""
    changes = step.shown.get("output_changes") or {}
    assert isinstance(changes, dict)
    for each in difference.text.split("\noutputs "):
        name = each.removeprefix("outputs ").split(maxsplit=1)[0]
        planned = changes.get(name)
        ours = json.loads(each.splitlines()[2].removeprefix("  ours   "))
        value = ours.get("value") if isinstance(ours, dict) else ours
        path = each.splitlines()[0].removeprefix("outputs ").split(" ")[1:]
        if not isinstance(planned, dict) or (
            path in ([], ["value"]) and not planned["after_unknown"] and value != planned["after"]
        ):
            return False
    return True


def shows_other_instances(step: Step, _: list[str], difference: Difference) -> bool:
    """Whether all of it is about objects of resources that are targets, in other instances of their
    modules, which are no longer declared: OpenTofu plans their end and then leaves them out, but for
    what another target has to wait for.
    """
    if like(
        difference,
        "reads: missing read / - more$",
        "calls: missing delete / - more$",
        "events: missing (refresh_|(planned_change|apply_start|apply_complete) delete$)",
        r"plan: resource_changes\.\*$",
        r"state: resources\.\*$",
    ):
        found = instances(difference)
    else:
        return False
    targets = singled_out(step, "-target")
    return all(
        each.startswith("module.")
        and not any(each.startswith(target) for target in targets)
        and any(without_keys(each).startswith(without_keys(target)) for target in targets)
        for each in found
    )


def leaves_other_instances(step: Step, command: list[str], difference: Difference) -> bool:
    """Whether all of it is about objects that need a resource which is a target in another instance
    of their module only: OpenTofu destroys them, too, where the target is deeper or less deep.
    """
    if like(
        difference,
        "(reads|calls): missing (read|delete) / - more$",
        "provisioners: destroy / -$",
        "events: missing (refresh|provision)_(start|complete)$",
        "events: missing (planned_change|apply_start|apply_complete) delete$",
        r"(plan: resource_changes|state: resources)\.\*$",
    ):
        found = instances(difference)
    else:
        return False
    targets = singled_out(step, "-target")
    return destroys(step, command) and all(_is_needed_apart(each, targets, step) for each in found)


def _is_needed_apart(address: str, targets: list[str], step: Step) -> bool:
    """Whether an instance depends on targets that are in other instances of its module only."""
    needed = [
        each
        for each in targets
        if address in map(unquoted, step.before.dependents({without_keys(each)}))
    ]
    return bool(needed) and all(are_apart(address, each) for each in needed)


def targets_data_alone(step: Step, command: list[str], difference: Difference) -> bool:
    """Whether all that is applied besides makes no calls of the provider."""
    return targets_instance(step, command, difference) and all(
        each.split(".")[-2] == "terraform_data" for each in subjects(difference)
    )


def leaves_outputs(step: Step, command: list[str], difference: Difference) -> bool:
    """Whether only outputs are as before that the plan has left out: OpenTofu, which passes over
    unused arguments when it applies a plan, stores some of them, or refuses to.
    """
    if not is_part(step) or command[0] != "apply":
        return False
    refusal = "Output does not allow ephemeral value"
    if like(difference, f"exit code 1 / 0: {refusal}$", f"diagnostics: -error {refusal}$"):
        return True
    return like(difference, r"state: outputs\.\*") and is_as_before(step, difference)


def reports_targeted_outputs(step: Step, command: list[str], difference: Difference) -> bool:
    is_applied = bool(singled_out(step, "-target")) and command[0] == "apply"
    return is_applied and like(difference, r"events: outputs\.outputs\.")


def leaves_checks_open(step: Step, command: list[str], difference: Difference) -> bool:
    """Whether the real program knows less of how checks went, and nothing else: of values that
    nothing uses, or after it has left out what targets need. What its plan knew, we know, too.
    """
    if command[0] != "apply" or not like(difference, "state: check_results"):
        return False
    has_targets = bool(singled_out(step, "-target"))
    theirs, ours = (
        [
            (found["object_addr"], found["status"])
            for result in json.loads(each.split(maxsplit=1)[1])
            for found in result["objects"]
        ]
        for each in sides_of(difference)
    )
    checks: Any = step.shown.get("checks") or []
    planned = {
        str(each["address"]["to_display"]): each["status"]
        for check in checks
        for each in check.get("instances", ())
    }

    def is_known(address: str, status: str) -> bool:
        if planned.get(address, "unknown") != "unknown":
            return bool(planned[address] == status)
        return status == "pass" and (has_targets or _is_unused(address, step.files))

    return len(theirs) == len(ours) and all(
        left == right
        or (
            (has_targets or right[0].split(".")[-2] in ("output", "var"))
            and left == (right[0], "unknown")
            and is_known(*right)
        )
        for left, right in zip(theirs, ours, strict=True)
    )


def _is_unused(value: str, files: dict[str, str]) -> bool:
    """Whether it is an output of a module to which nothing refers, nor to the whole call."""
    *path, kind, name = without_keys(value).split(".")
    if kind != "output" or not path:
        return False
    call = path[-1]
    used = re.compile(rf"module\.{call}(\[[^]]*\])?(\.{name}\b|(?![\w.\[]))")
    return not any(used.search(text) for text in files.values())


def opens_for_others(step: Step, command: list[str], difference: Difference) -> bool:
    """Whether ephemeral resources were opened that no targeted resource with instances needs, for
    changes or conditions that the real program leaves out.
    """
    is_more = like(difference, "events: more ephemeral_action_")
    if command[0] != "apply" or not is_more:
        return False
    targets = {without_keys(each) for each in singled_out(step, "-target")}
    texts = [
        declaration(each, step.files)
        for each in {without_keys(each) for each in step.before.addresses()}
        if any(each == name or each.startswith(f"{name}.") for name in targets)
    ]
    found = {".".join(each.split(".")[-3:]) for each in subjects(difference)}
    return bool(targets and found) and not any(name in text for name in found for text in texts)
