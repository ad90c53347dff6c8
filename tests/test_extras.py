"""Without the libraries of the extras, everything says what to install, before anything is done."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from nigari.cli.main import main

ENCRYPTED = """
terraform {
  encryption {
    key_provider "pbkdf2" "key" {
      passphrase = "correct-horse-battery"
    }
    method "aes_gcm" "method" {
      keys = key_provider.pbkdf2.key
    }
    state {
      method = method.aes_gcm.method
    }
  }
}
resource "terraform_data" "it" {}
"""
REQUIRING = """
terraform {
  required_providers {
    thing = {
      source = "registry.example.com/team/thing"
    }
  }
}
"""


def hide(monkeypatch: pytest.MonkeyPatch, *libraries: str) -> None:
    """Act as if libraries were not installed."""
    for name in [*sys.modules]:
        if name.partition(".")[0] in libraries:
            monkeypatch.delitem(sys.modules, name)
    for library in libraries:
        monkeypatch.setitem(sys.modules, library, None)


@pytest.mark.parametrize(
    ("text", "command", "library", "extra"),
    [
        ("", ["eval", 'rsadecrypt("eA==", "key")'], "cryptography", "encryption"),
        (ENCRYPTED, ["apply", "-auto-approve"], "cryptography", "encryption"),
        (REQUIRING, ["init"], "httpcore", "network"),
    ],
    ids=["function", "encryption", "network"],
)
def test_a_missing_library(
    text: str,
    command: list[str],
    library: str,
    extra: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "main.tf").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    hide(monkeypatch, library)
    assert main(command) == 1
    shown = " ".join(capsys.readouterr().err.split())
    assert f"The library {library} is not installed." in shown
    assert f"pip install {library}." in shown
    assert f"The extra {extra} installs it, too." in shown
    assert "bug" not in shown
    assert [path.name for path in tmp_path.glob("*.tfstate*")] == []
