"""Damages the files of a fleet and checks that each is read, or refused with a diagnostic.

    python -m fuzz.fleet_files [-n COUNT] [-s SEED] [DIRECTORY]

Half of the inputs are saved fleet plans (every other one with a summary that was changed and packed
again, so that its checksums are right), half are journals of an apply with the plan beside them. For
each: no exception but a `SessionError`, no more than five seconds, and no more memory than
`MOST_MEMORY`. An input that breaks a promise is kept in build/fuzz, and the run ends with status 1.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import shutil
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from fuzz.damage import at_most, damage_bytes, damage_entry, damage_lines
from fuzz.hcl_files import KEPT, LONGEST_SECONDS
from nigari.cli.views.fleet_reports import plan_markdown
from nigari.cli.views.fleet_text import plan_summary
from nigari.cli.views.style import PLAIN
from nigari.diagnostics import Diagnostics
from nigari.explore.fleet import fleet_data
from nigari.fleet import aio
from nigari.fleet.runs.journal import Journal
from nigari.fleet.runs.plan_file import read_fleet_plan, unit_plan
from nigari.fleet.runs.plan_fleet import FleetPlan, PlannedUnit
from nigari.fleet.runs.results import UnitResult, UnitStatus
from nigari.fleet.units.unit import fleet_directory
from nigari.fleet.work.tasks import ChangeLine, Changes
from nigari.plan.model.changes import PlanMode
from nigari.workspace.session.failure import SessionError

MOST_MEMORY: Final = 1024 * 1024 * 1024
_ID: Final = "0123456789abcdef0123456789abcdef"
_SUMMARY: Final = "fleet.json"
_JOURNAL: Final = "journal.jsonl"
Check = Callable[[random.Random], None]


class Damaged:
    """A fleet of two units whose files are damaged, one after the other."""

    def __init__(self, root: Path) -> None:
        for name in ("a", "b"):
            (root / name).mkdir(parents=True)
            (root / name / "main.tf").write_text('resource "terraform_data" "x" {}\n')
        self.root = root
        self.fleet = aio.open(root)
        self.plan_file = root / "p"
        self.input: bytes = b""
        """What was tried last."""
        self._home = Path(fleet_directory(str(root)))
        self.fleet.save(_plan(root), self.plan_file)
        self._plan = self.plan_file.read_bytes()
        self._journal = self._written_journal()

    def _written_journal(self) -> bytes:
        journal = Journal(str(self._home / _ID))
        journal.begin(_ID, ["a", "b"], False)
        journal.start("a")
        journal.finish("a", "done")
        journal.start("b")
        journal.finish("b", "failed")
        journal.close()
        return Path(journal.path).read_bytes()

    def plan(self, rng: random.Random) -> None:
        """A saved plan with a few other bytes."""
        self._try_plan(damage_bytes(self._plan, rng))

    def sealed_plan(self, rng: random.Random) -> None:
        """A saved plan with other content, whose checksums are right."""
        self._try_plan(damage_entry(self._plan, rng, _SUMMARY))

    def journal(self, rng: random.Random) -> None:
        """A journal with other bytes or other values."""
        self._try_journal(damage_lines(self._journal, rng))

    def _try_plan(self, data: bytes) -> None:
        self.input = data
        self.plan_file.write_bytes(data)
        shutil.rmtree(self._home, ignore_errors=True)
        self._read(str(self.plan_file))

    def _read(self, path: str) -> None:
        diags = Diagnostics()
        saved = read_fleet_plan(path, diags)
        assert (saved is None) == diags.has_errors
        if saved is None:
            return
        str(plan_summary(saved.plan, PLAIN).encode())
        plan_markdown(saved.plan).encode()
        for name in saved.plan.units:
            unit_plan(saved, name, path, diags)
        plan = self.fleet.read_plan(path)
        for each in plan.units.values():
            assert not each.path or Path(each.path).resolve().is_relative_to(self._home.resolve())

    def _try_journal(self, data: bytes) -> None:
        self.input = data
        directory = self._home / _ID
        shutil.rmtree(self._home, ignore_errors=True)
        directory.mkdir(parents=True)
        (directory / _JOURNAL).write_bytes(data)
        (directory / "fleet.plan").write_bytes(self._plan)
        begun = self.fleet.unfinished()
        json.dumps(fleet_data(self.fleet.survey, {})).encode()
        if begun is not None and begun.can_continue:
            self.fleet.read_plan(begun.summary)
        journal = Journal(str(directory))
        journal.begin(_ID, ["a"], False)
        journal.start("a")
        journal.finish("a", "done")
        journal.close()
        assert Journal(str(directory)).state("a") == "done"


def _plan(root: Path) -> FleetPlan:
    """A plan of both units, one with changes."""
    lines = (ChangeLine("terraform_data.x", "replace", "because it is tainted"),)
    changes = Changes(1, 0, 1, 0, 0, 2, lines, ("terraform_data.x",), False, True)
    units: dict[str, PlannedUnit] = {}
    for name, found in (("a", changes), ("b", None)):
        path = root / f"{name}-12345678.plan"
        path.write_bytes(random.Random(name).randbytes(400))
        units[name] = PlannedUnit(UnitResult(name, UnitStatus.DONE, found), "d" * 64, str(path))
    return FleetPlan(_ID, PlanMode.NORMAL, "2026-01-01T00:00:00Z", units)


@contextmanager
def _limited() -> Iterator[None]:
    """No more memory than any input may take."""
    before = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def search(root: Path, count: int, seed: int, kept: Path = KEPT) -> list[str]:
    """Try so many inputs; what is wrong with those that break a promise."""
    damaged, failures = Damaged(root), list[str]()
    checks: tuple[Check, ...] = (
        damaged.plan,
        damaged.journal,
        damaged.sealed_plan,
        damaged.journal,
    )
    with _limited():
        for number in range(count):
            rng = random.Random(f"{seed}-{number}")
            try:
                with at_most(LONGEST_SECONDS):
                    checks[number % len(checks)](rng)
            except SessionError:
                continue
            except BaseException:  # noqa: BLE001 - whatever it is, it is what is searched for
                failures.append(f"input {number} of seed {seed}:\n{traceback.format_exc()}")
                kept.mkdir(parents=True, exist_ok=True)
                (kept / f"fleet-{seed}-{number}").write_bytes(damaged.input)
    return failures


def main() -> None:
    parser = argparse.ArgumentParser(description="Damage the files of a fleet.")
    parser.add_argument("-n", type=int, default=20_000)
    parser.add_argument("-s", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        failures = search(Path(folder), given.n, given.s)
    print("\n".join(failures[:10]))
    print(f"{given.n} inputs, {len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
