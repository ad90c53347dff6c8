"""`-lint` beside OpenTofu 1.13: which rules run, and what they find where."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from tests.lint.documented import write_files
from tests.real import program

pytestmark = pytest.mark.real

_CONFIGURATION: Final = """
variable "any" { type = any }
variable "untyped" {}
variable "checked" {
  type    = string
  default = "a"
  validation {
    condition     = var.checked != ""
    error_message = "x"
  }
}
variable "forwarded" {
  type    = string
  default = ""
}
locals {
  gone  = 1
  chain = var.forwarded
  used  = local.inner
  inner = 1
}
module "m" {
  source = "./m"
  q      = local.used
}
resource "terraform_data" "conditional" {
  count = var.any ? 1 : 0
}
resource "terraform_data" "literal" { count = 1 }
resource "terraform_data" "chained" {
  count = var.any ? 1 : var.any ? 0 : 1
}
resource "terraform_data" "chained_wrong" {
  count = var.any ? 1 : var.any ? 0 : 2
}
resource "terraform_data" "nested" {
  count = (var.any ? (var.any ? 0 : 1) : 0)
}
resource "terraform_data" "nested_first" {
  count = (var.any ? 0 : 1) == 1 ? 1 : 0
}
resource "terraform_data" "two" { count = 2 }
resource "terraform_data" "computed" { count = length([var.any]) }
data "terraform_remote_state" "d" {
  count   = var.any ? 0 : 1
  backend = "local"
}
# FILE: m/main.tf
variable "q" {}
locals { z = 1 }
resource "terraform_data" "x" { count = 1 }
# FILE: j.tf.json
{"variable": {"json": {}}, "locals": {"json": 1, "json_used": 2},
 "resource": {"terraform_data": {"json": {"count": "${local.json_used == 2 ? 1 : 0}"}}}}
"""
_LISTS: Final = (
    ["all"],
    ["core:all"],
    ["core:improvement"],
    ["core:confusing"],
    ["core:unused-local"],
    ["all,!core:unused-local"],
    ["all", "!core:improvement"],
    ["core:all,!core:confusing"],
    ["all,!core:all"],
    ["!all"],
    ["!all,all"],
    ["core:unused-local,!core:unused-local"],
    ["foo,other:thing,core:unused-variable"],
    ["foo"],
    ["#foo"],
    [""],
    ["recommended"],
)

Found = Counter[tuple[str, str, int]]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("lint")
    write_files(_CONFIGURATION, place)
    (place / "empty.tfrc").write_text("")
    _run([str(program("tofu-1.13"))], "init", place=place)
    return place


def _run(command: list[str], *words: str, place: Path) -> subprocess.CompletedProcess[str]:
    environ = {
        **os.environ,
        "TF_CLI_CONFIG_FILE": str(place / "empty.tfrc"),
        "TF_VAR_any": "true",
        "TF_VAR_untyped": "1",
        "TF_VAR_json": "1",
    }
    return subprocess.run(
        [*command, *words], cwd=place, env=environ, capture_output=True, text=True, check=False
    )


def _diagnostics(output: str) -> Found:
    """The warnings of a validation, or of the events of a plan: summary, file, line."""
    try:
        found = json.loads(output)["diagnostics"]
    except ValueError:
        events = map(json.loads, output.splitlines())
        found = [each["diagnostic"] for each in events if each["type"] == "diagnostic"]
    places = [(each["summary"], each.get("range") or {}) for each in found]
    return Counter(
        (summary, where.get("filename", ""), where.get("start", {}).get("line", 0))
        for summary, where in places
    )


def _both(place: Path, *words: str) -> tuple[Found, Found]:
    ours = _run([sys.executable, "-m", "nigari"], *words, place=place)
    theirs = _run([str(program("tofu-1.13"))], *words, place=place)
    assert ours.returncode == theirs.returncode, ours.stdout + ours.stderr + theirs.stdout
    return _diagnostics(ours.stdout), _diagnostics(theirs.stdout)


@pytest.mark.parametrize("lists", _LISTS, ids=" ".join)
def test_validate(directory: Path, lists: list[str]) -> None:
    ours, theirs = _both(directory, "validate", "-json", *[f"-lint={each}" for each in lists])
    assert ours == theirs


@pytest.mark.parametrize(
    "words",
    [
        ["plan"],
        ["plan", "-destroy"],
        ["plan", "-refresh-only"],
        ["refresh"],
        ["apply", "-auto-approve"],
        ["apply", "-auto-approve", "-destroy"],
    ],
    ids=" ".join,
)
def test_commands_that_plan(directory: Path, words: list[str]) -> None:
    ours, theirs = _both(directory, *words, "-json", "-lint=core:unused-local")
    lint = {each: count for each, count in theirs.items() if "lint" in each[0] or ":" in each[0]}
    assert {each: count for each, count in ours.items() if each in lint} == lint
    assert sum(each[0].endswith("(core:unused-local)") for each in ours) == len(
        [each for each in lint if each[1]]
    )


def test_a_saved_plan(directory: Path) -> None:
    found: list[list[str]] = []
    for command in ([sys.executable, "-m", "nigari"], [str(program("tofu-1.13"))]):
        _run(command, "plan", "-out=saved", place=directory)
        words = ["apply", "-json", "-lint=core:unused-local", "saved"]
        applied = _run(command, *words, place=directory)
        assert applied.returncode == 0, applied.stdout
        found.append(sorted(map(str, _diagnostics(applied.stdout).elements())))
    assert found[0] == found[1]
    assert any("core:unused-local" in each for each in found[0])


def test_destroy_has_no_such_option(directory: Path) -> None:
    for command in ([sys.executable, "-m", "nigari"], [str(program("tofu-1.13"))]):
        assert _run(command, "destroy", "-lint=all", place=directory).returncode == 1
