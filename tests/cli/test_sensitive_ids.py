"""Progress lines and events of objects whose id only the schema calls sensitive."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nigari.cty.types import STRING
from nigari.cty.values import object_value, string
from nigari.providers import api
from nigari.schema.block import Attribute, Block
from nigari.schema.provider import ProviderSchema, Schema
from tests.cli.process import inside
from tests.plan.museum import PIECE, REQUIRED, Museum, piece
from tests.providers_found import find_provider

_ID = "hunter2"
_HUSHED = Block(
    {**PIECE.attributes, "id": Attribute(STRING, optional=True, computed=True, sensitive=True)},
    PIECE.blocks,
)


class _Vault(Museum):
    async def schema(self) -> api.SchemaResponse:
        schema = Schema(_HUSHED)
        return api.SchemaResponse(
            ProviderSchema(Schema(Block()), resources={"museum_plain": schema})
        )

    async def import_state(self, request: api.ImportRequest) -> api.ImportResponse:
        known = piece("known")
        parts = {name: known.attribute(name) for name in PIECE.implied_type.attributes}
        state = object_value({**parts, "id": string(_ID)})
        found = api.ImportedResource(request.type_name, state, b"", request.identity)
        return api.ImportResponse((found,))


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    find_provider(monkeypatch, lambda: _Vault([]))
    block = 'resource "museum_plain" "a" {\n  name = "n"\n  lifecycle {\n    ignore_changes = all\n  }\n}\n'
    Path("main.tf").write_text(REQUIRED + block)


def _shown(*words: str) -> str:
    done = inside(*words)
    assert not done.code, done.out + done.err
    text = done.out + done.err
    assert "museum_plain.a: Refreshing state..." in text
    return text


def _forget_marks() -> None:
    """Leave a state as older programs wrote it: without the paths of sensitive attributes."""
    state = json.loads(Path("terraform.tfstate").read_text())
    state["resources"][0]["instances"][0]["sensitive_attributes"] = []
    Path("terraform.tfstate").write_text(json.dumps(state))


@pytest.mark.parametrize("words", [("plan",), ("plan", "-json"), ("plan", "-destroy", "-json")])
def test_refreshing_an_object_of_an_older_state(words: tuple[str, ...]) -> None:
    _shown("import", "museum_plain.a", "known")
    _forget_marks()
    assert _ID not in _shown(*words)


@pytest.mark.parametrize("words", [("plan",), ("plan", "-json")])
def test_refreshing_an_orphan_of_an_older_state(words: tuple[str, ...]) -> None:
    _shown("import", "museum_plain.a", "known")
    _forget_marks()
    Path("main.tf").write_text(REQUIRED)
    assert _ID not in _shown(*words)


def test_importing_by_command() -> None:
    assert _ID not in _shown("import", "museum_plain.a", "known")


@pytest.mark.parametrize("words", [("plan",), ("plan", "-json")])
def test_importing_by_block(words: tuple[str, ...]) -> None:
    with Path("main.tf").open("a") as file:
        file.write('import {\n  to = museum_plain.a\n  id = "known"\n}\n')
    assert _ID not in _shown(*words)
