"""Ephemeral variables and saved plans: never stored, and given again when a plan is applied."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.process import Done, inside
from tests.plan.vault import REQUIRED, Vault, install

CONFIGURATION = """\
variable "token" {
  type      = string
  ephemeral = true
}
variable "extra" {
  default   = "x"
  ephemeral = true
}
variable "name" { default = "t" }
provider "vault" { token = var.token }
resource "vault_thing" "t" {
  name     = var.name
  password = "${module.inner.out}-${var.extra}"
}
module "inner" {
  source = "./inner"
  secret = var.token
}
output "applying" { value = ephemeralasnull(terraform.applying) == null }
"""
INNER = """\
variable "secret" { ephemeral = true }
output "out" {
  value     = "<${var.secret}>"
  ephemeral = true
}
"""


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Vault:
    monkeypatch.chdir(tmp_path)
    Path("main.tf").write_text(REQUIRED + CONFIGURATION)
    Path("inner").mkdir()
    Path("inner/main.tf").write_text(INNER)
    assert inside("get").code == 0
    found = install(monkeypatch)
    done = inside("plan", "-var=token=planned-with", "-out=p")
    assert done.code == 0, done.err
    return found


def apply(*args: str) -> Done:
    return inside("apply", "-input=false", "-no-color", *args, "p")


def test_values_are_not_in_the_plan(vault: Vault) -> None:
    assert b"planned-with" not in Path("p").read_bytes()


def test_the_value_must_be_given_again(vault: Vault) -> None:
    done = apply()
    assert done.code == 1
    assert "No value for variable" in done.err
    assert vault.notes == []


@pytest.mark.parametrize(
    ("args", "password"),
    [
        (["-var=token=T"], "<T>-x"),
        (["-var=token=T", "-var=extra=y"], "<T>-y"),
        (["-var=token=T", "-var=name=t"], "<T>-x"),
    ],
    ids=["only what is needed", "a default replaced", "the plan's own value"],
)
def test_given_again(vault: Vault, args: list[str], password: str) -> None:
    done = apply(*args)
    assert done.code == 0, done.err
    assert vault.notes == [f"create t with {password} as T"]


def test_other_values_cannot_change(vault: Vault) -> None:
    done = apply("-var=token=T", "-var=name=other")
    assert done.code == 1
    assert "Value contradicts the plan" in done.err
    assert vault.notes == []


def test_names_are_checked(vault: Vault) -> None:
    done = apply("-var=token=T", "-var=nmae=t")
    assert done.code == 1
    assert "undeclared" in done.err


def test_a_file_gives_it(vault: Vault) -> None:
    Path("terraform.tfvars").write_text('token = "F"\n')
    done = apply()
    assert done.code == 0, done.err
    assert vault.notes == ["create t with <F>-x as F"]
