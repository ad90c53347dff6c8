"""Runs many stories in several processes, and reports what was different by class."""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from fuzz.story.difference import Difference
from fuzz.story.sides import warm_up
from scripts.peers import cache

TOFU: Final = cache() / "bin" / "tofu"


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
class StoryResult:
    """A story that was told: what was different, and how long it took."""

    seed: int
    steps: int
    commands: int
    found: tuple[Found, ...]
    seconds: float


class Teller(Protocol):
    """Tells the story of a seed."""

    def tell(self, seed: int) -> StoryResult:
        """Tell a whole story, or as far as the only step that matters."""


MakeTeller = Callable[[argparse.Namespace, Path], AbstractContextManager[Teller]]
"""Makes a teller that works below a directory."""


def _work(
    job: tuple[Path, list[int]],
    make: Callable[[Path], AbstractContextManager[Teller]],
    results: multiprocessing.SimpleQueue[StoryResult | None],
) -> None:
    directory, seeds = job
    try:
        with make(directory) as teller:
            for seed in seeds:
                results.put(teller.tell(seed))
    finally:
        results.put(None)


def _tell_all(
    make: Callable[[Path], AbstractContextManager[Teller]],
    seeds: list[int],
    workers: int,
    directory: Path,
) -> Iterator[StoryResult]:
    """Tell stories in several processes, in any order."""
    context = multiprocessing.get_context("fork")
    results: multiprocessing.SimpleQueue[StoryResult | None] = context.SimpleQueue()
    processes = [
        context.Process(
            target=_work,
            args=((directory / str(number), seeds[number::workers]), make, results),
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
        for process in processes:
            process.join()
            if process.exitcode:
                sys.exit("a process ended before it had told all of its stories")
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

    def add(self, told: StoryResult) -> None:
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


def run(make: MakeTeller, program: str, description: str | None, **options: str) -> int:
    """Tell as many stories as the command line asks for."""
    parser = argparse.ArgumentParser(prog=program, description=description)
    parser.add_argument("--count", type=int, default=100, help="how many stories")
    parser.add_argument("--seed", type=int, default=1, help="where to begin")
    parser.add_argument("--step", type=int, default=0, help="tell the story of the seed this far")
    parser.add_argument("--keep", type=Path, help="keep what all sides have there, for one story")
    parser.add_argument("--workers", type=int, default=1, help="how many processes")
    for name, text in options.items():
        parser.add_argument(f"--{name.replace('_', '-')}", action="store_true", help=text)
    given = parser.parse_args()
    warm_up()
    with tempfile.TemporaryDirectory(prefix="nigari-stories-") as name:
        if given.keep or given.step:
            with make(given, Path(name)) as teller:
                return _alone(teller.tell(given.seed), given.step)
        report = Report()
        seeds = list(range(given.seed, given.seed + given.count))
        with contextlib.suppress(KeyboardInterrupt):
            for told in _tell_all(
                lambda directory: make(given, directory), seeds, given.workers, Path(name)
            ):
                report.add(told)
    report.summary()
    return 1 if report.classes else 0


def _alone(told: StoryResult, step: int) -> int:
    """Show everything that was different in one story, at one step if it names one."""
    found = [each for each in told.found if not step or each.step == step]
    for each in found:
        _show(each)
        print(each.difference.text)
        print(f"  {each.reason or 'unexplained'}\n")
    return 1 if any(not each.reason for each in found) else 0
