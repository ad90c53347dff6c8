"""The test files of public modules, run by both programs: `python -m tests.outside.tested`.

    python -m tests.outside.tested [-only PART] [-work FOLDER]

Providers are real plugins or stubs, as for everything else here, and mocks stand on them. Compared
are the status of every run, the order of the runs, and the exit status. A module that runs programs
of its own is left out.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.outside.__main__ import stubs
from tests.outside.beside import Programs, Said
from tests.outside.checkouts import Trees, directories, git_directory, snapshots
from tests.outside.plugins import real_plugins

NAMES: Final = Path(__file__).parent / "tested.txt"
REASONS: Final = {
    "Azure/terraform-azurerm-avm-res-web-site": "overrides may name single instances",
    "masterpointio/terraform-github-teams": "a mocked attribute of any type may be null",
    "Invicton-Labs/terraform-null-input-provided": "outputs are what applying makes of them",
    "Invicton-Labs/terraform-null-input-provided/multi": "outputs are what applying makes of them",
}
"""Modules whose tests end in another way on purpose: `docs/differences.md` says why."""
_PATTERNS: Final = ("*.tftest.hcl", "*.tofutest.hcl", "*.tftest.json")
_PLACES: Final = ("", "tests", "tests/unit")
_PROGRAMS: Final = (b"provisioner ", b'"external"')
"""What a module says that runs programs."""


@dataclass
class Tested:
    """What came of the tests of one module: the status of each run, by file and name."""

    status: int
    runs: dict[str, str] = field(default_factory=dict)


def names() -> list[str]:
    """The repositories whose modules have tests, `owner/name` each."""
    lines = (line.partition("#")[0].strip() for line in NAMES.read_text().splitlines())
    return [line for line in lines if line]


def tested_modules(tree: Path) -> Iterator[tuple[Path, str]]:
    """The modules of a tree that have test files and run no programs, each with the directory that
    its tests are in.
    """
    for directory in directories(tree):
        place = next((each for each in _PLACES if _has_tests(directory / each)), None)
        if place is None:
            continue
        files = (*tree.rglob("*.tf"), *tree.rglob("*.tofu"))
        texts = [file.read_bytes() for file in files if file.is_file()]
        if not any(word in text for text in texts for word in _PROGRAMS):
            yield directory, place or "tests"


def _has_tests(place: Path) -> bool:
    return any(True for name in _PATTERNS for _ in place.glob(name))


def tested(said: Said) -> Tested:
    """What a program says of tests with `-json`."""
    found = Tested(said.status)
    for line in said.text.splitlines():
        with contextlib.suppress(ValueError):
            event = json.loads(line)
            if isinstance(event, dict) and event.get("type") == "test_run":
                run = event["test_run"]
                found.runs[f"{run['path']} {run['run']}"] = run["status"]
    return found


def _examine(directory: Path, tests: str, programs: Programs) -> tuple[Tested, Tested, list[str]]:
    results, told = [], []
    for ours in (False, True):
        scratch = directory / ".outside"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        place = f"-test-directory={tests}"
        programs.command(directory, scratch, ["init", "-json", "-input=false", place], ours=ours)
        said = programs.command(directory, scratch, ["test", "-json", place], ours=ours)
        results.append(tested(said))
        told.append("\n".join([*said.summaries, said.errors]))
        shutil.rmtree(scratch, ignore_errors=True)
    return results[0], results[1], told


def main() -> None:
    parser = argparse.ArgumentParser(description="Run the tests of public modules.")
    parser.add_argument("-only", default="", help="directories whose path contains this")
    parser.add_argument("-work", type=Path, default=snapshots() / "work")
    given = parser.parse_args()
    trees = Trees(given.work / "tested")
    found = [name for name in names() if git_directory(name) is not None]
    modules = [each for name in found for each in tested_modules(trees.unpack(name))]
    results = given.work / "results"
    results.mkdir(parents=True, exist_ok=True)
    runs = passed = 0
    with stubs(trees.root) as made, real_plugins() as plugins:
        programs = Programs({**made, **plugins}, given.work)
        for directory, tests in modules:
            name = str(directory.relative_to(trees.root))
            if given.only not in name:
                continue
            theirs, ours, told = _examine(directory, tests, programs)
            runs += len(theirs.runs)
            passed += sum(each == "pass" for each in theirs.runs.values())
            is_equal = theirs == ours and list(theirs.runs) == list(ours.runs)
            if not is_equal:
                path = results / f"tested+{name.replace('/', '+')}.txt"
                path.write_text(f"{theirs}\n\n{ours}\n\n== theirs\n{told[0]}\n== ours\n{told[1]}\n")
            verdict = "equal" if is_equal else REASONS.get(name, "OPEN")
            print(f"{name}: {verdict}, {len(theirs.runs)} runs, exit {theirs.status}", flush=True)
    print(f"\n{runs} runs, of which {passed} pass with tofu. Details are in {results}")


if __name__ == "__main__":
    main()
