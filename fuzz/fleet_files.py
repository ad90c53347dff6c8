"""Damages the files of a fleet and checks that each is read, or refused with a diagnostic.

    python -m fuzz.fleet_files [-n COUNT] [-s SEED] [DIRECTORY]

Half of the inputs are saved fleet plans (every other one with a summary that was changed and packed
again, so that its checksums are right), half are journals of an apply with the plan beside them. For
each: no exception but a `SessionError`, no more than five seconds, and no more memory than
`MOST_MEMORY`. An input that breaks a promise is kept in build/fuzz, and the run ends with status 1.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import resource
import shutil
import signal
import sys
import tempfile
import traceback
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

from nigari.cli.views.fleet_reports import plan_markdown
from nigari.cli.views.fleet_text import plan_summary
from nigari.cli.views.style import PLAIN
from nigari.diagnostics import Diagnostics
from nigari.explore.fleet import fleet_data
from nigari.fleet import aio
from nigari.fleet.runs.journal import Journal
from nigari.fleet.runs.plan_file import read_fleet_plan, unit_plan
from nigari.fleet.runs.planning import FleetPlan, PlannedUnit
from nigari.fleet.runs.results import UnitResult, UnitStatus
from nigari.fleet.units.unit import fleet_directory
from nigari.fleet.work.tasks import ChangeLine, Changes
from nigari.plan.model.changes import PlanMode
from nigari.workspace.session.failure import SessionError

ROOT: Final = Path(__file__).resolve().parents[1]
KEPT: Final = ROOT / "build" / "fuzz"
LONGEST_SECONDS: Final = 5
MOST_MEMORY: Final = 1024 * 1024 * 1024
_ID: Final = "0123456789abcdef0123456789abcdef"
_SUMMARY: Final = "fleet.json"
_JOURNAL: Final = "journal.jsonl"
_VALUES: Final[tuple[object, ...]] = (
    None, True, -1, 0, 1.5, 1e308, 10**30, "", "\x00", "\ud800", "..", "../../x", "/etc/x", "done",
    [], {}, [[]], ["a"], {"a": 1}, "x" * 5000, "\x1b[2J",
)  # fmt: skip

Check = Callable[[random.Random], None]


class _TooLong(Exception):
    """An input took more time than any input may."""


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
        self._try_plan(changed_bytes(self._plan, rng))

    def sealed_plan(self, rng: random.Random) -> None:
        """A saved plan with other content, whose checksums are right."""
        with zipfile.ZipFile(io.BytesIO(self._plan)) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        if rng.random() < 0.8:
            data = json.loads(files[_SUMMARY])
            for _ in range(rng.randint(1, 3)):
                data = changed_value(data, rng)
            files[_SUMMARY] = json.dumps(data).encode()
        else:
            name = rng.choice([*files])
            files[name] = changed_bytes(files[name], rng)
        made, method = io.BytesIO(), rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
        with zipfile.ZipFile(made, "w", method) as archive:
            for name, content in files.items():
                archive.writestr(name if rng.random() < 0.95 else f"x/{name}", content)
        self._try_plan(made.getvalue())

    def journal(self, rng: random.Random) -> None:
        """A journal with other bytes or other values."""
        if rng.random() < 0.5:
            self._try_journal(changed_bytes(self._journal, rng))
            return
        lines = [json.loads(line) for line in self._journal.splitlines()]
        position = rng.randrange(len(lines))
        lines[position] = changed_value(lines[position], rng)
        self._try_journal("".join(f"{json.dumps(each)}\n" for each in lines).encode())

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


def changed_bytes(data: bytes, rng: random.Random) -> bytes:
    """The data after a few random changes: bits, bytes and slices."""
    made = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        start = rng.randrange(len(made) + 1)
        end = min(len(made), start + rng.choice((1, 1, 2, 4, 50)))
        match rng.randrange(6):
            case 0 | 1 if start < len(made):
                made[start] ^= 1 << rng.randrange(8)
            case 2:
                made[start:end] = rng.randbytes(rng.choice((1, 2, 4, 40)))
            case 3:
                del made[start:end]
            case 4:
                made[start:start] = made[start:end] * rng.choice((1, 2, 100))
            case _:
                del made[start if rng.random() < 0.2 else len(made) :]
    return bytes(made)


def changed_value(data: object, rng: random.Random) -> object:
    """JSON data of which one part is another value, has another name, or is missing."""
    if rng.random() < 0.25 or not isinstance(data, (dict, list)) or not data:
        return rng.choice(_VALUES)
    if isinstance(data, list):
        position = rng.randrange(len(data))
        if rng.random() < 0.1:
            return data[:position] + data[position + 1 :]
        return [changed_value(e, rng) if i == position else e for i, e in enumerate(data)]
    name = rng.choice([*data])
    if rng.random() < 0.1:
        return {key: each for key, each in data.items() if key != name}
    if rng.random() < 0.1:
        return {(f"{key}x" if key == name else key): each for key, each in data.items()}
    return {key: changed_value(e, rng) if key == name else e for key, e in data.items()}


@contextmanager
def _limited() -> Iterator[None]:
    """No more memory than any input may take."""
    before = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def _stop(_: int, __: FrameType | None) -> None:
    raise _TooLong


def search(root: Path, count: int, seed: int, kept: Path = KEPT) -> list[str]:
    """Try so many inputs; what is wrong with those that break a promise."""
    damaged, failures = Damaged(root), list[str]()
    checks: tuple[Check, ...] = (
        damaged.plan,
        damaged.journal,
        damaged.sealed_plan,
        damaged.journal,
    )
    old = signal.signal(signal.SIGALRM, _stop)
    try:
        with _limited():
            for number in range(count):
                rng = random.Random(f"{seed}-{number}")
                signal.alarm(LONGEST_SECONDS)
                try:
                    checks[number % len(checks)](rng)
                except SessionError:
                    continue
                except BaseException:  # noqa: BLE001 - whatever it is, it is what is searched for
                    failures.append(f"input {number} of seed {seed}:\n{traceback.format_exc()}")
                    kept.mkdir(parents=True, exist_ok=True)
                    (kept / f"fleet-{seed}-{number}").write_bytes(damaged.input)
                finally:
                    signal.alarm(0)
    finally:
        signal.signal(signal.SIGALRM, old)
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
