"""A saved plan holds what is needed to show, draw and apply it, wherever its state is."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.process import Done, inside
from tests.packages.repositories import Repository, needs_git

KEY = "a long enough passphrase"
BACKEND = """
variable "p" {}
terraform {
  backend "local" {
    path = var.p
  }
}
resource "terraform_data" "a" {
  input = var.p
}
"""
ENCRYPTED = """
variable "p" {
  %s
}
terraform {
  encryption {
    key_provider "pbkdf2" "k" {
      passphrase = var.p
    }
    method "aes_gcm" "m" {
      keys = key_provider.pbkdf2.k
    }
    %s {
      method = method.aes_gcm.m
    }
  }
}
resource "terraform_data" "a" {}
"""


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return work


def nigari(*args: str, **settings: str) -> Done:
    return inside(*args, settings={"PATH": os.environ["PATH"], **settings})


def saved(text: str, *given: str, **settings: str) -> None:
    Path("main.tf").write_text(text)
    for args in (("init",), ("plan", "-out=x.plan")):
        done = nigari(*args, *given, **settings)
        assert done.code == 0, done.err


def check_usable() -> None:
    for line in (
        "show x.plan",
        "show -json x.plan",
        "graph -plan=x.plan",
        "apply -input=false x.plan",
    ):
        done = nigari(*line.split())
        assert done.code == 0, (line, done.err)


def stored(path: str) -> list[str]:
    state = json.loads(Path(path).read_text())
    return [each["name"] for each in state.get("resources", [])]


# -- where the state is -------------------------------------------------------------------------


def no_change() -> None:
    pass


def other_backend() -> None:
    assert nigari("init", "-reconfigure", "-var", "p=elsewhere").code == 0


def edited() -> None:
    Path("main.tf").write_text(BACKEND.replace("var.p\n  }", '"edited"\n  }'))


def no_longer_initialized() -> None:
    Path(".terraform/terraform.tfstate").unlink()


def no_configuration() -> None:
    Path("main.tf").unlink()


def broken_configuration() -> None:
    Path("main.tf").write_text("}")


@pytest.mark.parametrize(
    "change",
    [
        no_change,
        other_backend,
        edited,
        no_longer_initialized,
        no_configuration,
        broken_configuration,
    ],
)
def test_backend_of_the_plan(directory: Path, change: Callable[[], None]) -> None:
    saved(BACKEND, "-var", "p=here")
    change()
    check_usable()
    assert stored("here") == ["a"]
    assert not Path("elsewhere").exists()
    assert not Path("edited").exists()


def test_in_another_directory(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved(BACKEND, "-var", "p=here")
    monkeypatch.chdir("..")
    for args in (("show", "x.plan"), ("graph", "-plan=x.plan"), ("apply", "x.plan")):
        assert nigari("-chdir=work", *args).code == 0
        monkeypatch.chdir(directory.parent)
    assert stored("work/here") == ["a"]


def test_workspaces(directory: Path) -> None:
    Path("main.tf").write_text(BACKEND)
    given = ("-var", "p=here")
    assert nigari("init", *given).code == 0
    assert nigari("workspace", "new", *given, "other").code == 0
    assert nigari("plan", *given, "-out=x.plan").code == 0
    refused = nigari("apply", "x.plan", TF_WORKSPACE="default")
    assert refused.code == 1
    assert "made for the workspace other" in " ".join(refused.err.split())
    check_usable()
    assert stored("terraform.tfstate.d/other/terraform.tfstate") == ["a"]
    assert not Path("here").exists()


def test_changed_values_are_refused_for_what_they_are(directory: Path) -> None:
    Path("terraform.tfvars").write_text('p = "here"\n')
    saved(BACKEND)
    Path("terraform.tfvars").write_text('p = "there"\n')
    assert nigari("show", "x.plan").code == 0
    assert nigari("graph", "-plan=x.plan").code == 0
    done = nigari("apply", "x.plan")
    assert done.code == 1
    assert "Value contradicts the plan" in done.err
    assert "terraform.tfvars line 1" in done.err
    assert not Path("there").exists()


def test_remembered_values_do_not_contradict(directory: Path) -> None:
    Path("main.tf").write_text(BACKEND)
    assert nigari("init", "-remember", "-var", "p=prod").code == 0
    assert nigari("init", "-reconfigure", "-var", "p=dev").code == 0
    assert nigari("plan", "-out=x.plan", "-var", "p=dev").code == 0
    check_usable()
    assert stored("dev") == ["a"]


# -- encryption -----------------------------------------------------------------------------------


def test_encryption_of_the_state(directory: Path) -> None:
    saved(ENCRYPTED % ("", "state"), "-var", f"p={KEY}")
    check_usable()
    assert "encrypted_data" in json.loads(Path("terraform.tfstate").read_text())


def test_key_that_a_plan_does_not_hold(directory: Path) -> None:
    saved(ENCRYPTED % ("ephemeral = true", "state"), "-var", f"p={KEY}")
    assert "No value for variable" in nigari("apply", "-input=false", "x.plan").err
    assert nigari("apply", "-var", f"p={KEY}", "x.plan").code == 0


def test_encryption_of_the_plan(directory: Path) -> None:
    saved(ENCRYPTED % ("", "plan"), "-var", f"p={KEY}")
    assert "No value for variable" in nigari("apply", "-input=false", "x.plan").err
    assert nigari("graph", "-plan=x.plan", "-var", f"p={KEY}").code == 0
    assert nigari("apply", "-var", f"p={KEY}", "x.plan").code == 0


# -- modules --------------------------------------------------------------------------------------


@needs_git
@pytest.mark.parametrize("data", ["", "data", "../data", "/"])
def test_modules_of_shared_packages(directory: Path, tmp_path: Path, data: str) -> None:
    repository = Repository(tmp_path / "repository")
    repository.commit(
        {
            "main.tf": 'module "sub" {\n  source = "./sub"\n}\n'
            'resource "terraform_data" "a" {\n  input = file("${path.module}/text")\n}\n',
            "sub/main.tf": 'resource "terraform_data" "a" {}\n',
            "text": "hello",
        }
    )
    paths = {"one": "", "two": "", "three": "//sub"}
    calls = [
        f'module "{name}" {{\n  source = "{repository.source}{path}"\n}}\n'
        for name, path in paths.items()
    ]
    settings = {"TF_DATA_DIR": f"{tmp_path}/data" if data == "/" else data}
    saved("".join(calls), **settings)
    for args in (("show", "x.plan"), ("graph", "-plan=x.plan"), ("apply", "x.plan")):
        # Where the modules were is in the plan, too.
        done = nigari(*args)
        assert done.code == 0, done.err
    assert len(stored("terraform.tfstate")) == 5


def test_module_without_files(directory: Path) -> None:
    Path("empty").mkdir()
    saved('module "e" {\n  source = "./empty"\n}\nresource "terraform_data" "a" {}\n')
    check_usable()


FAILING = """
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


