"""Differences between the programs that are meant, each with its reason.

The reasons are those of `docs/differences.md`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from fuzz.story.comparing import BEYOND
from fuzz.story.difference import Difference
from fuzz.story.events import UNENDED
from fuzz.story.telling import Step


@dataclass(frozen=True)
class Explained:
    """A kind of difference: why it is there, and how it is told from others."""

    reason: str
    explains: Callable[[Step, list[str], Difference], bool]
    comes_with: str = ""
    """What another difference of the same command must be like, whose consequence it is."""


def explanation(
    step: Step, command: list[str], difference: Difference, others: list[Difference]
) -> str:
    """Why a difference may be there; nothing if that is not known."""
    for each in EXPLAINED:
        if each.explains(step, command, difference) and (
            not each.comes_with or any(_like(other, each.comes_with) for other in others)
        ):
            return each.reason
    return ""


def _destroys(step: Step, command: list[str]) -> bool:
    """Whether a command is, plans or carries out a destroy."""
    return command[0] == "destroy" or any("-destroy" in each for each in step.commands)


def _like(difference: Difference, *patterns: str) -> bool:
    return any(re.match(pattern, difference.kind) for pattern in patterns)


def _forgets(step: Step, _: list[str], difference: Difference) -> bool:
    is_read = _like(
        difference,
        "events: missing resource_drift",
        r"plan: resource_drift\.\*$",
        r"plan: resource_changes\.\*\.change\.before\.",
    )
    return is_read and "destroy = false" in step.files["main.tf"]


def _does_not_read(step: Step, _: list[str], difference: Difference) -> bool:
    is_read = _like(difference, "events: missing refresh", "reads: missing read / - more")
    return is_read and "destroy = false" in step.files["main.tf"]


def _forgets_what_is_gone(step: Step, _: list[str], difference: Difference) -> bool:
    if "destroy = false" not in step.files["main.tf"]:
        return False
    if _like(difference, r"plan: resource_changes\.\*$"):
        return all(
            '"actions": ["forget"]' in side if at % 2 else side == 'theirs "<absent>"'
            for at, side in enumerate(_sides_of(difference))
        )
    return _like(
        difference,
        r"diagnostics: \+warning Object will be forgotten",
        "events: more planned_change remove",
        "events: change_summary.changes.forget",
    )


def _forgets_what_cannot_be_read(step: Step, __: list[str], difference: Difference) -> bool:
    theirs, _, ours = difference.text.partition("--- ours")
    failures = re.findall(r"^(\w+) of \S+\.$", theirs, re.MULTILINE)
    is_failure = _like(difference, "exit code 1 / 0: Told to fail$") or (
        _like(difference, "diagnostics: -error Told to fail$")
        and "Object will be forgotten" in ours
    )
    if _like(difference, "calls: missing fail / - more$"):
        failures = re.findall(r'^missing \["fail", "(\w+)"', difference.text, re.MULTILINE)
        is_failure = True
    return is_failure and set(failures) == {"read"} and "destroy = false" in step.files["main.tf"]


def _falls_back(_: Step, __: list[str], difference: Difference) -> bool:
    return "Unable to use fallback provider from state" in difference.kind


def _opens_for_destroy(step: Step, command: list[str], difference: Difference) -> bool:
    return _destroys(step, command) and _like(difference, "events: missing ephemeral_action")


def _is_lenient_destroy(step: Step, command: list[str], difference: Difference) -> bool:
    """A destroy that goes on where OpenTofu stops at something that is not to be destroyed."""
    if not _destroys(step, command) or _like(difference, "exit code 0"):
        return False
    refused = "cannot be destroyed" in difference.kind
    if "Told to fail" in difference.kind and not re.search(
        r"\b(read|look|open) of", difference.text
    ):
        return False
    return not refused and _like(difference, "exit code 1 / 0", "diagnostics: -error")


def _destroys_from_state(step: Step, command: list[str], difference: Difference) -> bool:
    if not _destroys(step, command):
        return False
    return _like(difference, r"plan: output_changes\.", "events: (missing outputs|outputs)") or (
        _is_part(step) and _like(difference, "state: outputs")
    )


def _keeps_secrets(step: Step, command: list[str], difference: Difference) -> bool:
    if not _destroys(step, command) or not _like(
        difference, r"state: resources\.\*\.sensitive_attributes"
    ):
        return False
    sides = [json.loads(each.split(maxsplit=1)[1]) for each in _sides_of(difference)]
    pairs = zip(sides[::2], sides[1::2], strict=True)
    return all(each in ours for theirs, ours in pairs for each in theirs)


def _reads_what_it_destroys(step: Step, command: list[str], difference: Difference) -> bool:
    if not _destroys(step, command):
        return False
    if _like(difference, "events: missing apply_.* read", "reads: missing look / - more"):
        return True
    if not _is_part(step):
        return False
    if _like(difference, r"state: resources\.\*$"):
        return _is_all_gone(step, difference)
    return _like(
        difference,
        "events: (missing|more) refresh",
        "reads: missing",
        r"state: resources\.\*\.(attributes|sensitive_attributes|dependencies)",
    )


def _deletes_what_is_gone(step: Step, command: list[str], difference: Difference) -> bool:
    """OpenTofu also asks for the end of objects that it has not read, and that are gone."""
    if not _destroys(step, command) or not _is_part(step):
        return False
    if _like(difference, "calls: missing delete / - more"):
        calls = [json.loads(line.removeprefix("missing ")) for line in difference.text.split("\n")]
        return all(step.objects.get(call[1], 0) is None for call in calls)
    return _like(
        difference,
        "events: missing (planned_change|apply_start|apply_complete) delete",
    )


def _protects_what_is_gone(step: Step, command: list[str], difference: Difference) -> bool:
    """OpenTofu refuses to destroy objects that it has not read, and that are gone."""
    found = re.findall(r"Resource instance (\S+) has prevent_destroy set", difference.text)
    names = {re.sub(r"\[.*", "", each).rpartition(".")[2] for each in found}
    gone = {
        re.sub("[-#].*", "", identifier).rpartition(".")[2]
        for identifier, value in step.objects.items()
        if value is None
    }
    is_refusal = _like(
        difference,
        "exit code 1 / 0: Resource instance cannot be destroyed$",
        "diagnostics: -error Resource instance cannot be destroyed$",
    )
    return _destroys(step, command) and _is_part(step) and is_refusal and names <= gone


def _leaves_providers(step: Step, _: list[str], difference: Difference) -> bool:
    """OpenTofu changes the provider also of what it leaves out, in other module instances."""
    if not _like(difference, r"state: resources\.\*\.provider$") or not _is_part(step):
        return False
    words = [word.partition("=") for c in step.commands for word in c if word.startswith("-")]
    targets = [address for option, _, address in words if option == "-target"]
    excluded = [address for option, _, address in words if option == "-exclude"]
    modules = re.findall(r"^resources (module\S*)\.managed\.", difference.text, re.MULTILINE)
    return bool(modules) and all(
        not any(each.startswith(module) for each in targets)
        and (bool(targets) or any(each.startswith(module) for each in excluded))
        for module in modules
    )


def _is_part(step: Step) -> bool:
    return any(word.startswith(("-target", "-exclude")) for c in step.commands for word in c)


def _is_all_gone(step: Step, difference: Difference) -> bool:
    """Whether all that only our state has are objects that no longer exist."""
    sides = [json.loads(each.split(maxsplit=1)[1]) for each in _sides_of(difference)]
    return all(
        theirs == "<absent>"
        and ("attributes" not in ours or step.objects.get(ours["attributes"]["id"], 0) is None)
        for theirs, ours in zip(sides[::2], sides[1::2], strict=True)
    )


def _reads_all_it_destroys(step: Step, command: list[str], difference: Difference) -> bool:
    """What depends on something excluded is destroyed as it is now, not as it was."""
    return (
        _destroys(step, command)
        and _is_part(step)
        and _like(
            difference,
            r"plan: resource_changes\.\*",
            "events: missing planned_change delete",
        )
    )


def _goes_beyond(_: Step, __: list[str], difference: Difference) -> bool:
    return difference.kind == BEYOND


def _depends_on_mistake(step: Step, _: list[str], difference: Difference) -> bool:
    """Whether only blocks are complained about that need those which the real program refuses."""
    found = re.findall(r"^(more|reported) error (\S+):(\d+) with", difference.text, re.MULTILINE)
    more, reported = (
        [
            _block_at(step.files.get(file, ""), int(line))
            for word, file, line in found
            if word == kind
        ]
        for kind in ("more", "reported")
    )
    names = {".".join(re.findall(r'"(\w+)"', each.partition("\n")[0])) for each in reported} - {""}
    is_more = difference.kind.startswith("diagnostics: +error")
    return is_more and bool(more) and all(any(n in each for n in names) for each in more)


def _reads_beyond(step: Step, command: list[str], difference: Difference) -> bool:
    """Whether a destroy also tried to read what needs something that could not be read."""
    calls = difference.text.splitlines()
    is_more = difference.kind == "calls: missing - / fail more"
    is_read = all(call.startswith('more ["fail", "read", ') for call in calls)
    return _destroys(step, command) and is_more and is_read


def _block_at(text: str, line: int) -> str:
    """The top-level block of a file that a line is in."""
    blocks = re.split(r"(?m)^}\n", text)
    at = 0
    for block in blocks:
        at += block.count("\n") + 1
        if line <= at:
            return block.strip()
    return ""


def _protects_what_is_not_read(step: Step, command: list[str], difference: Difference) -> bool:
    theirs, _, _ = difference.text.partition("--- ours")
    is_unread = re.search(r"^(read|look|open) of", theirs, re.MULTILINE) is not None
    is_more = difference.kind == "diagnostics: +error Destroying is prevented"
    return _destroys(step, command) and is_unread and is_more


def _is_protection(_: Step, command: list[str], difference: Difference) -> bool:
    return command[0] == "refresh" and "cannot be destroyed" in difference.kind


def _inherits(_: Step, __: list[str], difference: Difference) -> bool:
    is_lost = 'theirs "<absent>"\n  ours   true' in difference.text
    return _like(difference, r"state: resources\.\*\.create_before_destroy") and is_lost


def _depends_on_what_went(step: Step, _: list[str], difference: Difference) -> bool:
    if not _like(difference, r"state: resources\.\*\.dependencies"):
        return False
    lists = [json.loads(each.split(maxsplit=1)[1]) for each in _sides_of(difference)]
    lists = [[] if each == "<absent>" else each for each in lists]
    pairs = list(zip(lists[::2], lists[1::2], strict=True))
    extra = {name for theirs, ours in pairs for name in theirs if name not in ours}
    return all(set(ours) < set(theirs) for theirs, ours in pairs) and all(
        name.startswith("module.") and not _is_declared(name, step.files) for name in extra
    )


def _sides_of(difference: Difference) -> list[str]:
    lines = [line.strip() for line in difference.text.splitlines()]
    return [line for line in lines if line.startswith(("theirs ", "ours "))]


def _is_declared(address: str, files: dict[str, str]) -> bool:
    *steps, kind, name = address.split(".")
    text = files["main.tf"]
    for called in (step for step in steps if step not in ("module", "data", "ephemeral")):
        found = re.search(rf'module "{called}" {{[^}}]*?source = "[./]*(\w+)"', text)
        text = "" if found is None else files[f"{found[1]}/main.tf"]
    return f'"{kind}" "{name}"' in text


def _keeps_outputs(step: Step, command: list[str], difference: Difference) -> bool:
    if not any("-refresh-only" in each for each in step.commands) or command[0] == "plan":
        return False
    if _like(difference, r"events: outputs\.outputs"):
        return True
    sides = _sides_of(difference)
    if _like(difference, r"state: outputs\.\*\.type"):
        return all(each == 'theirs "dynamic"' for each in sides[::2])
    is_null = all('"value": null' in each or each == "theirs null" for each in sides[::2])
    return _like(difference, r"state: outputs\.") and is_null


def _may_fail(_: Step, __: list[str], difference: Difference) -> bool:
    return difference.kind == "diagnostics: +warning Provisioner local-exec failed"


def _reports_failed_end(step: Step, _: list[str], difference: Difference) -> bool:
    may_fail = any(each.startswith("delete ") for each in step.failures)
    return may_fail and difference.kind == f"events: more apply_errored delete {UNENDED}"


def _triggers_nothing(_: Step, __: list[str], difference: Difference) -> bool:
    return "no change found for" in difference.kind


def _is_circle(_: Step, __: list[str], difference: Difference) -> bool:
    return "Cycle: " in difference.kind


def _is_told_once(_: Step, __: list[str], difference: Difference) -> bool:
    return difference.kind == "diagnostics: -error Zero assert blocks"


def _keeps_marks_in_try(step: Step, _: list[str], difference: Difference) -> bool:
    is_mark = _like(difference, r"plan: resource_changes\.\*\.change\.after_sensitive\.")
    sides = set(_sides_of(difference))
    is_more = sides == {'theirs "<absent>"', "ours   true"}
    return is_mark and is_more and "try(" in "".join(step.files.values())


def _refuses_marks_in_try(step: Step, _: list[str], difference: Difference) -> bool:
    names = re.findall(r'The value of output "(\w+)" is sensitive', difference.text)
    outputs = [
        re.search(rf'output "{each}" {{\n  value = (.*)', step.files["main.tf"]) for each in names
    ]
    is_refusal = _like(
        difference,
        "exit code 0 / 1: Sensitive value in an output$",
        r"diagnostics: \+error Sensitive value in an output$",
    )
    return is_refusal and bool(names) and all(each and "try(" in each[1] for each in outputs)


def _replaces_nothing(_: Step, __: list[str], difference: Difference) -> bool:
    return difference.kind == "diagnostics: +warning Nothing to replace"


def _targets_instance(step: Step, _: list[str], difference: Difference) -> bool:
    is_part = any(word.startswith("-target") for c in step.commands for word in c)
    if is_part and _like(difference, "state: check_results"):
        return _leaves_checks_open(difference)
    return is_part and _like(
        difference,
        "events: more apply_",
        "state: (resources|outputs)",
        "(calls|reads): missing - / .* more",
    )


def _leaves_checks_open(difference: Difference) -> bool:
    """Whether the real program knows less of how checks went, and nothing else."""
    theirs, ours = (
        [
            (found["object_addr"], found["status"])
            for result in json.loads(each.split(maxsplit=1)[1])
            for found in result["objects"]
        ]
        for each in _sides_of(difference)
    )
    return len(theirs) == len(ours) and all(
        left[0] == right[0] and left[1] in ("unknown", right[1])
        for left, right in zip(theirs, ours, strict=True)
    )


def _moves_below_call(step: Step, _: list[str], difference: Difference) -> bool:
    """Whether all of it is about modules called by one whose `count` was added or taken away, and
    which has no resources of its own.
    """
    found = [_called_below(line) for line in difference.text.splitlines()]
    return any(found) and all(
        _has_only_calls(name, step.files["main.tf"], step.files)
        for names in found
        for name in names
    )


def _called_below(line: str) -> set[str]:
    """The calls in the root module that a line is about, as far as it is about calls below them."""
    if line.startswith(("missing [", "more [")):
        return set(re.findall(r'"(c\d+)(?:-0)?\.c\d', line))
    about = re.findall(r"module\.(\w+)(?:\[0\])?\.module\.", line)
    is_other = re.search(r"(^|resource_(changes|drift) |\"addr\": \")(?!module\.)\w+\.\w", line)
    return set(about) if is_other is None else {""}


def _has_only_calls(name: str, text: str, files: dict[str, str]) -> bool:
    found = re.search(rf'module "{name}" {{[^}}]*?source = "[./]*(\w+)"', text)
    return found is not None and not re.search(r"^resource ", files[f"{found[1]}/main.tf"], re.M)


EXPLAINED: Final = (
    Explained("forgetting asks no provider", _forgets, "reads: missing read / - more"),
    Explained("forgetting asks no provider", _does_not_read),
    Explained("forgetting asks no provider", _forgets_what_is_gone),
    Explained("forgetting asks no provider", _forgets_what_cannot_be_read),
    Explained("what is to go is managed by the provider that made it", _falls_back),
    Explained(
        "only what a provider needs is opened while a destroy is planned", _opens_for_destroy
    ),
    Explained("a destroy looks at nothing that it need not", _is_lenient_destroy),
    Explained("a destroy ends the outputs that the state has", _destroys_from_state),
    Explained("what could not be destroyed is as secret as before", _keeps_secrets),
    Explained("a destroy reads what it destroys and what providers need", _reads_what_it_destroys),
    Explained(
        "a destroy reads what it destroys and what providers need",
        _reads_all_it_destroys,
        "reads: missing .* / read more",
    ),
    Explained(
        "a destroy does not destroy what is gone",
        _deletes_what_is_gone,
        "calls: missing delete / - more",
    ),
    Explained("what depends on a mistake is looked at, too", _goes_beyond),
    Explained("what depends on a mistake is looked at, too", _depends_on_mistake),
    Explained("what depends on a mistake is looked at, too", _reads_beyond, re.escape(BEYOND)),
    Explained("a destroy reports all that keeps it from going on", _protects_what_is_not_read),
    Explained("a destroy does not destroy what is gone", _protects_what_is_gone),
    Explained("what is left out keeps its provider", _leaves_providers),
    Explained("what must not be destroyed can be refreshed", _is_protection),
    Explained("an update keeps create_before_destroy that others need", _inherits),
    Explained("nothing depends on what is destroyed meanwhile", _depends_on_what_went),
    Explained("an output that cannot be known is kept", _keeps_outputs),
    Explained("a failure that does not matter is a warning", _may_fail),
    Explained("that a deposed object is still there is an event", _reports_failed_end),
    Explained("triggers without instances mean nothing", _triggers_nothing),
    Explained("OpenTofu cannot order these operations", _is_circle),
    Explained("a mistake is reported once", _is_told_once),
    Explained("try keeps the marks of what is not known yet", _keeps_marks_in_try),
    Explained("try keeps the marks of what is not known yet", _refuses_marks_in_try),
    Explained("an address to replace that nothing has is a warning", _replaces_nothing),
    Explained(
        "objects in modules called by a module move with it",
        _moves_below_call,
        r"events: missing (refresh_start|planned_change)|state: resources\.\*$",
    ),
    Explained(
        "whatever a plan with targets shows is applied",
        _targets_instance,
        "(calls|reads): missing - / .* more",
    ),
)
