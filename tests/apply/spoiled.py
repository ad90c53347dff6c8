"""A provider whose answers are spoiled on the wire, in a process of its own.

The provider itself is sound. The file `spoil.json` of its working directory says of which method
the answers are spoiled, and how; of which object, where it matters.
"""

from __future__ import annotations

import asyncio
import json
import os
import struct
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from google.protobuf.message import Message

from nigari.providers.python import IDENTITY, Computed, Provider
from nigari.providers.wire import protocol6_pb2 as pb
from nigari.providers.wire.service import ProviderService

if TYPE_CHECKING:
    import grpc

PLUGIN: Final = "from tests.apply.spoiled import serve\nserve()\n"

provider = Provider("spoiled")


@provider.resource("thing", version=1, upgrade=lambda _version, attributes: attributes)
@dataclass
class Thing:
    """An object with a part of each kind that can be spoiled."""

    name: Annotated[str, IDENTITY]
    n: float = 1.0
    size: Computed[float] = 0.0
    id: Computed[str] = ""

    def create(self, _settings: object) -> None:
        self.id, self.size = f"id-{self.name}", 1.0

    def read(self, _settings: object) -> bool:
        return True

    def update(self, _settings: object, prior: Thing) -> None:
        self.id, self.size = prior.id, 2.0

    def delete(self, _settings: object) -> None:
        """Nothing is kept."""

    @classmethod
    def import_object(cls, _settings: object, id: str) -> Thing:
        return cls(id, 1.0, 1.0, f"id-{id}")


@provider.data_source("answer")
@dataclass
class Answer:
    name: str
    size: Computed[float] = 0.0

    def read(self, _settings: object) -> None:
        self.size = 3.0


@provider.ephemeral_resource("lease")
@dataclass
class Lease:
    name: str
    size: Computed[float] = 0.0

    def open(self, _settings: object) -> timedelta:
        self.size = 4.0
        return timedelta(seconds=0.1)

    def renew(self, _settings: object) -> None:
        """Once is enough."""

    def close(self, _settings: object) -> None:
        """Nothing is kept."""


@provider.function
def twice(n: float) -> float:
    """Twice the number."""
    return 2 * n


# -- spoiling ---------------------------------------------------------------------------------------


def _values(message: Message) -> list[pb.DynamicValue]:
    """Every value in an answer but identities, those in lists of objects, too."""
    found: list[pb.DynamicValue] = []
    for _, content in message.ListFields():
        parts = [content] if isinstance(content, Message) else content
        if isinstance(parts, (bytes, str, int, float)):
            continue
        for part in parts:
            if isinstance(part, pb.DynamicValue):
                found.append(part)
            elif isinstance(part, Message) and not isinstance(part, pb.ResourceIdentityData):
                found += _values(part)
    return found


def _with(data: bytes) -> Callable[[Message], None]:
    def put(message: Message) -> None:
        for value in _values(message):
            value.msgpack = data

    return put


def _number(code: bytes) -> Callable[[Message], None]:
    """Every number of an answer becomes another, in an object as by itself."""

    def put(message: Message) -> None:
        for value in _values(message):
            key = b"\xa4size"
            head, found, _ = value.msgpack.partition(key)
            if found:
                value.msgpack = _object(head + found, code, value.msgpack)
            elif isinstance(message, pb.CallFunction.Response):
                value.msgpack = code

    return put


def _object(head: bytes, code: bytes, whole: bytes) -> bytes:
    rest = whole[len(head) :]
    length = {0xCB: 9, 0xD4: 3}.get(rest[0], 1)
    return head + code + rest[length:]


def _diagnostics(message: Message) -> None:
    told = getattr(message, "diagnostics", None)
    if told is not None:
        step = pb.AttributePath.Step(element_key_int=-(2**63))
        told.add(severity=77, summary="", detail="\x1b[2J\u202e", attribute={"steps": [step]})


