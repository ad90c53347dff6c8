"""Asks nigari and the real OpenTofu for the values of random expressions and compares.

Compared are the verdict (value or error), the value as the console shows it, its type, and its
JSON text. A difference is made as small as possible before it is shown. What is known and meant
is in `fuzz.known_differences`; anything else makes the run fail.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from fuzz.consoles import CRASHED, FAILED, Outcome, OwnConsole, RealConsole
from fuzz.grammar import FIXTURE, Grammar
from fuzz.known_differences import KNOWN
from fuzz.tree import Tree
from scripts.peers import cache

_BATCH: Final = 250
_MOST_STEPS: Final = 60
_PEERS: Final = cache()


class Fuzzer:
    """Compares the two consoles over a stream of expressions."""

    def __init__(self, real: RealConsole, own: OwnConsole, shows_known: bool) -> None:
        self._real = real
        self._own = own
        self._shows_known = shows_known
        self.counts: Counter[str] = Counter()
        self.found: list[tuple[Tree, Outcome, Outcome]] = []

    def compare(self, trees: list[Tree]) -> None:
        """Compare a batch, and remember what is different and unexplained."""
        outcomes = self._real.outcomes([str(tree) for tree in trees])
        for tree, real in zip(trees, outcomes, strict=True):
            own = self._own.outcome(str(tree))
            self.counts["values" if real is not FAILED else "errors"] += 1
            if own == real:
                continue
            reason = self._explanation(str(tree), real, own)
            self.counts[f"known: {reason}" if reason else "different"] += 1
            if reason is not None and self._shows_known:
                show(tree, real, own)
                print(f"  {reason}")
            if reason is None:
                self.found.append(self._shrink(tree, real, own))
                show(*self.found[-1])

    def _shrink(self, tree: Tree, real: Outcome, own: Outcome) -> tuple[Tree, Outcome, Outcome]:
        """The smallest tree that still shows an unexplained difference."""
        for _ in range(_MOST_STEPS):
            smaller = next(self._smaller(tree), None)
            if smaller is None:
                break
            tree, real, own = smaller
        return tree, real, own

    def _smaller(self, tree: Tree) -> Iterator[tuple[Tree, Outcome, Outcome]]:
        candidates = [each for each in tree.smaller() if each.size < tree.size][:_BATCH]
        if not candidates:
            return
        outcomes = self._real.outcomes([str(each) for each in candidates])
        for candidate, real in zip(candidates, outcomes, strict=True):
            own = self._own.outcome(str(candidate))
            if real != own and self._explanation(str(candidate), real, own) is None:
                yield candidate, real, own

    def _explanation(self, expression: str, real: Outcome, own: Outcome) -> str | None:
        """Why the two outcomes may differ, if that is known."""
        if real is FAILED and self._real.crashes(expression):
            real = CRASHED
        for known in KNOWN:
            if known.explains(expression, real, own):
                return known.reason
        return None


def show(tree: Tree, real: Outcome, own: Outcome) -> None:
    """Print a difference."""
    print(f"\n{tree}")
    for name, theirs, ours in (
        ("value", real.display, own.display),
        ("type", real.type, own.type),
        ("json", real.json, own.json),
    ):
        if theirs != ours:
            print(f"  {name}: tofu    {'error' if theirs is None else theirs}")
            print(f"  {name}: nigari  {'error' if ours is None else ours}")
    sys.stdout.flush()


def main() -> int:
    """Run as many expressions as asked for."""
    parser = argparse.ArgumentParser(prog="fuzz.expressions", description=__doc__)
    parser.add_argument("--count", type=int, default=20_000, help="how many expressions")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="where to begin")
    parser.add_argument("--depth", type=int, default=4, help="how deep expressions may nest")
    parser.add_argument("--known", action="store_true", help="show known differences as well")
    parser.add_argument("--most", type=int, default=50, help="stop after so many differences")
    arguments = parser.parse_args()
    tofu = _PEERS / "bin" / "tofu"
    if not tofu.is_file():
        sys.exit(f"{tofu} is not there: run `make peers` (it needs Go)")
    print(f"seed {arguments.seed}")
    with tempfile.TemporaryDirectory(prefix="nigari-fuzz-") as name:
        directory = Path(name)
        (directory / "main.tf").write_text(FIXTURE)
        fuzzer = Fuzzer(RealConsole(tofu, directory), OwnConsole(directory), arguments.known)
        grammar = Grammar(arguments.seed, arguments.depth)
        left = arguments.count
        while left > 0 and len(fuzzer.found) < arguments.most:
            fuzzer.compare([grammar.expression() for _ in range(min(left, _BATCH))])
            left -= _BATCH
    print()
    for what, count in fuzzer.counts.most_common():
        print(f"{count:>8}  {what}")
    return 1 if fuzzer.found else 0


if __name__ == "__main__":
    sys.exit(main())
