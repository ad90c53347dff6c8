"""Nigari's answer to a command, and the positions in it that claims name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from fuzz.story.comparing import by_name
from fuzz.story.difference import ABSENT
from fuzz.story.events import read_events
from fuzz.story.sides import Finished, Outcome
from fuzz.story.telling import PLAN, Step
from tests.real.alike import Tree

Path = tuple[str, ...]
"""A position in a result: `plan` and a path in `show -json`, `events` and a type, `state` and a path."""


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


def is_destroy(step: Step, command: list[str]) -> bool:
    """Whether a command plans or carries out a destroy; an apply does what was planned last."""
    if PLAN in command:
        before = step.commands[: step.commands.index(command)]
        command = next((each for each in reversed(before) if f"-out={PLAN}" in each), command)
    return command[0] == "destroy" or "-destroy" in command
