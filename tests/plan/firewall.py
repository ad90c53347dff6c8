"""A provider of the old kind: attributes that are lists or sets of objects, written as blocks.

What it manages exists only in the state. The cases here are what people write; both the tests of
our program and those beside the real one go through them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from nigari import cty
from nigari.cty.types import NUMBER, STRING, ListType, ObjectType, SetType
from nigari.cty.values import Value, null, object_value, string
from nigari.providers import api
from nigari.providers.base import ProviderBase
from nigari.schema.block import Attribute, Block, NestedBlock, Nesting
from nigari.schema.provider import ProviderSchema, Schema
from tests.cases import Case, read_cases
from tests.providers_found import find_provider

SOURCE: Final = "example.com/test/firewall"
REQUIRED: Final = f"""\
terraform {{
  required_providers {{
    firewall = {{ source = "{SOURCE}" }}
  }}
}}
"""
CASES: Final = read_cases(Path(__file__).parent / "attribute_blocks")
"""What people write, each with what becomes of it: what is stored, or what is wrong."""

_HOST = ObjectType({"name": STRING, "weight": NUMBER})
_RULE = ObjectType(
    {"port": NUMBER, "note": STRING, "ranges": ListType(STRING), "host": ListType(_HOST)}
)
_ALLOW = ObjectType({"port": NUMBER, "note": STRING, "host": SetType(_HOST)})
_ID = Attribute(STRING, computed=True)
_TEXT = Attribute(STRING, optional=True)
_ZONE = Block({"name": _TEXT, "host": Attribute(ListType(_HOST), optional=True)})

GROUP = Block(
    {
        "id": _ID,
        "name": _TEXT,
        "rule": Attribute(ListType(_RULE), optional=True),
        "allow": Attribute(SetType(_ALLOW), optional=True),
        "made": Attribute(ListType(_HOST), optional=True, computed=True),
    },
    {"zone": NestedBlock(_ZONE, Nesting.LIST)},
)

STRICT = Block({"id": _ID, "rule": Attribute(ListType(_RULE), required=True)})
NEW = Block(
    {
        "id": _ID,
        "rule": Attribute(ListType(_RULE), optional=True),
        "pair": Attribute(ObjectType({"a": STRING}), optional=True),
    },
    {"zone": NestedBlock(_ZONE, Nesting.LIST)},
)
LOOK = Block({"id": _ID, "filter": Attribute(SetType(_HOST), optional=True)})
SETTINGS = Block({"setting": Attribute(ListType(_HOST), optional=True)})


class Firewall(ProviderBase):
    async def schema(self) -> api.SchemaResponse:
        resources = {"firewall_group": GROUP, "firewall_strict": STRICT, "firewall_new": NEW}
        return api.SchemaResponse(
            ProviderSchema(
                Schema(SETTINGS),
                {name: Schema(block) for name, block in resources.items()},
                {"firewall_look": Schema(LOOK)},
            )
        )

    async def validate_resource(self, type_name: str, config: Value) -> api.Response:
        return api.Response()

    async def validate_data(self, type_name: str, config: Value) -> api.Response:
        return api.Response()

    async def upgrade(self, request: api.UpgradeRequest) -> api.UpgradeResponse:
        schemas = (await self.schema()).schema
        assert schemas is not None
        type_ = schemas.resources[request.type_name].block.implied_type
        return api.UpgradeResponse(cty.json.value_from_json(request.json.decode(), type_))

    async def read(self, request: api.ReadRequest) -> api.ReadResponse:
        return api.ReadResponse(request.state, request.private)

    async def plan(self, request: api.PlanRequest) -> api.PlanResponse:
        proposed = request.proposed
        if proposed.is_null or not request.prior.is_null:
            return api.PlanResponse(proposed)
        parts = dict(proposed.mapping())
        parts["id"] = cty.unknown(STRING)
        if "made" in parts and parts["made"].is_null:
            parts["made"] = cty.unknown(parts["made"].type)
        return api.PlanResponse(object_value(parts))

    async def apply(self, request: api.ApplyRequest) -> api.ApplyResponse:
        return api.ApplyResponse(cty.transform(request.planned, _done))

    async def read_data(self, request: api.ReadDataRequest) -> api.ReadDataResponse:
        found = request.config.attribute("filter")
        names = [] if found.is_null else [each.attribute("name") for each in found.sequence()]
        told = "+".join(sorted("-" if name.is_null else name.as_string() for name in names))
        parts = {**request.config.mapping(), "id": string(told)}
        return api.ReadDataResponse(object_value(parts))


def _done(path: cty.Path, part: Value) -> Value:
    if part.is_known:
        return part
    if path == (cty.GetAttr("made"),):
        return cty.list_value(
            _HOST, [object_value({"name": string("own"), "weight": null(NUMBER)})]
        )
    return string("an id")


def lay_out(case: Case, is_before: bool) -> None:
    """Write the files of a case into the working directory, which has those of its past or none."""
    for name, text in {**case.files, "required.tf": REQUIRED}.items():
        if is_before == name.startswith("before") or name == "required.tf":
            Path(name).write_text(text)
        else:
            Path(name).unlink(missing_ok=True)


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the provider found, in this process."""
    find_provider(monkeypatch, Firewall)
