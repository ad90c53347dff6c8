"""Schemas of plugins as bytes, which a later run reads instead of asking again.

The plugin's own messages are kept, so that reading them is as quick as hearing them, and whatever
is added to their translation needs no new form here.
"""

from __future__ import annotations

from collections.abc import Mapping

from google.protobuf.message import DecodeError

from nigari.providers.wire import protocol5_pb2 as pb5
from nigari.providers.wire import protocol6_pb2 as pb
from nigari.providers.wire import schemas
from nigari.schema.provider import ProviderSchema

_SIZE_BYTES = 8


def schema_bytes(
    message: pb.GetProviderSchema.Response | pb5.GetProviderSchema.Response,
    identities: Mapping[str, pb.ResourceIdentitySchema],
) -> bytes:
    """A provider's schema and the identities of its resources."""
    protocol = b"6" if isinstance(message, pb.GetProviderSchema.Response) else b"5"
    answer = message.SerializeToString()
    others = pb.GetResourceIdentitySchemas.Response(identity_schemas=identities)
    size = len(answer).to_bytes(_SIZE_BYTES, "big")
    return b"".join((protocol, size, answer, others.SerializeToString()))


def schema_from_bytes(data: bytes) -> ProviderSchema:
    """What `schema_bytes` has written; a `ValueError` where it is something else."""
    start = 1 + _SIZE_BYTES
    end = start + int.from_bytes(data[1:start], "big")
    form = pb5 if data[:1] == b"5" else pb
    try:
        message = form.GetProviderSchema.Response.FromString(data[start:end])
        others = pb.GetResourceIdentitySchemas.Response.FromString(data[end:])
    except DecodeError:
        raise ValueError("not a schema") from None
    return schemas.provider_schema(message, others.identity_schemas)
