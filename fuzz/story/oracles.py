"""What Nigari must do where it promises to differ from OpenTofu, and what must hold whatever OpenTofu does.

An oracle computes a claim from the step, the prior state and the world: data that Nigari must have
at a path of its outcome. A claim that does not hold is a difference of its own. Only what a claim
covers is left out of the comparison, so a promise never hides more than it predicts.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from fuzz.story.comparing import Covered, begun, by_name, differences, planned
from fuzz.story.difference import ABSENT, Difference
from fuzz.story.events import read_events
from fuzz.story.judging import gone, is_forgotten, is_part, moved, unquoted, without_keys
from fuzz.story.order import too_early
from fuzz.story.sides import Finished, Outcome
from fuzz.story.telling import PLAN, Step
from tests.real.alike import Tree

Path = tuple[str, ...]
"""A position in a result: `plan` and a path in `show -json`, `events` and a type, `state` and a path."""

_EPHEMERAL: Final = ("ephemeral_action_started", "ephemeral_action_complete")


@dataclass(frozen=True)
class Result:
    """Nigari's answer to a command: what it printed, planned and changed."""

    finished: Finished
    plan: dict[str, Tree] | None
    """`show -json` of the plan, where the command saved one."""
    outcome: Outcome

    def at(self, path: Path) -> Tree:
        """Return what the result has at a path."""
        root, *rest = path
        if root == "events":
            return [each for each in self._events() if each["type"] == path[1]]
        tree: Tree = {"output_changes": {}, **(self.plan or {})} if root == "plan" else self.state()
        for name in rest:
            tree = tree.get(name, ABSENT) if isinstance(tree, dict) else ABSENT
        return tree

    def state(self) -> dict[str, Tree]:
        """Return the stored state, by names of resources and outputs."""
        return by_name(json.loads(self.outcome.state))

    def _events(self) -> Iterator[dict[str, Tree]]:
        for event in read_events(self.finished.stdout):
            yield {name: each for name, each in event.items() if not name.startswith("@")}


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
    found = [
        *broken(promised, ours),
        *invariants(step, command, before, ours),
        *differences(command, ended, outcomes, covered),
    ]
    return found, covered


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
    if not _is_destroy(step, command) or result.finished.status:
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
    if _is_destroy(step, command):
        for kind in _EPHEMERAL:
            yield Claim("a destroy opens what a provider needs", ("events", kind), [])


def _is_destroy(step: Step, command: list[str]) -> bool:
    """Whether a command plans or carries out a destroy; an apply does what was planned last."""
    if PLAN in command:
        before = step.commands[: step.commands.index(command)]
        command = next((each for each in reversed(before) if f"-out={PLAN}" in each), command)
    return command[0] == "destroy" or "-destroy" in command


_ORACLES: Final[tuple[Oracle, ...]] = (_destroyed_outputs, _closed_in_destroys)


def invariants(step: Step, command: list[str], before: str, ours: Result) -> Iterator[Difference]:
    """Yield what is wrong with a result whatever OpenTofu did: these hold without any promise."""
    yield from _lost_objects(ours.outcome)
    if not ours.finished.status:
        early = too_early(before, ours.outcome.state, ours.outcome.journal)
        if early:
            yield Difference("order: an operation came too early", "\n".join(early))
        if _is_destroy(step, command) and not is_part(step):
            yield from _left_after_destroy(step, command, ours)


def _lost_objects(outcome: Outcome) -> Iterator[Difference]:
    """An object that was created and not deleted is in the state; one that was deleted is not."""
    stored = {
        str((instance.get("attributes") or {}).get("id"))
        for resource in json.loads(outcome.state)["resources"]
        for instance in resource["instances"]
    }
    last = {call[1]: call[0] for call in outcome.journal if call[0] in ("create", "delete")}
    for identifier, verb in last.items():
        if (verb == "create") is not (identifier in stored):
            yield Difference(f"state: does not know of a {verb}", f"{verb} {identifier}")


def _left_after_destroy(step: Step, command: list[str], ours: Result) -> Iterator[Difference]:
    """A destroy that succeeds plans the end of every stored object, and leaves nothing."""
    if PLAN not in command:
        missing = set() if "-refresh=false" in command else gone(step)
        places = {old: new for new, old in moved(step).items()}
        stored = Counter(
            places.get(name, name)
            for each in map(unquoted, step.before.addresses())
            if (name := without_keys(each)) and (each not in missing or is_forgotten(name, step))
        )
        found = Counter(without_keys(unquoted(each)) for each in planned(ours.finished))
        if found != stored:
            text = f"missing {dict(stored - found)}\nmore {dict(found - stored)}"
            yield Difference("plan: a destroy does not plan the end of everything", text)
    if command[0] != "plan" and begun(ours.finished) and ours.state()["resources"]:
        text = json.dumps(ours.state()["resources"])
        yield Difference("state: a destroy that succeeded has left something", text)