def test_what_went_wrong_is_saved_to_be_looked_at_only(directory: Path) -> None:
    Path("main.tf").write_text(FAILING)
    planned = nigari("plan", "-out=p")
    assert planned.code == 1
    assert "Not three." in planned.err
    shown = nigari("show", "p")
    assert shown.code == 0, shown.err
    assert "before the errors below" in shown.out + shown.err
    assert "terraform_data.a will be created" in shown.out
    document = nigari("show", "-json", "p")
    assert document.code == 0, document.err
    assert json.loads(document.out)["errored"] is True
    applied = nigari("apply", "p")
    assert applied.code == 1
    assert "it is incomplete" in " ".join(applied.err.split())
    assert not Path("terraform.tfstate").exists()


def test_without_any_plan_nothing_is_saved(directory: Path) -> None:
    Path("main.tf").write_text('resource "terraform_data" "a" { nothing = 1 }')
    assert nigari("plan", "-out=p").code == 1
    assert not Path("p").exists()


def test_outputs_are_shown_after_a_saved_plan(directory: Path) -> None:
    Path("main.tf").write_text('output "o" {\n  value = ["1", "hello"]\n}\n')
    assert nigari("plan", "-out=p").code == 0
    applied = nigari("apply", "p")
    assert applied.out.endswith('\nOutputs:\n\no = [\n  "1",\n  "hello",\n]\n'), applied.err
