"""Tampers with the results of random stories, and says which faults the judge does not report.

Each command of a story is judged again with each tamper of `fuzz.story.tampers`. A fault that only
promises explain, or that nothing compares, is a weakness of the judge. Where planning fails, how far
it came is not compared, so nothing is changed there but errors.
"""

from __future__ import annotations

import contextlib
import random
import sys
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from fuzz.differential import Teller
from fuzz.story.command_run import CommandRun, verdicts
from fuzz.story.comparing import begun
from fuzz.story.difference import Difference
from fuzz.story.running import TOFU, Found, StoryResult, run
from fuzz.story.sides import Sides, two_sides
from fuzz.story.tampers import ERRORS, TAMPERS, Answer, Tamper


class TamperingTeller:
    """Tells stories to both programs, and tampers with each command."""

    def __init__(self, sides: Sides) -> None:
        self._teller = Teller(sides)

    def tell(self, seed: int) -> StoryResult:
        """Tell a story; what was found are the tampers, with a reason where they were reported."""
        told = self._teller.tell(seed)
        found = [
            Found(seed, number, " ".join(each.command), difference, reason)
            for number, each in enumerate(self._teller.runs, 1)
            for difference, reason in tampered(each, random.Random(seed))
        ]
        return replace(told, found=tuple(found))


def tampered(command_run: CommandRun, chance: random.Random) -> Iterator[tuple[Difference, str]]:
    """Yield each tamper that a command allows: what explains it, and whether it was reported."""
    before = verdicts(command_run)
    is_told = command_run.ours.stdout.startswith("{")
    if not is_told or any(not each.reason for each in before):
        return
    known = {each.difference.text for each in before}
    for tamper in _allowed(command_run):
        answer = Answer.of(command_run)
        if not tamper(answer, chance):
            continue
        found = verdicts(answer.put_into(command_run))
        if any(not each.reason for each in found):
            yield Difference(tamper.__name__, ""), f"reported: {tamper.__name__}"
            continue
        reasons = {each.reason for each in found if each.difference.text not in known}
        yield Difference(f"{tamper.__name__}: {'; '.join(sorted(reasons)) or 'not seen'}", ""), ""


def _allowed(command_run: CommandRun) -> tuple[Tamper, ...]:
    has_failed_plan = command_run.theirs.status and not begun(command_run.theirs)
    return ERRORS if has_failed_plan else TAMPERS


@contextlib.contextmanager
def _teller(_: Namespace, directory: Path) -> Iterator[TamperingTeller]:
    with two_sides(TOFU, directory) as sides:
        yield TamperingTeller(sides)


def main() -> int:
    """Tamper with as many stories as asked for."""
    if not TOFU.is_file():
        sys.exit(f"{TOFU} is not there: run `make peers` (it needs Go)")
    return run(_teller, "fuzz.tampering", __doc__)


if __name__ == "__main__":
    sys.exit(main())
