"""Object identities as messages, and their schemas."""

from nigari import cty
from nigari.providers.wire import protocol6_pb2 as pb
from nigari.providers.wire.values import decode, encode
from nigari.schema.provider import IdentitySchema, ProviderSchema, Schema


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
