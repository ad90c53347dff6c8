"""Plans and their application as events for programs, in the form that `tofu` uses with `-json`."""

from __future__ import annotations

import json
import time
from typing import Final

from nigari.cli.views.json_lines import JsonLines
from nigari.cli.views.plan_text import summary
from nigari.cty.type_json import type_to_json
from nigari.cty.values import Value
from nigari.plan.changes import Action, Change, Drift, Plan, Reason
from nigari.plan.execution_graph import Operation, OperationKind
from nigari.plan.show_json import value_to_data
from nigari.state.model import State

_ACTIONS: Final = {
    Action.NO_OP: "noop",
    Action.CREATE: "create",
    Action.READ: "read",
    Action.UPDATE: "update",
    Action.DELETE: "delete",
    Action.DELETE_THEN_CREATE: "replace",
    Action.CREATE_THEN_DELETE: "replace",
    Action.FORGET: "remove",
    Action.FORGET_THEN_CREATE: "replace",
}
_REASONS: Final = {
    Reason.TAINTED: "tainted",
    Reason.REQUESTED: "requested",
    Reason.TRIGGERED: "replace_triggered_by",
    Reason.CANNOT_UPDATE: "cannot_update",
    Reason.NO_RESOURCE: "delete_because_no_resource_config",
    Reason.NO_MODULE: "delete_because_no_module",
    Reason.WRONG_REPETITION: "delete_because_wrong_repetition",
    Reason.COUNT_INDEX: "delete_because_count_index",
    Reason.EACH_KEY: "delete_because_each_key",
    Reason.DISABLED: "delete_because_enabled_false",
    Reason.CONFIG_UNKNOWN: "read_because_config_unknown",
    Reason.DEPENDENCY_PENDING: "read_because_dependency_pending",
    Reason.CHECK_NESTED: "read_because_check_nested",
}
_WORDS: Final = {
    OperationKind.CREATE: ("create", "Creating...", "Creation complete", "Creation errored"),
    OperationKind.UPDATE: ("update", "Modifying...", "Modifications complete", "Modifying errored"),
    OperationKind.DELETE: ("delete", "Destroying...", "Destruction complete", "Destroying errored"),
    OperationKind.READ: ("read", "Reading...", "Read complete", "Reading errored"),
    OperationKind.FORGET: ("remove", "Forgetting...", "Forgotten", "Forgetting errored"),
}

Members = dict[str, object]


def plan_events(plan: Plan, lines: JsonLines) -> None:
    """Tell a whole plan."""
    for drift in plan.drift:
        _drift(drift, lines)
    for change in plan.changes:
        if not change.is_visible:
            continue
        members: Members = {"resource": resource_members(change), "action": _ACTIONS[change.action]}
        if change.reason in _REASONS:
            members["reason"] = _REASONS[change.reason]
        if change.is_moved:
            members["previous_resource"] = resource_members(change, is_previous=True)
        if change.imported_as:
            members["importing"] = {"id": change.imported_as}
        lines.event(
            f"{change.address}: Plan to {_ACTIONS[change.action]}",
            {"type": "planned_change", "change": members},
        )
    added, changed, destroyed = plan.counts
    counts = {"add": added, "change": changed, "import": plan.imported, "remove": destroyed}
    lines.event(
        summary(plan).removesuffix("."),
        {"type": "change_summary", "changes": {**counts, "operation": "plan"}},
    )
    outputs = {
        name: {"sensitive": each.sensitive, "action": _ACTIONS[each.action]}
        for name, each in plan.outputs.items()
    }
    if outputs:
        lines.event(f"Outputs: {len(outputs)}", {"type": "outputs", "outputs": outputs})


def _drift(drift: Drift, lines: JsonLines) -> None:
    action = "delete" if drift.after.is_null else "update"
    change = Change(
        drift.address, Action.UPDATE, drift.before, drift.after, drift.provider, drift.schema
    )
    lines.event(
        f"{drift.address}: Drift detected ({action})",
        {
            "type": "resource_drift",
            "change": {"resource": resource_members(change), "action": action},
        },
    )


def resource_members(change: Change, is_previous: bool = False) -> Members:
    """A resource instance as events name it."""
    address = change.previous_address if is_previous else change.address
    resource = address.item.resource
    return {
        "addr": str(address),
        "module": str(address.module),
        "resource": str(address.item),
        "implied_provider": resource.implied_provider,
        "resource_type": resource.type,
        "resource_name": resource.name,
        "resource_key": address.item.key,
    }


class ApplyEvents:
    """Tells programs what happens while a plan is applied."""

    def __init__(self, lines: JsonLines) -> None:
        self._lines = lines
        self._begun: dict[tuple[str, OperationKind], float] = {}

    def started(self, operation: Operation, change: Change) -> None:
        self._begun[operation.address, operation.kind] = time.monotonic()
        word, text, _, _ = _WORDS[operation.kind]
        hook: Members = {"resource": resource_members(change), "action": word}
        self._lines.event(
            f"{operation.address}: {text}",
            {"type": "apply_start", "hook": {**hook, **_id(change.before)}},
        )

    def finished(self, operation: Operation, change: Change, value: Value | None) -> None:
        word, _, text, _ = _WORDS[operation.kind]
        seconds = self._seconds(operation)
        hook: Members = {"resource": resource_members(change), "action": word}
        hook.update({} if value is None else _id(value))
        hook["elapsed_seconds"] = seconds
        self._lines.event(
            f"{operation.address}: {text} after {seconds}s",
            {"type": "apply_complete", "hook": hook},
        )

    def failed(self, operation: Operation, change: Change) -> None:
        word, _, _, text = _WORDS[operation.kind]
        seconds = self._seconds(operation)
        hook: Members = {
            "resource": resource_members(change),
            "action": word,
            "elapsed_seconds": seconds,
        }
        self._lines.event(
            f"{operation.address}: {text} after {seconds}s", {"type": "apply_errored", "hook": hook}
        )

    def said(self, text: str) -> None:
        self._lines.event(text, {"type": "provision_progress"})

    def _seconds(self, operation: Operation) -> int:
        now = time.monotonic()
        return int(now - self._begun.pop((operation.address, operation.kind), now))


def _id(value: Value) -> Members:
    found = value.data.get("id") if isinstance(value.data, dict) else None
    if not isinstance(found, Value) or found.is_marked or not isinstance(found.data, str):
        return {}
    return {"id_key": "id", "id_value": found.data}


def result_events(
    plan: Plan, added: int, changed: int, destroyed: int, result: State, lines: JsonLines
) -> None:
    """Tell what has come of a plan."""
    operation = "destroy" if plan.mode.value == "destroy" else "apply"
    text = f"Apply complete! Resources: {added} added, {changed} changed, {destroyed} destroyed."
    if operation == "destroy":
        text = f"Destroy complete! Resources: {destroyed} destroyed."
    counts = {"add": added, "change": changed, "import": plan.imported, "remove": destroyed}
    lines.event(text, {"type": "change_summary", "changes": {**counts, "operation": operation}})
    outputs: Members = {}
    for name, output in sorted(result.outputs.items()):
        members: Members = {
            "sensitive": output.sensitive,
            "type": json.loads(type_to_json(output.value.type)),
        }
        if not output.sensitive:
            members["value"] = value_to_data(output.value)
        outputs[name] = members
    if outputs:
        lines.event(f"Outputs: {len(outputs)}", {"type": "outputs", "outputs": outputs})
