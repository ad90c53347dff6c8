"""Plans as JSON data and back: changes, drift, deferrals, outputs, checks and values.

Values are kept exactly, unknown parts included. What is read has the declared shape, or a `ShapeError`
names the member that has not; schemas are not stored, so that they are added later. The file around
the data is `plan_file`'s.
"""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Callable
from functools import partial

from nigari.addrs.absolute import Abs, AbsResourceInstance
from nigari.addrs.module import ModuleAddr
from nigari.addrs.parse import (
    parse_action,
    parse_module,
    parse_provider_instance,
    parse_resource_instance,
)
from nigari.addrs.provider import AbsProviderInstance, Provider, provider_for
from nigari.addrs.resource import Resource
from nigari.config.blocks.action_trigger import OnFailure, TriggerEvent
from nigari.cty import msgpack
from nigari.cty.conform import conformance_errors
from nigari.cty.errors import CtyError
from nigari.cty.marks import mark_with_paths, unmark_deep_with_paths
from nigari.cty.types import DYNAMIC, ObjectType, Type
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.json_shape import (
    Members,
    ShapeError,
    as_bytes,
    as_flag,
    as_members,
    as_number,
    as_text,
    list_of,
    map_of,
    one_of,
    optional,
    word,
)
from nigari.lang.marks import SENSITIVE
from nigari.plan.model.changes import (
    Action,
    Change,
    DeferredChange,
    Drift,
    EphemeralInstance,
    OutputChange,
    Plan,
    PlanMode,
    Reason,
)
from nigari.plan.model.check_results import VALUES, value_at
from nigari.plan.model.invocations import Invocation, Trigger
from nigari.record import record, replace
from nigari.running.deferrals import DeferralReason, DeferredKind
from nigari.schema.block import Block
from nigari.schema.config_block import CONFIG
from nigari.schema.provider import IdentitySchema, Schema
from nigari.state.model import CHECK_KINDS, CHECK_STATUSES, CheckObject, CheckResult, State
from nigari.state.objects import UnreadableObject, decode
from nigari.state.sensitive_paths import parse_paths, paths_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, TypeAlias, TypeVar

    T = TypeVar("T")

    SchemaOf: TypeAlias = Callable[[Provider, Resource], Schema | None]
    Data: TypeAlias = dict[str, object]

_STATUS: Final = word(*CHECK_STATUSES)
_NO_SCHEMA: Final = Schema(Block())
"""Stand in for the schemas until the providers are known."""


def plan_data(plan: Plan) -> Data:
    """A plan as JSON data, without its states."""
    return {
        "mode": plan.mode.value,
        "targeted": plan.targeted,
        "timestamp": plan.timestamp,
        "incomplete": plan.is_incomplete,
        "changes": [_change_to(each) for each in plan.changes],
        "outputs": [_output_to(each) for each in plan.outputs.values()],
        "checks": [_check_to(each) for each in plan.checks],
        "ephemeral": [_ephemeral_to(each) for each in plan.ephemeral],
        "modules": [[str(each), *names] for each, names in plan.modules.items()],
        "generated": dict(plan.generated),
        "drift": [_drift_to(each) for each in plan.drift],
        "deferred": [_deferred_to(each) for each in plan.deferred],
        "ended_data": [str(each) for each in plan.ended_data],
        "invocations": [_invocation_to(each) for each in plan.invocations],
    }


def plan_from(data: Members, previous: State, refreshed: State) -> Plan:
    """A plan without its schemas; a `ShapeError` where the data is not that of one."""
    outputs = data.read("outputs", list_of(_output_from))
    return Plan(
        mode=data.read("mode", one_of(PlanMode)),
        changes=data.read("changes", list_of(_change_from)),
        outputs={each.name: each for each in outputs},
        drift=data.read("drift", list_of(_drift_from)),
        previous_state=previous,
        refreshed_state=refreshed,
        checks=data.read("checks", list_of(_check_from)),
        targeted=data.read("targeted", as_flag),
        timestamp=data.read("timestamp", _timestamp),
        ephemeral=data.read("ephemeral", list_of(_ephemeral_from)),
        modules=dict(data.read("modules", list_of(_module_from))),
        generated=data.read("generated", map_of(as_text)),
        is_incomplete=data.read("incomplete", as_flag),
        deferred=data.read("deferred", list_of(_deferred_from)),
        ended_data=data.read("ended_data", list_of(_address)),
        invocations=data.read("invocations", list_of(_invocation_from)),
    )


