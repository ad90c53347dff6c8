"""The journal of the last apply: what it says, what it leaves out, and that nothing depends on it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import nigari
from nigari.workspace.session import apply_journal
from nigari.workspace.session.apply_journal import applied_inputs, is_going_on, journal_entries

MAIN = """
variable "env" {
  default = "dev"
}
variable "size" {
  type    = object({ width = number, name = optional(string, "none") })
  default = { width = 1 }
}
variable "password" {
  default   = "planted-password"
  sensitive = true
}
variable "token" {
  default   = "planted-token"
  ephemeral = true
}
resource "terraform_data" "first" {
  input = [var.env, var.password]
  provisioner "local-exec" {
    command = "echo planted-output"
  }
}
resource "terraform_data" "second" {
  input = terraform_data.first.id
  lifecycle {
    precondition {
      condition     = var.env != "bad" || terraform_data.first.id == ""
      error_message = "The environment is bad."
    }
  }
}
"""
Entry = dict[str, Any]  # JSON
_NAME = "nigari.apply.default.jsonl"


@pytest.fixture(name="infra")
def directory(tmp_path: Path) -> Path:
    (tmp_path / "main.tf").write_text(MAIN, encoding="utf-8")
    return tmp_path


def apply(infra: Path, **variables: object) -> None:
    with nigari.open(infra, variables, environ={}) as work:
        work.apply()


def path_in(infra: Path) -> str:
    return str(infra / ".terraform" / _NAME)


def journal(infra: Path) -> list[Entry]:
    return journal_entries(path_in(infra))


def test_it_says_what_was_done_and_what_waited(infra: Path) -> None:
    apply(infra)
    header, plan, *events, end = journal(infra)
    assert (header["type"], header["mode"]) == ("apply", "normal")
    numbers = {each["address"]: at for at, each in enumerate(plan["operations"])}
    second = plan["operations"][numbers["terraform_data.second"]]
    assert numbers["terraform_data.first"] in second["after"]
    assert [(each["type"], each["address"]) for each in events] == [
        ("apply_start", "terraform_data.first"),
        ("provision_start", "terraform_data.first"),
        ("provision_complete", "terraform_data.first"),
        ("apply_complete", "terraform_data.first"),
        ("apply_start", "terraform_data.second"),
        ("apply_complete", "terraform_data.second"),
    ]
    times = [each["at"] for each in events]
    assert times == sorted(times)
    assert end["succeeded"]
    assert end["counts"] == {"added": 2, "changed": 0, "destroyed": 0}


def test_secrets_and_output_are_not_in_it(infra: Path) -> None:
    apply(infra)
    path = infra / ".terraform" / _NAME
    assert "planted" not in path.read_text(encoding="utf-8")
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_failure_says_what_is_wrong(infra: Path) -> None:
    with pytest.raises(nigari.SessionError):
        apply(infra, env="bad")
    found = journal(infra)
    (problem,) = (each for each in found if each["type"] == "diagnostic")
    assert problem["severity"] == "error"
    assert "The environment is bad." in problem["detail"]
    assert not found[-1]["succeeded"]


def test_it_knows_the_variables_of_the_last_apply(infra: Path) -> None:
    assert applied_inputs(path_in(infra)) == {}
    apply(infra, env="one", size={"width": 3})
    found = applied_inputs(path_in(infra))
    assert set(found) == {"env", "size"}
    assert found["size"].value is not None
    assert found["size"].value["width"].to_python() == 3


def test_each_workspace_has_its_own(infra: Path) -> None:
    apply(infra)
    with nigari.open(infra, environ={"TF_WORKSPACE": "other"}) as work:
        work.apply()
    assert sorted(path.name for path in (infra / ".terraform").iterdir()) == [
        _NAME,
        "nigari.apply.other.jsonl",
    ]


def test_a_saved_plan_tells_its_variables_too(infra: Path) -> None:
    with nigari.open(infra, {"env": "saved"}, environ={}) as work:
        work.plan().save(infra / "plan.out")
    with nigari.open(infra, environ={}) as work:
        work.apply(work.read_plan(infra / "plan.out"))
    found = applied_inputs(path_in(infra))
    assert found["env"].value is not None
    assert found["env"].value.to_python() == "saved"
    assert "planted" not in (infra / ".terraform" / _NAME).read_text(encoding="utf-8")


def test_why_says_what_has_changed_since_the_last_apply(infra: Path) -> None:
    text = MAIN.replace("[var.env, var.password]", "var.env")
    (infra / "main.tf").write_text(text, encoding="utf-8")
    apply(infra, env="then")
    with nigari.open(infra, {"env": "now"}, environ={}) as work:
        (reasons,) = (each for each in work.plan().why() if each.address == "terraform_data.first")
    assert 'was "then"' in str(reasons)


def test_it_is_of_limited_size(infra: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apply_journal, "_MOST_BYTES", 600)
    monkeypatch.setattr(apply_journal, "_MOST_OPERATIONS", 1)
    apply(infra)
    found = journal(infra)
    assert found[1]["operations"] == []
    assert found[1]["total"] > 1
    assert found[-1]["type"] == "end"
    assert (infra / ".terraform" / _NAME).stat().st_size < 1000


def test_it_is_locked_while_the_apply_goes_on(infra: Path) -> None:
    seen: list[bool] = []
    with nigari.open(infra, environ={}) as work:
        work.apply(listen=lambda _: seen.append(is_going_on(path_in(infra))))
    assert seen
    assert all(seen)
    assert not is_going_on(path_in(infra))


def test_the_next_apply_takes_its_place(infra: Path) -> None:
    apply(infra)
    with nigari.open(infra, environ={}) as work:
        work.destroy()
    found = journal(infra)
    assert [each["type"] for each in found].count("apply") == 1
    assert found[0]["mode"] == "destroy"
    assert found[-1]["counts"]["destroyed"] == 2


@pytest.mark.parametrize("how", ["a directory in its place", "a link", "another apply"])
def test_an_apply_does_without_it(infra: Path, how: str) -> None:
    data = infra / ".terraform"
    data.mkdir()
    if how == "a directory in its place":
        (data / _NAME).mkdir()
    elif how == "a link":
        (data / _NAME).symlink_to(infra / "elsewhere")
    other = apply_journal.opened_journal(path_in(infra)) if how == "another apply" else None
    apply(infra)
    assert not (infra / "elsewhere").exists()
    assert json.loads((infra / "terraform.tfstate").read_bytes())["resources"]
    if other is not None:
        assert (data / _NAME).read_bytes() == b""
        os.close(other)


@pytest.mark.parametrize("text", ["", "{", "[]\n", '{"type":"apply"}\n', '{"format":9}\n{"a":1}\n'])
def test_what_is_no_journal_is_none(infra: Path, text: str) -> None:
    data = infra / ".terraform"
    data.mkdir()
    (data / _NAME).write_text(text, encoding="utf-8")
    assert journal(infra) == []
    assert applied_inputs(path_in(infra)) == {}
