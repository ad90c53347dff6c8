"""States on distant servers beside OpenTofu: no more requests, and no more time."""

import os
import subprocess
import sys
import time
from collections import Counter
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

import pytest

from tests.backends.world.distant import DISTANT, NEAR, Counted
from tests.real import program

pytestmark = pytest.mark.real

OWN: Final = (sys.executable, "-m", "nigari")
COMMANDS: Final = (
    "plan",
    "apply -auto-approve",
    "plan -out=p",
    "apply -auto-approve",
    "output",
    "show",
    "state list",
    "state mv terraform_data.a[0] terraform_data.b",
    "destroy -auto-approve",
)


def many(number: int) -> str:
    return f'resource "terraform_data" "a" {{\n  count = {number}\n  input = count.index\n}}\n'


class Directory:
    """Where one of the programs works with a distant state."""

    def __init__(self, path: Path, distant: Counted, command: tuple[str, ...], number: int) -> None:
        path.mkdir()
        (path / "main.tf").write_text(many(number) + distant.block)
        (path / "cli.tofurc").write_text("")
        self._environ = {**os.environ, "TF_CLI_CONFIG_FILE": str(path / "cli.tofurc")}
        self._environ |= distant.environ
        self._path, self._distant, self._command = path, distant, command

    def run(self, line: str) -> float:
        """The seconds that a command takes."""
        start = time.perf_counter()
        done = subprocess.run(
            [*self._command, *line.split()],
            cwd=self._path,
            env=self._environ,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return time.perf_counter() - start

    def requests(self, line: str) -> int:
        before = self._distant.requests
        self.run(line)
        return self._distant.requests - before


def both() -> dict[str, tuple[str, ...]]:
    return {"tofu": (str(program("tofu")),), "ours": OWN}


def opened(kind: str, path: Path) -> AbstractContextManager[Counted]:
    return NEAR[kind](path) if kind in NEAR else DISTANT[kind](path, 0.0)


@pytest.mark.parametrize("kind", [*DISTANT, *NEAR])
def test_requests(kind: str, tmp_path: Path) -> None:
    """Command by command, in the default workspace and in a new one."""
    made: dict[str, dict[str, int]] = {}
    for who, command in both().items():
        (tmp_path / who).mkdir()
        with opened(kind, tmp_path / who) as distant:
            directory = Directory(tmp_path / who / "work", distant, command, 3)
            counted = {"init": directory.requests("init")}
            rounds = [""]
            if distant.has_workspaces:
                rounds.append("workspace new b")
            for begin in rounds:
                if begin:
                    counted[begin] = directory.requests(begin)
                for number, line in enumerate(COMMANDS):
                    counted[f"{begin} {number} {line}"] = directory.requests(line)
            made[who] = counted
    assert all(sum(each.values()) for each in made.values())
    assert made["ours"].keys() == made["tofu"].keys()
    assert Counter(made["ours"]) <= Counter(made["tofu"]), made


@pytest.mark.parametrize("kind", ["gcs", "http", "pg", "s3"])
def test_time(kind: str, tmp_path: Path) -> None:
    """A thousand resources, 20 ms away; each program keeps its best time of a few turns."""
    with DISTANT[kind](tmp_path, 0.02) as distant:
        directories = {
            who: Directory(tmp_path / f"by-{who}", distant, command, 1000)
            for who, command in both().items()
        }
        for directory in directories.values():
            directory.run("init")
        for line in ("apply -auto-approve", "plan"):
            best = dict.fromkeys(directories, float("inf"))
            for _ in range(5):
                for who, directory in directories.items():
                    if line != "plan":
                        distant.forget()
                    best[who] = min(best[who], directory.run(line))
                if best["ours"] <= best["tofu"]:
                    break
            assert best["ours"] <= best["tofu"], (line, best)
