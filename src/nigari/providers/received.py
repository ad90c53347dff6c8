"""Decoding of plugin responses with the types of the schema, and checks of values that will be
stored.

A response that cannot be decoded raises `CallFailed`. Forbidden values in a valid response are
dropped and reported, so that the rest of the object is not lost.
"""

from __future__ import annotations

from datetime import UTC, datetime

from google.protobuf.timestamp_pb2 import Timestamp

from nigari import cty
from nigari.cty.paths import infinite_as_null
from nigari.diagnostics import Severity
from nigari.providers import api
from nigari.providers.calls import CallFailed
from nigari.providers.wire import protocol6_pb2 as pb
from nigari.providers.wire.values import decode
from nigari.schema.marked_paths import set_write_only_paths
from nigari.schema.provider import Schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_INFINITIES: Final = (
    b"\x7f\xf0\0\0\0\0\0\0",
    b"\xff\xf0\0\0\0\0\0\0",
    b"\xca\x7f\x80\0\0",
    b"\xca\xff\x80\0\0",
    b"inf",
    b"Inf",
)
"""A msgpack message without one of these has no infinite number, and few messages have them."""


def received_value(message: pb.DynamicValue, type_: cty.Type, plugin: str) -> cty.Value:
    """Decode the value of a message."""
    try:
        return decode(message, type_)
    except cty.CtyError as error:
        raise CallFailed((bad_value("received from", plugin, error),)) from None


def received_object(
    message: pb.DynamicValue, schema: Schema, plugin: str, type_name: str
) -> tuple[cty.Value, api.ProviderDiagnostics]:
    """Decode the object of a message, and report forbidden values in it."""
    value = received_value(message, schema.block.implied_type, plugin)
    # Protocol: write-only attributes must be null in every response, since the state would
    # keep them.
    kept = set_write_only_paths(schema.block, value)
    reported = tuple(_kept_write_only(type_name, where) for where in kept)
    if not _may_be_infinite(message):
        return value, reported
    value, found = infinite_as_null(value)
    return value, reported + tuple(_infinite(type_name, where) for where in found)


def received_result(
    message: pb.DynamicValue, type_: cty.Type, plugin: str, is_known: bool
) -> api.CallResponse:
    """Decode the result of a function; `is_known` requires a known one, as all arguments are."""
    value = received_value(message, type_, plugin)
    wrong = ""
    if is_known and not value.is_wholly_known:
        # CallFunction: functions are pure, so known arguments give a known result.
        wrong = "an unknown value, although all arguments are known"
    elif _may_be_infinite(message) and infinite_as_null(value)[1]:
        wrong = "an infinite number, which a state cannot store"
    if not wrong:
        return api.CallResponse(value)
    failure = api.FunctionFailure(f"the provider returned {wrong}. This is a bug in the provider")
    return api.CallResponse(cty.unknown(type_), failure)


def received_identity(
    message: pb.ResourceIdentityData, schema: Schema, plugin: str, may_be_unknown: bool = False
) -> tuple[cty.Value | None, api.ProviderDiagnostics]:
    """Decode the identity of an object, if the message has one, and report its faults."""
    if schema.identity is None or not message.HasField("identity_data"):
        return None, ()
    value = received_value(message.identity_data, schema.identity.implied_type, plugin)
    if value.is_wholly_known or may_be_unknown:
        return value, ()
    return None, (_unknown_identity(plugin),)


def received_moment(stamp: Timestamp, plugin: str) -> datetime:
    """Decode a timestamp within the range of the calendar."""
    try:
        return stamp.ToDatetime(UTC)
    except (OverflowError, ValueError):
        raise CallFailed((_no_moment(plugin),)) from None


def received_deferral(
    message: pb.ReadResource.Response
    | pb.PlanResourceChange.Response
    | pb.ImportResourceState.Response
    | pb.ReadDataSource.Response
    | pb.PlanAction.Response,
) -> api.ProviderDeferral | None:
    """Decode the reason why a plugin defers an object, if it does."""
    if not message.HasField("deferred"):
        return None
    name = pb.Deferred.Reason.Name(message.deferred.reason)
    known = {each.value: each for each in api.ProviderDeferral}
    # A reason of a newer protocol defers all the same; its name is only for messages.
    return known.get(name, api.ProviderDeferral.CONFIG_UNKNOWN)


def _may_be_infinite(message: pb.DynamicValue) -> bool:
    return any(each in message.msgpack for each in _INFINITIES)


def bad_value(way: str, plugin: str, error: cty.CtyError) -> api.ProviderDiagnostic:
    """Describe a value of the wrong type, sent to or received from a plugin."""
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
        "Write-only value in the provider's response",
        f"The provider returned a value for {cty.path_text(where)} of {type_name}, which is"
        " write-only and must never be stored. This is a bug in the provider.",
        where,
    )


def _infinite(type_name: str, where: cty.Path) -> api.ProviderDiagnostic:
    return api.ProviderDiagnostic(
        Severity.ERROR,
        "Infinite number in the provider's response",
        f"The provider returned an infinite number for {cty.path_text(where)} of {type_name}, which"
        " a state cannot store. This is a bug in the provider.",
        where,
    )


def _unknown_identity(plugin: str) -> api.ProviderDiagnostic:
    return api.ProviderDiagnostic(
        Severity.ERROR,
        "Unknown identity in the provider's response",
        f"The plugin {plugin} returned an identity of which parts are unknown, although the object"
        " exists. This is a bug in the provider.",
    )


def _no_moment(plugin: str) -> api.ProviderDiagnostic:
    return api.ProviderDiagnostic(
        Severity.ERROR,
        "Invalid time in the provider's response",
        f"The plugin {plugin} asks to be called again at a time that does not exist. This is a"
        " bug in the provider.",
    )
