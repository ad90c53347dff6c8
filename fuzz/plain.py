"""Writes random configurations with what only nigari has as plain ones, and has OpenTofu plan them.

The configurations are the compact texts of the stories that `fuzz.equivalences` tells. After each
step that nigari has applied and has nothing left to do for, it writes the plain configuration, and
the real program plans that with the same state and the same world: it must have nothing to do. Every
other story is written for programs that have less, whose configurations OpenTofu reads as well.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import sys
import time
from argparse import Namespace
from collections.abc import Generator, Iterator
from functools import partial
from pathlib import Path
from typing import Final

from fuzz.expansion.model import literal
from fuzz.expansion.telling import Pair, Story
from fuzz.story.difference import Difference
from fuzz.story.running import TOFU, Found, StoryResult, run
from fuzz.story.sides import Finished, MakeSide, OurSide, RealSide, Side, running_sides
from fuzz.story.telling import PLAN, Seen
from tests.real.plain_world import changes_in

_TARGETS: Final = ("opentofu", "opentofu-1.8", "opentofu", "terraform")
_LACKING: Final = "Error: Object that is never destroyed"


class Teller:
    """Tells stories to nigari, and shows the real program what it writes."""

    def __init__(self, ours: Side, real: Side, keep: Path | None, only: int) -> None:
        self._ours = ours
        self._real = real
        self._keep = keep
        self._only = only
        self._commands = 0
        self._target = ""

    def tell(self, seed: int) -> StoryResult:
        """Tell a story up to its first plain configuration that is not equal."""
        began = time.monotonic()
        story, found, number = Story(seed), list[Found](), 0
        self._commands = 0
        self._target = _TARGETS[seed % len(_TARGETS)]
        for side in (self._ours, self._real):
            side.begin(seed)
        while not story.is_over and not found and (not self._only or number < self._only):
            number += 1
            seen = self._ours.seen()
            named = Seen(json.loads(literal(json.dumps(seen.state))), seen.objects)
            for each in self._take(story.next(named)):
                found.append(Found(seed, number, "config -plain", each))
        return StoryResult(seed, number, self._commands, tuple(found), time.monotonic() - began)

    def _take(self, pair: Pair) -> Iterator[Difference]:
        """Apply a step. If nothing is left to do, nothing is for the plain configuration either."""
        self._ours.prepare(pair.compact)
        first = pair.compact.commands[0]
        chosen = first[:1] if first[0].startswith("-env") else []
        self._done(self._ours, [*chosen, "apply", "-auto-approve"])
        if self._done(self._ours, [*chosen, "plan", "-detailed-exitcode"]).status:
            return
        plain = self._real.path / "plain"
        shutil.rmtree(plain, ignore_errors=True)
        options = ["-plain", f"-out={plain}", f"-for={self._target}"]
        written = self._done(self._ours, [*chosen, "config", *options])
        if _LACKING in written.stderr and self._target != _TARGETS[0]:
            return
        if written.status:
            yield Difference("not written", written.stdout + written.stderr)
            return
        self._real.become(self._ours)
        shutil.rmtree(self._real.work)
        shutil.copytree(plain, self._real.work)
        (self._real.work / "terraform.tfstate").write_text(self._ours.state())
        if self._keep is not None:
            shutil.rmtree(self._keep, ignore_errors=True)
            for side in (self._ours, self._real):
                shutil.copytree(side.work, self._keep / side.path.name, symlinks=True)
        yield from self._left()

    def _left(self) -> Iterator[Difference]:
        """What the real program finds to do."""
        shown = ""
        for command in (["init"], ["plan", f"-out={PLAN}"], ["show", "-json", PLAN]):
            done = self._done(self._real, command)
            if done.status:
                summary = next(
                    (line for line in done.stderr.splitlines() if "Error:" in line), "no reason"
                )
                yield Difference(f"{command[0]} fails: {summary}", done.stdout + done.stderr)
                return
            shown = done.stdout
        left = changes_in(json.loads(shown))
        if left:
            yield Difference("something to do", "\n".join(left))

    def _done(self, side: Side, command: list[str]) -> Finished:
        self._commands += 1
        side.start(command)
        return side.finish()


@contextlib.contextmanager
def _teller(given: Namespace, directory: Path) -> Generator[Teller]:
    makers: dict[str, MakeSide] = {"ours": OurSide, "real": partial(RealSide, tofu=TOFU)}
    with running_sides(directory, makers) as (ours, real):
        yield Teller(ours, real, given.keep, given.step)


def main() -> int:
    """Write as many configurations as asked for."""
    return run(_teller, "fuzz.plain", __doc__)


if __name__ == "__main__":
    sys.exit(main())
