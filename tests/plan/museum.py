"""A provider of things that exist already and can be taken over, by id or by identity."""

from __future__ import annotations

import pytest

from nigari import cty
from nigari.cty.types import BOOL, NUMBER, STRING, MapType
from nigari.cty.values import Value, null, object_value, string
from nigari.providers import api
from nigari.providers.base import ProviderBase
from nigari.schema.block import Attribute, Block, NestedAttributes, NestedBlock, Nesting
from nigari.schema.provider import IdentitySchema, ProviderSchema, Schema
from tests.providers_found import find_provider

SOURCE = "example.com/test/museum"
REQUIRED = f"""\
terraform {{
  required_providers {{
    museum = {{ source = "{SOURCE}" }}
  }}
}}
"""

_STORY = {"text": Attribute(STRING, optional=True), "year": Attribute(NUMBER, optional=True)}
PIECE = Block(
    {
        "id": Attribute(STRING, optional=True, computed=True),
        "name": Attribute(STRING, required=True),
        "notes": Attribute(STRING, optional=True),
        "tags": Attribute(MapType(STRING), optional=True),
        "owner": Attribute(STRING, optional=True, sensitive=True),
        "value": Attribute(NUMBER, computed=True),
        "worn": Attribute(BOOL, optional=True, deprecated=True),
        "password": Attribute(STRING, optional=True, write_only=True),
        "story": Attribute(nested=NestedAttributes(_STORY), optional=True),
        "chapters": Attribute(nested=NestedAttributes(_STORY, Nesting.LIST), optional=True),
        "rooms": Attribute(nested=NestedAttributes(_STORY, Nesting.MAP), optional=True),
    },
    {
        "part": NestedBlock(Block({"label": Attribute(STRING, required=True)}), Nesting.LIST),
        "case": NestedBlock(Block({"lock": Attribute(BOOL, optional=True)}), Nesting.SINGLE),
    },
)
IDENTITY = IdentitySchema(
    1, {"hall": STRING, "shelf": STRING}, frozenset({"hall"}), frozenset({"shelf"})
)

_STORY_TYPE = PIECE.attributes["story"].implied_type


def piece(id_: str) -> Value:
    """What there is by some id."""
    story = cty.convert(cty.Value.of({"text": "old", "year": 1900}), _STORY_TYPE)
    members = {
        "id": string(id_),
        "name": string(f"name of {id_}"),
        "notes": string('{"a": [1, true]}'),
        "tags": cty.map_value(STRING, {"b c": string("x"), "a": string("${y}")}),
        "owner": string("somebody"),
        "value": cty.number(7),
        "worn": cty.TRUE,
        "password": null(STRING),
        "story": story,
        "chapters": cty.list_value(_STORY_TYPE, [story]),
        "rooms": cty.map_value(_STORY_TYPE, {"r 1": story}),
        "part": cty.list_value(
            cty.ObjectType({"label": STRING}), [object_value({"label": string("lid")})]
        ),
        "case": object_value({"lock": cty.TRUE}),
    }
    return object_value(members)


class Museum(ProviderBase):
    """Has a piece for every id but "nothing"."""

    def __init__(self, asked: list[api.ImportRequest]) -> None:
        self._asked = asked

    async def schema(self) -> api.SchemaResponse:
        return api.SchemaResponse(
            ProviderSchema(
                Schema(Block()),
                resources={
                    "museum_piece": Schema(PIECE, 0, IDENTITY),
                    "museum_plain": Schema(PIECE),
                },
            )
        )

    async def validate_resource(self, type_name: str, config: Value) -> api.Response:
        return api.Response()

    async def import_state(self, request: api.ImportRequest) -> api.ImportResponse:
        self._asked.append(request)
        id_ = request.id
        if request.identity is not None:
            id_ = request.identity.attribute("hall").as_string()
        if id_ == "nothing":
            return api.ImportResponse(())
        found = api.ImportedResource(request.type_name, piece(id_), b"", request.identity)
        return api.ImportResponse((found,))

    async def read(self, request: api.ReadRequest) -> api.ReadResponse:
        return api.ReadResponse(request.state, request.private, request.identity)

    async def plan(self, request: api.PlanRequest) -> api.PlanResponse:
        return api.PlanResponse(request.proposed, identity=request.identity)

    async def apply(self, request: api.ApplyRequest) -> api.ApplyResponse:
        return api.ApplyResponse(request.planned, identity=request.identity)


def install(monkeypatch: pytest.MonkeyPatch) -> list[api.ImportRequest]:
    """Have the provider found; the result grows with what is asked of it."""
    asked: list[api.ImportRequest] = []
    find_provider(monkeypatch, lambda: Museum(asked))
    return asked
