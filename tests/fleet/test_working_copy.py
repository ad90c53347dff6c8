"""Units that run a copy of a module from elsewhere."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from nigari.cli.main import main
from tests.fleet.trees import surveyed, write_tree

_MODULE = """
variable "name" {}
module "lib" {
  source = "../lib"
  name   = var.name
}
output "name" { value = module.lib.name }
"""
_LIB = 'variable "name" {}\noutput "name" {\n  value = "lib ${var.name}"\n}\n'
_FLEET = """
unit "dev" {
  directory = "live/dev"
  source    = "./modules//app"
  variables = { name = "dev" }
}
"""
_FILES = {
    "modules/app/main.tf": _MODULE,
    "modules/lib/main.tf": _LIB,
    "live/dev/own.tf": 'output "own" {\n  value = var.name\n}\n',
    "fleet.hcl": _FLEET,
}


@pytest.fixture
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(write_tree(tmp_path, _FILES))
    return tmp_path


def _applied(capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["fleet", "init"]) == 0
    assert main(["fleet", "apply", "-auto-approve"]) == 0
    capsys.readouterr()
    assert main(["fleet", "output"]) == 0
    return capsys.readouterr().out


def test_own_files_lie_over_the_module(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = _applied(capsys)
    assert 'name = "lib dev"' in out
    assert 'own = "dev"' in out
    assert not [each for each in (fleet / "modules").rglob("*") if each.name.startswith(".terra")]


def test_an_edited_module_needs_no_init(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _applied(capsys)
    (fleet / "modules" / "lib" / "main.tf").write_text(_LIB.replace("lib $", "new $"))
    (fleet / "live" / "dev" / "own.tf").unlink()
    assert main(["fleet", "apply", "-auto-approve"]) == 0
    capsys.readouterr()
    assert main(["fleet", "output"]) == 0
    out = capsys.readouterr().out
    assert 'name = "new dev"' in out
    assert "own" not in out


def test_modules_are_no_units(fleet: Path) -> None:
    assert list(surveyed(fleet).units) == ["dev"]


def test_a_package_is_downloaded_by_init(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git = ["git", "-c", "user.name=n", "-c", "user.email=n@example.com"]
    subprocess.run([*git, "init", "-q", "-b", "main"], cwd=fleet / "modules", check=True)
    subprocess.run([*git, "add", "."], cwd=fleet / "modules", check=True)
    subprocess.run([*git, "commit", "-q", "-m", "m"], cwd=fleet / "modules", check=True)
    source = f"git::{(fleet / 'modules').as_uri()}//app?ref=main"
    (fleet / "fleet.hcl").write_text(
        'fleet {\n  exclude = ["modules"]\n}\n' + _FLEET.replace("./modules//app", source)
    )
    assert main(["fleet", "list"]) == 0
    assert "call" in capsys.readouterr().err
    assert 'name = "lib dev"' in _applied(capsys)


def test_a_change_of_the_module_selects_the_unit(
    fleet: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    git = ["git", "-c", "user.name=n", "-c", "user.email=n@example.com"]
    (fleet / ".gitignore").write_text(".nigari/\n")
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "m"]):
        subprocess.run([*git, *command], cwd=fleet, check=True)
    assert main(["fleet", "init"]) == 0
    for changed, is_selected in (("modules/lib/main.tf", True), ("other.txt", False)):
        path = fleet / changed
        path.write_text((path.read_text() if path.exists() else "") + "\n")
        subprocess.run([*git, "add", "."], cwd=fleet, check=True)
        capsys.readouterr()
        assert main(["fleet", "list", "-changed-since=HEAD"]) == 0
        assert ("dev" in capsys.readouterr().out) is is_selected
        subprocess.run([*git, "commit", "-q", "-m", "m"], cwd=fleet, check=True)


def test_undeclared_variables(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (fleet / "fleet.hcl").write_text(_FLEET.replace('"dev" }', '"dev", other = 1 }'))
    assert main(["fleet", "init"]) == 0
    assert main(["fleet", "plan"]) == 1
    assert "Value for an undeclared variable" in capsys.readouterr().err
    text = (fleet / "fleet.hcl").read_text()
    (fleet / "fleet.hcl").write_text(
        text.replace("  source", "  ignore_undeclared = true\n  source")
    )
    assert main(["fleet", "plan"]) == 0


def test_a_source_that_is_not_there(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (fleet / "fleet.hcl").write_text(_FLEET.replace("./modules//app", "./modules//none"))
    assert main(["fleet", "list"]) == 1
    assert "There is no directory" in capsys.readouterr().err
