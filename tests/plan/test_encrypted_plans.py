"""Saved plans are encrypted as the `plan` block of `encryption` says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.process import Done, inside

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


def words(done: Done) -> str:
    return " ".join((done.out + done.err).split())


def test_encrypted() -> None:
    Path("main.tf").write_text(CONFIG % PLAN)
    assert inside("plan", "-out=p").code == 0
    data = Path("p").read_bytes()
    assert "encrypted_data" in json.loads(data)
    shown = inside("show", "-no-color", "p")
    assert "recognizable" in shown.out, shown.err
    assert inside("apply", "p").code == 0
    assert "recognizable" in Path("terraform.tfstate").read_text()


def test_wrong_key() -> None:
    Path("main.tf").write_text(CONFIG % PLAN)
    assert inside("plan", "-out=p").code == 0
    done = inside("apply", "-var=passphrase=something entirely different", "p")
    assert done.code == 1
    assert "plan" in words(done)
    assert not Path("terraform.tfstate").exists()


def test_no_longer_configured() -> None:
    Path("main.tf").write_text(CONFIG % PLAN)
    assert inside("plan", "-out=p").code == 0
    Path("main.tf").write_text('resource "terraform_data" "a" {}\n')
    done = inside("apply", "p")
    assert done.code == 1
    assert "encrypted" in words(done)


def test_only_states_are_encrypted() -> None:
    Path("main.tf").write_text(CONFIG % STATE)
    assert inside("plan", "-out=p").code == 0
    assert Path("p").read_bytes().startswith(b"PK")
    assert inside("apply", "p").code == 0
    assert "recognizable" not in Path("terraform.tfstate").read_text()
