"""Definition, declaration, implementation, references, highlights and links."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.lsp.client import Client, covered
from tests.lsp.configuration import NET, ROOT, evaluated
from tests.lsp.configuration import client as a_client


def _where(client: Client, found: list[dict[str, Any]]) -> list[tuple[str, str, int]]:
    """The file, text and line of each location."""
    shown = []
    for each in found:
        name = each["uri"].removeprefix(client.uri("") + "/")
        text = (client.root / name).read_text(encoding="utf-8")
        shown.append((name, covered(text, each["range"]), each["range"]["start"]["line"]))
    return shown


@pytest.mark.parametrize(
    ("text", "shift", "expected"),
    [
        ("upper(var.region)", 12, [("main.tf", "region", 0)]),
        ("= local.where", 9, [("main.tf", "where", 13)]),
        ("terraform_data.first.id", 16, [("main.tf", "first", 18)]),
        ('module.net["a"].id', 8, [("main.tf", "net", 22)]),
        ('module.net["a"].id', 16, [("net/main.tf", "id", 9)]),
        ("  name     =", 3, [("net/main.tf", "name", 0)]),
        ('"./net"', 3, [("net/main.tf", "", 0)]),
        ("upper", 1, []),
    ],
)
@pytest.mark.parametrize("method", ["definition", "declaration"])
def test_definition(
    tmp_path: Path, method: str, text: str, shift: int, expected: list[tuple[str, str, int]]
) -> None:
    with a_client(tmp_path) as client:
        evaluated(client)
        place = client.at("main.tf", client.find("main.tf", text, shift))
        assert _where(client, client.request(f"textDocument/{method}", place)) == expected


def test_definition_links(tmp_path: Path) -> None:
    with a_client(
        tmp_path, capabilities={"textDocument": {"definition": {"linkSupport": True}}}
    ) as client:
        evaluated(client)
        place = client.at("main.tf", client.find("main.tf", "upper(var.region)", 12))
        (found,) = client.request("textDocument/definition", place)
        assert covered(ROOT, found["targetSelectionRange"]) == "region"
        assert covered(ROOT, found["targetRange"]).startswith('variable "region" {')


def test_references_over_modules(tmp_path: Path) -> None:
    with a_client(tmp_path) as client:
        evaluated(client)
        evaluated(client, "net/main.tf")
        place = client.at("net/main.tf", client.find("net/main.tf", '"name"', 2))
        whole = {**place, "context": {"includeDeclaration": True}}
        found = _where(client, client.request("textDocument/references", whole))
        assert sorted(found) == [
            ("main.tf", "name", 25),
            ("net/main.tf", "name", 0),
            ("net/main.tf", "name", 6),
        ]
        used = {**place, "context": {"includeDeclaration": False}}
        assert len(client.request("textDocument/references", used)) == 2
        place = client.at("net/main.tf", client.find("net/main.tf", '"id"', 2))
        found = _where(client, client.request("textDocument/references", place))
        assert found == [("main.tf", "id", 29), ("main.tf", "id", 29)]


def test_references_in_values_and_tests(tmp_path: Path) -> None:
    files = {
        "main.tf": 'variable "n" {}\noutput "o" {\n  value = var.n\n}\n',
        "a.auto.tfvars": "n = 1\n",
        "tests/a.tftest.hcl": 'variables {\n  n = 2\n}\nrun "r" {\n  assert {\n'
        '    condition     = var.n == 2 && output.o == 2\n    error_message = "x"\n  }\n}\n',
    }
    with a_client(tmp_path, files) as client:
        evaluated(client)
        place = client.at("main.tf", client.find("main.tf", '"n"', 1))
        found = _where(client, client.request("textDocument/references", place))
        assert [(name, line) for name, _, line in found] == [
            ("a.auto.tfvars", 0),
            ("main.tf", 2),
            ("tests/a.tftest.hcl", 1),
            ("tests/a.tftest.hcl", 5),
        ]


def test_implementation(tmp_path: Path) -> None:
    with a_client(tmp_path) as client:
        evaluated(client)
        place = client.at("main.tf", client.find("main.tf", 'module "net"', 9))
        assert _where(client, client.request("textDocument/implementation", place)) == [
            ("net/main.tf", "", 0)
        ]
        evaluated(client, "net/main.tf")
        place = client.at("net/main.tf", client.find("net/main.tf", '"name"', 2))
        assert _where(client, client.request("textDocument/implementation", place)) == [
            ("main.tf", "name", 25)
        ]


def test_highlights(tmp_path: Path) -> None:
    with a_client(tmp_path) as client:
        evaluated(client, "net/main.tf")
        place = client.at("net/main.tf", client.find("net/main.tf", "${var.name", 7))
        found = client.request("textDocument/documentHighlight", place)
        assert [(covered(NET, each["range"]), each["kind"]) for each in found] == [
            ("name", 3),
            ("name", 2),
        ]


def test_links(tmp_path: Path) -> None:
    files = {
        "main.tf": 'module "m" {\n  source = "./m"\n}\nlocals {\n  dir = "files"\n'
        '  a = file("files/a.txt")\n  b = templatefile("${local.dir}/a.txt", {})\n'
        '  c = file("missing.txt")\n}\n',
        "m/main.tf": "",
        "files/a.txt": "text",
    }
    with a_client(tmp_path, files) as client:
        evaluated(client)
        found = client.request(
            "textDocument/documentLink", {"textDocument": client.document("main.tf")}
        )
        text = client.texts["main.tf"]
        assert [
            (covered(text, each["range"]), each["target"].removeprefix(client.uri("") + "/"))
            for each in found
        ] == [
            ("./m", "m/main.tf"),
            ("files/a.txt", "files/a.txt"),
            ("${local.dir}/a.txt", "files/a.txt"),
        ]


def test_unsaved_names_count(tmp_path: Path) -> None:
    with a_client(tmp_path) as client:
        evaluated(client)
        client.open(
            "net/main.tf", NET.replace('"name"', '"called"').replace("var.name", "var.called")
        )
        client.change("main.tf", ROOT.replace("  name     =", "  called   ="))
        place = client.at("main.tf", client.find("main.tf", "called", 1))
        (found,) = client.request("textDocument/definition", place)
        assert found["uri"] == client.uri("net/main.tf")
        client.asked("workspace/diagnostic/refresh")
