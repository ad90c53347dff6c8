"""Shared parts of responses in plugin protocol 6, and object identities as messages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime

from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from nigari import cty
from nigari.diagnostics import Severity
from nigari.providers import api
from nigari.providers.wire import protocol6_pb2 as pb
from nigari.providers.wire.values import decode, diagnostic_messages, encode
from nigari.schema.provider import IdentitySchema, ProviderSchema, Schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    import grpc

    _Request = TypeVar("_Request", bound=Message)

    _Response = TypeVar("_Response", bound=Message)


class InvalidRequest(Exception):
    """A request that does not match the schema."""

    def __init__(self, summary: str, detail: str) -> None:
        super().__init__(summary)
        self.reported: tuple[api.ProviderDiagnostic, ...] = (
            api.ProviderDiagnostic(Severity.ERROR, summary, detail),
        )


async def validated(
    request: pb.ValidateConfig.Request,
    type_of: Callable[[str], Awaitable[cty.Type]],
    ask: Callable[[str, cty.Value], Awaitable[api.Response]],
) -> pb.ValidateConfig.Response:
    """Respond to a validation request."""
    try:
        config = decoded(request.config, await type_of(request.type_name))
        reported = (await ask(request.type_name, config)).diagnostics
    except InvalidRequest as refused:
        reported = refused.reported
    return pb.ValidateConfig.Response(diagnostics=diagnostic_messages(reported))


def decoded_identity(message: pb.ResourceIdentityData, schema: Schema) -> cty.Value | None:
    """Decode the identity in a message, or raise `InvalidRequest`."""
    try:
        return identity_value(message, schema)
    except cty.CtyError as error:
        raise InvalidRequest("Unreadable identity", f"The identity: {error.message}.") from None


def deferred(reason: api.ProviderDeferral | None) -> pb.Deferred | None:
    """Encode the reason for a deferral, if there is one."""
    return None if reason is None else pb.Deferred(reason=reason.value)


def decoded(message: pb.DynamicValue, type_: cty.Type) -> cty.Value:
    """Decode the value in a message, or raise `InvalidRequest`."""
    try:
        return decode(message, type_)
    except cty.CtyError as error:
        where = cty.path_text(error.path)
        raise InvalidRequest(
            "Unreadable value", f"{where or 'The value'}: {error.message}."
        ) from None


def streaming_handler(
    answer: Callable[[_Request], AsyncIterator[_Response]], request: type[_Request]
) -> grpc.RpcMethodHandler[object, object]:
    """Build the gRPC handler of a method with a stream of responses."""
    import grpc

    async def handle(message: _Request, _context: object) -> AsyncIterator[_Response]:
        async for each in answer(message):
            yield each

    def serialized(message: _Response) -> bytes:
        return message.SerializeToString()

    return grpc.unary_stream_rpc_method_handler(
        handle, request_deserializer=request.FromString, response_serializer=serialized
    )


def stamp(moment: datetime | None) -> Timestamp | None:
    """Encode a time."""
    if moment is None:
        return None
    message = Timestamp()
    message.FromDatetime(moment)
    return message


def handler(
    answer: Callable[[_Request], Awaitable[_Response]], request: type[_Request]
) -> grpc.RpcMethodHandler[object, object]:
    """Build the gRPC handler of a method."""
    import grpc

    async def handle(message: _Request, _context: object) -> _Response:
        return await answer(message)

    def serialized(message: _Response) -> bytes:
        return message.SerializeToString()

    return grpc.unary_unary_rpc_method_handler(
        handle, request_deserializer=request.FromString, response_serializer=serialized
    )


def identity_schemas_message(schema: ProviderSchema) -> pb.GetResourceIdentitySchemas.Response:
    """Encode the identity schemas of a provider."""
    message = pb.GetResourceIdentitySchemas.Response()
    for name, resource in schema.resources.items():
        if resource.identity is not None:
            message.identity_schemas[name].CopyFrom(_schema_message(resource.identity))
    return message


def identity_message(identity: cty.Value | None, schema: Schema) -> pb.ResourceIdentityData | None:
    """Encode an identity; None if there is none."""
    if identity is None or identity.is_null or schema.identity is None:
        return None
    return pb.ResourceIdentityData(identity_data=encode(identity, schema.identity.implied_type))


def identity_value(message: pb.ResourceIdentityData, schema: Schema) -> cty.Value | None:
    """Decode the identity in a message, if it has one; raise `CtyError` if it does not match."""
    if schema.identity is None or not message.HasField("identity_data"):
        return None
    value = decode(message.identity_data, schema.identity.implied_type)
    # A null identity is one that is not there.
    return None if value.is_null else value


def _schema_message(schema: IdentitySchema) -> pb.ResourceIdentitySchema:
    attribute = pb.ResourceIdentitySchema.IdentityAttribute
    return pb.ResourceIdentitySchema(
        version=schema.version,
        identity_attributes=[
            attribute(
                name=name,
                type=cty.type_to_json(type_).encode(),
                required_for_import=name in schema.required_for_import,
                optional_for_import=name in schema.optional_for_import,
                description=schema.descriptions.get(name, ""),
            )
            for name, type_ in sorted(schema.attributes.items())
        ],
    )