def _no_time(message: Message) -> None:
    if hasattr(message, "renew_at"):
        message.renew_at.seconds = 2**62


def _other_type(message: Message) -> None:
    for each in getattr(message, "imported_resources", ()):
        each.type_name = "spoiled_nothing"


def _no_schema(message: Message) -> None:
    for kind in ("resource_schemas", "data_source_schemas", "ephemeral_resource_schemas"):
        for schema in getattr(message, kind, {}).values():
            schema.block.attributes[0].type = b'["nothing", 1]'
    for function in getattr(message, "functions", {}).values():
        getattr(function, "return").type = b"{"


def _deep_schema(message: Message) -> None:
    for schema in getattr(message, "resource_schemas", {}).values():
        schema.block.attributes[0].type = b'["list",' * 50_000 + b'"string"' + b"]" * 50_000


MANNERS: Final[dict[str, Callable[[Message], None]]] = {
    "garbage": _with(b"\xc1\xff\x00garbage"),
    "short": _with(b"\x84\xa4name"),
    "wrong type": _with(b"\xa5hello"),
    "nothing": _with(b"\xc0"),
    "unknown": _with(b"\xd4\x00\x00"),
    "endless list": _with(b"\xdd\xff\xff\xff\xff"),
    "deep": _with(b"\x91" * 100_000),
    "infinity": _number(struct.pack(">Bd", 0xCB, float("inf"))),
    "nan": _number(struct.pack(">Bd", 0xCB, float("nan"))),
    "unknown part": _number(b"\xd4\x00\x00"),
    "strange diagnostics": _diagnostics,
    "no time": _no_time,
    "other type": _other_type,
    "malformed schema": _no_schema,
    "deep schema": _deep_schema,
    "empty": lambda message: message.Clear(),
}


def serve() -> None:
    """Be the plugin."""
    from nigari.providers.wire import service

    service.ProviderService = _SpoiledService  # type: ignore[misc]  # the plugin is nothing else
    provider.serve()


class _SpoiledService(ProviderService):
    def handlers(self) -> dict[str, grpc.RpcMethodHandler[object, object]]:
        return {name: _spoiling(name, each) for name, each in super().handlers().items()}


def _spoiling(
    method: str, sound: grpc.RpcMethodHandler[object, object]
) -> grpc.RpcMethodHandler[object, object]:
    import grpc

    answering = sound.unary_unary
    if answering is None:
        # A stream of answers, which no test spoils.
        return sound

    async def handle(
        request: Message, context: grpc.aio.ServicerContext[Message, object]
    ) -> object:
        manner = _manner(method, request)
        if manner == "exit":
            os._exit(3)
        if manner == "hang":
            _note_hanging()
            await asyncio.sleep(600)
        if manner == "refuse":
            await context.abort(grpc.StatusCode.INTERNAL, "no luck")
        answer = await answering(request, context)  # type: ignore[misc, arg-type]  # it is async
        if manner in MANNERS:
            MANNERS[manner](answer)
        return answer, manner

    def serialized(result: tuple[Message, str]) -> bytes:
        answer, manner = result
        if manner == "no message":
            return b"\xff\xff\xff"
        if manner == "huge":
            return answer.SerializeToString() + b"\xfa\x7f\x80\x80\x80\x90\x01" + bytes(300 << 20)
        return answer.SerializeToString()

    return grpc.unary_unary_rpc_method_handler(
        handle,
        request_deserializer=sound.request_deserializer,
        response_serializer=serialized,
    )


def _note_hanging() -> None:
    Path("hanging").touch()


def _manner(method: str, request: Message) -> str:
    try:
        wanted = json.loads(Path("spoil.json").read_text())
    except OSError:
        return ""
    if wanted["method"] != method:
        return ""
    only = wanted.get("only", "").encode()
    return str(wanted["manner"]) if only in request.SerializeToString() else ""
