"""`textDocument/formatting`, `rangeFormatting` and `onTypeFormatting`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nigari import hcl
from nigari.lsp.text import edited
from tests.lsp.client import Client
from tests.lsp.configuration import client as a_client
from tests.lsp.configuration import evaluated

_OPTIONS = {"options": {"tabSize": 2, "insertSpaces": True}}
_TEXTS = [
    'locals {\na=1\n   long   = "😀"\n}\n',
    "locals {\n  a = [\n1,\n    2,\n  ]\n\n\n\n  b = <<-EOT\n   kept\n  EOT\n}\n",
    "locals {\n  a = 1\n}\n",
    "variable x {\ntype=string\n}\n# ours\n",
    "locals{\r\na=1\r\n}\r\n",
    "a = 1 # \u2028 odd\nbb   =   2",
]


def _apply(text: str, found: list[dict[str, Any]]) -> str:
    """The text after edits, which all have positions in the text as it was."""
    starts = [
        (each["range"]["start"]["line"], each["range"]["start"]["character"]) for each in found
    ]
    for _, each in sorted(zip(starts, found, strict=True), key=lambda item: item[0], reverse=True):
        text = edited(text, [{"range": each["range"], "text": each["newText"]}], "utf-16")
    return text


def _ask(client: Client, kind: str, name: str, **more: Any) -> Any:  # noqa: ANN401
    document = {"textDocument": client.document(name)}
    return client.request(f"textDocument/{kind}", {**document, **_OPTIONS, **more})


@pytest.mark.parametrize("text", _TEXTS)
def test_formatting_is_that_of_fmt(tmp_path: Path, text: str) -> None:
    with a_client(tmp_path) as client:
        client.open("a.tf", text)
        assert _apply(text, _ask(client, "formatting", "a.tf")) == hcl.format(text)


def test_a_text_with_errors_is_left_alone(tmp_path: Path) -> None:
    with a_client(tmp_path) as client:
        client.open("a.tf", "locals {\na=[\n}\n")
        assert _ask(client, "formatting", "a.tf") == []


def test_only_what_differs_is_edited(tmp_path: Path) -> None:
    text = "locals {\n  a = 1\n}\n" * 50 + "locals {\nb=1\n}\n"
    with a_client(tmp_path) as client:
        client.open("a.tf", text)
        (found,) = _ask(client, "formatting", "a.tf")
        assert found["newText"] == "  b = 1\n"


def test_lines_of_a_range(tmp_path: Path) -> None:
    text = "locals {\na=1\n}\nlocals {\nb=1\n}\n"
    range_ = {"start": {"line": 3, "character": 0}, "end": {"line": 5, "character": 1}}
    with a_client(tmp_path) as client:
        client.open("a.tf", text)
        found = _ask(client, "rangeFormatting", "a.tf", range=range_)
        assert _apply(text, found) == "locals {\na=1\n}\nlocals {\n  b = 1\n}\n"


def test_while_typing(tmp_path: Path) -> None:
    text = "locals {\na=1\n}\nlocals {\nb=1\n  ccc = [\n1]\n}"
    with a_client(tmp_path) as client:
        client.open("a.tf", text)
        at = {"position": {"line": 7, "character": 1}}
        found = _ask(client, "onTypeFormatting", "a.tf", ch="}", **at)
        assert _apply(text, found) == "locals {\na=1\n}\n" + hcl.format(text.partition("}\n")[2])
        client.change("a.tf", "locals {\nab=1\n\n}\n")
        at = {"position": {"line": 2, "character": 0}}
        found = _ask(client, "onTypeFormatting", "a.tf", ch="\n", **at)
        assert _apply(client.texts["a.tf"], found) == "locals {\n  ab = 1\n\n}\n"


def test_values_and_tests(tmp_path: Path) -> None:
    with a_client(tmp_path) as client:
        for name in ("a.tfvars", "a.tftest.hcl"):
            client.open(name, "a=1\n")
            assert _apply("a=1\n", _ask(client, "formatting", name)) == "a = 1\n"
        client.open("a.tf.json", "{}")
        assert _ask(client, "formatting", "a.tf.json") == []


def test_evaluating_changes_nothing(tmp_path: Path) -> None:
    with a_client(tmp_path) as client:
        evaluated(client, "main.tf", "locals {\na=1\n}\n")
        assert len(_ask(client, "formatting", "main.tf")) == 1
