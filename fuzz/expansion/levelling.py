"""What a command did, as the literal text has it: with addresses of separate calls."""

from __future__ import annotations

import json
from typing import Final

from fuzz.expansion.model import literal, without_keys
from fuzz.story.events import read_events
from fuzz.story.sides import Finished, Outcome

_NO_MODULE: Final = "delete_because_no_module"
_NO_CONFIG: Final = "delete_because_no_resource_config"


def level_finished(finished: Finished, declared: frozenset[str]) -> Finished:
    """What a command said, with literal addresses, given the module instances there are.

    Of an instance that is gone, a call says that there is no such instance. Separate calls say that
    there is no such block.
    """
    lines = [_levelled(line, declared) for line in literal(finished.stdout).splitlines()]
    return Finished(finished.status, "\n".join(lines), finished.stderr)


def _levelled(line: str, declared: frozenset[str]) -> str:
    if _NO_MODULE not in line and '"checks"' not in line:
        return line
    said = json.loads(line)
    if "checks" in said:
        said["checks"] = [
            {"instances": [o for c in said["checks"] for o in c.get("instances", ())]}
        ]
    for each in said.get("resource_changes", ()):
        if each.get("module_address") not in declared and each.get("action_reason") == _NO_MODULE:
            each["action_reason"] = _NO_CONFIG
    change = said.get("change", {})
    if change.get("reason") == _NO_MODULE and change["resource"]["module"] not in declared:
        change["reason"] = _NO_CONFIG
    return json.dumps(said)


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
    state["check_results"] = [{"config_addr": "all", "objects": objects}]
    return Outcome(json.dumps(state), outcome.journal, outcome.log)


def reported(finished: Finished) -> set[tuple[str, str, str]]:
    """What a command complained about, whatever the place."""
    found = set()
    for event in read_events(finished.stdout):
        each = event.get("diagnostic")
        if isinstance(each, dict):
            found.add((str(each["severity"]), str(each["summary"]), str(each.get("address", ""))))
    return found
