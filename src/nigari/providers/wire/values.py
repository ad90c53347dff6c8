"""Conversion of values, paths and diagnostics between wire messages and `nigari` types, in both
directions.
"""

from __future__ import annotations

from collections.abc import Iterable

from nigari import cty
from nigari.cty import msgpack
from nigari.diagnostics import Severity
from nigari.providers.api import ProviderDiagnostic, ProviderDiagnostics
from nigari.providers.wire import protocol6_pb2 as pb

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


# ClientCapabilities: providers may use a feature only if the client declares it.
CAPABILITIES: Final = pb.ClientCapabilities(
    write_only_attributes_allowed=True, store_planned_private=True, computed_blocks_allowed=True
)
_DEFERRING: Final = pb.ClientCapabilities()
_DEFERRING.CopyFrom(CAPABILITIES)
_DEFERRING.deferral_allowed = True


def capabilities(may_defer: bool) -> pb.ClientCapabilities:
    """Return the client capabilities, optionally with deferral."""
    return _DEFERRING if may_defer else CAPABILITIES


def encode(value: cty.Value, type_: cty.Type) -> pb.DynamicValue:
    """Encode a value; decoding it requires the same type."""
    return pb.DynamicValue(msgpack=msgpack.marshal(value, type_))


def decode(message: pb.DynamicValue, type_: cty.Type) -> cty.Value:
    """Decode a value of that type; an empty message is null."""
    # DynamicValue: a sender uses one of the two forms. Only old SDKs send JSON.
    if message.msgpack:
        return msgpack.unmarshal(message.msgpack, type_)
    if message.json:
        return cty.value_from_json(message.json.decode("utf-8", "surrogateescape"), type_)
    return cty.null(type_)


def raw_state(json: bytes, flatmap: Iterable[tuple[str, str]]) -> pb.RawState:
    """Encode stored state without interpreting it."""
    return pb.RawState(json=json, flatmap=dict(flatmap))


def path(message: pb.AttributePath) -> cty.Path:
    """Decode a path to a part of a value."""
    steps: list[cty.GetAttr | cty.Index] = []
    for step in message.steps:
        match step.WhichOneof("selector"):
            case "attribute_name":
                steps.append(cty.GetAttr(step.attribute_name))
            case "element_key_string":
                steps.append(cty.Index(cty.string(step.element_key_string)))
            case "element_key_int":
                steps.append(cty.Index(cty.number(step.element_key_int)))
    return tuple(steps)


def path_message(steps: cty.Path) -> pb.AttributePath:
    """Encode a path, as far as the protocol can represent it: set elements have no keys."""
    message = pb.AttributePath()
    for step in steps:
        if isinstance(step, cty.GetAttr):
            message.steps.add(attribute_name=step.name)
            continue
        assert isinstance(step, cty.Index)
        # AttributePath has no selector for set elements, so the path ends at the set.
        if step.key.type == cty.STRING:
            message.steps.add(element_key_string=step.key.as_string())
        elif step.key.type == cty.NUMBER:
            message.steps.add(element_key_int=int(step.key.to_python()))  # type: ignore[call-overload]
        else:
            break
    return message


def diagnostics(messages: Iterable[pb.Diagnostic]) -> ProviderDiagnostics:
    """Decode a provider's diagnostics. An unknown severity counts as an error."""
    return tuple(
        ProviderDiagnostic(
            Severity.WARNING if m.severity == pb.Diagnostic.WARNING else Severity.ERROR,
            m.summary,
            m.detail,
            path(m.attribute) if m.HasField("attribute") else None,
        )
        for m in messages
    )


def diagnostic_messages(reported: ProviderDiagnostics) -> list[pb.Diagnostic]:
    """Encode the diagnostics of a provider in this process."""
    return [
        pb.Diagnostic(
            severity=(
                pb.Diagnostic.WARNING if d.severity is Severity.WARNING else pb.Diagnostic.ERROR
            ),
            summary=d.summary,
            detail=d.detail,
            attribute=None if d.path is None else path_message(d.path),
        )
        for d in reported
    ]
