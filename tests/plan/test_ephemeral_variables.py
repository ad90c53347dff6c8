"""Ephemeral variables and saved plans: never stored, and given again when a plan is applied."""

from __future__ import annotations

from pathlib import Path

import pytest

import nigari
from tests.plan.sessions import Variables, apply_saved, failed, plan, saved, words
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
    found = install(monkeypatch)
    saved({"token": "planned-with"})
    return found


def refused(variables: Variables | None = None) -> str:
    """Why the plan that was saved is not applied."""
    with pytest.raises(nigari.SessionError) as caught:
        apply_saved(variables)
    return words(caught.value)


def test_values_are_not_in_the_plan(vault: Vault) -> None:
    assert b"planned-with" not in Path("p").read_bytes()


def test_the_value_must_be_given_again(vault: Vault) -> None:
    said = refused()
    assert "No value for variable" in said
    assert 'variable "token" {' in said
    assert vault.notes == []


@pytest.mark.parametrize(
    ("variables", "password"),
    [
        ({"token": "T"}, "<T>-x"),
        ({"token": "T", "extra": "y"}, "<T>-y"),
        ({"token": "T", "name": "t"}, "<T>-x"),
    ],
    ids=["only what is needed", "a default replaced", "the plan's own value"],
)
def test_given_again(vault: Vault, variables: Variables, password: str) -> None:
    apply_saved(variables)
    assert vault.notes == [f"create t with {password} as T"]


def test_other_values_cannot_change(vault: Vault) -> None:
    assert "Value contradicts the plan" in refused({"token": "T", "name": "other"})
    Path("terraform.tfvars").write_text('token = "F"\nname  = "other"\n')
    assert 'name = "other"' in refused()
    assert vault.notes == []


def test_names_are_checked(vault: Vault) -> None:
    assert "undeclared" in refused({"token": "T", "nmae": "t"})


def test_a_file_gives_it(vault: Vault) -> None:
    Path("terraform.tfvars").write_text('token = "F"\n')
    apply_saved()
    assert vault.notes == ["create t with <F>-x as F"]


@pytest.mark.parametrize(("declared", "is_refused"), [("", True), ("ephemeral = true", False)])
def test_only_an_ephemeral_variable_takes_an_ephemeral_value(
    declared: str, is_refused: bool, vault: Vault
) -> None:
    Path("inner/main.tf").write_text(INNER.replace("ephemeral = true", declared, 1))
    if not is_refused:
        assert plan({"token": "t"}).changes
        return
    found = failed({"token": "t"}).diagnostics
    assert found[0].summary == "Ephemeral value for variable"


def test_null_for_a_variable_that_has_no_other_value(vault: Vault) -> None:
    Path("main.tf").write_text('variable "v" { nullable = false }\n')
    (error,) = failed({"v": None}).diagnostics
    assert error.summary == "Invalid value for variable"
    assert "must have a value" in error.detail
