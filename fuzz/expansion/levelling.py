"""What a command did, as the literal text has it: with addresses of separate calls."""

from __future__ import annotations

import json

from fuzz.expansion.model import literal, without_keys
from fuzz.story.events import read_events
from fuzz.story.sides import Finished, Outcome


def level_finished(finished: Finished) -> Finished:
    """What a command said, with literal addresses."""
    return Finished(finished.status, literal(finished.stdout), finished.stderr)


def level_outcome(outcome: Outcome) -> Outcome:
    """What a command left behind, with literal addresses.

    Dependencies are addresses of blocks, so separate calls have several for one of a call. Where a
    provider has keys, each instance names its own; else the resource does.
    """
    state = json.loads(literal(outcome.state))
    for resource in state["resources"]:
        provider = resource.pop("provider", None)
        for instance in resource["instances"]:
            instance.setdefault("provider", provider)
            if "dependencies" in instance:
                found = {without_keys(each) for each in instance["dependencies"]}
                instance["dependencies"] = sorted(found)
    return Outcome(json.dumps(state), outcome.journal, outcome.log)


def reported(finished: Finished) -> set[tuple[str, str, str]]:
    """What a command complained about, whatever the place."""
    found = set()
    for event in read_events(finished.stdout):
        each = event.get("diagnostic")
        if isinstance(each, dict):
            found.add((str(each["severity"]), str(each["summary"]), str(each.get("address", ""))))
    return found
