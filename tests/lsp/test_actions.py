"""Code actions, code lenses, call hierarchy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nigari.lsp.text import edited
from tests.lsp.client import Client
from tests.lsp.configuration import NET, evaluated
from tests.lsp.configuration import client as a_client


def _actions(client: Client, name: str, text: str, **context: Any) -> dict[str, dict[str, Any]]:  # noqa: ANN401
    range_ = {
        "start": client.find(name, text),
        "end": client.find(name, text, len(text)),
    }
    found = client.request(
        "textDocument/codeAction",
        {
            "textDocument": client.document(name),
            "range": range_,
            "context": {"diagnostics": [], **context},
        },
    )
    return {each["title"]: each for each in found}


def _applied(client: Client, action: dict[str, Any]) -> dict[str, str]:
    changed = {}
    for uri, edits in action["edit"]["changes"].items():
        path = uri.removeprefix(client.uri("") + "/")
        text = client.texts.get(path) or (client.root / path).read_text()
        order = sorted(
            edits,
            key=lambda e: (e["range"]["start"]["line"], e["range"]["start"]["character"]),
            reverse=True,
        )
        for each in order:
            text = edited(text, [{"range": each["range"], "text": each["newText"]}], "utf-16")
        changed[path] = text
    return changed


@pytest.mark.parametrize(
    ("text", "at", "title", "expected"),
    [
        (
            'variable "region" {}\nlocals {\n  a = var.regoin\n}\n',
            "var.regoin",
            'Change to "region"',
            'variable "region" {}\nlocals {\n  a = var.region\n}\n',
        ),
        (
            "locals {\n  a = var.zone\n}\n",
            "var.zone",
            'Declare the variable "zone"',
            'locals {\n  a = var.zone\n}\n\nvariable "zone" {\n  type = any\n}\n',
        ),
        (
            'module "m" {\n  source = "./net"\n  nmae   = 1\n}\n',
            "nmae",
            'Change to "name"',
            'module "m" {\n  source = "./net"\n  name   = 1\n}\n',
        ),
        (
            'module "m" {\n  source = "./net"\n  zzz = 1\n}\n',
            "zzz",
            'Remove the argument "zzz"',
            'module "m" {\n  source = "./net"\n}\n',
        ),
        (
            'module "m" {\n  source = "./net"\n}\n',
            'module "m" {',
            'Add the argument "name"',
            'module "m" {\n  source = "./net"\n  name = null\n}\n',
        ),
        (
            'resource "terraform_data" "a" {\n  count = 2\n}\noutput "o" {\n  value = terraform_data.a.id\n}\n',
            "terraform_data.a.id",
            "Change to terraform_data.a[0]",
            'resource "terraform_data" "a" {\n  count = 2\n}\noutput "o" {\n  value = terraform_data.a[0].id\n}\n',
        ),
        (
            'resource "terraform_data" "a" {}\noutput "o" {\n  value = terraform_data.a[0].id\n}\n',
            "terraform_data.a[0].id",
            "Remove the key",
            'resource "terraform_data" "a" {}\noutput "o" {\n  value = terraform_data.a.id\n}\n',
        ),
    ],
)
def test_fixes(tmp_path: Path, text: str, at: str, title: str, expected: str) -> None:
    with a_client(tmp_path, {"net/main.tf": NET}) as client:
        evaluated(client, "main.tf", text)
        action = _actions(client, "main.tf", at)[title]
        assert action["kind"] == "quickfix"
        assert action["diagnostics"][0]["code"]
        assert _applied(client, action) == {"main.tf": expected}


_CODE = """\
locals {
  long = upper("x")
  list = [for k in ["a"] : k]
}
output "o" {
  value = "${local.long}-${local.long}"
}
resource "cloud_thing" "a" {
  size = 5
  name = each.key
}
"""


@pytest.mark.parametrize(
    ("at", "title", "expected"),
    [
        ('upper("x")', "Wrap in try", _CODE.replace('upper("x")', 'try(upper("x"), null)')),
        (
            'upper("x")',
            "Extract to local.long_2",
            _CODE.replace('upper("x")', "local.long_2").replace(
                "locals {", 'locals {\n  long_2 = upper("x")\n}\n\nlocals {', 1
            ),
        ),
        (
            "5",
            "Extract to var.size",
            _CODE.replace("5", "var.size").replace(
                "resource", 'variable "size" {\n  type    = number\n  default = 5\n}\n\nresource'
            ),
        ),
        (
            "long =",
            "Inline local.long",
            _CODE.replace('  long = upper("x")\n', "").replace("local.long", '(upper("x"))'),
        ),
        (
            '"cloud_thing"',
            'Add "cloud" to required_providers',
            'terraform {\n  required_providers {\n    cloud = {\n      source = "hashicorp/cloud"\n'
            "    }\n  }\n}\n\n" + _CODE,
        ),
    ],
)
def test_refactorings(tmp_path: Path, at: str, title: str, expected: str) -> None:
    with a_client(tmp_path, {}) as client:
        client.open("main.tf", _CODE)
        found = _actions(client, "main.tf", at)
        assert title in found, sorted(found)
        assert _applied(client, found[title]) == {"main.tf": expected}


def test_names_that_are_bound_stay_inside(tmp_path: Path) -> None:
    with a_client(tmp_path, {}) as client:
        client.open("main.tf", _CODE)
        assert not [each for each in _actions(client, "main.tf", "each.key") if "Extract" in each]


def test_only_what_is_wanted(tmp_path: Path) -> None:
    with a_client(tmp_path, {}) as client:
        client.open("main.tf", _CODE)
        assert _actions(client, "main.tf", 'upper("x")', only=["source.organizeImports"]) == {}
        found = _actions(client, "main.tf", 'upper("x")', only=["refactor"])
        assert {each["kind"] for each in found.values()} == {"refactor.rewrite", "refactor.extract"}


def test_lenses_count_uses(tmp_path: Path) -> None:
    with a_client(tmp_path) as client:
        evaluated(client)
        client.open("net/main.tf")
        lenses = client.request(
            "textDocument/codeLens", {"textDocument": client.document("net/main.tf")}
        )
        titles = [client.request("codeLens/resolve", each)["command"]["title"] for each in lenses]
        counts = [each for each in titles if each != "Explain"]
        assert counts == ["2 references", "1 reference", "2 references"]


def test_call_hierarchy(tmp_path: Path) -> None:
    with a_client(tmp_path) as client:
        evaluated(client)
        place = client.at("main.tf", client.find("main.tf", 'module "net"', 9))
        (net,) = client.request("textDocument/prepareCallHierarchy", place)
        assert net["name"] == "net"
        (incoming,) = client.request("callHierarchy/incomingCalls", {"item": net})
        assert incoming["from"]["uri"] == client.uri("main.tf")
        assert incoming["fromRanges"][0]["start"] == {"line": 22, "character": 8}
        (outgoing,) = client.request("callHierarchy/outgoingCalls", {"item": incoming["from"]})
        assert outgoing["to"] == net
        assert client.request("callHierarchy/outgoingCalls", {"item": net}) == []
