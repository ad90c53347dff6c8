"""Plugin schemas as bytes, cached for later runs.

The plugin's own messages are stored, so that reading them is as fast as receiving them, and
additions to their conversion need no new format.
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
    """Serialize a provider's schema with the identities of its resources."""
    protocol = b"6" if isinstance(message, pb.GetProviderSchema.Response) else b"5"
    answer = message.SerializeToString()
    others = pb.GetResourceIdentitySchemas.Response(identity_schemas=identities)
    size = len(answer).to_bytes(_SIZE_BYTES, "big")
    return b"".join((protocol, size, answer, others.SerializeToString()))


def schema_from_bytes(data: bytes) -> ProviderSchema:
    """Parse the output of `schema_bytes`; raise `ValueError` for anything else."""
    start = 1 + _SIZE_BYTES
    end = start + int.from_bytes(data[1:start], "big")
    form = pb5 if data[:1] == b"5" else pb
    try:
        message = form.GetProviderSchema.Response.FromString(data[start:end])
        others = pb.GetResourceIdentitySchemas.Response.FromString(data[end:])
    except DecodeError:
        raise ValueError("not a schema") from None
    return schemas.provider_schema(message, others.identity_schemas)
