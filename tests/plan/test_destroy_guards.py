"""Validations of the root module's variables, by which people keep others from destroying something."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plan.sessions import Options, applied, failed, session, words

MAIN = """\
variable "confirm" {
  default = "yes"
  validation {
    condition     = var.confirm == "yes"
    error_message = "Say yes."
  }
}
variable "other" {
  default = "a"
  validation {
    condition     = var.other == terraform_data.a.input
    error_message = "Not this one."
  }
}
resource "terraform_data" "a" {
  input = "a"
}
resource "terraform_data" "b" {}
"""


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("main.tf").write_text(MAIN)
    applied()


@pytest.mark.parametrize("options", [{}, {"refresh": False}, {"targets": ["terraform_data.b"]}])
@pytest.mark.parametrize(
    ("variables", "message"), [({"confirm": "no"}, "Say yes."), ({"other": "b"}, "Not this one.")]
)
def test_nothing_is_destroyed(options: Options, variables: dict[str, object], message: str) -> None:
    options["destroy"] = True
    assert message in words(failed(variables, **options))


def test_what_cannot_be_decided_any_more_keeps_nothing() -> None:
    applied(destroy=True, targets=["terraform_data.a"])
    session({"other": "b"}).destroy()
    assert list(session().state.resources) == []


def test_where_nothing_is_left_nothing_is_kept() -> None:
    session().destroy()
    assert [*session({"confirm": "no"}).plan(destroy=True).changes] == []
