"""Saved plans are encrypted as the `plan` block of `encryption` says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import nigari
from tests.plan.sessions import apply_saved, saved, session, words

CONFIG = """\
terraform {
  encryption {
    key_provider "pbkdf2" "k" {
      passphrase = var.passphrase
      iterations = 200000
    }
    method "aes_gcm" "m" {
      keys = key_provider.pbkdf2.k
    }
    %s
  }
}
variable "passphrase" {
  default = "correct horse battery staple"
}
resource "terraform_data" "a" { input = "recognizable" }
"""
PLAN = "plan {\n      method = method.aes_gcm.m\n    }"
STATE = "state {\n      method = method.aes_gcm.m\n    }"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_encrypted() -> None:
    Path("main.tf").write_text(CONFIG % PLAN)
    data = saved().read_bytes()
    assert "encrypted_data" in json.loads(data)
    assert b"recognizable" not in data
    (change,) = session().read_plan("p").changes
    assert change.after.attribute("input").as_string() == "recognizable"
    apply_saved()
    assert "recognizable" in Path("terraform.tfstate").read_text()


def test_wrong_key() -> None:
    Path("main.tf").write_text(CONFIG % PLAN)
    saved()
    with pytest.raises(nigari.SessionError) as caught:
        apply_saved({"passphrase": "something entirely different"})
    assert "plan" in words(caught.value)
    assert not Path("terraform.tfstate").exists()


def test_no_longer_configured() -> None:
    Path("main.tf").write_text(CONFIG % PLAN)
    saved()
    Path("main.tf").write_text('resource "terraform_data" "a" {}\n')
    with pytest.raises(nigari.SessionError) as caught:
        apply_saved()
    assert "encrypted" in words(caught.value)


def test_only_states_are_encrypted() -> None:
    Path("main.tf").write_text(CONFIG % STATE)
    assert saved().read_bytes().startswith(b"PK")
    apply_saved()
    assert "recognizable" not in Path("terraform.tfstate").read_text()
