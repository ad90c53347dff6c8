"""A plan as JSON data for other programs, in OpenTofu's format.

Sensitive values are in it, as they are in OpenTofu's, with `before_sensitive` and
`after_sensitive` to say which ones they are. Parts that are not known are left out and named in
`after_unknown`.
"""

from __future__ import annotations

import json

from nigari.addrs.keys import DEFERRED
from nigari.addrs.resource import DATA
from nigari.cty import json as cty_json
from nigari.cty.paths import GetAttr, Index, Path
from nigari.cty.types import KIND_LIST, KIND_MAP, KIND_OBJECT, KIND_SET, KIND_TUPLE
from nigari.cty.values import Value, null, object_value, tuple_value
from nigari.lang.marks import SENSITIVE
from nigari.plan.model.changes import Change, DeferredChange, Drift, OutputChange, Plan
from nigari.plan.show.json_document import number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

Members = dict[str, object]


def plan_to_json(plan: Plan) -> Members:
    """The changes, and the drift."""
    members: Members = {}
    if plan.drift:
        members["resource_drift"] = [drift_to_json(each) for each in plan.drift]
    members["resource_changes"] = [
        change_to_json(each, _known_identity(plan, each), plan.generated.get(str(each.address)))
        for each in plan.changes
    ]
    deferred = [deferred_to_json(each) for each in plan.left if each.change is not None]
    if deferred:
        members["deferred_changes"] = deferred
    members["output_changes"] = {name: output_to_json(each) for name, each in plan.outputs.items()}
    return members


def deferred_to_json(deferred: DeferredChange) -> Members:
    """One object that is left for a later round, in Terraform's form; and what it waits for."""
    assert deferred.change is not None
    return {
        "reason": deferred.reason.value,
        "resource_change": change_to_json(deferred.change),
        "waits_for": list(deferred.chain),
        "round": deferred.round,
    }


def _known_identity(plan: Plan, change: Change) -> object:
    """The identity of the prior object, if it has one."""
    if change.schema.identity is None:
        return None
    state = plan.refreshed_state.instance(change.address)
    if state is None:
        return None
    stored = state.deposed.get(change.deposed) if change.deposed else state.current
    return None if stored is None or stored.identity is None else json.loads(stored.identity)


def change_to_json(
    change: Change, known_identity: object = None, generated: str | None = None
) -> Members:
    """One change of a resource instance."""
    members = _identity(change)
    if change.deposed:
        members["deposed"] = change.deposed
    after: Members = {
        "actions": list(change.action.steps),
        "before": value_to_data(change.before),
        "after": value_to_data(known_part(change.after)),
        "after_unknown": unknown_shape(change.after) if _is_partly(change.after) else {},
        "before_sensitive": sensitive_data(change.before),
        "after_sensitive": sensitive_data(change.after),
    }
    if change.replace_paths:
        after["replace_paths"] = [path_to_data(path) for path in change.replace_paths]
    if change.imported_as:
        after["importing"] = importing(change)
    if generated is not None:
        after["generated_config"] = generated
    if known_identity is not None:
        after["before_identity"] = known_identity
    identity = None if change.after.is_null else change.identity
    if identity is not None and identity.is_wholly_known and not identity.is_null:
        after["after_identity"] = value_to_data(identity)
    members["change"] = after
    if change.reason.value:
        members["action_reason"] = change.reason.value
    return members


def importing(change: Change) -> Members:
    """The import ID of an object."""
    if change.imported_identity is None:
        return {"id": change.imported_as}
    return {"identity": value_to_data(change.imported_identity)}


def drift_to_json(drift: Drift) -> Members:
    """One object that is not what it was."""
    return change_to_json(
        Change(
            drift.address,
            drift.action,
            drift.before,
            drift.after,
            drift.provider,
            drift.schema,
            previous_address=drift.previous_address,
        )
    )


def output_to_json(change: OutputChange) -> Members:
    """One change of an output value."""
    members: Members = {
        "actions": list(change.action.steps),
        "before": value_to_data(change.before),
        "after": value_to_data(known_part(change.after)),
        "after_unknown": unknown_shape(change.after) if _is_partly(change.after) else False,
        "before_sensitive": change.sensitive,
        "after_sensitive": change.sensitive,
    }
    if not change.after.is_known:
        del members["after"]
    return members


def _identity(change: Change) -> Members:
    address = change.address
    resource = address.item.resource
    members: Members = {"address": str(address)}
    if change.is_moved:
        members["previous_address"] = str(change.previous_address)
    if not address.module.is_root:
        members["module_address"] = str(address.module)
    members["mode"] = "data" if resource.mode is DATA else "managed"
    members["type"] = resource.type
    members["name"] = resource.name
    if address.item.key is DEFERRED:
        members["index_unknown"] = True
    elif address.item.key is not None:
        members["index"] = address.item.key
    members["provider_name"] = str(change.provider.item.provider)
    return members


def _is_partly(value: Value) -> bool:
    return not value.is_wholly_known


def value_to_data(value: Value) -> object:
    """A value as JSON data."""
    plain, _ = value.unmark_deep()
    if plain.is_null:
        return None
    return json.loads(cty_json.value_to_json(plain, plain.type), parse_float=number)


def known_part(value: Value) -> Value:
    """The value without what is not known: attributes are left out, elements are null."""
    value, _ = value.unmark_deep()
    if value.is_wholly_known:
        return value
    if not value.is_known:
        return null(value.type)
    if isinstance(value.data, dict):
        parts = value.mapping().items()
        return object_value({key: known_part(part) for key, part in parts if part.is_known})
    return tuple_value([known_part(part) for part in value.sequence()])


def unknown_shape(value: Value) -> object:
    """True where something is unknown; known attributes are left out, if they have no parts."""
    value, _ = value.unmark_deep()
    if not value.is_known:
        return True
    if value.is_null:
        return False
    if isinstance(value.data, dict):
        shapes = {key: unknown_shape(part) for key, part in sorted(value.mapping().items())}
        return {key: shape for key, shape in shapes.items() if shape is not False}
    if isinstance(value.data, tuple):
        return [unknown_shape(part) for part in value.sequence()]
    return False


def sensitive_data(value: Value) -> object:
    """True where something is sensitive, in the shape of the value."""
    if SENSITIVE in value.marks:
        return True
    if not value.is_known:
        # The type says already that there will be parts.
        return _UNKNOWN_SHAPES.get(value.type.kind, False)
    if isinstance(value.data, dict):
        shapes = {key: sensitive_data(part) for key, part in sorted(value.mapping().items())}
        return {key: shape for key, shape in shapes.items() if shape is not False}
    if isinstance(value.data, tuple):
        return [sensitive_data(part) for part in value.sequence()]
    return False


_UNKNOWN_SHAPES: Final[dict[int, object]] = {
    KIND_LIST: [],
    KIND_SET: [],
    KIND_TUPLE: [],
    KIND_MAP: {},
    KIND_OBJECT: {},
}


def path_to_data(path: Path) -> list[object]:
    """A path as names and numbers."""
    steps: list[object] = []
    for step in path:
        if isinstance(step, GetAttr):
            steps.append(step.name)
        elif isinstance(step, Index):
            steps.append(value_to_data(step.key))
    return steps
