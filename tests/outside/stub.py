"""Providers that stand for those that cannot be reached: `python -m tests.outside.stub ROOT`.

One process serves all of them, each at a socket of its own that both programs attach to. Schemas
come from `inference`. What a real provider would find out is unknown while planning, and a
plausible text once it is read or made, always the same for the same name.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from nigari import cty
from nigari.cty.json import value_from_json
from nigari.providers import api
from nigari.providers.base import ProviderBase
from nigari.providers.wire import protocol6_pb2 as pb
from nigari.providers.wire.answers import handler
from nigari.providers.wire.protocol import CONTROLLER, MAX_MESSAGE, SERVICE6
from nigari.providers.wire.schemas import provider_schema, provider_schema_message
from nigari.providers.wire.service import ProviderService
from nigari.schema.block import Block, Nesting
from nigari.schema.provider import ProviderSchema
from tests.outside.checkouts import directories
from tests.outside.inference import Observations

_PLAUSIBLE: Final = {
    "account_id": "123456789012",
    "arn": "arn:aws:iam::123456789012:thing/stub",
    "partition": "aws",
    "dns_suffix": "amazonaws.com",
    "json": '{"Version":"2012-10-17","Statement":[]}',
    "rendered": "rendered",
    "cidr_block": "10.0.0.0/16",
    "ip_cidr_range": "10.0.0.0/16",
    "ipv4": "10.1.2.3",
    "region": "eu-west-1",
    "location": "westeurope",
    "number": "1234567890",
    "body": "{}",
    "response_body": "{}",
    "certificate_authority": "c3R1Yg==",
    "cluster_ca_certificate": "c3R1Yg==",
    "data": "c3R1Yg==",
    "value": "stub",
}
_NUMBER: Final = 3


def made(type_: cty.Type, name: str) -> cty.Value:
    """A value that a provider could have found."""
    match type_:
        case cty.NUMBER:
            return cty.number(_NUMBER)
        case cty.BOOL:
            return cty.boolean(True)
        case cty.ListType() | cty.SetType():
            parts = [made(type_.element, f"{name}{ending}") for ending in ("", "-b", "-c", "-d")]
            if isinstance(type_, cty.SetType):
                return cty.set_value(type_.element, parts)
            return cty.list_value(type_.element, parts)
        case cty.MapType():
            return cty.map_value(type_.element, {"key": made(type_.element, name)})
        case cty.ObjectType():
            return cty.object_value({n: made(t, n) for n, t in type_.attributes.items()})
    return cty.string(_PLAUSIBLE.get(name, f"stub-{name}"))


def completed(block: Block, value: cty.Value, is_known: bool) -> cty.Value:
    """An object with what its provider finds out: unknown while planning, made up afterwards."""
    if value.is_null or not value.is_known:
        return value
    parts = dict(value.mapping())
    for name, attribute in block.attributes.items():
        given = parts[name]
        if attribute.write_only:
            parts[name] = cty.null(attribute.implied_type)
        elif attribute.computed and given.is_null:
            type_ = attribute.implied_type
            parts[name] = made(type_, name) if is_known else cty.unknown(type_)
        elif is_known and not given.is_known:
            parts[name] = made(attribute.implied_type, name)
    for name, nested in block.blocks.items():
        inner, given = nested.block, parts[name]
        if given.is_null or not given.is_known:
            continue
        if nested.nesting is Nesting.SINGLE:
            parts[name] = completed(inner, given, is_known)
            continue
        elements = [completed(inner, each, is_known) for each in given.sequence()]
        if nested.nesting is Nesting.SET:
            parts[name] = cty.set_value(inner.implied_type, elements)
        elif isinstance(given.type, cty.ListType):
            parts[name] = cty.list_value(inner.implied_type, elements)
        else:
            parts[name] = cty.tuple_value(elements)
    return cty.object_value(parts)


class Stub(ProviderBase):
    """One provider."""

    def __init__(self, schema: ProviderSchema) -> None:
        self._schema = schema

    async def schema(self) -> api.SchemaResponse:
        return api.SchemaResponse(self._schema)

    async def validate_resource(self, type_name: str, config: cty.Value) -> api.Response:
        return api.Response()

    async def validate_data(self, type_name: str, config: cty.Value) -> api.Response:
        return api.Response()

    async def validate_ephemeral(self, type_name: str, config: cty.Value) -> api.Response:
        return api.Response()

    async def upgrade(self, request: api.UpgradeRequest) -> api.UpgradeResponse:
        type_ = self._schema.resources[request.type_name].block.implied_type
        return api.UpgradeResponse(value_from_json(request.json, type_))

    async def read(self, request: api.ReadRequest) -> api.ReadResponse:
        return api.ReadResponse(request.state, request.private, request.identity)

    async def plan(self, request: api.PlanRequest) -> api.PlanResponse:
        block = self._schema.resources[request.type_name].block
        return api.PlanResponse(completed(block, request.proposed, is_known=False))

    async def apply(self, request: api.ApplyRequest) -> api.ApplyResponse:
        block = self._schema.resources[request.type_name].block
        return api.ApplyResponse(completed(block, request.planned, is_known=True))

    async def read_data(self, request: api.ReadDataRequest) -> api.ReadDataResponse:
        block = self._schema.data_sources[request.type_name].block
        return api.ReadDataResponse(completed(block, request.config, is_known=True))

    async def open_ephemeral(self, type_name: str, config: cty.Value) -> api.OpenEphemeralResponse:
        block = self._schema.ephemeral_resources[type_name].block
        return api.OpenEphemeralResponse(completed(block, config, is_known=True))

    async def close_ephemeral(self, type_name: str, private: bytes | None) -> api.Response:
        return api.Response()


class StubService(ProviderService):
    """Answers with a schema that was put on the wire once: it is asked for by every command."""

    def __init__(self, message: pb.GetProviderSchema.Response) -> None:
        super().__init__(Stub(provider_schema(message, {})))
        self._message = message

    async def answer_schema(
        self, _request: pb.GetProviderSchema.Request
    ) -> pb.GetProviderSchema.Response:
        return self._message


def messages(root: Path) -> dict[str, pb.GetProviderSchema.Response]:
    """The schemas of all providers; worked out once for a set of trees, and kept beside it."""
    kept = root.with_name("schemas")
    if not kept.is_dir():
        observed = Observations()
        observed.add_directories(str(each) for each in directories(root))
        kept.mkdir()
        for provider in observed.served:
            message = provider_schema_message(observed.schema(provider))
            (kept / provider.replace("/", "+")).write_bytes(message.SerializeToString())
    return {
        path.name.replace("+", "/"): pb.GetProviderSchema.Response.FromString(path.read_bytes())
        for path in sorted(kept.iterdir())
    }


async def _serve(offered: Mapping[str, pb.GetProviderSchema.Response]) -> None:
    import grpc.aio

    folder = tempfile.mkdtemp(prefix="outside-")
    attached: dict[str, object] = {}
    servers = []
    for number, (provider, message) in enumerate(offered.items()):
        service = StubService(message)
        methods = service.handlers()
        methods["GetProviderSchema"] = handler(service.answer_schema, pb.GetProviderSchema.Request)
        server = grpc.aio.server(
            options=[
                ("grpc.max_receive_message_length", MAX_MESSAGE),
                ("grpc.max_send_message_length", -1),
            ]
        )
        server.add_generic_rpc_handlers(
            (
                grpc.method_handlers_generic_handler(SERVICE6, methods),
                grpc.method_handlers_generic_handler(CONTROLLER, {}),
            )
        )
        server.add_insecure_port(f"unix:{folder}/{number}")
        await server.start()
        servers.append(server)
        attached[provider] = {
            "Protocol": "grpc",
            "ProtocolVersion": 6,
            "Pid": os.getpid(),
            "Test": True,
            "Addr": {"Network": "unix", "String": f"{folder}/{number}"},
        }
    print(json.dumps(attached), flush=True)
    # Whoever started this closes standard input when nobody needs it any more.
    await asyncio.to_thread(sys.stdin.read)
    for server in servers:
        await server.stop(0)


def main() -> None:
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    asyncio.run(_serve(messages(Path(sys.argv[1]))))


if __name__ == "__main__":
    main()
