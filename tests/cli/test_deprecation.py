"""Advice of module authors against using a part of their module, and who wants to hear it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.process import inside

MODULE = """
variable "old" {
  default    = "d"
  deprecated = "take new"
}
output "old" {
  value      = var.old
  deprecated = "take newer"
}
"""
CONFIGURATION = """
variable "own" {
  default    = "o"
  deprecated = "take none"
}
module "m" {
  source = "%s"
  old    = "v"
}
resource "terraform_data" "a" {
  input = module.m.old
}
locals {
  again = module.m.old
}
output "used" {
  value = [module.m.old, terraform_data.a.input]
}
"""
VARIABLE, OUTPUT, OWN = (
    "Warning: Deprecated variable\n",
    "Warning: Deprecated output\n",
    "Warning: Deprecated variable of the root module\n",
)


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here" / "m").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    Path("m/main.tf").write_text(MODULE)
    Path("main.tf").write_text(CONFIGURATION % "./m")


def told(*line: str) -> list[str]:
    out = inside(*line).out
    return [each for each in (VARIABLE, OUTPUT, OWN) for _ in range(out.count(each))]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (["validate"], [VARIABLE]),
        (["plan"], [VARIABLE, OUTPUT]),
        (["plan", "-consolidate-warnings=false"], [VARIABLE, OUTPUT]),
        (["apply", "-auto-approve"], [VARIABLE, OUTPUT]),
        (["plan", "-var", "own=1"], [VARIABLE, OUTPUT, OWN]),
        (["plan", "-deprecation=module:all"], [VARIABLE, OUTPUT]),
        (["plan", "-deprecation=module:local"], [VARIABLE, OUTPUT]),
        (["plan", "-deprecation=module:none"], []),
        (["plan", "-deprecation=module:none", "-var", "own=1"], [OWN]),
        (["validate", "-deprecation=module:none"], []),
        (["refresh", "-deprecation=module:none"], []),
    ],
)
def test_of_a_module_beside(line: list[str], expected: list[str]) -> None:
    assert told(*line) == expected


def test_of_a_module_from_elsewhere(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "main.tf").write_text(MODULE)
    for words in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "m"],
    ):
        subprocess.run(["git", *words], cwd=package, check=True)
    Path("main.tf").write_text(CONFIGURATION % f"git::file://{package}")
    assert inside("init").code == 0
    assert told("plan") == [VARIABLE, OUTPUT]
    assert told("plan", "-deprecation=module:local") == []


def test_programs_hear_all_of_it_where_it_is() -> None:
    lines = inside("plan", "-json", "-deprecation=module:none").out.splitlines()
    found = [json.loads(line) for line in lines if '"Deprecated output"' in line]
    assert [each["diagnostic"]["range"]["start"]["line"] for each in found] == [11, 14, 17]


def test_the_plan_has_said_it() -> None:
    assert told("plan", "-out=p") == [VARIABLE, OUTPUT]
    assert told("apply", "p") == []
