"""Queries beside Terraform: events, validation and generated blocks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.plugins import running
from tests.real.test_actions import terraform

__all__ = ["terraform"]

pytestmark = pytest.mark.real

_SERVE = f"""
import sys
sys.path[:0] = {sys.path!r}
from tests.providers.shelf import shelf_provider

shelf_provider().serve()
"""
_HEAD = """\
terraform {
  required_providers {
    shelf = { source = "example.com/test/shelf" }
  }
}
provider "shelf" {}
variable "letter" {
  default = "l"
}
"""


def _books(text: str = "", name: str = "all") -> str:
    return f'list "shelf_book" "{name}" {{\n  provider = shelf\n{text}\n}}\n'


_QUERIES = {
    "everything": _books(),
    "a configuration": _books("include_resource = true\nconfig {\n  containing = var.letter\n}"),
    "a limit": _books("limit = 2") + 'list "shelf_lamp" "l" {\n  provider = shelf\n}\n',
    "count": _books('count = 2\nconfig {\n  containing = count.index == 0 ? "E" : "V"\n}'),
    "for_each and a reference": _books(
        'for_each = toset(["E", "V"])\nconfig {\n  containing = each.key\n}'
    )
    + _books(
        'config {\n  containing = list.shelf_book.all["E"].data[0].identity.title\n}', "again"
    ),
    "a warning": _books("config {\n  doubts = true\n}"),
    "local values": 'locals {\n  x = "V"\n}\n'
    + _books('config {\n  containing = "${local.x}i"\n}'),
    "an invalid limit": _books("limit = -1"),
    "a reference to itself": _books(
        "config {\n  containing = list.shelf_book.all.data[0].identity.title\n}"
    ),
    "an unknown type": 'list "shelf_boek" "all" {\n  provider = shelf\n}\n',
}


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    path = tmp_path_factory.mktemp("p")
    with running("example.com/test/shelf", _SERVE, path) as environment:
        yield environment


def followed(command: list[str], path: Path, query: str, settings: dict[str, str]) -> object:
    path.mkdir()
    (path / "main.tf").write_text(_HEAD)
    (path / "all.tfquery.hcl").write_text(query)

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, **settings}
        return subprocess.run(
            [*command, *words],
            cwd=path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    done = run("query", "-json", "-generate-config-out=found.tf")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    generated = path / "found.tf"
    text = generated.read_text() if generated.exists() else ""
    blocks = [line for line in text.splitlines() if line and not line.startswith("#")]
    return {
        "code": done.returncode,
        # Queries run side by side.
        "events": sorted(json.dumps(each, sort_keys=True) for each in map(_told, events) if each),
        "blocks": sorted(blocks),
        "valid": json.loads(run("validate", "-query", "-json").stdout)["valid"],
    }


def _told(event: dict[str, Any]) -> object:
    if event["type"] == "diagnostic":
        found = event["diagnostic"]
        return [found["severity"], found["range"]["start"]["line"]]
    kept = {n: each for n, each in event.items() if n not in ("@timestamp", "@module")}
    return None if event["type"] == "version" else kept


@pytest.mark.parametrize("name", _QUERIES)
def test_queries(name: str, terraform: str, shelf: dict[str, str], tmp_path: Path) -> None:
    ours = followed([sys.executable, "-m", "nigari"], tmp_path / "ours", _QUERIES[name], shelf)
    assert ours == followed([terraform], tmp_path / "theirs", _QUERIES[name], shelf)