def with_schemas(plan: Plan, schema_of: SchemaOf, diags: Diagnostics) -> Plan | None:
    """The plan with the schemas of what it is about; None after reporting which do not fit."""
    binding = _Binding(plan.refreshed_state, schema_of, diags)
    ephemeral = [
        EphemeralInstance(each.address, each.provider, binding.schema(each))
        for each in plan.ephemeral
    ]
    bound = replace(
        plan,
        changes=tuple(map(binding.change, plan.changes)),
        drift=tuple(map(binding.drift, plan.drift)),
        ephemeral=tuple(ephemeral),
        deferred=tuple(map(binding.deferred, plan.deferred)),
        invocations=tuple(map(binding.invocation, plan.invocations)),
    )
    return None if binding.has_failed else bound


def _given(identity: Value, schema: IdentitySchema) -> ObjectType:
    """The type of an identity that may leave out what the import does not need."""
    given = identity.type.attributes if isinstance(identity.type, ObjectType) else {}
    return ObjectType(
        {
            name: type_
            for name, type_ in schema.attributes.items()
            if name in given or name not in schema.optional_for_import
        }
    )


@record
class _Binding:
    """Adds schemas to what was read, whose values must fit them."""

    state: State
    schema_of: SchemaOf
    diags: Diagnostics

    @property
    def has_failed(self) -> bool:
        return self.diags.has_errors

    def schema(self, subject: Change | Drift | EphemeralInstance | Invocation) -> Schema:
        provider, resource = subject.provider.item.provider, subject.address.item.resource
        schema = self.schema_of(provider, resource)
        if schema is None:
            kind = f"{resource.mode.type_noun} {resource.type}"
            self._mismatch(f"{provider.display} no longer has the {kind}.")
            return _NO_SCHEMA
        return schema

    def change(self, change: Change) -> Change:
        schema = self.schema(change)
        self._check(change, schema, change.before, change.after)
        self._check_stored(change, schema)
        for identity in (change.identity, change.imported_identity):
            if identity is not None and schema is not _NO_SCHEMA:
                known = schema.identity
                self._fits(change, identity, None if known is None else _given(identity, known))
        return change.with_schema(schema)

    def drift(self, drift: Drift) -> Drift:
        schema = self.schema(drift)
        self._check(drift, schema, drift.before, drift.after)
        return replace(drift, schema=schema)

    def deferred(self, deferred: DeferredChange) -> DeferredChange:
        change = deferred.change
        return deferred if change is None else replace(deferred, change=self.change(change))

    def invocation(self, invocation: Invocation) -> Invocation:
        schema = self.schema(invocation)
        if schema is not _NO_SCHEMA:
            config = schema.block.blocks[CONFIG].block
            self._fits(invocation, invocation.config, config.implied_type)
        return invocation.with_schema(schema)

    def _check(self, subject: Change | Drift, schema: Schema, *values: Value) -> None:
        if schema is not _NO_SCHEMA:
            for value in values:
                self._fits(subject, value, schema.block.implied_type)

    def _check_stored(self, change: Change, schema: Schema) -> None:
        instance = self.state.instance(change.address)
        if instance is None or schema is _NO_SCHEMA:
            return
        key = change.deposed
        stored = instance.deposed.get(key) if key else instance.current
        try:
            if stored is not None:
                decode(stored, schema)
        except UnreadableObject as problem:
            self._mismatch(f"{change.address} cannot be read: {problem}.")

    def _fits(
        self, subject: Change | Drift | Invocation, value: Value, wanted: Type | None
    ) -> None:
        if value.is_null:
            return
        if wanted is None or conformance_errors(value.type, wanted):
            self._mismatch(f"A value of {subject.address} does not match its schema.")

    def _mismatch(self, reason: str) -> None:
        detail = f"{reason} Make a new plan."
        self.diags.error("Plan does not match the providers", detail)


def _timestamp(data: object) -> str:
    """A point in time as `plantimestamp` gives it."""
    from time import strptime

    found = as_text(data)
    strptime(found, "%Y-%m-%dT%H:%M:%SZ")
    return found


# -- values -----------------------------------------------------------------------------------


def value_to_plan(value: Value) -> Data:
    """A value with its unknown and sensitive parts, as JSON data."""
    plain, marks = unmark_deep_with_paths(value)
    secret = [path for path, found in marks if SENSITIVE in found]
    data: Data = {"value": _base64(msgpack.marshal(plain, DYNAMIC))}
    if secret:
        data["sensitive"] = paths_text(secret)
    return data


def value_from_plan(data: object) -> Value:
    """A value, whose sensitive parts are marked."""
    found = Members(data)
    content = found.read("value", as_bytes)
    paths = parse_paths(as_text(as_members(data).get("sensitive", "[]")))
    try:
        value = msgpack.unmarshal(content, DYNAMIC)
        return mark_with_paths(value, [(path, frozenset((SENSITIVE,))) for path in paths])
    except CtyError as error:
        raise ShapeError(f"is not a value ({error.message})") from None


def _optional_to(value: Value | None) -> object:
    return None if value is None else value_to_plan(value)


# -- addresses --------------------------------------------------------------------------------


def _address(data: object, deferred_allowed: bool = False) -> AbsResourceInstance:
    found = parse_resource_instance(as_text(data), Diagnostics(), deferred_allowed)
    if found is None:
        raise ShapeError("is not the address of a resource instance")
    return found


def _address_or_deferred(data: object) -> AbsResourceInstance:
    return _address(data, deferred_allowed=True)


def _module(data: object) -> ModuleAddr:
    found = parse_module(as_text(data), Diagnostics())
    if found is None:
        raise ShapeError("is not the address of a module instance")
    return found


def _module_from(data: object) -> tuple[ModuleAddr, tuple[str, ...]]:
    first, *names = list_of(as_text)(data) or ("",)
    return _module(first), tuple(names)


def _ephemeral_to(instance: EphemeralInstance) -> Data:
    return {"address": str(instance.address), "provider": str(instance.provider.unkeyed)}


def _ephemeral_from(data: object) -> EphemeralInstance:
    found = Members(data)
    address = found.read("address", _address_or_deferred)
    provider = found.read("provider", partial(_provider_in, address.module))
    return EphemeralInstance(address, provider, _NO_SCHEMA)


def _provider_in(module: ModuleAddr, data: object) -> AbsProviderInstance:
    stored = parse_provider_instance(as_text(data), Diagnostics())
    if stored is None:
        raise ShapeError("is not the address of a provider instance")
    return provider_for(module, stored)


# -- invocations ------------------------------------------------------------------------------


def _invocation_to(invocation: Invocation) -> Data:
    trigger, caller = invocation.trigger, invocation.caller
    return {
        "address": str(invocation.address),
        "provider": str(invocation.provider.unkeyed),
        "config": value_to_plan(invocation.config),
        "caller": None if caller is None else str(caller),
        "trigger": None
        if trigger is None
        else {
            "event": trigger.event.value,
            "block_index": trigger.block_index,
            "list_index": trigger.list_index,
            "on_failure": trigger.on_failure.value,
        },
    }


def _invocation_from(data: object) -> Invocation:
    found = Members(data)
    address = found.read("address", _action_address)
    invocation = Invocation(
        address=address,
        provider=found.read("provider", partial(_provider_in, address.module)),
        schema=_NO_SCHEMA,
        config=found.read("config", value_from_plan),
        caller=found.read("caller", optional(_address)),
        trigger=found.read("trigger", optional(_trigger_from)),
    )
    if invocation.trigger is not None and invocation.caller is None:
        raise ShapeError("is triggered by no resource", "caller")
    return invocation


def _trigger_from(data: object) -> Trigger:
    found = Members(data)
    return Trigger(
        event=found.read("event", one_of(TriggerEvent)),
        block_index=found.read("block_index", as_number),
        list_index=found.read("list_index", as_number),
        on_failure=found.read("on_failure", one_of(OnFailure)),
    )


def _action_address(data: object) -> AbsResourceInstance:
    target = parse_action(as_text(data), Diagnostics())
    if target is None or isinstance(target.subject, ModuleAddr):
        raise ShapeError("is not the address of an action")
    item = target.subject.item
    return Abs(target.module, item.instance() if isinstance(item, Resource) else item)


# -- changes ----------------------------------------------------------------------------------


