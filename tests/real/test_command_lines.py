"""Every command line of a long list means the same to `tofu` and to us: the same exit status, the
same state files afterwards. What is meant to differ is in `docs/differences.md`, and not here; what
differs and should not is marked.
"""

from __future__ import annotations

import contextlib
import json
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tests.cli.process import environment, inside
from tests.real import program

pytestmark = pytest.mark.real

FILES: Final = {
    "main.tf": """
variable "a" { default = "x" }
variable "s" {
  default   = "hush"
  sensitive = true
}
resource "terraform_data" "one" { input = var.a }
resource "terraform_data" "many" {
  count = 2
  input = "n${count.index}"
}
module "m" {
  source = "./m"
  v      = var.a
}
output "a" { value = terraform_data.one.output }
output "l" { value = [1, 2] }
output "s" {
  value     = var.s
  sensitive = true
}
""",
    "m/main.tf": """
variable "v" {}
resource "terraform_data" "in" { input = var.v }
output "o" { value = terraform_data.in.output }
""",
    "v.tfvars": 'a = "y"\n',
    "sub/v.tfvars": 'a = "z"\n',
    "targets.txt": "terraform_data.one\n",
}
LINES: Final = (Path(__file__).parent / "command_lines.txt").read_text().splitlines()


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory in which `tofu` has applied the configuration."""
    path = tmp_path_factory.mktemp("begun")
    for name, text in FILES.items():
        (path / name).parent.mkdir(exist_ok=True)
        (path / name).write_text(text)
    (path / "empty.tfrc").write_text("")
    for words in (["init"], ["apply", "-auto-approve"]):
        subprocess.run(
            [program("tofu"), *words], cwd=path, env=_environ(path, {}), check=True, timeout=60
        )
    shutil.copy(path / "terraform.tfstate", path / "other.tfstate")
    return path


def _environ(path: Path, settings: dict[str, str]) -> dict[str, str]:
    return environment(TF_CLI_CONFIG_FILE=str(path / "empty.tfrc"), **settings)


def _split(line: str) -> tuple[str, dict[str, str], str, list[list[str]]]:
    """A directory to be in, variables of the environment, what is typed, and command lines."""
    words = shlex.split(line)
    directory, typed = ".", ""
    settings: dict[str, str] = {}
    while words and (words[0].startswith(("in:", "types:")) or words[0].startswith("TF_")):
        word = words.pop(0)
        if word.startswith("in:"):
            directory = word.removeprefix("in:")
        elif word.startswith("types:"):
            typed = word.removeprefix("types:") + "\n"
        else:
            name, _, value = word.partition("=")
            settings[name] = value
    commands: list[list[str]] = [[]]
    for word in words:
        if word == "&&":
            commands.append([])
        else:
            commands[-1].append(word)
    return directory, settings, typed, commands


Run = Callable[[list[str], dict[str, str], str], int]
"""Runs the words of a command here, in an environment, with what is typed; its exit status."""


def _theirs(words: list[str], environ: dict[str, str], typed: str) -> int:
    return subprocess.run(
        [program("tofu"), *words],
        env=environ,
        input=typed,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    ).returncode


def _ours(words: list[str], environ: dict[str, str], typed: str) -> int:
    return inside(*words, stdin=typed, settings=environ).code


def _outcome(run: Run, path: Path, line: str) -> tuple[int, dict[str, object]]:
    directory, settings, typed, commands = _split(line)
    status = 0
    for words in commands:
        with contextlib.chdir(path / directory):
            status = run(words, _environ(path, settings), typed)
    return status, _states(path)


def _states(path: Path) -> dict[str, object]:
    """What each state file holds; backups with a time in their name count as one."""
    found: dict[str, object] = {}
    for each in sorted(path.rglob("*")):
        if not each.is_file() or ".terraform" in each.relative_to(path).parts:
            continue
        data = each.read_bytes()
        if data.startswith(b"{") and b'"resources"' in data and b'"lineage"' in data:
            document = json.loads(data)
            name = str(each.relative_to(path))
            if name.endswith(".backup") and name.split(".")[-2].isdecimal():
                name = "dated backup"
            resources = [
                (one.get("module", ""), one["name"], [i.get("status") for i in one["instances"]])
                for one in document["resources"]
            ]
            found[name] = (document["outputs"], resources)
    return found


@pytest.mark.parametrize("line", LINES)
def test_same_meaning(line: str, begun: Path, tmp_path: Path) -> None:
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    shutil.copytree(begun, theirs, symlinks=True)
    shutil.copytree(begun, ours, symlinks=True)
    assert _outcome(_ours, ours, line) == _outcome(_theirs, theirs, line)
