"""After any number of edits the server has the answers of a fresh one.

`NIGARI_STORM` says how many edits; 3,000 are made unless it does. `make storm` makes 100,000.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import pytest

from tests.lsp.client import PULLED, Client
from tests.lsp.configuration import FILES
from tests.lsp.storm import different_answers

_EDITS: Final = int(os.environ.get("NIGARI_STORM", "1500"))


@pytest.mark.parametrize("seed", range(2))
def test_a_fresh_server_says_the_same(tmp_path: Path, seed: int) -> None:
    assert different_answers(tmp_path, seed, _EDITS) == []


def test_what_is_on_disk_changes(tmp_path: Path) -> None:
    """Files that others write count as soon as the client says so."""
    with Client(tmp_path, FILES, PULLED) as client:
        client.open("main.tf")
        client.request("nigari/settled")
        (tmp_path / "net" / "main.tf").write_text('variable "other" {}\n')
        changes = [{"uri": client.uri("net/main.tf"), "type": 2}]
        client.notify("workspace/didChangeWatchedFiles", {"changes": changes})
        client.request("nigari/settled")
        report = client.request(
            "textDocument/diagnostic", {"textDocument": client.document("main.tf")}
        )
        assert {each["code"] for each in report["items"]} >= {"Unexpected argument"}
