"""The outputs that an import by address stores."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.plan.sessions import applied, session


def test_outputs_follow_what_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("main.tf").write_text(
        'output "gone" {\n  value = 1\n}\noutput "a" {\n  value = "old"\n}\n'
    )
    applied()
    Path("main.tf").write_text(
        'resource "terraform_data" "a" {}\nresource "terraform_data" "b" {}\n'
        'output "a" {\n  value = [terraform_data.a.id, terraform_data.b.id]\n}\n'
        'output "new" {\n  value = "x"\n  sensitive = true\n}\n'
        'output "none" {\n  value = terraform_data.a.input\n}\n'
        'output "later" {\n  value = terraform_data.b.id\n}\n'
    )
    session().import_("terraform_data.a", "some-id")
    state = json.loads(Path("terraform.tfstate").read_text())
    assert state["outputs"] == {
        "a": {"value": ["some-id", None], "type": ["tuple", ["string", "string"]]},
        "later": {"value": None, "type": "string"},
        "new": {"value": "x", "type": "string", "sensitive": True},
    }
