"""`textDocument/prepareRename` and `textDocument/rename`."""

from __future__ import annotations

from pathlib import Path

import pytest

from nigari.lsp.text import edited
from tests.lsp.client import Client, ErrorAnswer, covered
from tests.lsp.configuration import FILES, NET, ROOT, evaluated
from tests.lsp.configuration import client as a_client


def _rename(client: Client, name: str, text: str, shift: int, new: str) -> dict[str, str]:
    """The texts of the files after a rename."""
    place = client.at(name, client.find(name, text, shift))
    edit = client.request("textDocument/rename", {**place, "newName": new})
    changed = {}
    for uri, edits in edit["changes"].items():
        path = uri.removeprefix(client.uri("") + "/")
        before = client.texts.get(path) or (client.root / path).read_text()
        for each in sorted(
            edits, key=lambda e: str(e["range"]["start"]["line"]).zfill(9), reverse=True
        ):
            before = edited(before, [{"range": each["range"], "text": each["newText"]}], "utf-16")
        changed[path] = before
    return changed


def test_over_modules(tmp_path: Path) -> None:
    with a_client(tmp_path) as client:
        evaluated(client)
        assert _rename(client, "main.tf", "  name     =", 3, "title") == {
            "main.tf": ROOT.replace("  name     =", "  title     ="),
            "net/main.tf": NET.replace('"name"', '"title"').replace("var.name", "var.title"),
        }


def test_resources_are_moved(tmp_path: Path) -> None:
    with a_client(tmp_path) as client:
        evaluated(client)
        changed = _rename(client, "main.tf", "terraform_data.first.id", 16, "last")
        assert changed == {
            "main.tf": ROOT.replace('"first"', '"last"')
            .replace("terraform_data.first", "terraform_data.last")
            .replace(
                "  input = local.where\n}\n",
                "  input = local.where\n}\n\nmoved {\n  from = terraform_data.first\n"
                "  to   = terraform_data.last\n}\n",
            )
        }


def test_unsaved_documents_have_versions(tmp_path: Path) -> None:
    capable = {"workspace": {"workspaceEdit": {"documentChanges": True}}}
    with a_client(tmp_path, capabilities=capable) as client:
        evaluated(client)
        place = client.at("main.tf", client.find("main.tf", "  name     =", 3))
        edit = client.request("textDocument/rename", {**place, "newName": "title"})
        versions = {
            each["textDocument"]["uri"]: each["textDocument"]["version"]
            for each in edit["documentChanges"]
        }
        assert versions == {client.uri("main.tf"): 1, client.uri("net/main.tf"): None}


def test_prepare(tmp_path: Path) -> None:
    with a_client(tmp_path) as client:
        evaluated(client)
        place = client.at("main.tf", client.find("main.tf", "upper(var.region)", 12))
        found = client.request("textDocument/prepareRename", place)
        assert found["placeholder"] == covered(ROOT, found["range"]) == "region"
        place = client.at("main.tf", client.find("main.tf", "upper(var.region)", 1))
        assert client.request("textDocument/prepareRename", place) is None


@pytest.mark.parametrize("name", ["secret", "not a name", "count"])
def test_names_that_are_refused(tmp_path: Path, name: str) -> None:
    with a_client(tmp_path, FILES) as client:
        evaluated(client)
        with pytest.raises(ErrorAnswer) as refused:
            _rename(client, "main.tf", "upper(var.region)", 12, name)
        assert refused.value.code == -32803
        assert name in str(refused.value)
