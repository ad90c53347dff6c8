"""Which differences of a destroy are meant: what it reads, what it reports and what it leaves."""

from __future__ import annotations

import json
import re

from fuzz.story.difference import Difference
from fuzz.story.judging import destroys, is_part, like, sides_of
from fuzz.story.telling import Step


def opens_for_destroy(step: Step, command: list[str], difference: Difference) -> bool:
    return destroys(step, command) and like(difference, "events: missing ephemeral_action")


def is_lenient_destroy(step: Step, command: list[str], difference: Difference) -> bool:
    """A destroy that goes on where OpenTofu stops at something that is not to be destroyed."""
    if not destroys(step, command) or command[0] == "apply" or difference.has_plan:
        return False
    refused = "cannot be destroyed" in difference.kind
    if "Told to fail" in difference.kind and not re.search(
        r"\b(read|look|open) of", difference.text
    ):
        return False
    return not refused and like(difference, "exit code 1 / 0", "diagnostics: -error")


def destroys_from_state(step: Step, command: list[str], difference: Difference) -> bool:
    if not destroys(step, command):
        return False
    return like(difference, r"plan: output_changes\.", "events: (missing outputs|outputs)") or (
        is_part(step) and like(difference, "state: outputs")
    )


def keeps_secrets(step: Step, command: list[str], difference: Difference) -> bool:
    if not destroys(step, command) or not like(
        difference, r"state: resources\.\*\.sensitive_attributes"
    ):
        return False
    sides = [json.loads(each.split(maxsplit=1)[1]) for each in sides_of(difference)]
    pairs = zip(sides[::2], sides[1::2], strict=True)
    return all(each in ours for theirs, ours in pairs for each in theirs)


def reads_what_it_destroys(step: Step, command: list[str], difference: Difference) -> bool:
    if not destroys(step, command):
        return False
    if like(difference, "events: missing apply_.* read", "reads: missing look / - more"):
        return True
    if not is_part(step):
        return False
    if like(difference, r"state: resources\.\*$"):
        return _is_all_gone(step, difference)
    return like(
        difference,
        "events: (missing|more) refresh",
        "reads: missing",
        r"state: resources\.\*\.(attributes|sensitive_attributes|dependencies)",
    )


def deletes_what_is_gone(step: Step, command: list[str], difference: Difference) -> bool:
    """OpenTofu also asks for the end of objects that it has not read, and that are gone."""
    if not destroys(step, command) or not is_part(step):
        return False
    if like(difference, "calls: missing delete / - more"):
        calls = [json.loads(line.removeprefix("missing ")) for line in difference.text.split("\n")]
        return all(step.objects.get(call[1], 0) is None for call in calls)
    return like(
        difference,
        "events: missing (planned_change|apply_start|apply_complete) delete",
    )


def protects_what_is_gone(step: Step, command: list[str], difference: Difference) -> bool:
    """OpenTofu refuses to destroy objects that it has not read, and that are gone."""
    found = re.findall(r"Resource instance (\S+) has prevent_destroy set", difference.text)
    names = {re.sub(r"\[.*", "", each).rpartition(".")[2] for each in found}
    gone = {
        re.sub("[-#].*", "", identifier).rpartition(".")[2]
        for identifier, value in step.objects.items()
        if value is None
    }
    is_refusal = like(
        difference,
        "exit code 1 / 0: Resource instance cannot be destroyed$",
        "diagnostics: -error Resource instance cannot be destroyed$",
    )
    return destroys(step, command) and is_part(step) and is_refusal and names <= gone


def _is_all_gone(step: Step, difference: Difference) -> bool:
    """Whether all that only our state has are objects that no longer exist."""
    sides = [json.loads(each.split(maxsplit=1)[1]) for each in sides_of(difference)]
    return all(
        theirs == "<absent>"
        and ("attributes" not in ours or step.objects.get(ours["attributes"]["id"], 0) is None)
        for theirs, ours in zip(sides[::2], sides[1::2], strict=True)
    )


def reads_all_it_destroys(step: Step, command: list[str], difference: Difference) -> bool:
    """What depends on something excluded is destroyed as it is now, not as it was."""
    return (
        destroys(step, command)
        and is_part(step)
        and like(
            difference,
            r"plan: resource_changes\.\*",
            "events: missing planned_change delete",
        )
    )


def reads_beyond(step: Step, command: list[str], difference: Difference) -> bool:
    """Whether a destroy also tried to read what needs something that could not be read."""
    calls = difference.text.splitlines()
    is_more = difference.kind == "calls: missing - / fail more"
    is_read = all(call.startswith('more ["fail", "read", ') for call in calls)
    return destroys(step, command) and is_more and is_read


def protects_what_is_not_read(step: Step, command: list[str], difference: Difference) -> bool:
    theirs, _, _ = difference.text.partition("--- ours")
    is_unread = re.search(r"^(read|look|open) of", theirs, re.MULTILINE) is not None
    is_more = difference.kind == "diagnostics: +error Destroying is prevented"
    return destroys(step, command) and is_unread and is_more
