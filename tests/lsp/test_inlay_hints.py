"""`textDocument/inlayHint`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.lsp.client import Client
from tests.lsp.configuration import client as a_client
from tests.lsp.configuration import evaluated

_ALL = {"start": {"line": 0, "character": 0}, "end": {"line": 1000, "character": 0}}


def _hints(client: Client, name: str = "main.tf") -> dict[int, str]:
    """The hints by line."""
    found: list[dict[str, Any]] = client.request(
        "textDocument/inlayHint", {"textDocument": client.document(name), "range": _ALL}
    )
    return {each["position"]["line"]: each["label"] for each in found}


def test_values(tmp_path: Path) -> None:
    with a_client(tmp_path) as client:
        evaluated(client)
        assert _hints(client) == {
            13: '= "EU"',
            14: "= (sensitive value)",
            19: '= "EU"',
            24: "2 instances",
            25: '= "x" | "y"',
            29: '= ["net x", "net y"]',
        }


def test_values_of_variables_say_where_they_are_from(tmp_path: Path) -> None:
    with a_client(tmp_path, environ={"TF_VAR_region": "us"}) as client:
        evaluated(client)
        assert _hints(client)[0] == '= "us" from the environment variable TF_VAR_region'


@pytest.mark.parametrize(("level", "expected"), [("off", {}), ("names", {1: "string:"})])
def test_levels(tmp_path: Path, level: str, expected: dict[int, str]) -> None:
    text = 'locals {\n  a = split(local.b, "x")\n  b = 1 + 1\n}\n'
    with a_client(tmp_path, {}, settings={"inlayHints": level}) as client:
        evaluated(client, "main.tf", text)
        found = _hints(client)
        assert found.keys() == expected.keys()


def test_secrets_are_not_shown(tmp_path: Path) -> None:
    text = (
        'variable "s" {\n  sensitive = true\n  default = "hunter2"\n}\n'
        'terraform {\n  backend "s3" {\n    secret_key = "${nonsensitive(var.s)}"\n  }\n}\n'
        "locals {\n  a = { b = var.s }\n}\n"
    )
    with a_client(tmp_path, {}) as client:
        evaluated(client, "main.tf", text)
        found = client.request(
            "textDocument/inlayHint",
            {"textDocument": client.document("main.tf"), "range": _ALL},
        )
        assert "hunter2" not in str(found)
        assert len(found) == 1
