"""A provider for tests whose resource has every kind of attribute and of nested block.

What it manages exists only in the state. A file in the working directory that is named after an
object changes it from outside: `NAME.drift` holds its new `text`, or `gone`.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from nigari import cty
from nigari.diagnostics import Severity
from nigari.providers import api
from nigari.providers.base import ProviderBase
from nigari.schema.block import Attribute, Block, NestedAttributes, NestedBlock, Nesting
from nigari.schema.coerce import coerce
from nigari.schema.provider import IdentitySchema, ProviderSchema, Schema

TEXT = Attribute(cty.STRING, optional=True)
PAIR = cty.ObjectType({"a": cty.STRING, "b": cty.NUMBER})
INNER = {
    "id": TEXT,
    "size": Attribute(cty.NUMBER, optional=True),
    "words": Attribute(cty.ListType(cty.STRING), optional=True),
    "fixed": TEXT,
    "hush": Attribute(cty.STRING, optional=True, sensitive=True),
    "made": Attribute(cty.STRING, optional=True, computed=True),
}
NESTED_BLOCK = Block(INNER, {"deep": NestedBlock(Block({"x": TEXT, "y": TEXT}), Nesting.LIST)})


def nested(nesting: Nesting) -> Attribute:
    return Attribute(nested=NestedAttributes(INNER, nesting), optional=True)


THING = Schema(
    Block(
        {
            "id": Attribute(cty.STRING, computed=True),
            "name": Attribute(cty.STRING, required=True),
            "text": TEXT,
            "size": Attribute(cty.NUMBER, optional=True),
            "flag": Attribute(cty.BOOL, optional=True),
            "tags": Attribute(cty.MapType(cty.STRING), optional=True),
            "words": Attribute(cty.ListType(cty.STRING), optional=True),
            "bag": Attribute(cty.SetType(cty.STRING), optional=True),
            "pair": Attribute(PAIR, optional=True),
            "pairs": Attribute(cty.ListType(PAIR), optional=True),
            "pair_map": Attribute(cty.MapType(PAIR), optional=True),
            "pair_set": Attribute(cty.SetType(PAIR), optional=True),
            "anything": Attribute(cty.DYNAMIC, optional=True),
            "fixed": TEXT,
            "fixed_map": Attribute(cty.MapType(cty.STRING), optional=True),
            "fixed_words": Attribute(cty.ListType(cty.STRING), optional=True),
            "hush": Attribute(cty.STRING, optional=True, sensitive=True),
            "hush_map": Attribute(cty.MapType(cty.STRING), optional=True, sensitive=True),
            "written": Attribute(cty.STRING, optional=True, write_only=True),
            "echo": Attribute(cty.STRING, computed=True),
            "delay": Attribute(cty.NUMBER, optional=True),
            "fails": TEXT,
            "one": nested(Nesting.SINGLE),
            "many": nested(Nesting.LIST),
            "several": nested(Nesting.SET),
            "named": nested(Nesting.MAP),
        },
        {
            "only": NestedBlock(NESTED_BLOCK, Nesting.SINGLE),
            "group": NestedBlock(Block({"x": TEXT, "y": TEXT}), Nesting.GROUP),
            "row": NestedBlock(NESTED_BLOCK, Nesting.LIST),
            "heap": NestedBlock(NESTED_BLOCK, Nesting.SET),
            "table": NestedBlock(NESTED_BLOCK, Nesting.MAP),
        },
    )
)
KNOWN = Schema(
    Block({"name": Attribute(cty.STRING, required=True), "text": TEXT}),
    3,
    identity=IdentitySchema(1, {"name": cty.STRING}, frozenset(("name",))),
)
LOOKUP = Schema(
    Block(
        {"key": Attribute(cty.STRING, required=True), "value": Attribute(cty.STRING, computed=True)}
    )
)
SECRET = Schema(
    Block(
        {
            "key": Attribute(cty.STRING, required=True),
            "hint": Attribute(cty.STRING, optional=True, sensitive=True),
            "hints": Attribute(cty.ListType(cty.STRING), optional=True, sensitive=True),
            "value": Attribute(cty.STRING, computed=True, sensitive=True),
        },
        {"row": NestedBlock(Block({"hush": INNER["hush"], "id": TEXT}), Nesting.LIST)},
    )
)
FORCING = ("fixed", "fixed_map", "fixed_words")


class Rich(ProviderBase):
    async def schema(self) -> api.SchemaResponse:
        settings = {"region": TEXT, "key": Attribute(cty.STRING, optional=True, sensitive=True)}
        return api.SchemaResponse(
            ProviderSchema(
                Schema(Block(settings)),
                {"rich_thing": THING, "rich_known": KNOWN},
                {"rich_lookup": LOOKUP, "rich_secret": SECRET},
                ephemeral_resources={"rich_token": LOOKUP},
            )
        )

    async def validate_resource(self, type_name: str, config: cty.Value) -> api.Response:
        return api.Response()

    async def validate_data(self, type_name: str, config: cty.Value) -> api.Response:
        return api.Response()

    async def validate_ephemeral(self, type_name: str, config: cty.Value) -> api.Response:
        return api.Response()

    async def upgrade(self, request: api.UpgradeRequest) -> api.UpgradeResponse:
        block = (KNOWN if request.type_name == "rich_known" else THING).block
        stored = cty.json.value_from_json(request.json.decode(), block.implied_type)
        return api.UpgradeResponse(stored)

    async def read(self, request: api.ReadRequest) -> api.ReadResponse:
        state = request.state
        if request.type_name == "rich_known":
            return api.ReadResponse(state, request.private, identity_of(state))
        told = from_outside(state.attribute("name").as_string())
        if told is None:
            return api.ReadResponse(state, request.private)
        if told == "gone":
            return api.ReadResponse(cty.null(state.type), request.private)
        return api.ReadResponse(changed(state, text=cty.string(told)), request.private)

    async def plan(self, request: api.PlanRequest) -> api.PlanResponse:
        proposed, prior = request.proposed, request.prior
        if proposed.is_null:
            return api.PlanResponse(proposed)
        if request.type_name == "rich_known":
            return api.PlanResponse(proposed, identity=identity_of(proposed))
        if prior.is_null:
            later = cty.unknown(cty.STRING)
            return api.PlanResponse(changed(filled(proposed), id=later, echo=later))
        forcing: list[cty.Path] = [
            (cty.GetAttr(name),)
            for name in FORCING
            if proposed.attribute(name) != prior.attribute(name)
        ]
        forcing += nested_forcing(prior, proposed)
        if proposed.attribute("text") != prior.attribute("text"):
            proposed = changed(proposed, echo=cty.unknown(cty.STRING))
        return api.PlanResponse(filled(proposed), tuple(forcing))

    async def apply(self, request: api.ApplyRequest) -> api.ApplyResponse:
        planned = request.planned
        if request.type_name == "rich_known":
            identity = None if planned.is_null else identity_of(planned)
            return api.ApplyResponse(planned, identity=identity)
        holder = request.prior if planned.is_null else planned
        delay, fails = holder.attribute("delay"), holder.attribute("fails")
        if not delay.is_null:
            await asyncio.sleep(float(str(delay.to_python())))
        wanted = "destroy" if planned.is_null else "create" if request.prior.is_null else "update"
        if fails.data == wanted:
            told = (api.ProviderDiagnostic(Severity.ERROR, f"Cannot {wanted}", "As was asked."),)
            return api.ApplyResponse(request.prior, diagnostics=told)
        if planned.is_null:
            return api.ApplyResponse(planned)
        text, name = planned.attribute("text"), planned.attribute("name")
        echo = "none" if text.is_null else text.as_string().upper()
        done = changed(planned, id=cty.string(f"id-{name.as_string()}"), echo=cty.string(echo))
        return api.ApplyResponse(known(done))

    async def import_state(self, request: api.ImportRequest) -> api.ImportResponse:
        if request.type_name == "rich_known":
            identity = request.identity
            name = cty.string(request.id) if identity is None else identity.attribute("name")
            state = cty.object_value({"name": name, "text": cty.string("found")})
            imported = api.ImportedResource(request.type_name, state, identity=identity_of(state))
            return api.ImportResponse((imported,))
        given = {"name": cty.string(request.id), "id": cty.string(f"id-{request.id}")}
        state = coerce(THING.block, cty.object_value({**given, "echo": cty.string("none")}))
        return api.ImportResponse((api.ImportedResource(request.type_name, state),))

    async def read_data(self, request: api.ReadDataRequest) -> api.ReadDataResponse:
        config = request.config.mapping()
        value = cty.string(config["key"].as_string() * 2)
        return api.ReadDataResponse(cty.object_value({**config, "value": value}))

    async def open_ephemeral(self, type_name: str, config: cty.Value) -> api.OpenEphemeralResponse:
        key = config.attribute("key")
        value = cty.string(key.as_string() * 2)
        return api.OpenEphemeralResponse(cty.object_value({"key": key, "value": value}))

    async def close_ephemeral(self, type_name: str, private: bytes | None) -> api.Response:
        return api.Response()


def identity_of(state: cty.Value) -> cty.Value:
    return cty.object_value({"name": state.attribute("name")})


def from_outside(name: str) -> str | None:
    """What has happened to an object, if anything has."""
    path = Path(f"{name}.drift")
    return path.read_text().strip() if path.is_file() else None


def nested_forcing(prior: cty.Value, proposed: cty.Value) -> list[cty.Path]:
    """Where `fixed` of something nested changes, or a whole kind of block does that has it."""
    found: list[cty.Path] = []
    for name in ("one", "only"):
        old, new = prior.attribute(name), proposed.attribute(name)
        if old.is_null or new.is_null or not new.is_known:
            continue
        if old.attribute("fixed") != new.attribute("fixed"):
            found.append((cty.GetAttr(name), cty.GetAttr("fixed")))
    for name in ("row", "many"):
        old, new = prior.attribute(name), proposed.attribute(name)
        if old.is_null or new.is_null or not new.is_known:
            continue
        for at, (one, other) in enumerate(zip(old.sequence(), new.sequence(), strict=False)):
            if one.attribute("fixed") != other.attribute("fixed"):
                found.append((cty.GetAttr(name), cty.Index(cty.number(at)), cty.GetAttr("fixed")))
    for name in ("heap", "several"):
        old, new = prior.attribute(name), proposed.attribute(name)
        if old != new and not old.is_null and new.is_known and not new.is_null:
            if any(not each.attribute("fixed").is_null for each in new.sequence()):
                found.append((cty.GetAttr(name),))
    return found


def changed(value: cty.Value, **parts: cty.Value) -> cty.Value:
    return cty.object_value({**value.mapping(), **parts})


def filled(value: cty.Value) -> cty.Value:
    """What the provider makes in nested objects is known later, what is only written never."""

    def fill(path: cty.Path, part: cty.Value) -> cty.Value:
        if len(path) > 1 and path[-1] == cty.GetAttr("made") and part.is_null:
            return cty.unknown(cty.STRING)
        if path == (cty.GetAttr("written"),):
            return cty.null(cty.STRING)
        return part

    return cty.transform(value, fill)


def known(value: cty.Value) -> cty.Value:
    def tell(path: cty.Path, part: cty.Value) -> cty.Value:
        return part if part.is_known else cty.string("made here")

    return cty.transform(value, tell)
