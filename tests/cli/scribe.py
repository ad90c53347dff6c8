"""A provider that writes down what it is asked, with every argument that says something.

Its answers have private data, identities and versions, so that each request shows which of those it
was made from.
"""

from __future__ import annotations

import json
from typing import Final

from nigari import cty
from nigari.diagnostics import Severity
from nigari.providers import api
from nigari.providers.base import ProviderBase
from nigari.record import replace
from nigari.schema.block import Attribute, Block
from nigari.schema.provider import IdentitySchema, ProviderSchema, Schema

_TEXT: Final = Attribute(cty.STRING, optional=True)
_NOTE: Final = Schema(
    Block(
        {
            "name": Attribute(cty.STRING, required=True),
            "text": _TEXT,
            "hush": Attribute(cty.STRING, optional=True, sensitive=True),
            "told": Attribute(cty.STRING, optional=True, write_only=True),
            "made": Attribute(cty.STRING, computed=True),
        }
    ),
    2,
    IdentitySchema(1, {"name": cty.STRING}, frozenset(("name",))),
)
_FACT: Final = Schema(
    Block(
        {"key": Attribute(cty.STRING, required=True), "value": Attribute(cty.STRING, computed=True)}
    )
)


def _note(name: cty.Value, **parts: cty.Value) -> cty.Value:
    empty = {each: cty.null(cty.STRING) for each in ("text", "hush", "told", "made")}
    return cty.object_value({**empty, "name": name, **parts})


class Scribe(ProviderBase):
    """An instance of the provider; all write to one log."""

    def __init__(self, log: list[str]) -> None:
        self._log = log

    def _heard(self, what: str, *parts: object) -> None:
        told = (_text(each) for each in parts)
        self._log.append(f"  {what} {' '.join(each for each in told if each)}")

    async def schema(self) -> api.SchemaResponse:
        settings = {"region": _TEXT, "key": Attribute(cty.STRING, optional=True, sensitive=True)}
        schema = ProviderSchema(
            Schema(Block(settings)),
            {"scribe_note": _NOTE, "scribe_memo": replace(_NOTE, identity=None)},
            {"scribe_fact": _FACT},
            ephemeral_resources={"scribe_token": _FACT},
            provider_meta=Schema(Block({"who": _TEXT})),
            plans_destroy=True,
            moves_state=True,
        )
        return api.SchemaResponse(schema)

    async def configure(self, config: cty.Value, may_defer: bool = False) -> api.Response:
        self._heard("configure", config)
        return api.Response()

    async def validate_resource(self, type_name: str, config: cty.Value) -> api.Response:
        self._heard("validate", type_name, config)
        return api.Response()

    async def validate_data(self, type_name: str, config: cty.Value) -> api.Response:
        self._heard("validate-data", type_name, config)
        return api.Response()

    async def validate_ephemeral(self, type_name: str, config: cty.Value) -> api.Response:
        self._heard("validate-ephemeral", type_name, config)
        return api.Response()

    async def upgrade(self, request: api.UpgradeRequest) -> api.UpgradeResponse:
        self._heard("upgrade", request)
        stored = {**json.loads(request.json), "told": None}
        stored["text"] = stored.get("text") or stored.pop("old_text", None)
        stored.pop("old_text", None)
        state = cty.json.value_from_json(json.dumps(stored), _NOTE.block.implied_type)
        return api.UpgradeResponse(state)

    async def read(self, request: api.ReadRequest) -> api.ReadResponse:
        self._heard("read", request)
        private = request.private.replace(b"applied", b"read")
        return api.ReadResponse(request.state, private, request.identity)

    async def plan(self, request: api.PlanRequest) -> api.PlanResponse:
        self._heard("plan", request)
        proposed, prior = request.proposed, request.prior
        private = b"planned to end" if proposed.is_null else b"planned"
        if proposed.is_null:
            return api.PlanResponse(proposed, planned_private=private)
        parts = {**proposed.mapping(), "told": cty.null(cty.STRING)}
        if prior.is_null or prior.attribute("text") != proposed.attribute("text"):
            parts["made"] = cty.unknown(cty.STRING)
        forcing: tuple[cty.Path, ...] = ((cty.GetAttr("name"),),)
        identity = None if request.type_name == "scribe_memo" else _identity(proposed)
        return api.PlanResponse(cty.object_value(parts), forcing, private, identity)

    async def apply(self, request: api.ApplyRequest) -> api.ApplyResponse:
        self._heard("apply", request)
        planned = request.planned
        if planned.is_null:
            fails = request.prior.attribute("text").data == "stays"
            told = (api.ProviderDiagnostic(Severity.ERROR, "Stays", "As was asked."),)
            return api.ApplyResponse(
                request.prior if fails else planned,
                b"failed",
                request.identity,
                diagnostics=told if fails else (),
            )
        made = {"made": cty.string("here")} if not planned.attribute("made").is_known else {}
        identity = None if request.type_name == "scribe_memo" else _identity(planned)
        fails = planned.attribute("text").data == "breaks"
        told = (api.ProviderDiagnostic(Severity.ERROR, "Breaks", "As was asked."),)
        return api.ApplyResponse(
            cty.object_value({**planned.mapping(), **made}),
            b"applied",
            identity,
            diagnostics=told if fails else (),
        )

    async def import_state(self, request: api.ImportRequest) -> api.ImportResponse:
        self._heard("import", request)
        identity = request.identity
        name = cty.string(request.id) if identity is None else identity.attribute("name")
        found = api.ImportedResource(
            request.type_name, _note(name, made=cty.string("found")), b"imported", identity
        )
        return api.ImportResponse((found,))

    async def move_state(self, request: api.MoveRequest) -> api.MoveResponse:
        self._heard("move", request)
        stored = json.loads(request.json)
        parts = {key: cty.string(part) for key, part in stored.items() if part is not None}
        return api.MoveResponse(_note(**parts), b"moved")

    async def read_data(self, request: api.ReadDataRequest) -> api.ReadDataResponse:
        self._heard("read-data", request)
        parts = {**request.config.mapping(), "value": cty.string("v")}
        return api.ReadDataResponse(cty.object_value(parts))

    async def open_ephemeral(self, type_name: str, config: cty.Value) -> api.OpenEphemeralResponse:
        self._heard("open", type_name, config)
        result = cty.object_value({**config.mapping(), "value": cty.string("token")})
        return api.OpenEphemeralResponse(result, b"opened")

    async def close_ephemeral(self, type_name: str, private: bytes | None) -> api.Response:
        self._heard("close", type_name, private)
        return api.Response()


def _identity(state: cty.Value) -> cty.Value:
    return cty.object_value({"name": state.attribute("name")})


def _text(part: object) -> str:
    """An argument, or all arguments of a request that say something."""
    if isinstance(part, cty.Value):
        assert not part.contains_marked
        return _value_text(part)
    if isinstance(part, bytes):
        text = part.decode()
        return json.dumps(json.loads(text)) if text.startswith("{") else text
    if isinstance(part, str | bool | int | tuple | None):
        return str(part) if part else ""
    told = ((name, _text(getattr(part, name))) for name in type(part).__annotations__)
    return " ".join(f"{name}={text}" for name, text in told if text)


def _value_text(value: cty.Value) -> str:
    if not value.is_known:
        return "?"
    if value.is_null:
        return "null"
    if isinstance(value.data, dict):
        parts = value.mapping().items()
        told = (
            f"{name}: {_value_text(part)}"
            for name, part in parts
            if not part.is_known or not part.is_null
        )
        return f"{{{', '.join(told)}}}"
    return str(value.to_python())
