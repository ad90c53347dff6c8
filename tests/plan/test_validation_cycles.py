"""Validations that refer to what depends on their own variable are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import nigari
from tests.plan import sessions

_TEXT = """
variable "v" {
  default = "x"
  validation {
    condition     = "${var.v}${%s}" != ""
    error_message = "no"
  }
}
locals {
  other = "y"
  same  = var.v
}
resource "terraform_data" "a" {
  input = local.same
}
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("destroy", [False, True])
@pytest.mark.parametrize("reference", ["local.same", "terraform_data.a.id"])
def test_a_cycle_is_reported_once(reference: str, destroy: bool) -> None:
    Path("main.tf").write_text(_TEXT % reference)
    with pytest.raises(nigari.SessionError) as raised:
        sessions.plan(destroy=destroy)
    assert [each.summary for each in raised.value.diagnostics] == ["Dependency cycle"]


@pytest.mark.parametrize("reference", ["var.v", "local.other"])
def test_what_does_not_depend_on_the_variable_may_be_referred_to(reference: str) -> None:
    Path("main.tf").write_text(_TEXT % reference)
    assert sessions.plan().summary.add == 1
