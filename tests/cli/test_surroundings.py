"""What a configuration sees of its surroundings: the home directory, and where it was run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import nigari as package
from nigari.workspace.context.working_directory import home_directory
from tests.cli.process import nigari
from tests.cli.surroundings import SEEN, WORKING_DIRECTORIES, linked_directory

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


@pytest.mark.parametrize(("pwd", "changed", "current", "absolute"), WORKING_DIRECTORIES)
def test_linked_directories_keep_their_names(
    pwd: str, changed: str, current: str, absolute: str, tmp_path: Path
) -> None:
    link = linked_directory(tmp_path)
    settings = {"PWD": pwd.format(tmp_path)}
    done = nigari(f"-chdir={changed}", "console", cwd=link, stdin=SEEN, settings=settings)
    there = absolute.format(tmp_path)
    beside = f"{os.path.dirname(there)}/x"
    found = [current.format(tmp_path), there, beside, "."]
    assert done.out.splitlines() == [f'"{each}"' for each in found], done.err


def test_linked_directories_of_sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = linked_directory(tmp_path)
    monkeypatch.chdir(link)
    monkeypatch.setenv("PWD", str(link))
    found = package.load("sub").evaluate('[path.cwd, abspath(".")]')
    assert str(found).count(f'"{link}/sub"') == 2


@pytest.mark.parametrize("environ", [{}, {"HOME": ""}])
def test_the_system_knows_homes(environ: dict[str, str]) -> None:
    from pwd import getpwuid

    assert home_directory(environ) == getpwuid(os.getuid()).pw_dir
