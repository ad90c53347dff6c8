"""The change from `count` to `for_each`: the plan afterwards is empty."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import nigari
from nigari import Summary
from tests.lsp.client import Client
from tests.lsp.configuration import client, evaluated

_LIST = 'variable "names" {\n  type    = list(string)\n  default = ["a", "b c"]\n}\n'
_RESOURCE = (
    'resource "terraform_data" "user" {\n  count = length(var.names)\n'
    "  input = { name = var.names[count.index], same = element(var.names, count.index) }\n}\n"
)
_CALL = (
    'module "user" {\n  source = "./user"\n  count  = length(var.names)\n'
    "  name   = upper(var.names[count.index])\n}\n"
)
_MODULE = 'variable "name" {}\nresource "terraform_data" "user" {\n  input = var.name\n}\n'


def _change(client: Client, text: str) -> str | None:
    """The text after the change that is offered at the block with the count."""
    evaluated(client, "main.tf")
    place = client.find("main.tf", "count ", 1)
    params = {"textDocument": client.document("main.tf"), "range": {"start": place, "end": place}}
    found = client.request("textDocument/codeAction", {**params, "context": {}})
    for action in found:
        if action["title"] == "Use for_each with these keys":
            edits = action["edit"]["changes"][client.uri("main.tf")]
            for edit in sorted(edits, key=_start, reverse=True):
                text = _replaced(text, edit["range"], edit["newText"])
            return text
    return None


def _start(edit: dict[str, Any]) -> tuple[int, int]:
    start = edit["range"]["start"]
    return start["line"], start["character"]


def _replaced(text: str, range_: dict[str, dict[str, int]], new: str) -> str:
    lines = text.splitlines(keepends=True)
    start, end = (
        sum(map(len, lines[: range_[each]["line"]])) + range_[each]["character"]
        for each in ("start", "end")
    )
    return text[:start] + new + text[end:]


@pytest.mark.parametrize(
    "text", [_LIST + _RESOURCE, _LIST + _CALL, _RESOURCE.rstrip() + "\n" + _LIST]
)
def test_the_plan_is_empty(tmp_path: Path, text: str) -> None:
    with client(tmp_path, {"main.tf": text, "user/main.tf": _MODULE}) as editor:
        changed = _change(editor, text)
    assert changed is not None
    assert "count" not in changed
    with nigari.open(tmp_path, environ={}) as session:
        session.init()
        session.apply()
    (tmp_path / "main.tf").write_text(changed)
    with nigari.open(tmp_path, environ={}) as session:
        session.init()
        plan = session.plan()
        assert plan.summary == Summary(0, 0, 0), plan.changes
        assert len([each for each in plan.changes if each.previous_address]) == 2


@pytest.mark.parametrize(
    "text",
    [
        # The number itself is used, or an instance is named elsewhere.
        _LIST + _RESOURCE.replace("same = element", "number = count.index, same = element"),
        _LIST + _RESOURCE + 'output "o" {\n  value = terraform_data.user[0].id\n}\n',
        # The keys would not be distinct, or are not known.
        _LIST.replace("b c", "a") + _RESOURCE,
        _LIST.replace('  default = ["a", "b c"]\n', "") + _RESOURCE,
        _LIST.replace("list(string)", "list(number)").replace('["a", "b c"]', "[1]") + _RESOURCE,
        _LIST + _RESOURCE.replace("length(var.names)", "2"),
    ],
)
def test_where_it_is_not_offered(tmp_path: Path, text: str) -> None:
    with client(tmp_path, {"main.tf": text}) as editor:
        assert _change(editor, text) is None
