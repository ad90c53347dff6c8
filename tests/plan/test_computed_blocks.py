"""Nested blocks that the provider adds where none is configured (protocol 6.11)."""

from __future__ import annotations

from pathlib import Path

import pytest

import nigari
from nigari import cty
from nigari.providers import api
from nigari.providers.base import ProviderBase
from nigari.schema.block import Attribute, Block, NestedBlock, Nesting
from nigari.schema.provider import ProviderSchema, Schema
from tests.providers_found import find_provider

_RULE = Block({"port": Attribute(cty.NUMBER, optional=True)})
_SCHEMA = Schema(
    Block(
        {"name": Attribute(cty.STRING, required=True)},
        {
            "rule": NestedBlock(_RULE, Nesting.LIST, computed=True),
            "fixed": NestedBlock(_RULE, Nesting.LIST),
        },
    )
)
_CONFIGURATION = """\
terraform {
  required_providers {
    wall = { source = "example.com/test/wall" }
  }
}
resource "wall_gate" "x" {
  name = "x"
%s
}
output "ports" {
  value = [for rule in wall_gate.x.rule : rule.port]
}
"""


def _rules(*ports: int) -> cty.Value:
    if not ports:
        return cty.list_value(_RULE.implied_type, [])
    return cty.list_value(
        _RULE.implied_type, [cty.object_value({"port": cty.number(port)}) for port in ports]
    )


class Wall(ProviderBase):
    """Adds a rule for port 80 where the configuration has none; `planned` is how it plans that."""

    def __init__(self, planned: cty.Value, made: cty.Value) -> None:
        self._planned = planned
        self._made = made

    async def schema(self) -> api.SchemaResponse:
        return api.SchemaResponse(
            ProviderSchema(Schema(Block()), {"wall_gate": _SCHEMA}, schema_call_optional=True)
        )

    async def validate_resource(self, type_name: str, config: cty.Value) -> api.Response:
        return api.Response()

    async def read(self, request: api.ReadRequest) -> api.ReadResponse:
        return api.ReadResponse(request.state, request.private)

    async def plan(self, request: api.PlanRequest) -> api.PlanResponse:
        if request.proposed.is_null or not request.config.attribute("rule").is_null:
            return api.PlanResponse(request.proposed)
        prior = request.prior
        kept = self._planned if prior.is_null else prior.attribute("rule")
        return api.PlanResponse(
            cty.object_value({**dict(request.proposed.mapping()), "rule": kept})
        )

    async def apply(self, request: api.ApplyRequest) -> api.ApplyResponse:
        planned = request.planned
        if planned.is_null or planned.attribute("rule").is_known:
            return api.ApplyResponse(planned)
        return api.ApplyResponse(cty.object_value({**dict(planned.mapping()), "rule": self._made}))


def _ports(
    monkeypatch: pytest.MonkeyPatch,
    blocks: str,
    planned: cty.Value | None = None,
    made: cty.Value | None = None,
) -> object:
    open_ = cty.unknown(_rules(80).type)
    provider = Wall(open_ if planned is None else planned, _rules(80) if made is None else made)
    find_provider(monkeypatch, lambda: provider)
    Path("main.tf").write_text(_CONFIGURATION % blocks)
    with nigari.open(".") as session:
        session.apply()
        assert not session.plan().changes
        return session.outputs["ports"].value.to_python()


@pytest.fixture(autouse=True)
def _directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("blocks", "planned", "ports"),
    [
        ("", None, [80]),
        ("", _rules(443, 80), [443, 80]),
        ("", _rules(), []),
        ("  rule {\n    port = 22\n  }", None, [22]),
        ("  fixed {\n    port = 22\n  }", None, [80]),
    ],
)
def test_blocks_come_from_the_provider_where_none_is_configured(
    monkeypatch: pytest.MonkeyPatch, blocks: str, planned: cty.Value | None, ports: list[int]
) -> None:
    assert _ports(monkeypatch, blocks, planned) == ports


@pytest.mark.parametrize(
    ("planned", "made"),
    [
        (cty.null(_rules(80).type), None),
        (None, cty.null(_rules(80).type)),
    ],
)
def test_null_is_not_a_collection_of_blocks(
    monkeypatch: pytest.MonkeyPatch, planned: cty.Value | None, made: cty.Value | None
) -> None:
    with pytest.raises(nigari.SessionError, match=r"null|empty collection"):
        _ports(monkeypatch, "", planned, made)


def test_blocks_that_the_schema_does_not_call_computed_stay_as_configured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "tests.plan.test_computed_blocks._SCHEMA",
        Schema(
            Block(
                _SCHEMA.block.attributes,
                {n: NestedBlock(_RULE, Nesting.LIST) for n in ("rule", "fixed")},
            )
        ),
    )
    monkeypatch.setattr(Wall, "plan", _plan_anyway)
    with pytest.raises(nigari.SessionError, match="1 blocks are planned, and 0 are configured"):
        _ports(monkeypatch, "", _rules(80))


async def _plan_anyway(self: Wall, request: api.PlanRequest) -> api.PlanResponse:
    return api.PlanResponse(
        cty.object_value({**dict(request.proposed.mapping()), "rule": _rules(80)})
    )
