"""Files that commands leave behind: who may read them, and what happens to those of the killed."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from pathlib import Path

import pytest

from nigari.backends.disk import write_beside
from nigari.backends.state_path import StatePath
from tests.cli.process import command, environment, nigari

_MAIN = """\
terraform {
  backend "local" { path = "states/s.tfstate" }
}
variable "v" { default = "0" }
resource "terraform_data" "a" { input = var.v }
"""


def _modes(path: Path) -> dict[str, int]:
    return {
        str(each.relative_to(path)): stat.S_IMODE(each.stat().st_mode)
        for each in path.rglob("*")
        if each.name not in ("main.tf", ".lock")
    }


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_nothing_is_wider_than_tofu_makes_it(tmp_path: Path, umask: int) -> None:
    (tmp_path / "main.tf").write_text(_MAIN)
    for line in (
        "init",
        "plan -out=plan",
        "apply -auto-approve",
        "apply -auto-approve -var=v=1",
        "workspace new w",
        "apply -auto-approve",
        "apply -auto-approve -var=v=1",
    ):
        subprocess.run(
            command(*line.split()),
            cwd=tmp_path,
            env=environment(),
            check=True,
            capture_output=True,
            umask=umask,
        )
    for name, mode in _modes(tmp_path).items():
        path = tmp_path / name
        wide = 0o755 if path.is_dir() else 0o666 if "tfstate" in name else 0o644
        assert mode & ~(wide & ~umask) == 0, f"{name} has mode {mode:o}"


def test_a_backup_is_not_wider_than_its_state(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text('resource "terraform_data" "a" {}\n')
    assert nigari("apply", "-auto-approve", cwd=tmp_path).code == 0
    (tmp_path / "terraform.tfstate").chmod(0o600)
    assert nigari("apply", "-auto-approve", "-replace=terraform_data.a", cwd=tmp_path).code == 0
    assert nigari("state", "rm", "terraform_data.a", cwd=tmp_path).code == 0
    states = {name: mode for name, mode in _modes(tmp_path).items() if "tfstate" in name}
    assert len(states) == 3
    assert set(states.values()) == {0o600}


def test_what_the_killed_have_left_goes_with_the_next_command(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text('resource "terraform_data" "a" {}\n')
    assert nigari("apply", "-auto-approve", cwd=tmp_path).code == 0
    state = tmp_path / "terraform.tfstate"
    for name in (".pending", ".lasting", ".pending.part", ".lasting.part", ".lock.info"):
        (tmp_path / f".terraform.tfstate{name}").write_text("{")
    (tmp_path / ".terraform.tfstate.backup.part").write_text("{")
    (tmp_path / ".terraform.tfstate.lock.info.part").write_text("{")
    (tmp_path / ".terraform.tfstate.1700000000.backup.part").write_text("{")
    other = tmp_path / ".other.tfstate.1700000000.backup.part"
    other.write_text("{")
    before = state.read_text()
    assert nigari("plan", cwd=tmp_path).code == 0
    assert not list(tmp_path.glob(".terraform.*"))
    assert other.exists(), "what belongs to another state stays"
    assert state.read_text() == before


def test_a_killed_edit_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text('resource "terraform_data" "a" {}\n')
    assert nigari("apply", "-auto-approve", cwd=tmp_path).code == 0
    with pytest.MonkeyPatch.context() as cut:
        cut.setattr("nigari.backends.disk.os.replace", _interrupt)
        cut.setattr("nigari.backends.disk.discard", lambda _: None)
        cut.chdir(tmp_path)
        with pytest.raises(KeyboardInterrupt):
            write_beside("terraform.tfstate.1700000000.backup", b"{")
    assert (tmp_path / ".terraform.tfstate.1700000000.backup.part").exists()
    assert nigari("state", "rm", "terraform_data.a", cwd=tmp_path).code == 0
    assert not list(tmp_path.glob(".terraform.*"))


@pytest.mark.parametrize("line", [["plan"], ["state", "list"]])
def test_a_write_that_was_cut_short_is_finished_by_the_next_command(
    tmp_path: Path, line: list[str]
) -> None:
    """So that whoever knows nothing of the mark can read the file again."""
    (tmp_path / "main.tf").write_text('resource "terraform_data" "a" {}\n')
    assert nigari("apply", "-auto-approve", cwd=tmp_path).code == 0
    path = tmp_path / "terraform.tfstate"
    whole = path.read_bytes()
    with pytest.MonkeyPatch.context() as cut:
        cut.setattr("nigari.backends.state_path.reserve", _interrupt)
        with pytest.raises(KeyboardInterrupt):
            StatePath(path).write(whole.replace(b'"serial": 1', b'"serial": 2'))
    assert path.read_bytes().startswith(b"#")
    os.utime(path, (0, 0))
    assert nigari(*line, cwd=tmp_path).code == 0
    assert json.loads(path.read_text())["serial"] == 2
    assert not list(tmp_path.glob(".terraform.*"))


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt
