"""Has nigari and the real OpenTofu go through the same random stories, and compares each step.

A story is a random configuration and several steps, each of which changes the configuration, the
world or the state and runs some commands (`fuzz.story`). Compared are exit codes, diagnostics (but
not their texts), plans, events, states, the calls that the provider got and their order, and what
provisioners wrote. After a difference both go on from what the real program has made. What is known
and meant is in `fuzz.story.explained`; anything else makes the run fail.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fuzz.story import comparing
from fuzz.story.difference import Difference
from fuzz.story.events import events
from fuzz.story.explained import explanation
from fuzz.story.sides import Finished, Sides, two_sides, warm_up
from fuzz.story.telling import PLAN, Step, Story
from scripts.peers import cache

_TOFU: Final = cache() / "bin" / "tofu"
_KEPT_AS: Final = ("theirs", "ours")


@dataclass(frozen=True)
class Found:
    """A difference and where it was found."""

    seed: int
    step: int
    command: str
    difference: Difference
    reason: str = ""
    """Why it may be there, if that is known."""


@dataclass(frozen=True)
class Told:
    """A story that was told: what was different, and how long it took."""

    seed: int
    steps: int
    commands: int
    found: tuple[Found, ...]
    seconds: float


class Teller:
    """Tells stories to both programs."""

    def __init__(self, sides: Sides, keep: Path | None = None, only: int = 0) -> None:
        self._sides = sides
        self._keep = keep
        self._only = only
        self._commands = 0

    def tell(self, seed: int) -> Told:
        """Tell a whole story, or as far as the only step that matters."""
        began = time.monotonic()
        story, found, number = Story(seed), list[Found](), 0
        self._commands = 0
        self._sides.begin(seed)
        while not story.is_over and (not self._only or number < self._only):
            number += 1
            step = story.next(self._sides.theirs.seen())
            found += self._take(step, seed, number)
            self._keep_now(f"after-{number}", number)
            self._sides.ours.become(self._sides.theirs)
        return Told(seed, number, self._commands, tuple(found), time.monotonic() - began)

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
            differences, goes_on = self._run(step, command)
            found = [
                Found(
                    seed,
                    number,
                    " ".join(command),
                    each,
                    explanation(step, command, each, differences),
                )
                for each in differences
            ]
            yield from found
            # What was only reported in another way has no consequences.
            if not goes_on or any(
                not each.difference.is_report and not each.reason for each in found
            ):
                break

    def _run(self, step: Step, command: list[str]) -> tuple[list[Difference], bool]:
        """Run a command in both: the differences, and whether both succeeded."""
        sides = self._sides
        before = sides.theirs.state()
        for side in (sides.theirs, sides.ours):
            side.forget()
        theirs, ours = self._both(command)
        step.ended |= comparing.ended(ours)
        step.failed |= comparing.failed(theirs)
        # Who applies a saved plan has one.
        went_on = comparing.went_on(theirs, ours) if PLAN not in command else None
        if went_on is not None:
            return [went_on], False
        differences = [*comparing.exit_codes(theirs, ours), *comparing.diagnostics(theirs, ours)]
        if theirs.status == ours.status:
            # How far a plan comes that fails is up to the program.
            if command[0] != "plan" or not theirs.status:
                differences += events(theirs, ours)
            if f"-out={PLAN}" in command and not theirs.status:
                differences += comparing.plans(*self._both(["show", "-json", PLAN]))
            outcomes = sides.theirs.outcome(), sides.ours.outcome()
            differences += comparing.results(before, *outcomes, theirs)
            if not theirs.status:
                differences += comparing.reads(*outcomes)
        return differences, theirs.status == 0 == ours.status

    def _both(self, command: list[str]) -> tuple[Finished, Finished]:
        self._commands += 1
        theirs, ours = self._sides.both(command)
        if self._keep is not None:
            for name, done in zip(_KEPT_AS, (theirs, ours), strict=True):
                path = self._keep / f"{self._commands}-{command[0]}-{name}.txt"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(f"{' '.join(command)}\n{done.status}\n{done.stdout}{done.stderr}")
        return theirs, ours


def _tell_in(job: tuple[Path, list[int]]) -> Iterator[Told]:
    directory, seeds = job
    with two_sides(_TOFU, directory) as sides:
        teller = Teller(sides)
        for seed in seeds:
            yield teller.tell(seed)


def _work(job: tuple[Path, list[int]], results: multiprocessing.SimpleQueue[Told | None]) -> None:
    try:
        for told in _tell_in(job):
            results.put(told)
    finally:
        results.put(None)


def tell_all(seeds: list[int], workers: int, directory: Path) -> Iterator[Told]:
    """Tell stories in several processes, in any order."""
    warm_up()
    context = multiprocessing.get_context("fork")
    results: multiprocessing.SimpleQueue[Told | None] = context.SimpleQueue()
    processes = [
        context.Process(
            target=_work, args=((directory / str(number), seeds[number::workers]), results)
        )
        for number in range(workers)
    ]
    for process in processes:
        process.start()
    left = workers
    try:
        while left:
            told = results.get()
            if told is None:
                left -= 1
            else:
                yield told
    finally:
        for process in processes:
            if left:
                process.terminate()
            process.join()


class Report:
    """What was found so far, by class."""

    def __init__(self) -> None:
        self.classes: dict[str, list[Found]] = {}
        self.known: Counter[str] = Counter()
        self.stories = self.steps = self.commands = self.clean = 0
        self.seconds = 0.0

    def add(self, told: Told) -> None:
        self.stories += 1
        self.steps += told.steps
        self.commands += told.commands
        self.seconds += told.seconds
        self.clean += not any(not each.reason for each in told.found)
        for each in told.found:
            if each.reason:
                self.known[each.reason] += 1
                continue
            same = self.classes.setdefault(each.difference.kind, [])
            same.append(each)
            if len(same) == 1:
                _show(each)

    def summary(self) -> None:
        print()
        for kind, found in sorted(self.classes.items(), key=lambda item: -len(item[1])):
            places = " ".join(f"{each.seed}:{each.step}" for each in found[:6])
            print(f"{len(found):>5}  {kind}  [{places}]")
        for reason, count in self.known.most_common():
            print(f"{count:>5}  explained: {reason}")
        each = self.seconds / max(self.stories, 1)
        print(
            f"{self.stories} stories, {self.steps} steps, {self.commands} commands, "
            f"{self.clean} stories without an unexplained difference, {each:.2f} seconds per story"
        )


def _show(found: Found) -> None:
    print(f"seed {found.seed} step {found.step}  {found.command}  {found.difference.kind}")
    sys.stdout.flush()


def _alone(seed: int, step: int, keep: Path, directory: Path) -> int:
    """Tell one story, as far as a step, and show everything about it."""
    warm_up()
    keep.mkdir(parents=True, exist_ok=True)
    with two_sides(_TOFU, directory) as sides:
        told = Teller(sides, keep, step).tell(seed)
    for each in told.found:
        if not step or each.step == step:
            _show(each)
            print(each.difference.text)
            print(f"  {each.reason or 'unexplained'}\n")
    return 1 if any(not each.reason for each in told.found if each.step == step or not step) else 0


def main() -> int:
    """Tell as many stories as asked for."""
    parser = argparse.ArgumentParser(prog="fuzz.differential", description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="how many stories")
    parser.add_argument("--seed", type=int, default=1, help="where to begin")
    parser.add_argument("--step", type=int, default=0, help="tell the story of the seed this far")
    parser.add_argument("--keep", type=Path, help="keep what both have there, for one story")
    parser.add_argument("--workers", type=int, default=1, help="how many processes")
    given = parser.parse_args()
    if not _TOFU.is_file():
        sys.exit(f"{_TOFU} is not there: run `make peers` (it needs Go)")
    with tempfile.TemporaryDirectory(prefix="nigari-differential-") as name:
        if given.keep or given.step:
            keep = given.keep or Path("build/differential")
            return _alone(given.seed, given.step, keep, Path(name))
        report = Report()
        seeds = list(range(given.seed, given.seed + given.count))
        with contextlib.suppress(KeyboardInterrupt):
            for told in tell_all(seeds, given.workers, Path(name)):
                report.add(told)
    report.summary()
    return 1 if report.classes else 0


if __name__ == "__main__":
    sys.exit(main())
