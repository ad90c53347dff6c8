"""What a configuration sees of its surroundings: the home directory, and where it was run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nigari.workspace.base.home_directory import home_directory
from tests.cli.process import nigari

CONFIGURATION = """\
terraform {
  backend "local" {
    path = "${trimspace(file("~/name"))}.tfstate"
  }
}
module "m" {
  source = "./m"
}
resource "terraform_data" "x" {
  input = [
    pathexpand("~/x"), fileexists("~/name"), templatefile("~/template", { n = 1 }),
    filemd5("~/name") == md5(file("~/name")), module.m.name, path.cwd
  ]
}
output "input" {
  value = jsonencode(terraform_data.x.input)
}
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "name").write_text("stored\n")
    (tmp_path / "home" / "template").write_text("n is ${n}")
    (tmp_path / "work" / "m").mkdir(parents=True)
    (tmp_path / "work" / "main.tf").write_text(CONFIGURATION)
    (tmp_path / "work" / "m" / "main.tf").write_text('output "name" { value = file("~/name") }')
    return tmp_path


def test_home_and_working_directory_in_every_phase(place: Path) -> None:
    environ = {"HOME": str(place / "home")}
    for command in (["init"], ["validate"], ["plan", "-out=plan"], ["apply", "plan"], ["plan"]):
        done = nigari("-chdir=work", *command, cwd=place, settings=environ)
        assert done.code == 0, done.err
    assert (place / "work" / "stored.tfstate").exists()
    done = nigari("-chdir=work", "output", "-raw", "input", cwd=place, settings=environ)
    home = place / "home"
    assert done.out == f'["{home}/x",true,"n is 1",true,"stored\\n","{place}"]'
    done = nigari("-chdir=work", "eval", 'file("~/name")', cwd=place, settings=environ)
    assert done.code == 0
    typed = 'pathexpand("~")\npath.cwd\n'
    done = nigari("-chdir=work", "console", cwd=place, settings=environ, stdin=typed)
    assert done.out == f'"{home}"\n"{place}"\n'


@pytest.mark.parametrize("environ", [{}, {"HOME": ""}])
def test_the_system_knows_homes(environ: dict[str, str]) -> None:
    from pwd import getpwuid

    assert home_directory(environ) == getpwuid(os.getuid()).pw_dir
