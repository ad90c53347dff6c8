"""Files of our own and query files: what is wrong with them, and what can be written in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lsp.client import PULLED, Client

_CONFIGURATION = 'variable "region" {\n  default = "eu"\n}\nlocals {\n  size = 1\n}\n'


@pytest.mark.parametrize(
    ("name", "text", "codes"),
    [
        ("environments.hcl", 'environment "dev" {\n  variablez = {}\n}\n', ["Unexpected argument"]),
        (
            "environments.hcl",
            'locals {\n  r = "eu"\n}\nenvironment "dev" {\n  workspace = local.x\n}\n',
            ["Unsupported attribute"],
        ),
        ("environments.hcl", 'environment "dev" {\n  variables = { region = "x" }\n}\n', []),
        ("fleet.hcl", 'unit "net" {\n}\n', ["Missing argument"]),
        ("fleet.hcl", 'unit "net" {\n  directory = "."\n}\n', []),
        ("lint.hcl", 'rule "nigari:nmaing" {\n}\n', ["Unknown rule"]),
        ("lint.hcl", 'lint {\n  preset = "strict"\n}\n', []),
        (
            "a.tfquery.hcl",
            "locals {\n  zone = var.nowhere\n}\n",
            ["Reference to undeclared variable"],
        ),
        ("a.tfquery.hcl", "locals {\n  zone = var.region\n}\n", []),
        ("a.tftpl", "%{ for x in xs }${x}\n", ["Unclosed template directive"]),
        ("a.tftpl", "%{ for x in xs }${x}%{ endfor }\n", []),
    ],
)
def test_diagnostics(tmp_path: Path, name: str, text: str, codes: list[str]) -> None:
    with Client(tmp_path, {"main.tf": _CONFIGURATION}, PULLED) as client:
        client.open("main.tf")
        client.open(name, text)
        client.request("nigari/settled")
        document = {"textDocument": client.document(name)}
        report = client.request("textDocument/diagnostic", document)
        assert [each["code"] for each in report["items"]] == codes


def test_mended_at_once(tmp_path: Path) -> None:
    """Nothing of an earlier text is left."""
    with Client(tmp_path, {}, PULLED) as client:
        client.open("fleet.hcl", 'unit "net" {\n}\n')
        document = {"textDocument": client.document("fleet.hcl")}
        assert client.request("textDocument/diagnostic", document)["items"]
        client.change("fleet.hcl", 'unit "net" {\n  directory = "."\n}\n')
        assert client.request("textDocument/diagnostic", document)["items"] == []


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("environments.hcl", "┃", {"environment", "locals"}),
        ("environments.hcl", 'environment "d" {\n  ┃\n}\n', {"workspace", "var_files", "for_each"}),
        ("fleet.hcl", 'unit "d" {\n  ┃\n}\n', {"directory", "depends_on", "labels"}),
        ("lint.hcl", "lint {\n  ┃\n}\n", {"preset", "rules", "exclude"}),
        ("a.tfquery.hcl", "┃", {"list", "variable", "locals", "provider"}),
        ("a.tfquery.hcl", 'list "a" "b" {\n  ┃\n}\n', {"limit", "include_resource", "config"}),
        ("a.tfquery.hcl", 'list "a" "b" {\n  limit = local.┃\n}\n', {"size"}),
    ],
)
def test_completion(tmp_path: Path, name: str, text: str, wanted: set[str]) -> None:
    with Client(tmp_path, {"main.tf": _CONFIGURATION}, PULLED) as client:
        client.open("main.tf")
        position = client.open(name, text)
        found = client.request("textDocument/completion", client.at(name, position))
        assert {each["label"] for each in found["items"]} >= wanted


def test_hover(tmp_path: Path) -> None:
    with Client(tmp_path, {}, PULLED) as client:
        position = client.open("fleet.hcl", 'unit "net" {\n  direc┃tory = "net"\n}\n')
        found = client.request("textDocument/hover", client.at("fleet.hcl", position))
        assert "relative to this file" in found["contents"]["value"]


def test_references_lead_into_query_files(tmp_path: Path) -> None:
    files = {"main.tf": _CONFIGURATION, "a.tfquery.hcl": "locals {\n  zone = var.region\n}\n"}
    with Client(tmp_path, files, PULLED) as client:
        client.open("main.tf")
        client.request("nigari/settled")
        place = client.at("main.tf", client.find("main.tf", "region", 1))
        asked = {**place, "context": {"includeDeclaration": False}}
        found = client.request("textDocument/references", asked)
        assert [each["uri"] for each in found] == [client.uri("a.tfquery.hcl")]


def test_lock_file_is_read_only(tmp_path: Path) -> None:
    text = 'provider "registry.opentofu.org/hashicorp/random" {\n  version = "3.1.0"\n}\n'
    with Client(tmp_path, {}, PULLED) as client:
        client.open(".terraform.lock.hcl", text)
        document = {"textDocument": client.document(".terraform.lock.hcl")}
        assert client.request("textDocument/diagnostic", document)["items"] == []
        symbols = client.request("textDocument/documentSymbol", document)
        assert len(symbols) == 1
        options = {"options": {"tabSize": 2, "insertSpaces": True}}
        assert client.request("textDocument/formatting", {**document, **options}) == []
