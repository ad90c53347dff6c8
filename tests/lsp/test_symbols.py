"""`textDocument/documentSymbol` and `workspace/symbol`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lsp.client import covered
from tests.lsp.configuration import ROOT, evaluated
from tests.lsp.configuration import client as a_client


def test_document_symbols(tmp_path: Path) -> None:
    tree = {"textDocument": {"documentSymbol": {"hierarchicalDocumentSymbolSupport": True}}}
    with a_client(tmp_path, capabilities=tree) as client:
        evaluated(client)
        found = client.request(
            "textDocument/documentSymbol", {"textDocument": client.document("main.tf")}
        )
        assert [each["name"] for each in found] == [
            'variable "region"',
            'variable "secret"',
            "locals",
            'resource "terraform_data" "first"',
            'module "net"',
            'output "all"',
        ]
        (names, *_) = found[2]["children"]
        assert (names["name"], names["detail"]) == ("names", '{ a = "x", b = "y" }')
        assert covered(ROOT, found[3]["selectionRange"]) == 'resource "terraform_data" "first"'
        assert covered(ROOT, found[3]["range"]).endswith("}")


def test_flat_symbols(tmp_path: Path) -> None:
    with a_client(tmp_path) as client:
        evaluated(client)
        found = client.request(
            "textDocument/documentSymbol", {"textDocument": client.document("main.tf")}
        )
        assert found[0]["location"]["uri"] == client.uri("main.tf")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("title", [("title", "net")]),
        ("terraform_data", [("terraform_data.first", ".")]),
        ("vrregion", [("region", ".")]),
        ("variable.", [("name", "net"), ("region", "."), ("secret", ".")]),
        ("nothing at all", []),
    ],
)
def test_workspace_symbols(tmp_path: Path, query: str, expected: list[tuple[str, str]]) -> None:
    with a_client(tmp_path) as client:
        evaluated(client)
        found = client.request("workspace/symbol", {"query": query})
        shown = sorted((each["name"], each["containerName"]) for each in found)
        assert shown == sorted(expected)
