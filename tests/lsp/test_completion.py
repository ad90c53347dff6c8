"""`textDocument/completion` and `textDocument/signatureHelp`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.lsp.client import Client, marked
from tests.lsp.configuration import FILES, NET, ROOT, evaluated
from tests.lsp.configuration import client as a_client

_SNIPPETS = {"textDocument": {"completion": {"completionItem": {"snippetSupport": True}}}}
_MORE = """
variable "sizes" {
  type = map(object({ cpu = number, tags = map(string) }))
  default = { small = { cpu = 1, tags = {} } }
}
data "terraform_remote_state" "other" {
  backend = "local"
}
"""

_TRIGGER = 'action "some_kind" "a" {}\nresource "terraform_data" "x" {\n  lifecycle {\n    action_trigger {\n'


def _items(client: Client, name: str, position: dict[str, int]) -> dict[str, dict[str, Any]]:
    found = client.request("textDocument/completion", client.at(name, position))
    labels = [each["label"] for each in found["items"]]
    assert len(set(labels)) == len(labels)
    return {each["label"]: each for each in found["items"]}


@pytest.mark.parametrize(
    ("typed", "offered", "absent"),
    [
        (
            "locals {\n  x = ┃\n}",
            ["var", "local", "module", "terraform_data", "upper", "true"],
            ["each"],
        ),
        ("locals {\n  x = var.┃\n}", ["region", "secret", "sizes"], ["where"]),
        ("locals {\n  x = upper(var.re┃)\n}", ["region", "secret"], ["where"]),
        ('locals {\n  x = "a ${local.┃}"\n}', ["names", "where", "later"], ["region"]),
        ("locals {\n  x = module.┃\n}", ["net"], []),
        ("locals {\n  x = module.net[┃\n}", ['"a"', '"b"'], []),
        ('locals {\n  x = module.net["┃"]\n}', ["a", "b"], []),
        ('locals {\n  x = module.net["a"].┃\n}', ["id"], ["name"]),
        ("locals {\n  x = local.names.┃\n}", ["a", "b"], []),
        ("locals {\n  x = local.names[┃\n}", ['"a"', '"b"'], []),
        ('locals {\n  x = var.sizes["small"].┃\n}', ["cpu", "tags"], []),
        ("locals {\n  x = data.┃\n}", ["terraform_remote_state"], []),
        ("locals {\n  x = data.terraform_remote_state.┃\n}", ["other"], []),
        ("locals {\n  x = terraform_data.┃\n}", ["first"], []),
        ("locals {\n  x = terraform_data.first.┃\n}", ["id", "input", "output"], []),
        ("locals {\n  x = path.┃\n}", ["module", "root", "cwd"], []),
        ('locals {\n  x = "plain ┃"\n}', [], ["var", "local"]),
        ("┃", ["resource", "variable", "module", "terraform", "moved"], ["lifecycle"]),
        (
            'resource "terraform_data" "x" {\n  ┃\n}',
            ["input", "count", "lifecycle"],
            ["id", "output"],
        ),
        ('resource "terraform_data" "x" {\n  input = 1\n  ┃\n}', ["count"], ["input"]),
        ('resource "┃" "x" {\n}', ["terraform_data"], ["terraform_remote_state"]),
        ('data "┃', ["terraform_remote_state"], ["terraform_data"]),
        (
            'resource "terraform_data" "x" {\n  lifecycle {\n    ┃\n  }\n}',
            ["prevent_destroy", "precondition"],
            ["input"],
        ),
        (
            'resource "terraform_data" "x" {\n  lifecycle {\n    prevent_destroy = ┃\n  }\n}',
            ["true", "false"],
            [],
        ),
        (
            'resource "terraform_data" "x" {\n  for_each = {}\n  input = each.┃\n}',
            ["key", "value"],
            [],
        ),
        (
            'resource "terraform_data" "x" {\n  depends_on = [┃]\n}',
            ["terraform_data.first", "module.net"],
            [],
        ),
        (
            'resource "terraform_data" "x" {\n  depends_on = [┃]\n}',
            ["data", "module", "terraform_data"],
            ["upper", "true"],
        ),
        ("moved {\n  from = ┃\n}", ["terraform_data.first"], ["upper", "null"]),
        (
            'provider "terraform" {\n  alias = "b"\n}\nresource "terraform_data" "x" {\n  provider = ┃\n}',
            ["terraform", "terraform.b"],
            ["var", "upper"],
        ),
        (
            'module "m" {\n  source = "./net"\n  providers = { terraform = ┃ }\n}',
            ["terraform"],
            ["var", "upper"],
        ),
        ("locals {\n  x = { for k, v in local.names : k => ┃ }\n}", ["k", "v", "upper"], ["each"]),
        ("locals {\n  x = { for k, v in local.names : k => v if ┃", ["k", "v"], []),
        ("locals {\n  x = [for k in ┃]\n}", ["local"], ["k"]),
        ("locals {\n  x = concat([for k in local.names : k], ┃)\n}", ["local"], ["k"]),
        (
            'resource "terraform_data" "x" {\n  dynamic "a" {\n    for_each = []\n    content {\n      b = ┃\n    }\n  }\n}',
            ["a"],
            ["each"],
        ),
        (
            'resource "terraform_data" "x" {\n  dynamic "a" {\n    for_each = []\n    iterator = it\n    content {\n      b = it.┃\n    }\n  }\n}',
            ["key", "value"],
            [],
        ),
        ('module "m" {\n  source = "./net"\n  ┃\n}', ["name", "for_each"], ["source"]),
        ('module "m" {\n  source = "./┃"\n}', ["net"], ["main.tf"]),
        ('variable "v" {\n  ┃\n}', ["type", "default", "validation"], []),
        ('variable "v" {\n  type = ┃\n}', ["string", "object({})"], ["var"]),
        ('output "o" {\n  value = terraform.┃\n}', ["workspace"], []),
        (
            'resource "terraform_data" "x" {\n  lifecycle {\n    action_trigger {\n      ┃\n    }\n  }\n}',
            ["events", "actions", "condition", "on_failure"],
            ["enabled"],
        ),
        (
            _TRIGGER + "      events = [┃]\n    }\n  }\n}",
            ["after_create", "before_destroy"],
            [],
        ),
        (
            _TRIGGER + "      actions = [┃]\n    }\n  }\n}",
            ["action.some_kind.a"],
            ["terraform_data.first"],
        ),
        (
            'action "some_kind" "a" {}\nresource "terraform_data" "x" {\n  depends_on = [┃]\n}',
            ["terraform_data.first"],
            ["action.some_kind.a"],
        ),
        ('action "some_kind" "a" {\n  config {\n    text = ┃\n  }\n}', ["caller"], ["self"]),
    ],
)
def test_completion(tmp_path: Path, typed: str, offered: list[str], absent: list[str]) -> None:
    with a_client(tmp_path, {**FILES, "more.tf": _MORE}, _SNIPPETS) as client:
        evaluated(client)
        position = client.open("typed.tf", typed)
        found = _items(client, "typed.tf", position)
        assert [each for each in offered if each not in found] == [], sorted(found)
        assert [each for each in absent if each in found] == []


_LIBRARY = {
    "language.tf": "language {\n  experiments = [symbol_libraries]\n}\n"
    'symbols "lib" {\n  source = "./lib"\n}\n',
    "lib/a.sym.hcl": "values {\n  word = 1\n}\n"
    'function "twice" {\n  description = "Doubles."\n  return = 2\n}\n',
}


@pytest.mark.parametrize(
    ("name", "typed", "offered"),
    [
        ("typed.tf", "locals {\n  x = ┃\n}", ["symbols", "symbols::lib::twice"]),
        ("typed.tf", "locals {\n  x = symbols.┃\n}", ["lib"]),
        ("typed.tf", "locals {\n  x = symbols.lib.┃\n}", ["word"]),
        ("typed.tf", 'symbols "x" {\n  ┃\n}', ["source", "version"]),
        ("lib/b.sym.hcl", "┃", ["values", "typedef", "function", "symbols"]),
        ("lib/b.sym.hcl", 'function "f" {\n  ┃\n}', ["return", "parameter", "locals"]),
        (
            "lib/b.sym.hcl",
            'function "f" {\n  parameter "x" {\n    ┃\n  }\n}',
            ["type", "variadic", "validation"],
        ),
    ],
)
def test_symbol_libraries(tmp_path: Path, name: str, typed: str, offered: list[str]) -> None:
    with a_client(tmp_path, {**FILES, **_LIBRARY}, _SNIPPETS) as client:
        evaluated(client)
        position = client.open(name, typed)
        found = _items(client, name, position)
        assert [each for each in offered if each not in found] == [], sorted(found)


def test_values_files(tmp_path: Path) -> None:
    files = {
        "main.tf": 'variable "size" {\n  validation {\n    condition = contains(["s", "m"], var.size)\n'
        '    error_message = "x"\n  }\n}\nvariable "other" {}\n'
    }
    with a_client(tmp_path, files) as client:
        evaluated(client)
        position = client.open("a.auto.tfvars", "other = 1\n┃\n")
        assert [*_items(client, "a.auto.tfvars", position)] == ["size"]
        position = client.change("a.auto.tfvars", 'size = "┃"\n')
        assert [*_items(client, "a.auto.tfvars", position)] == ["s", "m"]
        client.asked("workspace/diagnostic/refresh")


def test_values_are_constants(tmp_path: Path) -> None:
    allowed = 'variable "size" {\n  validation {\n    condition = contains(["s", "m"], var.size)\n    error_message = "No."\n  }\n}\n'
    with a_client(tmp_path, {**FILES, "more.tf": allowed}) as client:
        evaluated(client)
        position = client.open("a.tfvars", "size = ┃\n")
        assert sorted(_items(client, "a.tfvars", position)) == [
            '"m"',
            '"s"',
            "false",
            "null",
            "true",
        ]


def test_edits_replace_what_was_typed(tmp_path: Path) -> None:
    with a_client(tmp_path, capabilities=_SNIPPETS) as client:
        evaluated(client)
        text = 'locals {\n  x = "😀${local.whe┃}"\n}\n'
        position = client.open("typed.tf", text)
        edit = _items(client, "typed.tf", position)["where"]["textEdit"]
        assert edit["newText"] == "where"
        assert edit["range"]["start"] == {"line": 1, "character": 17}
        assert edit["range"]["end"] == position
        position = client.change("typed.tf", "res┃\n")
        block = _items(client, "typed.tf", position)["resource"]
        assert block["insertTextFormat"] == 2
        assert block["textEdit"]["newText"] == 'resource "${1:type}" "${2:name}" {\n  $0\n}'
        client.asked("workspace/diagnostic/refresh")


def test_required_arguments_at_once(tmp_path: Path) -> None:
    net = NET + 'variable "size" {\n  type = number\n}\n'
    with a_client(tmp_path, {"net/main.tf": net, "main.tf": ROOT}, _SNIPPETS) as client:
        evaluated(client)
        position = client.open("typed.tf", 'module "m" {\n  source = "./net"\n  ┃\n}\n')
        found = _items(client, "typed.tf", position)["required arguments"]
        assert found["textEdit"]["newText"] == "name = ${1}\nsize = ${2}"


def test_a_module_that_is_being_edited(tmp_path: Path) -> None:
    """What is offered is what is in the editor, saved or not, evaluated or not."""
    with a_client(tmp_path) as client:
        evaluated(client)
        client.open(
            "net/main.tf", NET + 'variable "unsaved" {}\noutput "fresh" {\n  value = 1\n}\n'
        )
        position = client.open("typed.tf", 'module "m" {\n  source = "./net"\n  ┃\n}\n')
        assert "unsaved" in _items(client, "typed.tf", position)
        position = client.change("typed.tf", 'locals {\n  x = module.net["a"].┃\n}\n')
        assert "fresh" in _items(client, "typed.tf", position)
        client.asked("workspace/diagnostic/refresh")


@pytest.mark.parametrize(
    ("typed", "label", "parameter"),
    [
        ("x = replace(┃)", "replace(", 0),
        ('x = replace("a,b", ┃)', "replace(", 1),
        ('x = replace(upper("a"), [1, 2], ┃)', "replace(", 2),
        ("x = replace(upper(┃), 1)", "upper(", 0),
        ("x = max(1, 2, 3, ┃)", "max(", 0),
        ("x = (┃)", None, 0),
        ("x = nothing(┃)", None, 0),
    ],
)
def test_signature_help(tmp_path: Path, typed: str, label: str | None, parameter: int) -> None:
    with a_client(tmp_path) as client:
        position = client.open("typed.tf", f"locals {{\n  {typed}\n}}\n")
        found = client.request("textDocument/signatureHelp", client.at("typed.tf", position))
        if label is None:
            assert found is None
            return
        (signature,) = found["signatures"]
        assert signature["label"].startswith(label)
        assert found["activeParameter"] == parameter
        start, end = signature["parameters"][parameter]["label"]
        assert signature["label"][start:end]
        assert marked(typed)[0]
