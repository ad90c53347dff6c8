"""Counts how many stories exercise each feature of the language and the commands with an effect.

The stories are those of `fuzz.differential`, told to Nigari alone. A feature that no story exercises
makes the run fail: nothing is known then of whether both programs treat it alike.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import tempfile
from collections import Counter
from pathlib import Path

from fuzz.differential import Teller
from fuzz.story.features import FEATURES, Feature, exercised
from fuzz.story.sides import Finished, OurSide, Sides, running_sides, warm_up


class Alone(Sides):
    """Nigari on both sides, which runs each command once."""

    def both(self, command: list[str]) -> tuple[Finished, Finished]:
        """Run a command line."""
        self.ours.start(command)
        done = self.ours.finish()
        return done, done


def _count(job: tuple[Path, list[int]]) -> Counter[int]:
    """Count the stories with each feature, by its number."""
    directory, seeds = job
    found = Counter[int]()
    with running_sides(directory, {"ours": OurSide}) as (side,):
        teller = Teller(Alone(side, side))
        for seed in seeds:
            teller.tell(seed)
            features = set[Feature]().union(*map(exercised, teller.runs))
            found.update(number for number, each in enumerate(FEATURES) if each in features)
    return found


def main() -> int:
    """Tell stories and print the table."""
    parser = argparse.ArgumentParser(prog="fuzz.coverage", description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="how many stories")
    parser.add_argument("--seed", type=int, default=1, help="where to begin")
    parser.add_argument("--workers", type=int, default=1, help="how many processes")
    given = parser.parse_args()
    warm_up()
    seeds = list(range(given.seed, given.seed + given.count))
    total = Counter[int]()
    with tempfile.TemporaryDirectory(prefix="nigari-coverage-") as name:
        jobs = [
            (Path(name, str(number)), seeds[number :: given.workers])
            for number in range(given.workers)
        ]
        with multiprocessing.get_context("fork").Pool(given.workers) as pool:
            for found in pool.imap_unordered(_count, jobs):
                total.update(found)
    for number, each in enumerate(FEATURES):
        print(f"{each.group:<20} {each.name:<36} {total[number]:>6}")
    missing = [each.name for number, each in enumerate(FEATURES) if not total[number]]
    print(f"{given.count} stories, {len(FEATURES)} features, {len(missing)} without effect in any")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
