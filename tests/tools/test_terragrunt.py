"""Programs that run `tofu`, over our launcher."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from nigari.cli.main import main
from tests.real import program

pytestmark = pytest.mark.tools

_FIRST = """
resource "terraform_data" "it" {
  input = "a"
}
output "name" {
  value = terraform_data.it.output
}
"""
_SECOND = _FIRST.replace('"a"', "var.name") + 'variable "name" {}\n'
_DEPENDENCY = """
dependency "first" {
  config_path = "../first"
}
inputs = {
  name = dependency.first.outputs.name
}
"""


def test_terragrunt(tmp_path: Path) -> None:
    terragrunt = program("terragrunt")
    shims = tmp_path / "shims"
    assert main(["shim", str(shims)]) == 0
    for name, text, settings in (("first", _FIRST, ""), ("second", _SECOND, _DEPENDENCY)):
        (tmp_path / "live" / name).mkdir(parents=True)
        (tmp_path / "live" / name / "main.tf").write_text(text)
        (tmp_path / "live" / name / "terragrunt.hcl").write_text(settings)

    def run(directory: str, *command: str) -> str:
        done = subprocess.run(
            [terragrunt, "--non-interactive", *command],
            cwd=tmp_path / "live" / directory,
            env={**os.environ, "PATH": f"{shims}:{os.environ['PATH']}", "TG_TF_PATH": "tofu"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    assert "Plan: 1 to add, 0 to change, 0 to destroy." in run("first", "plan")
    assert "Apply complete! Resources: 1 added" in run("first", "apply", "-auto-approve")
    assert 'name = "a"' in run("first", "output")
    assert "Apply complete! Resources: 1 added" in run(".", "run", "--all", "apply")
    assert 'name = "a"' in run("second", "output")
