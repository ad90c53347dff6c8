"""What a plugin has sent, read with the types of its schema and held to what may be stored.

Whatever cannot be read at all is a `CallFailed`. What can be read and must not be there is left out
and reported, so that the rest of an object is not lost with it.
"""

from datetime import UTC, datetime
from typing import Final

from google.protobuf.timestamp_pb2 import Timestamp

from nigari import cty
from nigari.cty.numbers import is_infinite
from nigari.cty.paths import transform
from nigari.diagnostics import Severity
from nigari.providers import api
from nigari.providers.calls import CallFailed
from nigari.providers.wire import protocol6_pb2 as pb
from nigari.providers.wire.values import decode
from nigari.schema.marked_paths import set_write_only_paths
from nigari.schema.provider import Schema

_INFINITIES: Final = (
    b"\x7f\xf0\0\0\0\0\0\0",
    b"\xff\xf0\0\0\0\0\0\0",
    b"\xca\x7f\x80\0\0",
    b"\xca\xff\x80\0\0",
    b"inf",
    b"Inf",
)
"""Without one of these in it, no msgpack has an infinite number in it, and few have them."""


def received_value(message: pb.DynamicValue, type_: cty.Type, plugin: str) -> cty.Value:
    """The value of a message."""
    try:
        return decode(message, type_)
    except cty.CtyError as error:
        raise CallFailed((bad_value("received from", plugin, error),)) from None


def received_object(
    message: pb.DynamicValue, schema: Schema, plugin: str, type_name: str
) -> tuple[cty.Value, api.Told]:
    """The object of a message, and what must not be in it."""
    value = received_value(message, schema.block.implied_type, plugin)
    kept = set_write_only_paths(schema.block, value)
    told = tuple(_kept_write_only(type_name, where) for where in kept)
    if not any(each in message.msgpack for each in _INFINITIES):
        return value, told
    found: list[cty.Path] = []
    value = transform(value, lambda path, part: _finite(path, part, found))
    return value, told + tuple(_infinite(type_name, where) for where in found)


def received_identity(
    message: pb.ResourceIdentityData, schema: Schema, plugin: str, may_be_unknown: bool = False
) -> tuple[cty.Value | None, api.Told]:
    """The identity of an object, if the message has one, and what is wrong with it."""
    if schema.identity is None or not message.HasField("identity_data"):
        return None, ()
    value = received_value(message.identity_data, schema.identity.implied_type, plugin)
    if value.is_wholly_known or may_be_unknown:
        return value, ()
    return None, (_unknown_identity(plugin),)


def received_moment(stamp: Timestamp, plugin: str) -> datetime:
    """A moment, of those that there are in a calendar."""
    try:
        return stamp.ToDatetime(UTC)
    except (OverflowError, ValueError):
        raise CallFailed((_no_moment(plugin),)) from None


def _finite(path: cty.Path, part: cty.Value, found: list[cty.Path]) -> cty.Value:
    if part.type != cty.NUMBER or not part.is_known or part.is_null:
        return part
    if not is_infinite(part.as_number()):
        return part
    found.append(path)
    return cty.null(cty.NUMBER)


def bad_value(way: str, plugin: str, error: cty.CtyError) -> api.ProviderDiagnostic:
    """A value that does not fit, on its way to a plugin or from it."""
    where = cty.path_text(error.path)
    return api.ProviderDiagnostic(
        Severity.ERROR,
        "Value does not match the provider's schema",
        f"A value {way} the plugin {plugin} does not have the type that its schema requires"
        f"{' at ' + where if where else ''}: {error.message}.",
        error.path or None,
    )


def _kept_write_only(type_name: str, where: cty.Path) -> api.ProviderDiagnostic:
    return api.ProviderDiagnostic(
        Severity.ERROR,
        "Write-only value in the provider's answer",
        f"The provider returned a value for {cty.path_text(where)} of {type_name}, which is"
        " write-only and must never be stored. This is a bug in the provider.",
        where,
    )


def _infinite(type_name: str, where: cty.Path) -> api.ProviderDiagnostic:
    return api.ProviderDiagnostic(
        Severity.ERROR,
        "Infinite number in the provider's answer",
        f"The provider returned an infinite number for {cty.path_text(where)} of {type_name}, which"
        " no state can hold. This is a bug in the provider.",
        where,
    )


def _unknown_identity(plugin: str) -> api.ProviderDiagnostic:
    return api.ProviderDiagnostic(
        Severity.ERROR,
        "Unknown identity in the provider's answer",
        f"The plugin {plugin} returned an identity of which parts are unknown, although the object"
        " exists. This is a bug in the provider.",
    )


def _no_moment(plugin: str) -> api.ProviderDiagnostic:
    return api.ProviderDiagnostic(
        Severity.ERROR,
        "Invalid time in the provider's answer",
        f"The plugin {plugin} asks to be called again at a time that does not exist. This is a"
        " bug in the provider.",
    )
