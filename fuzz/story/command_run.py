"""One command of a story as both programs ran it, and the verdicts on it.

Everything that the judge sees is data, so a command can be judged again, also with a result that was
tampered with. Deliberately unknown: how the programs are started.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from fuzz.story import comparing
from fuzz.story.difference import Difference
from fuzz.story.explained import explanation
from fuzz.story.oracles import judged
from fuzz.story.result import Result
from fuzz.story.sides import Finished, Outcome
from fuzz.story.telling import PLAN, Step
from tests.real.alike import Tree


@dataclass(frozen=True)
class CommandRun:
    """A command line, what was there before, and what both programs made of it."""

    step: Step
    command: list[str]
    before: str
    """The state before the command."""
    theirs: Finished
    ours: Finished
    outcomes: tuple[Outcome, Outcome]
    shown: tuple[Finished, Finished] | None = None
    """`show -json` of the plans, if both saved one."""

    @property
    def has_succeeded(self) -> bool:
        """Whether it succeeded in both programs."""
        return self.theirs.status == 0 == self.ours.status

    @property
    def went_on(self) -> Difference | None:
        """What only Nigari went on to do, where both failed. An apply of a saved plan has a plan."""
        return comparing.went_on(self.theirs, self.ours) if PLAN not in self.command else None

    def plan(self) -> dict[str, Tree] | None:
        """Return `show -json` of Nigari's plan, if it can be shown."""
        if self.shown is None or self.shown[1].status:
            return None
        found: dict[str, Tree] = json.loads(self.shown[1].stdout)
        return found


@dataclass(frozen=True)
class Verdict:
    """A difference, and the promise that allows it; nothing if there is none."""

    difference: Difference
    reason: str = ""


def note(step: Step, theirs: Finished, ours: Finished) -> None:
    """Note in a step what both programs planned and did with a command, which explanations ask for."""
    step.ended |= comparing.ended(ours)
    step.failed |= comparing.failed(theirs)
    step.forgotten |= comparing.planned(ours, "remove")
    step.ours |= comparing.planned_actions(ours)
    step.planned |= comparing.planned_actions(theirs)


def verdicts(run: CommandRun) -> list[Verdict]:
    """Return all differences of a command, with the promises that allow them."""
    found = _differences(run)
    return [Verdict(each, explanation(run.step, run.command, each, found)) for each in found]


def _differences(run: CommandRun) -> list[Difference]:
    if run.went_on is not None:
        return [run.went_on]
    result = Result(run.ours, run.plan(), run.outcomes[1])
    theirs = run.theirs, run.outcomes[0]
    found, covered = judged(run.step, run.command, run.before, theirs, result)
    if run.shown is not None:
        found += comparing.plans(*run.shown, covered)
    return found
