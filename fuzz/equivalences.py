"""Has nigari go through stories of what only it has, beside the same configuration written out.

A story is a random configuration whose module calls have instances that differ (`fuzz.expansion`),
with a literal text of it that has a call for each instance. Both go through the same steps. Compared
are exit codes, diagnostics, plans, events, states, the calls that the provider got and what
provisioners wrote, with the addresses of instances as the literal text has them. The literal text
also goes through the real OpenTofu, which tells whose fault a difference is. A story ends at its
first difference.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from fuzz.expansion.levelling import level_finished, level_outcome, reported
from fuzz.expansion.telling import Pair, Story
from fuzz.story import comparing
from fuzz.story.command_run import note
from fuzz.story.difference import Difference, listed
from fuzz.story.events import events
from fuzz.story.explained import explanation
from fuzz.story.oracles import judged
from fuzz.story.order import too_early
from fuzz.story.result import Result
from fuzz.story.running import TOFU, Found, StoryResult, run
from fuzz.story.sides import Finished, InnerSide, MakeSide, RealSide, Side, running_sides
from fuzz.story.telling import PLAN

_REAL: Final = "beside the real program: "


class Teller:
    """Tells stories to the literal text and the compact one, and to the real program."""

    def __init__(self, sides: list[Side], keep: Path | None, only: int) -> None:
        self._literal, self._compact, *self._others = sides
        self._real = self._others
        self._keep = keep
        self._only = only
        self._commands = 0
        self._is_partial = False
        """Whether the last plan was one of what a command line singles out."""

    def tell(self, seed: int) -> StoryResult:
        """Tell a story up to its first difference, or as far as the only step that matters."""
        began = time.monotonic()
        story, found, number = Story(seed), list[Found](), 0
        self._real = [] if story.is_beyond else self._others
        self._commands = 0
        for side in self._sides():
            side.begin(seed)
        while not story.is_over and (not self._only or number < self._only):
            number += 1
            found += self._take(story.next(self._literal.seen()), seed, number)
            if any(not each.reason for each in found):
                break
        return StoryResult(seed, number, self._commands, tuple(found), time.monotonic() - began)

    def _sides(self) -> list[Side]:
        return [self._literal, self._compact, *self._real]

    def _take(self, pair: Pair, seed: int, number: int) -> Iterator[Found]:
        """Take a step: run its commands as long as both texts do the same."""
        for side in self._sides():
            side.prepare(pair.compact if side is self._compact else pair.literal)
            self._keep_now(side, f"before-{number}")
        for written, command in zip(pair.literal.commands, pair.compact.commands, strict=True):
            goes_on = True
            for each, reason in self._run(pair, written, command):
                yield Found(seed, number, " ".join(command), each, reason)
                goes_on &= bool(reason)
            is_plan = f"-out={PLAN}" in command
            if not goes_on or (is_plan and not self._has_plan()):
                return
            for side in () if is_plan else self._real:
                side.become(self._literal)

    def _has_plan(self) -> bool:
        """Whether the last plan, which leaves nothing behind when it fails, can be applied."""
        return all((side.work / PLAN).exists() for side in self._sides())

    def _keep_now(self, side: Side, name: str) -> None:
        if self._keep is not None:
            goal = self._keep / name / side.path.name
            shutil.rmtree(goal, ignore_errors=True)
            shutil.copytree(side.path, goal, ignore=shutil.ignore_patterns("plugin-*"))

    def _run(
        self, pair: Pair, written: list[str], command: list[str]
    ) -> Iterator[tuple[Difference, str]]:
        """Run a command on all sides: the differences, each with what explains it."""
        before = self._literal.state()
        if PLAN not in command:
            self._is_partial = any(each.startswith(("-target", "-exclude")) for each in command)
        for side in self._sides():
            side.forget()
            if f"-out={PLAN}" in command:
                (side.work / PLAN).unlink(missing_ok=True)
        compact, literal, *real = self._all(written, command)
        for each in self._differences(pair, before, literal, compact):
            yield each, ""
        for theirs, side in zip(real, self._real, strict=True):
            note(pair.literal, theirs, literal)
            result = Result(literal, None, self._literal.outcome())
            answer = theirs, side.outcome()
            found, _ = judged(pair.literal, written, before, answer, result)
            for each in found:
                reason = explanation(pair.literal, written, each, found)
                yield Difference(f"{_REAL}{each.kind}", each.text), reason
        if f"-out={PLAN}" in command and not literal.status and not compact.status:
            show = ["show", "-json", PLAN]
            shown = self._all(show, [*command[: command.index("plan")], *show])[:2]
            levelled = [level_finished(each, pair.declared, self._is_partial) for each in shown]
            for each in comparing.plans(levelled[1], levelled[0]):
                yield each, ""

    def _differences(
        self, pair: Pair, before: str, literal: Finished, compact: Finished
    ) -> Iterator[Difference]:
        """What the compact text did otherwise than the literal one."""
        theirs, ours = (
            level_finished(each, pair.declared, self._is_partial) for each in (literal, compact)
        )
        yield from comparing.exit_codes(theirs, ours)
        left, right = reported(theirs, ours, pair.declared)
        if left != right:
            kinds = sorted({f"-{e[1]}" for e in left - right} | {f"+{e[1]}" for e in right - left})
            text = listed([str(e) for e in left - right], [str(e) for e in right - left])
            yield Difference(f"diagnostics: {', '.join(kinds)}", text)
        if theirs.status != ours.status:
            return
        yield from events(theirs, ours)
        outcomes = level_outcome(self._literal.outcome()), level_outcome(self._compact.outcome())
        yield from comparing.changes(*outcomes)
        yield from comparing.reads(*outcomes)
        yield from comparing.calls("configurations", ("configure",), *outcomes)
        yield from comparing.calls("openings", ("open", "close"), *outcomes)
        # Without keys, the dependencies of the compact state do not say of which instance.
        early = too_early(before, self._literal.state(), self._compact.journal())
        if early:
            yield Difference("order: an operation came too early", "\n".join(early))

    def _all(self, written: list[str], command: list[str]) -> list[Finished]:
        """Run a command on all sides: what came of the compact one comes first."""
        self._commands += 1
        order = [self._compact, self._literal, *self._real]
        for side in order:
            side.start(command if side is self._compact else written)
        done = [side.finish() for side in order]
        if self._keep is not None:
            for side, each in zip(order, done, strict=True):
                path = self._keep / f"{self._commands}-{side.path.name}.txt"
                path.write_text(f"{json.dumps(written)}\n{each.status}\n{each.stdout}{each.stderr}")
        return done


@contextlib.contextmanager
def _teller(given: Namespace, directory: Path) -> Iterator[Teller]:
    makers: dict[str, MakeSide] = {"literal": InnerSide, "compact": InnerSide}
    if TOFU.is_file() and not given.alone:
        makers["real"] = partial(RealSide, tofu=TOFU)
    with running_sides(directory, makers) as sides:
        yield Teller(sides, given.keep, given.step)


def main() -> int:
    """Tell as many stories as asked for."""
    return run(
        _teller, "fuzz.equivalences", __doc__, alone="do without the real program, if it is there"
    )


if __name__ == "__main__":
    sys.exit(main())
