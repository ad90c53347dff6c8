"""What a command did, as the literal text has it: with addresses of separate calls."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from fuzz.expansion.model import literal, without_keys
from fuzz.story.events import read_events
from fuzz.story.sides import Finished, Outcome

_Condition = dict[str, object]

_NO_MODULE: Final = "delete_because_no_module"
_NO_CONFIG: Final = "delete_because_no_resource_config"


def level_finished(finished: Finished, declared: frozenset[str], is_partial: bool) -> Finished:
    """What a command said, with literal addresses, given the module instances there are.

    Of an instance that is gone, a call says that there is no such instance. Separate calls say that
    there is no such block. Of an instance that is left out, a call lists the conditions as unknown if
    it is alike another one.
    """
    text = literal(finished.stdout)
    lines = [_levelled(line, declared, is_partial) for line in text.splitlines()]
    return Finished(finished.status, "\n".join(lines), finished.stderr)


def _levelled(line: str, declared: frozenset[str], is_partial: bool) -> str:
    if _NO_MODULE not in line and '"checks"' not in line:
        return line
    said = json.loads(line)
    if "checks" in said:
        found = [each for check in said["checks"] for each in check.get("instances", ())]
        said["checks"] = [{"instances": _judged(found, is_partial)}]
    for each in said.get("resource_changes", ()):
        if each.get("module_address") not in declared and each.get("action_reason") == _NO_MODULE:
            each["action_reason"] = _NO_CONFIG
    change = said.get("change", {})
    if change.get("reason") == _NO_MODULE and change["resource"]["module"] not in declared:
        change["reason"] = _NO_CONFIG
    return json.dumps(said)


def _judged(conditions: list[_Condition], is_partial: bool) -> list[_Condition]:
    return [each for each in conditions if not is_partial or each["status"] != "unknown"]


def level_outcome(outcome: Outcome) -> Outcome:
    """What a command left behind, with literal addresses.

    Dependencies, providers and conditions have addresses of blocks, so separate calls have several
    for one of a call. Where a provider has keys, each instance names its own; else the resource does.
    """
    state = json.loads(literal(outcome.state))
    for resource in state["resources"]:
        provider = resource.pop("provider", None)
        for instance in resource["instances"]:
            instance["provider"] = without_keys(instance.get("provider", provider))
            if "dependencies" in instance:
                found = {without_keys(each) for each in instance["dependencies"]}
                instance["dependencies"] = sorted(found)
    checks = state.get("check_results") or ()
    objects = [each for check in checks for each in check["objects"] or ()]
    # The last apply may have left out instances.
    state["check_results"] = [{"config_addr": "all", "objects": _judged(objects, is_partial=True)}]
    return Outcome(json.dumps(state), outcome.journal, outcome.log)


Reported = set[tuple[str, str, str]]
"""Diagnostics: severity, summary and address."""


def reported(
    theirs: Finished, ours: Finished, declared: frozenset[str]
) -> tuple[Reported, Reported]:
    """What a command complained about on the literal side and on the compact one, with addresses.

    Only instances with keys are named that are no resource instances. Separate calls have no keys,
    but a directory each, which says where they are.
    """
    places = {each.replace("module.", "").replace(".", "_"): each for each in declared}
    right = {told for told, _ in _complaints(ours)}
    left = set()
    for (severity, summary, address), directory in _complaints(theirs):
        placed = severity, summary, places.get(directory, "")
        left.add(placed if not address and placed in right else (severity, summary, address))
    return left, right


def _complaints(finished: Finished) -> Iterator[tuple[tuple[str, str, str], str]]:
    """Yield diagnostics, each with the directory that it points into."""
    for event in read_events(finished.stdout):
        each = event.get("diagnostic")
        if isinstance(each, dict):
            where = each.get("range")
            file = str(where["filename"]) if isinstance(where, dict) else ""
            told = str(each["severity"]), str(each["summary"]), str(each.get("address", ""))
            yield told, file.rpartition("/")[0]
