"""What commands do, counted: modules, calls of functions, files. Times depend on the machine, and these
do not, so that a command that gets slower by accident fails here.
"""

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Final

import pytest

from benchmarks.configurations import (
    instances,
    module_calls,
    module_references,
    resource_chains,
    whole_references,
)
from nigari.cli.main import main

_MODULES: Final = {
    "version": 25,
    "workspace show": 60,
    "state list": 95,
    "output": 100,
    "taint terraform_data.r0": 125,
    "providers": 170,
    "console": 190,
    "validate": 205,
    "plan": 380,
    "graph": 380,
}
"""The most modules of this package that commands may import in a directory of ten resources."""
_COUNT: Final = (
    "import sys; from nigari.cli.main import main; main(sys.argv[1:]);"
    "print(*(each for each in sys.modules if each.startswith('nigari')), file=sys.stderr)"
)
_OPENED: Final = (
    "import sys; opened = [];"
    "sys.addaudithook(lambda event, about: opened.append(str(about[0])) if event == 'open' else None);"
    "from nigari.cli.main import main; main(sys.argv[1:]);"
    "print(*(f'opened:{each}' for each in opened), sep='\\n', file=sys.stderr)"
)
_WORKLOADS: Final = (
    resource_chains,
    module_calls,
    instances,
    whole_references,
    module_references,
)


@pytest.fixture
def ten_resources(tmp_path: Path) -> Path:
    return resource_chains(tmp_path / "ten", 10)


def told(directory: Path, program: str, command: str) -> list[str]:
    """What a program that runs a command prints last."""
    environment = {n: v for n, v in os.environ.items() if not n.startswith(("TF_", "PYTHONPATH"))}
    done = subprocess.run(
        [sys.executable, "-c", program, *command.split()],
        cwd=directory,
        env={**environment, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stderr.split()


@pytest.mark.parametrize("command", _MODULES)
def test_commands_import_no_more_modules_than_they_did(ten_resources: Path, command: str) -> None:
    modules = {each for each in told(ten_resources, _COUNT, command) if each.startswith("nigari")}
    assert len(modules) <= _MODULES[command]


@pytest.mark.parametrize(
    ("command", "most"),
    [("version", 0), ("workspace show", 1), ("state list", 4), ("output", 4), ("validate", 2)],
)
def test_short_commands_open_few_files(ten_resources: Path, command: str, most: int) -> None:
    opened = told(ten_resources, _OPENED, command)
    names = [each.removeprefix("opened:") for each in opened if each.startswith("opened:")]
    ours = [
        each
        for each in names
        if not (each.isdecimal() or "/proc/" in each or each.endswith((".py", ".pyc")))
    ]
    assert len(ours) <= most, ours


@pytest.mark.parametrize("make", _WORKLOADS, ids=lambda make: make.__name__)
def test_planning_twice_as_much_takes_twice_as_many_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path, int], Path]
) -> None:
    small, large = (calls(make(tmp_path / str(n), n), monkeypatch) for n in (60, 120))
    assert large < 2.1 * small


def calls(directory: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many functions of this package are called to plan a directory."""
    monkeypatch.chdir(directory)
    command("get")
    # What is done once in a process is done by then.
    command("plan")
    counted = 0

    def count(frame: FrameType, event: str, about: object) -> None:
        nonlocal counted
        counted += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        command("plan")
    finally:
        sys.setprofile(before)
    return counted


def command(name: str) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        assert main([name]) == 0
