"""The code actions that move blocks to files of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from nigari.lsp.text import edited
from tests.lsp.client import Client
from tests.lsp.configuration import client as a_client

_CREATES: Final = {
    "workspace": {"workspaceEdit": {"documentChanges": True, "resourceOperations": ["create"]}}
}
_MAIN: Final = """\
# The region.
# Everything is there.
variable "a" {}

locals {
  x = var.a
}

variable "b" {
  type = string # Any.
}
resource "terraform_data" "one" {
  input = local.x
}

resource "cloud_thing" "two" {}
"""
_WITHOUT_VARIABLES: Final = """\
locals {
  x = var.a
}

resource "terraform_data" "one" {
  input = local.x
}

resource "cloud_thing" "two" {}
"""
_VARIABLES: Final = """\
# The region.
# Everything is there.
variable "a" {}

variable "b" {
  type = string # Any.
}
"""


def _moves(client: Client, name: str, at: str) -> list[dict[str, Any]]:
    where = client.find(name, at)
    asked = {
        "textDocument": client.document(name),
        "range": {"start": where, "end": where},
        "context": {"diagnostics": [], "only": ["refactor.move"]},
    }
    found: list[dict[str, Any]] = client.request("textDocument/codeAction", asked)
    return found


def _applied(client: Client, action: dict[str, Any]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for change in action["edit"]["documentChanges"]:
        if "kind" in change:
            assert change["kind"] == "create"
            path = change["uri"].removeprefix(client.uri("") + "/")
            assert not (client.root / path).exists()
            texts[path] = ""
            continue
        path = change["textDocument"]["uri"].removeprefix(client.uri("") + "/")
        text = texts.get(path, client.texts.get(path))
        if text is None:
            text = (client.root / path).read_text()
        for each in reversed(change["edits"]):
            text = edited(text, [{"range": each["range"], "text": each["newText"]}], "utf-16")
        texts[path] = text
    return texts


@pytest.mark.parametrize(
    ("name", "others", "at", "title", "expected"),
    [
        pytest.param(
            "main.tf",
            {},
            'variable "b"',
            "Move variable blocks to variables.tf",
            {"main.tf": _WITHOUT_VARIABLES, "variables.tf": _VARIABLES},
            id="to a new file",
        ),
        pytest.param(
            "main.tf",
            {"variables.tf": 'variable "c" {}'},
            'variable "a"',
            "Move variable blocks to variables.tf",
            {
                "main.tf": _WITHOUT_VARIABLES,
                "variables.tf": f'variable "c" {{}}\n\n{_VARIABLES}',
            },
            id="to the end of a file",
        ),
        pytest.param(
            "main.tofu",
            {},
            'resource "cloud_thing"',
            "Move the resource cloud_thing block to cloud_thing.tofu",
            {
                "main.tofu": _MAIN.removesuffix('resource "cloud_thing" "two" {}\n'),
                "cloud_thing.tofu": 'resource "cloud_thing" "two" {}\n',
            },
            id="resources of a type",
        ),
    ],
)
def test_moved(
    tmp_path: Path,
    name: str,
    others: dict[str, str],
    at: str,
    title: str,
    expected: dict[str, str],
) -> None:
    with a_client(tmp_path, others, _CREATES) as client:
        client.open(name, _MAIN)
        (action,) = _moves(client, name, at)
        assert action["title"] == title
        assert _applied(client, action) == expected


@pytest.mark.parametrize(
    ("name", "text", "others"),
    [
        pytest.param("variables.tf", _MAIN, {}, id="there already"),
        pytest.param("main_override.tf", _MAIN, {}, id="an override file"),
        pytest.param("main.tf", 'variable "b" {}\n', {}, id="nothing else in the file"),
        pytest.param("main.tf", _MAIN, {"variables.tf": "x = [\n"}, id="a file with errors"),
    ],
)
def test_not_offered(tmp_path: Path, name: str, text: str, others: dict[str, str]) -> None:
    with a_client(tmp_path, others, _CREATES) as client:
        client.open(name, text)
        assert _moves(client, name, 'variable "b"') == []


def test_clients_that_create_no_files(tmp_path: Path) -> None:
    with a_client(tmp_path, {"variables.tf": ""}) as client:
        client.open("main.tf", _MAIN)
        assert len(_moves(client, "main.tf", 'variable "b"')) == 1
        assert _moves(client, "main.tf", "locals") == []
