"""Providers that are not installed: the nearest cached schema offers names, and nothing is validated with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from nigari.addrs.provider import Provider, default_provider
from nigari.lsp.server import SETTLED
from nigari.packages.content.user_cache import cache_directory
from nigari.providers.wire import protocol6_pb2 as pb
from nigari.providers.wire.stored_schema import schema_bytes
from nigari.workspace.plugins.schema_cache import Form, SchemaCache
from tests.lsp.configuration import client as a_client

_PROVIDER: Final[Provider] = default_provider("demo")
_MAIN: Final = """\
terraform {
  required_providers {
    demo = {
      source  = "hashicorp/demo"
      version = "> 1.0"
    }
  }
}
resource "demo_thing" "a" {
  gone = 1
  ┃
}
"""
_LOCK: Final = 'provider "{}" {{\n  version = "{}"\n  hashes = ["h1:unknown"]\n}}\n'


def _keep(environ: dict[str, str], version: str, argument: str) -> None:
    attribute = pb.Schema.Attribute(name=argument, type=b'"string"', optional=True)
    schema = pb.Schema(block=pb.Schema.Block(attributes=[attribute]))
    message = pb.GetProviderSchema.Response(resource_schemas={"demo_thing": schema})
    cache = SchemaCache(cache_directory(environ, "schemas") or "", environ)
    encoded = schema_bytes(message, {})
    cache.keep(_PROVIDER, f"h1:{version}", Form.MESSAGES, encoded, version)


@pytest.mark.parametrize(
    ("locked", "cached", "argument", "hints"),
    [
        ("", ["1.2.0", "2.0.0"], "of_2_0_0", ["schema of 2.0.0"]),
        ("1.3.0", ["1.2.0", "2.0.0"], "of_1_2_0", ["= 1.3.0", "schema of 1.2.0"]),
        ("1.9.0", ["1.2.0", "1.8.3", "2.0.1"], "of_1_8_3", ["= 1.9.0", "schema of 1.8.3"]),
        ("1.3.0", [], None, ["= 1.3.0"]),
        ("", [], None, []),
    ],
)
def test_nearest_version(
    tmp_path: Path, locked: str, cached: list[str], argument: str | None, hints: list[str]
) -> None:
    environ = {"NIGARI_CACHE_DIR": str(tmp_path / "cache")}
    for version in cached:
        _keep(environ, version, f"of_{version.replace('.', '_')}")
    files = {".terraform.lock.hcl": _LOCK.format(_PROVIDER, locked)} if locked else {}
    with a_client(tmp_path / "project", files, environ=environ) as client:
        position = client.open("main.tf", _MAIN)
        client.request(SETTLED)
        found = client.request("textDocument/completion", client.at("main.tf", position))
        own = [each["label"] for each in found["items"] if each["label"].startswith("of_")]
        assert own == ([] if argument is None else [argument])
        whole = {"start": {"line": 0, "character": 0}, "end": {"line": 20, "character": 0}}
        shown: list[dict[str, Any]] = client.request(
            "textDocument/inlayHint", {"textDocument": client.document("main.tf"), "range": whole}
        )
        assert [(each["position"]["line"], each["label"]) for each in shown] == [
            (4, hint) for hint in hints
        ]
        answer = client.request(
            "textDocument/diagnostic", {"textDocument": client.document("main.tf")}
        )
        assert answer["items"] == []
