"""Folding, selection ranges and semantic tokens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.lsp.client import Client, covered
from tests.lsp.configuration import client as a_client

_TEXT = """\
# one
# two

# alone
variable "a" {
  type = object({
    x = string
  })
}
locals {
  b = [for k in var.a : upper(k)] # end
  c = <<-EOT
    ${local.b}
  EOT
}
"""


def _document(client: Client) -> dict[str, Any]:
    client.open("a.tf", _TEXT)
    return {"textDocument": client.document("a.tf")}


def test_folding(tmp_path: Path) -> None:
    with a_client(tmp_path) as client:
        found = client.request("textDocument/foldingRange", _document(client))
        folds = [(each["startLine"], each["endLine"], each.get("kind")) for each in found]
        assert folds == [
            (0, 1, "comment"),
            (4, 8, None),
            (5, 7, None),
            (9, 14, None),
            (11, 13, None),
        ]


def test_selection_grows(tmp_path: Path) -> None:
    with a_client(tmp_path) as client:
        document = _document(client)
        positions = [client.find("a.tf", "upper(k)", 6), client.find("a.tf", '"a"', 1)]
        found = client.request("textDocument/selectionRange", {**document, "positions": positions})
        grown = []
        for each in found:
            texts = []
            while each:
                texts.append(covered(_TEXT, each["range"]))
                each = each.get("parent")
            grown.append(texts)
        assert grown[0][:4] == [
            "k",
            "upper(k)",
            "[for k in var.a : upper(k)]",
            "b = [for k in var.a : upper(k)]",
        ]
        assert grown[0][-1] == _TEXT
        assert grown[1][:2] == ['"a"', 'variable "a"']


def _tokens(client: Client, data: list[int]) -> list[tuple[str, str]]:
    legend = client.initialized["capabilities"]["semanticTokensProvider"]["legend"]["tokenTypes"]
    lines = client.texts["a.tf"].split("\n")
    found, line, column = [], 0, 0
    for index in range(0, len(data), 5):
        down, right, length, kind, _ = data[index : index + 5]
        line, column = line + down, right if down else column + right
        word = lines[line].encode("utf-16-le")[column * 2 : (column + length) * 2]
        found.append((word.decode("utf-16-le"), legend[kind]))
    return found


def test_semantic_tokens(tmp_path: Path) -> None:
    with a_client(tmp_path) as client:
        document = _document(client)
        whole = client.request("textDocument/semanticTokens/full", document)
        found = _tokens(client, whole["data"])
        assert found[:4] == [
            ("# one", "comment"),
            ("# two", "comment"),
            ("# alone", "comment"),
            ("variable", "keyword"),
        ]
        assert ("string", "type") in found
        assert ("upper", "function") in found
        assert ("var", "namespace") in found
        assert ("# end", "comment") in found
        range_ = {"start": {"line": 9, "character": 0}, "end": {"line": 10, "character": 3}}
        part = client.request("textDocument/semanticTokens/range", {**document, "range": range_})
        assert _tokens(client, part["data"]) == [("locals", "keyword"), ("b", "property")]


def test_token_deltas(tmp_path: Path) -> None:
    with a_client(tmp_path) as client:
        document = _document(client)
        before = client.request("textDocument/semanticTokens/full", document)
        asked = {**document, "previousResultId": before["resultId"]}
        same = client.request("textDocument/semanticTokens/full/delta", asked)
        assert same["edits"] == [{"start": len(before["data"]), "deleteCount": 0, "data": []}] or (
            same["edits"] == []
        )
        client.change("a.tf", _TEXT.replace("upper(k)", 'lower("😀", k)'))
        asked = {**document, "previousResultId": same["resultId"]}
        delta = client.request("textDocument/semanticTokens/full/delta", asked)
        data = [*before["data"]]
        for edit in delta["edits"]:
            data[edit["start"] : edit["start"] + edit["deleteCount"]] = edit["data"]
        after = client.request("textDocument/semanticTokens/full", document)
        assert data == after["data"]
        assert ("lower", "function") in _tokens(client, data)