def _change_to(change: Change) -> Data:
    return {
        "address": str(change.address),
        "previous_address": str(change.previous_address),
        "deposed": change.deposed,
        "provider": str(change.provider.unkeyed),
        "action": change.action.value,
        "reason": change.reason.value,
        "before": value_to_plan(change.before),
        "after": value_to_plan(change.after),
        "replace_paths": paths_text(change.replace_paths),
        "private": _base64(change.private),
        "identity": _optional_to(change.identity),
        "imported_as": change.imported_as,
        "imported_identity": _optional_to(change.imported_identity),
    }


def _change_from(data: object) -> Change:
    subject, found = _ephemeral_from(data), Members(data)
    return Change(
        address=subject.address,
        action=found.read("action", one_of(Action)),
        before=found.read("before", value_from_plan),
        after=found.read("after", value_from_plan),
        provider=subject.provider,
        schema=subject.schema,
        reason=found.read("reason", one_of(Reason)),
        replace_paths=found.read("replace_paths", lambda each: parse_paths(as_text(each))),
        private=found.read("private", as_bytes),
        deposed=found.read("deposed", as_text),
        previous_address=found.read("previous_address", _address_or_deferred),
        identity=found.read("identity", optional(value_from_plan)),
        imported_as=found.read("imported_as", as_text),
        imported_identity=found.read("imported_identity", optional(value_from_plan)),
    )


def _drift_to(drift: Drift) -> Data:
    return {
        "address": str(drift.address),
        "provider": str(drift.provider.unkeyed),
        "previous_address": str(drift.previous_address or drift.address),
        "before": value_to_plan(drift.before),
        "after": value_to_plan(drift.after),
    }


def _drift_from(data: object) -> Drift:
    subject, found = _ephemeral_from(data), Members(data)
    previous = found.read("previous_address", _address)
    return Drift(
        subject.address,
        found.read("before", value_from_plan),
        found.read("after", value_from_plan),
        subject.schema,
        subject.provider,
        None if previous == subject.address else previous,
    )


def _deferred_to(deferred: DeferredChange) -> Data:
    return {
        "address": deferred.address,
        "kind": deferred.kind.value,
        "reason": deferred.reason.value,
        "chain": list(deferred.chain),
        "round": deferred.round,
        "change": None if deferred.change is None else _change_to(deferred.change),
        "settled": list(deferred.settled),
    }


def _deferred_from(data: object) -> DeferredChange:
    found = Members(data)
    return DeferredChange(
        address=found.read("address", as_text),
        kind=found.read("kind", one_of(DeferredKind)),
        reason=found.read("reason", one_of(DeferralReason)),
        chain=found.read("chain", list_of(as_text)),
        round=found.read("round", as_number),
        change=found.read("change", optional(_change_from)),
        settled=found.read("settled", list_of(_key)),
    )


def _key(data: object) -> int | str | None:
    return data if data is None or isinstance(data, str) else as_number(data)


def _output_to(change: OutputChange) -> Data:
    return {
        "name": change.name,
        "action": change.action.value,
        "before": value_to_plan(change.before),
        "after": value_to_plan(change.after),
        "sensitive": change.sensitive,
    }


def _output_from(data: object) -> OutputChange:
    found = Members(data)
    return OutputChange(
        found.read("name", as_text),
        found.read("action", one_of(Action)),
        found.read("before", value_from_plan),
        found.read("after", value_from_plan),
        found.read("sensitive", as_flag),
    )


def _check_to(check: CheckResult) -> Data:
    objects = [[each.address, each.status, list(each.failure_messages)] for each in check.objects]
    return {"kind": check.kind, "block": check.block, "status": check.status, "objects": objects}


def _check_from(data: object) -> CheckResult:
    found = Members(data)
    kind = found.read("kind", word(*CHECK_KINDS))
    objects = found.read("objects", list_of(_check_object))
    for each in objects if kind in (*VALUES, "check") else ():
        value_at(each.address)
    return CheckResult(kind, found.read("block", as_text), found.read("status", _STATUS), objects)


def _check_object(data: object) -> CheckObject:
    parts = data if isinstance(data, list) and len(data) == 3 else [None] * 3
    return CheckObject(as_text(parts[0]), _STATUS(parts[1]), list_of(as_text)(parts[2]))


def _base64(data: bytes) -> str:
    return b2a_base64(data, newline=False).decode()
