"""Saved plans: what was planned is what is done, or nothing is."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest

from nigari.cli.commands import apply, plan, show
from tests.plan.command import applied, invoked, ran

_TEXT = """
variable "v" {}
resource "terraform_data" "a" { input = var.v }
resource "terraform_data" "b" { input = [terraform_data.a.output, file("x.txt")] }
output "o" { value = terraform_data.b.output }
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "main.tf").write_text(_TEXT)
    (tmp_path / "x.txt").write_text("hello")
    return tmp_path


def _save() -> None:
    invocation = invoked(plan.COMMAND, ["-out=p", "-var=v=1"], {})
    assert plan.COMMAND.run(invocation) == 0


def _apply() -> tuple[int, str]:
    invocation = invoked(apply.COMMAND, ["p"], {})
    status = apply.COMMAND.run(invocation)
    streams = (invocation.terminal.stdout, invocation.terminal.stderr)
    return status, "".join(s.getvalue() for s in streams if isinstance(s, StringIO))


def test_applied_later(here: Path) -> None:
    _save()
    (here / "main.tf").write_text("this is not even a configuration")
    status, said = _apply()
    assert status == 0, said
    assert said.endswith('\nOutputs:\n\no = [\n  "1",\n  "hello",\n]\n')


def test_refused_after_the_state_has_changed(here: Path) -> None:
    _save()
    applied(["-var=v=2"], {})
    status, said = _apply()
    assert status == 1
    assert "the state has changed" in said


def test_refused_after_a_file_has_changed(here: Path) -> None:
    _save()
    (here / "x.txt").write_text("other")
    status, said = _apply()
    assert status == 1
    assert "x.txt has changed since the plan was made" in " ".join(said.split())


_FAILING = """
resource "terraform_data" "a" { input = 1 }
resource "terraform_data" "b" {
  input = 2
  lifecycle {
    postcondition {
      condition     = self.input == 3
      error_message = "Not three."
    }
  }
}
"""


def test_what_went_wrong_is_saved_to_be_looked_at_only(here: Path) -> None:
    Path("main.tf").write_text(_FAILING)
    status, said = ran(plan.COMMAND, ["-out=p"], {})
    assert status == 1
    assert "Not three." in said
    status, said = ran(show.COMMAND, ["p"], {})
    assert status == 0, said
    assert "before the errors below" in said
    assert "terraform_data.a will be created" in said
    status, said = ran(show.COMMAND, ["-json", "p"], {})
    assert status == 0, said
    assert json.loads(said)["errored"] is True
    status, said = _apply()
    assert status == 1
    assert "it is incomplete" in " ".join(said.split())
    assert not Path("terraform.tfstate").exists()


def test_without_any_plan_nothing_is_saved(here: Path) -> None:
    Path("main.tf").write_text('resource "terraform_data" "a" { nothing = 1 }')
    assert ran(plan.COMMAND, ["-out=p"], {})[0] == 1
    assert not Path("p").exists()


def test_refused_when_altered(here: Path) -> None:
    import zipfile

    _save()
    with zipfile.ZipFile("p", "a") as archive:
        archive.writestr("sources/other.tf", "")
    status, said = _apply()
    assert status == 1
    assert "contents were changed" in said


def test_refused_when_it_is_no_plan(here: Path) -> None:
    (here / "p").write_text("something")
    status, said = _apply()
    assert status == 1
    assert "does not contain a plan" in said
