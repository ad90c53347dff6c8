"""Applies one-line faults to copies of the project, and says which test finds each of them.

The faults are in `scripts/mutants.toml`. Each replaces a text in a function, which must have it just
once, so that a fault that no longer fits is reported and not left out. The tests of the packages
that a fault names run first, then all others that `make check` runs. A test that also fails without
the fault does not count.
"""

from __future__ import annotations

import argparse
import ast
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
FAULTS: Final = ROOT / "scripts" / "mutants.toml"
_SECONDS: Final = 1200
_FAILED: Final = re.compile(r"^(?:FAILED|ERROR) (\S+::.*?|\S+)(?: - .*)?$", re.MULTILINE)


class DoesNotFit(Exception):
    """A fault that cannot be applied to the sources."""


@dataclass(frozen=True)
class Mutant:
    """A fault: a text in a function, and what replaces it."""

    name: str
    symbol: str
    old: str
    new: str
    tests: list[str]

    @property
    def path(self) -> Path:
        module = self.symbol.partition(":")[0]
        return Path("src", "nigari", *module.split(".")).with_suffix(".py")

    def applied(self, source: str) -> str:
        """The source with the fault in it."""
        lines = source.splitlines(keepends=True)
        first, last = self._lines_of(source)
        before, text, after = lines[:first], "".join(lines[first:last]), lines[last:]
        if text.count(self.old) != 1:
            problem = f"{self.symbol} has its text {text.count(self.old)} times, not once"
            raise DoesNotFit(f"{self.name}: {problem}")
        changed = "".join([*before, text.replace(self.old, self.new), *after])
        try:
            ast.parse(changed)
        except SyntaxError as error:
            raise DoesNotFit(f"{self.name}: {error}") from None
        return changed

    def _lines_of(self, source: str) -> tuple[int, int]:
        node: ast.AST = ast.parse(source)
        for name in self.symbol.partition(":")[2].split("."):
            inner = [each for each in ast.iter_child_nodes(node) if _name(each) == name]
            if len(inner) != 1:
                raise DoesNotFit(f"{self.name}: there is no {self.symbol}")
            node = inner[0]
        assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        assert node.end_lineno is not None
        return node.lineno - 1, node.end_lineno


def _name(node: ast.AST) -> str:
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return node.name if isinstance(node, kinds) else ""


@dataclass(frozen=True)
class Verdict:
    """Which test found a mutant, in which of the stages, and after how many seconds."""

    mutant: Mutant
    test: str = ""
    stage: str = ""
    seconds: float = 0.0


def listed(path: Path = FAULTS) -> list[Mutant]:
    """The faults of a file."""
    with path.open("rb") as file:
        return [Mutant(**each) for each in tomllib.load(file)["mutant"]]


class Copy:
    """A copy of the project."""

    def __init__(self, path: Path, excused: set[str]) -> None:
        self.path = path
        self._excused = excused
        """The tests that fail without any fault, which all copies know."""
        command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
        for name in listed.stdout.decode().splitlines():
            if (ROOT / name).exists():
                (path / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, path / name)

    def judge(self, mutant: Mutant, is_brief: bool) -> Verdict:
        """Find the first test that fails because of a fault; briefly: of the first tests it names."""
        source = (ROOT / mutant.path).read_text()
        began = time.monotonic()
        for stage, tests in _stages(mutant, is_brief):
            while True:
                (self.path / mutant.path).write_text(mutant.applied(source))
                test = self._first_failure(tests)
                (self.path / mutant.path).write_text(source)
                if not test:
                    break
                if not self._first_failure([test]):
                    return Verdict(mutant, test, stage, time.monotonic() - began)
                self._excused.add(test)
        return Verdict(mutant, seconds=time.monotonic() - began)

    def _first_failure(self, tests: list[str]) -> str:
        options = ["-x", "-q", "--no-header", "--tb=no", "-p", "no:cacheprovider", "-rfE"]
        options += [f"--deselect={each}" for each in self._excused - {*tests}]
        command = [sys.executable, "-m", "pytest", *options, *tests]
        try:
            done = subprocess.run(
                command,
                cwd=self.path,
                env=_environment(self.path),
                capture_output=True,
                text=True,
                timeout=_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return tests[0]
        found = _FAILED.search(done.stdout)
        if done.returncode in (0, 5):
            return ""
        if found is None:
            sys.exit(f"the tests cannot run:\n{done.stdout}{done.stderr}")
        return found[1]


def _environment(path: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": f"{path / 'src'}:{path}", "PYTHONDONTWRITEBYTECODE": "1"}


def _stages(mutant: Mutant, is_brief: bool) -> Iterator[tuple[str, list[str]]]:
    for each in mutant.tests[:1] if is_brief else mutant.tests:
        yield each, [each]
    if not is_brief:
        yield "all others", ["tests", *(f"--ignore={each}" for each in mutant.tests)]


def main() -> int:
    """Judge all faults, or those that are named."""
    parser = argparse.ArgumentParser(prog="scripts.mutants", description=__doc__)
    parser.add_argument("names", nargs="*", help="which faults; all of them without a name")
    parser.add_argument("--workers", type=int, default=1, help="how many at once")
    parser.add_argument("--check", action="store_true", help="only see whether all of them fit")
    parser.add_argument(
        "--brief", action="store_true", help="only the first tests that a fault names"
    )
    given = parser.parse_args()
    chosen = [each for each in listed() if not given.names or each.name in given.names]
    for each in chosen:
        each.applied((ROOT / each.path).read_text())
    if given.check:
        print(f"{len(chosen)} faults fit")
        return 0
    survivors = 0
    with tempfile.TemporaryDirectory(prefix="nigari-mutants-") as name:
        excused: set[str] = set()
        copies: queue.Queue[Copy] = queue.Queue()
        for number in range(given.workers):
            copies.put(Copy(Path(name, str(number)), excused))

        def judged(mutant: Mutant) -> Verdict:
            copy = copies.get()
            try:
                return copy.judge(mutant, given.brief)
            finally:
                copies.put(copy)

        with ThreadPoolExecutor(given.workers) as pool:
            for done in as_completed([pool.submit(judged, each) for each in chosen]):
                verdict = done.result()
                survivors += not verdict.test
                found = f"{verdict.stage}: {verdict.test}" if verdict.test else "SURVIVES"
                print(f"{verdict.mutant.name:<36} {verdict.seconds:6.1f} s  {found}", flush=True)
    print(f"{len(chosen)} faults, {survivors} that no test finds")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
