"""The block `store` of `terraform_data` beside Terraform, which has it since 1.16, and what OpenTofu makes of the rest."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.process import inside
from tests.cli.store_stories import STORIES, Step
from tests.real import program
from tests.real.test_actions import terraform

__all__ = ["terraform"]

pytestmark = pytest.mark.real


def run(command: str, where: Path, *words: str) -> str:
    done = subprocess.run([command, *words], cwd=where, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def follow(command: str, where: Path, step: Step) -> dict[str, Any]:
    """Plan and apply a step with Terraform."""
    (where / "main.tf").write_text(step.text)
    run(command, where, "plan", "-out=plan")
    return _followed(
        run(command, where, "show", "-json", "plan"),
        run(command, where, "apply", "plan") and run(command, where, "show", "-json"),
    )


def follow_here(step: Step) -> dict[str, Any]:
    """Plan and apply a step with Nigari."""
    Path("main.tf").write_text(step.text)
    assert inside("plan", "-out=plan").code == 0
    shown = inside("show", "-json", "plan").out
    assert inside("apply", "plan").code == 0
    return _followed(shown, inside("show", "-json").out)


def _followed(plan: str, state: str) -> dict[str, Any]:
    (change,) = (
        each["change"]
        for each in json.loads(plan)["resource_changes"]
        if each["address"] == "terraform_data.a"
    )
    (values,) = (
        each["values"]
        for each in json.loads(state)["values"]["root_module"]["resources"]
        if each["name"] == "a"
    )
    for shape in (change["before"], change["after"], values):
        for name in ("id", "store"):
            if shape and (name == "id" or shape.get(name) is None):
                shape.pop(name, None)
    found: dict[str, Any] = {
        name: change.get(name) for name in ("actions", "before", "after", "replace_paths")
    }
    unknown = (change["after_unknown"] or {}).get("store") or {}
    return {**found, "unknown": unknown, "values": values}


@pytest.mark.parametrize("name", STORIES)
def test_stories(
    name: str, terraform: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    theirs.mkdir()
    ours.mkdir()
    monkeypatch.chdir(ours)
    monkeypatch.setitem(os.environ, "CHECKPOINT_DISABLE", "1")
    for step in STORIES[name]:
        assert follow_here(step) == follow(terraform, theirs, step)


def test_opentofu_goes_on_once_nothing_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tofu = str(program("tofu"))
    monkeypatch.chdir(tmp_path)
    for step in STORIES["added and removed"]:
        follow_here(step)
    run(tofu, tmp_path, "plan", "-detailed-exitcode")
