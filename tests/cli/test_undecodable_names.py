"""Directories and files whose names are not UTF-8: values hold the bytes, JSON and plans U+FFFD."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.process import Done, inside

_MAIN = """
output "cwd" {
  value = path.cwd
}
output "abs" {
  value = abspath("x")
}
output "module" {
  value = module.m.path
}
output "set" {
  value = fileset("${path.cwd}/m", "*.txt")
}
output "text" {
  value = { for name in fileset(path.module, "m/*.txt") : name => file(name) }
}
output "written" {
  value = jsonencode(path.cwd)
}
module "m" {
  source = "./m"
}
resource "terraform_data" "a" {
  input = [path.cwd]
}
"""


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / os.fsdecode(b"d\xe9r")
    try:
        (directory / "m").mkdir(parents=True)
    except OSError:
        pytest.skip("the file system takes UTF-8 only")
    monkeypatch.chdir(directory)
    monkeypatch.delenv("PWD", raising=False)
    (directory / "main.tf").write_text(_MAIN)
    (directory / "m" / "main.tf").write_text('output "path" {\n  value = abspath(path.module)\n}\n')
    (directory / "m" / os.fsdecode(b"f\xe8.txt")).write_text("content")
    return directory


def _run(*args: str) -> Done:
    done = inside(*args)
    assert done.code == 0, done.err
    return done


def test_a_saved_plan_and_its_apply(directory: Path) -> None:
    shown = str(directory).replace("\udce9", "\ufffd")
    _run("init")
    planned = _run("plan", "-out=p").out
    assert f'+ cwd     = "{shown}"' in planned
    assert "\udce9" not in planned
    assert "\\xe9" not in planned
    _run("apply", "p")
    outputs = {
        name: each["value"] for name, each in json.loads(_run("output", "-json").out).items()
    }
    assert outputs == {
        "cwd": shown,
        "abs": f"{shown}/x",
        "module": f"{shown}/m",
        "set": ["f\ufffd.txt"],
        "text": {"m/f\ufffd.txt": "content"},
        "written": json.dumps(shown),
    }
    state = json.loads((directory / "terraform.tfstate").read_text())
    (instance,) = state["resources"][0]["instances"]
    assert instance["attributes"]["output"]["value"] == [shown]


def test_bytes_reach_the_file_functions(directory: Path) -> None:
    done = _run("eval", 'file("${path.cwd}/m/${one(fileset("m", "*.txt"))}")')
    assert done.out == '"content"\n'


def test_other_commands(directory: Path) -> None:
    _run("init")
    _run("apply", "-auto-approve")
    for command in (
        ("validate", "-json"),
        ("plan", "-json"),
        ("show", "-json"),
        ("explain", "output.cwd"),
        ("eval", "-json", "path.cwd"),
        ("config", "-json"),
        ("state", "show", "terraform_data.a"),
        ("destroy", "-auto-approve"),
    ):
        _run(*command)
