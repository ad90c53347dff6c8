"""What Nigari must do where it promises to differ from OpenTofu.

An oracle computes a claim from the step, the prior state and the world: data that Nigari must have
at a path of its outcome. A claim that does not hold is a difference of its own. Only what a claim
covers is left out of the comparison, so a promise never hides more than it predicts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from fuzz.story.comparing import Covered, differences, is_carried_out
from fuzz.story.difference import Difference
from fuzz.story.events import read_events
from fuzz.story.invariants import invariants
from fuzz.story.judging import block_at, is_part
from fuzz.story.owners import Owners
from fuzz.story.result import Path, Result, is_destroy
from fuzz.story.sides import Finished, Outcome
from fuzz.story.telling import PLAN, Step
from tests.real.alike import Tree
from tests.real.case_files import Files

_EPHEMERAL: Final = ("ephemeral_action_started", "ephemeral_action_complete")


@dataclass(frozen=True)
class Claim:
    """What Nigari must have at a path, and the promise of `docs/differences.md` that says so."""

    promise: str
    path: Path
    expected: Tree


def judged(
    step: Step, command: list[str], before: str, theirs: tuple[Finished, Outcome], ours: Result
) -> tuple[list[Difference], Covered]:
    """Return what is wrong with a result beside OpenTofu's, and the paths that claims cover."""
    promised = claims(step, command, ours)
    covered = frozenset(each.path for each in promised)
    ended, outcomes = (theirs[0], ours.finished), (theirs[1], ours.outcome)
    owners = Owners((before, *(each.state for each in outcomes)), (each.stdout for each in ended))
    found = [*broken(promised, ours), *invariants(step, command, before, ours)]
    if not (is_destroy(step, command) and fails_to_open(theirs[0], step.files)):
        found += differences(command, ended, outcomes, covered, owners)
    return found, covered


def fails_to_open(theirs: Finished, files: Files) -> bool:
    """Whether OpenTofu failed only because it opens ephemeral resources whose arguments it has lost.

    A destroy need not open them, so there is nothing of theirs to compare with.
    """
    found = (each.get("diagnostic") for each in read_events(theirs.stdout))
    errors = [each for each in found if isinstance(each, dict) and each["severity"] == "error"]
    return bool(errors) and all(
        each["summary"] == "Incomplete configuration for ephemeral resource"
        and isinstance(where := each.get("range"), dict)
        and _block_of(where, files).startswith("ephemeral ")
        for each in errors
    )


def _block_of(where: dict[str, Tree], files: Files) -> str:
    start = where["start"]
    assert isinstance(start, dict)
    return block_at(files.get(str(where["filename"]), ""), int(str(start["line"])))


Oracle = Callable[[Step, list[str], Result], Iterable[Claim]]


def claims(step: Step, command: list[str], result: Result) -> list[Claim]:
    """Return what the promises predict for a command."""
    return [claim for oracle in _ORACLES for claim in oracle(step, command, result)]


def broken(found: Iterable[Claim], result: Result) -> Iterator[Difference]:
    """Yield a difference for each claim that does not hold."""
    for claim in found:
        actual = result.at(claim.path)
        if actual != claim.expected:
            where = " ".join(claim.path)
            text = (
                f"{where}\n  expected {json.dumps(claim.expected)}\n  ours     {json.dumps(actual)}"
            )
            yield Difference(f"promise broken: {claim.promise}: {claim.path[0]}", text)


def _destroyed_outputs(step: Step, command: list[str], result: Result) -> Iterator[Claim]:
    """A destroy deletes exactly the outputs that the state has, with the flags that they have."""
    promise = "a destroy deletes the outputs that the state has"
    if not is_destroy(step, command) or not is_carried_out(result.finished):
        return
    stored = step.before.outputs() if not is_part(step) else {}
    if result.plan is not None:
        yield Claim(
            promise,
            ("plan", "output_changes"),
            {name: _deleted(each) for name, each in stored.items()},
        )
    if PLAN not in command:
        deleted: Tree = {
            name: {"sensitive": bool(each.get("sensitive")), "action": "delete"}
            for name, each in stored.items()
        }
        yield Claim(
            promise,
            ("events", "outputs"),
            [{"type": "outputs", "outputs": deleted}] if deleted else [],
        )
    if command[0] != "plan":
        kept: Tree = json.loads(json.dumps(step.before.outputs())) if is_part(step) else {}
        yield Claim(promise, ("state", "outputs"), kept)
        if PLAN in command and kept:
            shown: Tree = {name: _reported(each) for name, each in step.before.outputs().items()}
            event: Tree = {"type": "outputs", "outputs": shown}
            yield Claim(promise, ("events", "outputs"), [event])


def _reported(output: dict[str, Tree]) -> Tree:
    is_sensitive = bool(output.get("sensitive"))
    told: dict[str, Tree] = {"sensitive": is_sensitive, "type": output["type"]}
    return told if is_sensitive else {**told, "value": output["value"]}


def _deleted(output: dict[str, Tree]) -> Tree:
    is_sensitive = bool(output.get("sensitive"))
    return {
        "actions": ["delete"],
        "before": output["value"],
        "after": None,
        "after_unknown": False,
        "before_sensitive": is_sensitive,
        "after_sensitive": is_sensitive,
    }


def _closed_in_destroys(step: Step, command: list[str], _: Result) -> Iterator[Claim]:
    """No provider of a story is configured from an ephemeral resource, so a destroy opens none."""
    if is_destroy(step, command):
        for kind in _EPHEMERAL:
            yield Claim("a destroy opens what a provider needs", ("events", kind), [])


_ORACLES: Final[tuple[Oracle, ...]] = (_destroyed_outputs, _closed_in_destroys)
