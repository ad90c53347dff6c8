"""Fleets of public repositories: `python -m tests.outside.fleets [-only PART] [-units N]`.

Each repository is one fleet. `fleet list`, `graph`, `init -backend=false` and `validate` see it with
the backends that it has, `fleet init` and `fleet plan` with local ones, plugins and stubs attached.
Refused must be nothing that `tofu` accepts: a refusal of the fleet as a whole is open, and so is a
unit that fails where `tofu` does the same in its directory. Differences between the two programs in
what they say of one directory are the subject of `tests.outside`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

from tests.outside.__main__ import stubs
from tests.outside.beside import Programs, Said, local_backend
from tests.outside.checkouts import Trees, git_directory, names, snapshots
from tests.outside.inputs import write_values
from tests.outside.plugins import real_plugins

_LIMIT: Final = 1200
_VALUES: Final = "outside.auto.tfvars.json"
_DIRECTORIES: Final = (".terraform", ".nigari")
_FAILED: Final = (0, 1)
_ELSEWHERE: Final = "Cannot install a module"
"""The first error of a unit that needs a module which was not fetched: it is left out."""

_PROMISED: Final = "Sensitive value in an output"
"""`try` keeps the marks of what is not known, here those that a stub has made up."""


@dataclass
class Fleet:
    """What came of the commands in one repository."""

    name: str
    units: list[str] = field(default_factory=list)
    statuses: dict[str, int] = field(default_factory=dict)
    failed: dict[str, dict[str, str]] = field(default_factory=dict)
    """For each command the units that failed, with the first error."""
    open: list[str] = field(default_factory=list)
    """What the program refuses and should not."""

    def __str__(self) -> str:
        told = (
            f"{name}={status}" + (f" ({len(failed)} failed)" if failed else "")
            for name, status in self.statuses.items()
            for failed in (self.failed.get(name, {}),)
        )
        return f"{self.name}: {len(self.units)} units {' '.join(told)}"


class FleetRun:
    """The commands, one repository after the other."""

    def __init__(self, programs: Programs, scratch: Path, most: int) -> None:
        self._programs = programs
        self._scratch = scratch
        self._most = most

    def run(self, name: str, tree: Path) -> Fleet:
        """Everything in one repository, whose tree is left as it was found."""
        fleet = Fleet(name)
        shutil.rmtree(self._scratch, ignore_errors=True)
        self._scratch.mkdir(parents=True)
        try:
            self._look(fleet, tree)
            step = max(1.0, len(fleet.units) / self._most)
            count = min(self._most, len(fleet.units))
            units = [fleet.units[int(position * step)] for position in range(count)]
            units = self._each(fleet, tree, "init -backend=false", units)
            self._each(fleet, tree, "validate", units)
            self._clean(tree)
            with contextlib.ExitStack() as stack:
                for unit in units:
                    stack.enter_context(local_backend(tree / unit))
                    stack.enter_context(_values(tree / unit))
                units = self._each(fleet, tree, "init", units)
                self._each(fleet, tree, "plan", units, "-lock=false")
        finally:
            self._clean(tree)
        return fleet

    def _look(self, fleet: Fleet, tree: Path) -> None:
        for command in ("list", "graph"):
            said = self._ask(fleet, tree, command, ["-json"])
            with contextlib.suppress(ValueError):
                found = json.loads(said.text)["units"]
                fleet.units = [each["name"] for each in found]
                fleet.failed[command] = {
                    each["name"]: "{summary}: {detail}".format_map(each["problems"][0])
                    for each in found
                    if each["problems"]
                }
            if said.status and not fleet.failed.get(command):
                fleet.open.append(f"{command} refuses the fleet: {said.errors[:2000]}")

    def _each(
        self, fleet: Fleet, tree: Path, command: str, units: list[str], *options: str
    ) -> list[str]:
        """The units that a command was done with."""
        if not units:
            return []
        report = self._scratch / "report.xml"
        report.unlink(missing_ok=True)
        only = [f"-only={unit}" for unit in units]
        words = ["-jobs=2", f"-junit-xml={report}", *options, *only]
        said = self._ask(fleet, tree, command, words)
        if not report.exists():
            fleet.open.append(f"{command} refuses the fleet: {said.errors[:2000]}")
            return []
        failed = fleet.failed[command] = _failures(report)
        for unit, error in failed.items():
            if _ELSEWHERE in error or error.startswith(_PROMISED):
                continue
            status = self._alone(tree / unit, command)
            if status == 0 or "Unexpected failure" in error:
                fleet.open.append(f"{command} refuses {unit}, tofu does not: {error}")
        return [unit for unit in units if unit not in failed]

    def _alone(self, directory: Path, command: str) -> int:
        """What `tofu` says to a command in the directory of one unit."""
        scratch = self._scratch / "alone"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        needed = [["init", "-input=false"]]
        if command == "validate" or "=false" in command:
            needed = [["init", "-input=false", "-backend=false"]]
        if command in ("validate", "plan"):
            lock = ["-input=false", "-lock=false"] if command == "plan" else []
            needed.append([command, *lock])
        statuses = [
            self._programs.command(directory, scratch, each, ours=False).status for each in needed
        ]
        return max(statuses, key=abs)

    def _ask(self, fleet: Fleet, tree: Path, command: str, options: list[str]) -> Said:
        said = self._programs.command(
            tree,
            self._scratch,
            ["fleet", *command.split(), *options],
            ours=True,
            limit=_LIMIT,
            has_own_data=False,
        )
        fleet.statuses[command] = said.status
        if said.status not in _FAILED or "nigari crashed" in said.errors:
            fleet.open.append(f"{command} ends with {said.status}: {said.errors[-3000:]}")
        return said

    def _clean(self, tree: Path) -> None:
        for name in _DIRECTORIES:
            for found in list(tree.rglob(name)):
                shutil.rmtree(found)
        for lock in list(tree.rglob(".terraform.lock.hcl")):
            lock.unlink()


@contextlib.contextmanager
def _values(directory: Path) -> Iterator[None]:
    """Values for what has no default, in a file that is read by itself."""
    target = directory / _VALUES
    write_values(directory, target)
    try:
        yield
    finally:
        target.unlink(missing_ok=True)


def _failures(report: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        for error in case.iter("error"):
            found[case.get("name", "")] = f"{error.get('message')}: {error.text}"
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Run fleet commands on public repositories.")
    parser.add_argument("-only", default="", help="repositories whose name contains this")
    parser.add_argument("-units", type=int, default=25, help="units of each that are worked with")
    parser.add_argument("-work", type=Path, default=snapshots() / "work")
    given = parser.parse_args()
    trees = Trees(given.work / "trees")
    chosen = [
        (name, trees.unpack(name))
        for name in names()
        if git_directory(name) is not None and given.only in name
    ]
    results = given.work / "fleets"
    results.mkdir(parents=True, exist_ok=True)
    begun, open_ones = time.monotonic(), 0
    with stubs(trees.root) as made, real_plugins() as plugins:
        attached = {**made, **plugins}
        (given.work / "attached.json").write_text(json.dumps(attached))
        run = FleetRun(Programs(attached, given.work), given.work / "fleet-run", given.units)
        for number, (name, tree) in enumerate(chosen, 1):
            fleet = run.run(name, tree)
            open_ones += bool(fleet.open)
            path = results / f"{name.replace('/', '+')}.json"
            path.write_text(json.dumps({"open": fleet.open, "failed": fleet.failed}, indent=1))
            print(f"{number}/{len(chosen)} {time.monotonic() - begun:.0f}s {fleet}", flush=True)
            for each in fleet.open:
                print(f"   OPEN {each.splitlines()[0][:200]}", flush=True)
    print(f"{open_ones} of {len(chosen)} repositories with something open. Details: {results}")


if __name__ == "__main__":
    main()
