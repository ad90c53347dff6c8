"""Judges the tests by faults drawn at random from the packages that plan, apply and evaluate.

A plugin for pytest: the tests are collected once. The first time, those of each file run in a fork that
notes which lines each of them executes. Then each fault gets a fork of its own, where it replaces the code of its
function and the tests that execute its line run, the fastest first, until one fails. What other
processes do is not seen, so tests that start the program as a process of its own don't count.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import inspect
import itertools
import json
import os
import random
import select
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import Final

import coverage
import pytest

from scripts.mutants import Mutant, listed
from scripts.small_faults import small_faults

ROOT: Final = Path(__file__).resolve().parents[1]
SOURCE: Final = ROOT / "src" / "nigari"
PACKAGES: Final = ("plan", "apply", "eval")
TESTS: Final = ("plan", "apply", "eval", "workspace", "state", "cli")
_PATIENCE: Final = 60.0
"""Seconds that a fork may take beyond ten times what its tests took before."""


@dataclass(frozen=True)
class Fault:
    """A module with a fault: its function, the lines that differ, and the new source."""

    path: Path
    function: str
    lines: range
    told: str
    changed: str

    @property
    def place(self) -> str:
        return f"{self.path.relative_to(SOURCE)}:{self.lines.start}"

    def install(self) -> None:
        """Let the function do what it would do with the fault."""
        name = ".".join(("nigari", *self.path.relative_to(SOURCE).with_suffix("").parts))
        found: object = importlib.import_module(name)
        code = compile(self.changed, str(self.path), "exec")
        for part in self.function.split("."):
            found = inspect.getattr_static(found, part)
            code = next(
                each
                for each in code.co_consts
                if isinstance(each, CodeType) and each.co_name == part
            )
        _plain(found).__code__ = code


def _plain(found: object) -> FunctionType:
    """The function that decorators have wrapped."""
    while not isinstance(found, FunctionType) or hasattr(found, "__wrapped__"):
        if isinstance(found, property):
            found = found.fget
        elif isinstance(found, functools.cached_property):
            found = found.func
        else:
            found = getattr(found, "__wrapped__", None) or getattr(found, "__func__", None)
    return found


@dataclass(frozen=True)
class Ran:
    """How a test went without a fault: whether it passed, how long it took, which lines it ran."""

    has_passed: bool
    seconds: float
    lines: dict[str, list[int]]


class Sampler:
    """Takes the place of the loop that runs the tests."""

    def __init__(self, given: argparse.Namespace) -> None:
        self._given = given
        self._ran: dict[str, Ran] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {each.nodeid: each for each in session.items}
        session.config.pluginmanager.unregister(name="terminalreporter")
        for path, found in itertools.groupby(session.items, lambda item: item.path):
            name = str(path.relative_to(ROOT)).replace(os.sep, "-")
            self._learn(session, list(found), Path(self._given.lines, name).with_suffix(".json"))
        verdicts = Counter[str]()
        for fault in self._faults():
            began = time.monotonic()
            tests = [items[each] for each in self._tests_of(fault) if each in items]
            verdict = self._judge(session, fault, tests) if tests else "not reached"
            kind = "killed" if verdict.startswith("tests/") else verdict
            verdicts[kind] += 1
            seconds = time.monotonic() - began
            print(f"{fault.place:<44} {seconds:6.1f} s  {verdict}")
            print(f"    {fault.function}: {fault.told}", flush=True)
        print(", ".join(f"{count} {kind}" for kind, count in verdicts.most_common()))
        return True

    def _faults(self) -> Iterator[Fault]:
        """The faults that are named in a file, or a sample of all."""
        if self._given.faults:
            for mutant in listed(Path(self._given.faults)):
                yield _of_mutant(mutant)
            return
        found = [
            (path, each)
            for package in self._given.packages
            for path in sorted((SOURCE / package).rglob("*.py"))
            for each in small_faults(path.read_text())
        ]
        chance = random.Random(self._given.seed)
        for path, each in chance.sample(found, min(self._given.count, len(found))):
            source = path.read_text()
            lines = range(each.line, each.line + 1)
            told = f"{each.kind}  {each.told(source)}"
            yield Fault(path, each.function, lines, told, each.applied(source))

    def _tests_of(self, fault: Fault) -> list[str]:
        """The tests that run what has the fault, the fastest first, as far as there is time."""
        name = str(fault.path.relative_to(ROOT))
        found = [
            (ran.seconds, test)
            for test, ran in self._ran.items()
            if ran.has_passed and any(line in fault.lines for line in ran.lines.get(name, ()))
        ]
        chosen = list[str]()
        left = float(self._given.seconds)
        for seconds, test in sorted(found):
            left -= seconds
            if chosen and left < 0:
                break
            chosen.append(test)
        return chosen

    def _judge(self, session: pytest.Session, fault: Fault, tests: list[pytest.Item]) -> str:
        """The first test that fails with the fault; or that none does."""
        reader, writer = os.pipe()

        def work() -> None:
            fault.install()
            failed = _first_failure(session, tests)
            os.write(writer, failed.encode())

        process = _fork(work)
        os.close(writer)
        expected = sum(self._ran[each.nodeid].seconds for each in tests)
        has_ended = _ended(process, 10 * expected + _PATIENCE)
        with open(reader, "rb") as pipe:
            found = pipe.read().decode() if has_ended else "tests/ take too long"
        return found or "survives"

    def _learn(self, session: pytest.Session, items: list[pytest.Item], kept: Path) -> None:
        """Find out what the tests of a file run, unless that is known."""
        if not kept.exists():
            _ended(_fork(lambda: _record(session, items, kept)), None)
        for name, ran in json.loads(kept.read_text()).items():
            self._ran[name] = Ran(*ran)


def _record(session: pytest.Session, items: list[pytest.Item], kept: Path) -> None:
    """Run tests, and keep whether they pass, how long they take and which lines they run."""
    told: dict[str, tuple[bool, float, dict[str, list[int]]]] = {}
    traced = coverage.Coverage(data_file=None, include=[f"{SOURCE}/*"], config_file=False)
    traced.start()
    for item, following in zip(items, [*items[1:], None], strict=True):
        traced.switch_context(item.nodeid)
        began = time.monotonic()
        has_passed = not _failures(session, item, following)
        told[item.nodeid] = has_passed, time.monotonic() - began, {}
    traced.stop()
    data = traced.get_data()
    for path in sorted(data.measured_files()):
        name = str(Path(path).relative_to(ROOT))
        for line, tests in data.contexts_by_lineno(path).items():
            for test in filter(None, tests):
                told[test][2].setdefault(name, []).append(line)
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(told))


def _of_mutant(mutant: Mutant) -> Fault:
    source = (ROOT / mutant.path).read_text()
    changed = mutant.applied(source)
    before, after = source.splitlines(), changed.splitlines()
    pairs = enumerate(zip(before, after, strict=False), 1)
    line = next(number for number, (old, new) in pairs if old != new)
    lines = range(line, line + mutant.old.count("\n") + 1)
    function = mutant.symbol.partition(":")[2]
    return Fault(ROOT / mutant.path, function, lines, mutant.name, changed)


def _first_failure(session: pytest.Session, tests: list[pytest.Item]) -> str:
    for item, following in zip(tests, [*tests[1:], None], strict=True):
        if _failures(session, item, following):
            return item.nodeid
    return ""


def _failures(session: pytest.Session, item: pytest.Item, following: pytest.Item | None) -> int:
    """Run a test, and say how many of its phases failed."""
    before = session.testsfailed
    item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
    return session.testsfailed - before


def _fork(work: Callable[[], None]) -> int:
    """Do work in a process of its own, which leads a group, and says nothing."""
    sys.stdout.flush()
    process = os.fork()
    if process:
        return process
    status = 1
    try:
        os.setsid()
        work()
        status = 0
    except Exception:  # noqa: BLE001 - nothing that happens in a fork may reach the loop
        traceback.print_exc()
    finally:
        os._exit(status)


def _ended(process: int, seconds: float | None) -> bool:
    """Wait for a fork, and end it and what it has started if it takes too long."""
    descriptor = os.pidfd_open(process)
    try:
        in_time = bool(select.select([descriptor], [], [], seconds)[0])
        if not in_time:
            os.killpg(process, signal.SIGKILL)
        os.waitpid(process, 0)
        return in_time
    finally:
        os.close(descriptor)


def main() -> int:
    """Judge a sample of faults."""
    parser = argparse.ArgumentParser(prog="scripts.sampled_mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="how many faults")
    parser.add_argument("--seed", type=int, default=1, help="which faults")
    parser.add_argument("--packages", nargs="*", default=PACKAGES, help="where the faults are")
    parser.add_argument("--tests", nargs="*", help="the tests; those that run most of them")
    parser.add_argument("--faults", help="a file of faults instead, as scripts/mutants.toml")
    parser.add_argument("--seconds", type=float, default=30, help="how much of the tests")
    parser.add_argument(
        "--lines", default=ROOT / "build" / "executed-lines", help="what the tests execute"
    )
    given = parser.parse_args()
    tests = given.tests or [str(ROOT / "tests" / each) for each in TESTS]
    os.chdir(ROOT)
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:faulthandler", "-s"]
    return int(pytest.main([*options, *tests], plugins=[Sampler(given)]))


if __name__ == "__main__":
    sys.exit(main())
