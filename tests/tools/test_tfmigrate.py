"""tfmigrate: states that it changes with both programs.

This version accepts only Terraform, so OpenTofu gets a launcher that answers as Terraform, too.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.real import program
from tests.tools.beside import Side, sides

pytestmark = pytest.mark.tools

_BACKEND = 'terraform {\n  backend "local" {\n    path = "states/a.tfstate"\n  }\n}\n'
_BEFORE = (
    _BACKEND + 'resource "terraform_data" "a" {\n  input = 1\n}\nresource "terraform_data" "c" {}\n'
)
_AFTER = _BACKEND + 'resource "terraform_data" "b" {\n  input = 1\n}\n'
_OTHER_NAME = """#!/bin/sh
[ "$1" = version ] && echo "Terraform v1.12.6" && exit
exec "%s" "$@"
"""


def _migrated(side: Side, binary: Path) -> list[tuple[str, str]]:
    """The objects after a migration that leaves nothing to do, and the refusal of one that would."""
    side.run("apply", "-input=false", "-auto-approve")
    (side.directory / "main.tf").write_text(_AFTER)

    def run(*actions: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [program("reader-tfmigrate"), binary, *actions],
            cwd=side.directory,
            capture_output=True,
            text=True,
            check=False,
        )

    assert "unexpected diff" in run("mv terraform_data.a terraform_data.b").stderr
    done = run("mv terraform_data.a terraform_data.b", "rm terraform_data.c")
    assert done.returncode == 0, done.stderr
    state = json.loads((side.directory / "states" / "a.tfstate").read_bytes())
    return [(each["type"], each["name"]) for each in state["resources"]]


def test_tfmigrate(tmp_path: Path) -> None:
    theirs, ours = sides(tmp_path, "terraform", {"main.tf": _BEFORE})
    renamed = tmp_path / "terraform"
    renamed.write_text(_OTHER_NAME % theirs.binary)
    renamed.chmod(0o755)
    assert _migrated(theirs, renamed) == _migrated(ours, ours.binary) == [("terraform_data", "b")]
