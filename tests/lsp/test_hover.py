"""`textDocument/hover`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.lsp.client import Client, covered
from tests.lsp.configuration import client as a_client
from tests.lsp.configuration import evaluated


def _hover(client: Client, name: str, text: str, shift: int = 0) -> dict[str, Any] | None:
    position = client.find(name, text, shift)
    found: dict[str, Any] | None = client.request("textDocument/hover", client.at(name, position))
    return found


@pytest.mark.parametrize(
    ("text", "shift", "range_", "contained", "missing"),
    [
        (
            "upper(var.region)",
            12,
            "var.region",
            ["Where everything is.", '`"eu"`', "its default"],
            [],
        ),
        ("upper(var.region)", 2, "upper", ["upper(", "upper case"], []),
        ("where  =", 1, "where", ['`"EU"`'], []),
        ("= local.where", 9, "local.where", ['`"EU"`'], []),
        ("hidden =", 1, "hidden", ["sensitive"], ["hunter2"]),
        ("= var.secret", 8, "var.secret", ["sensitive"], ["hunter2"]),
        ("later  =", 1, "later", ["Known after apply", "terraform_data.first"], []),
        ("terraform_data.first.id", 16, "terraform_data.first.id", ["terraform_data.first"], []),
        ('"first"', 2, "first", ['resource "terraform_data" "first"'], []),
        ("input =", 1, "input", ["optional"], []),
        ("each.value", 7, "each.value", ['["a"]', '`"x"`', '["b"]', '`"y"`'], []),
        ("  name     =", 3, "name", ["What it is called.", "required"], []),
        ("for_each =", 2, "for_each", ["one instance for each element"], []),
        ('module "net"', 9, "net", ['module "net"', "/net`"], []),
        ('module "net"', 1, "module", ["A call of another module."], []),
        ('module.net["a"].id', 16, 'module.net["a"].id', ['`"net x"`'], []),
        ('"eu"', 1, None, [], []),
    ],
)
def test_hover(
    tmp_path: Path,
    text: str,
    shift: int,
    range_: str | None,
    contained: list[str],
    missing: list[str],
) -> None:
    with a_client(tmp_path) as client:
        evaluated(client)
        found = _hover(client, "main.tf", text, shift)
        if range_ is None:
            assert found is None
            return
        assert found is not None
        assert covered(client.texts["main.tf"], found["range"]) == range_
        shown = found["contents"]["value"]
        assert [each for each in contained if each not in shown] == [], shown
        assert [each for each in missing if each in shown] == []


def test_values_in_several_instances(tmp_path: Path) -> None:
    with a_client(tmp_path) as client:
        evaluated(client)
        evaluated(client, "net/main.tf")
        found = _hover(client, "net/main.tf", "title =", 1)
        assert found is not None
        shown = found["contents"]["value"]
        assert 'module.net["a"]' in shown
        assert '"net x"' in shown
        assert '"net y"' in shown


def test_plain_text(tmp_path: Path) -> None:
    formats = {"textDocument": {"hover": {"contentFormat": ["plaintext"]}}}
    with a_client(tmp_path, capabilities=formats) as client:
        evaluated(client)
        found = _hover(client, "main.tf", "where  =", 1)
        assert found is not None
        assert found["contents"]["kind"] == "plaintext"
        assert "`" not in found["contents"]["value"]


def test_values_that_are_given(tmp_path: Path) -> None:
    with a_client(tmp_path, environ={"TF_VAR_region": "us"}) as client:
        evaluated(client)
        found = _hover(client, "main.tf", "upper(var.region)", 12)
        assert found is not None
        assert '`"us"`' in found["contents"]["value"]
        assert "TF_VAR_region" in found["contents"]["value"]
