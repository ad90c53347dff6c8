"""Has nigari and the real OpenTofu go through the same random stories, and compares each step.

A story is a random configuration and several steps, each of which changes the configuration, the
world or the state and runs some commands (`fuzz.story`). Compared are exit codes, diagnostics (but
not their texts), plans, events, states, the calls that the provider got and their order, and what
provisioners wrote. After a difference both go on from what the real program has made. What is known
and meant is in `fuzz.story.explained`; anything else makes the run fail.
"""

from __future__ import annotations

import contextlib
import copy
import json
import shutil
import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from fuzz.story import comparing
from fuzz.story.command_run import CommandRun, note, verdicts
from fuzz.story.running import TOFU, Found, StoryResult, run
from fuzz.story.sides import Finished, Sides, two_sides
from fuzz.story.telling import PLAN, Step, Story

_KEPT_AS: Final = ("theirs", "ours")


class Teller:
    """Tells stories to both programs."""

    def __init__(self, sides: Sides, keep: Path | None = None, only: int = 0) -> None:
        self._sides = sides
        self._keep = keep
        self._only = only
        self._commands = 0
        self.runs = list[CommandRun]()
        """The commands of the story that was told last."""

    def tell(self, seed: int) -> StoryResult:
        """Tell a whole story, or as far as the only step that matters."""
        began = time.monotonic()
        story, found, number = Story(seed), list[Found](), 0
        self._commands = 0
        self.runs = []
        self._sides.begin(seed)
        while not story.is_over and (not self._only or number < self._only):
            number += 1
            step = story.next(self._sides.theirs.seen())
            found += self._take(step, seed, number)
            self._keep_now(f"after-{number}", number)
            self._sides.ours.become(self._sides.theirs)
        return StoryResult(seed, number, self._commands, tuple(found), time.monotonic() - began)

    def _keep_now(self, name: str, number: int) -> None:
        if self._keep is not None and number == self._only:
            for side in (self._sides.theirs, self._sides.ours):
                goal = self._keep / name / side.path.name
                shutil.rmtree(goal, ignore_errors=True)
                shutil.copytree(side.path, goal, ignore=shutil.ignore_patterns("plugin-*"))

    def _take(self, step: Step, seed: int, number: int) -> Iterator[Found]:
        """Take a step: run its commands until one fails."""
        for side in (self._sides.theirs, self._sides.ours):
            side.prepare(step)
        self._keep_now(f"before-{number}", number)
        if self._keep is not None and number == self._only:
            print(step)
        for command in step.commands:
            run = self._run(step, command)
            self.runs.append(run)
            found = verdicts(run)
            for each in found:
                yield Found(seed, number, " ".join(command), each.difference, each.reason)
            # What was only reported in another way has no consequences.
            if (
                not run.has_succeeded
                or run.went_on is not None
                or any(not each.difference.is_report and not each.reason for each in found)
            ):
                break

    def _run(self, step: Step, command: list[str]) -> CommandRun:
        """Run a command in both."""
        sides = self._sides
        before = sides.theirs.state()
        for side in (sides.theirs, sides.ours):
            side.forget()
        theirs, ours = self._both(command)
        note(step, theirs, ours)
        if theirs.status and not comparing.begun(theirs):
            # What is wrong with the configuration itself, no promise may pass over.
            self._sides.theirs.start(["validate", "-json"])
            step.invalid = comparing.invalid(self._sides.theirs.finish())
        outcomes = sides.theirs.outcome(), sides.ours.outcome()
        shown = None
        if f"-out={PLAN}" in command and not theirs.status and not ours.status:
            shown = self._both(["show", "-json", PLAN])
            step.shown = json.loads(shown[0].stdout)
        return CommandRun(copy.deepcopy(step), command, before, theirs, ours, outcomes, shown)

    def _both(self, command: list[str]) -> tuple[Finished, Finished]:
        self._commands += 1
        theirs, ours = self._sides.both(command)
        if self._keep is not None:
            for name, done in zip(_KEPT_AS, (theirs, ours), strict=True):
                path = self._keep / f"{self._commands}-{command[0]}-{name}.txt"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(f"{' '.join(command)}\n{done.status}\n{done.stdout}{done.stderr}")
        return theirs, ours


@contextlib.contextmanager
def _teller(given: Namespace, directory: Path) -> Iterator[Teller]:
    with two_sides(TOFU, directory) as sides:
        yield Teller(sides, given.keep, given.step)


def main() -> int:
    """Tell as many stories as asked for."""
    if not TOFU.is_file():
        sys.exit(f"{TOFU} is not there: run `make peers` (it needs Go)")
    return run(_teller, "fuzz.differential", __doc__)


if __name__ == "__main__":
    sys.exit(main())
