"""Plans and what came of them as events for programs, in the form that `tofu` uses with `-json`.

Actions and deferrals, which OpenTofu does not have, are in Terraform's form. What happens in between is
in `progress_events`.
"""

from __future__ import annotations

import json

from nigari.addrs.absolute import AbsResourceInstance
from nigari.addrs.keys import DEFERRED
from nigari.cli.views.apply_progress import Counts
from nigari.cli.views.plan_text import summary
from nigari.cty.type_json import type_to_json
from nigari.markers import APPLIED, DESTROYED
from nigari.plan.model.changes import Action, Change, DeferredChange, Drift, Plan, Reason
from nigari.plan.show.deferred_summary import counted_kinds, deferred_summary
from nigari.state.model import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.cli.views.json_lines import JsonLines


_ACTIONS: Final = {
    Action.NO_OP: "noop",
    Action.CREATE: "create",
    Action.READ: "read",
    Action.UPDATE: "update",
    Action.DELETE: "delete",
    Action.DELETE_THEN_CREATE: "replace",
    Action.CREATE_THEN_DELETE: "replace",
    Action.FORGET: "remove",
    Action.FORGET_THEN_CREATE: "noop",
}
_REPLACED: Final = {
    Reason.TAINTED: "tainted",
    Reason.REQUESTED: "requested",
    Reason.TRIGGERED: "replace_triggered_by",
    Reason.CANNOT_UPDATE: "cannot_update",
}

Members = dict[str, object]


def plan_events(plan: Plan, lines: JsonLines) -> None:
    """Tell a whole plan."""
    for drift in plan.drift:
        _drift(drift, lines)
    for change in plan.changes:
        if change.is_visible:
            _change(change, plan, lines)
    planned_actions(plan, lines)
    added, changed, destroyed = plan.counts
    done = (added, changed, plan.imported, destroyed, plan.forgotten)
    _summary(lines, summary(plan), "plan", done, len(plan.invocations))
    for each in plan.left:
        _deferred(each, lines)
    if plan.left:
        counts = {kind.value.replace(" ", "_"): n for kind, n in counted_kinds(plan).items()}
        members: Members = {"type": "deferred_summary", "deferred": counts, "rounds": plan.rounds}
        lines.event(deferred_summary(plan), members)
    outputs = {
        name: {"sensitive": each.sensitive, "action": _ACTIONS[each.action]}
        for name, each in plan.outputs.items()
    }
    if outputs:
        lines.event(f"Outputs: {len(outputs)}", {"type": "outputs", "outputs": outputs})


def planned_changes(plan: Plan, lines: JsonLines) -> None:
    """Tell what a plan that was saved is going to do."""
    for change in plan.changes:
        if change.action is not Action.NO_OP:
            _change(change, plan, lines)
    planned_actions(plan, lines)


def planned_actions(plan: Plan, lines: JsonLines) -> None:
    """Tell which actions will run."""
    for each in plan.invocations:
        members: Members = {"action_addr": action_members(each.address)}
        trigger = each.trigger
        if trigger is None or each.caller is None:
            members["action_trigger"] = {}
        else:
            from nigari.plan.show.action_json import event_name, on_failure_name

            members["lifecycle_trigger"] = {
                "triggering_resource": resource_members(each.caller),
                "triggering_event": event_name(trigger),
                "action_trigger_block_index": trigger.block_index,
                "actions_list_index": trigger.list_index,
                "on_failure": on_failure_name(trigger),
            }
        lines.event(
            f"planned action invocation: {each.address.item}",
            {"type": "planned_action_invocation", "invocation": members},
        )


def action_members(address: AbsResourceInstance) -> Members:
    """An instance of an action as events name it."""
    resource = address.item.resource
    return {
        "addr": str(address),
        "module": str(address.module),
        "action": str(address.item),
        "implied_provider": resource.implied_provider,
        "action_type": resource.type,
        "action_name": resource.name,
        "action_key": address.item.key,
    }


def _change(change: Change, plan: Plan, lines: JsonLines) -> None:
    from nigari.plan.show.plan_json import importing

    action = _ACTIONS[change.action]
    if action == _ACTIONS[Action.NO_OP] and (change.is_moved or change.imported_as):
        # Also objects that are forgotten and created again, for which events have no word.
        action = "move" if change.is_moved else "import"
    members: Members = {"resource": resource_members(change.address)}
    if change.is_moved:
        members["previous_resource"] = resource_members(change.previous_address)
    members["action"] = action
    if change.reason is not Reason.NONE:
        members["reason"] = _REPLACED.get(change.reason, change.reason.value)
    if change.imported_as:
        members["importing"] = importing(change)
    generated = plan.generated.get(str(change.address))
    if generated is not None:
        members["generated_config"] = generated
    lines.event(
        f"{change.address}: Plan to {action}", {"type": "planned_change", "change": members}
    )


def _deferred(deferred: DeferredChange, lines: JsonLines) -> None:
    """Tell what is left for a later round, in Terraform's form; and what it waits for."""
    members: Members = {
        "reason": deferred.reason.value,
        "kind": deferred.kind.value,
        "address": deferred.address,
        "waits_for": list(deferred.chain),
        "round": deferred.round,
    }
    change = deferred.change
    if change is not None:
        members["change"] = {
            "resource": resource_members(change.address),
            "action": _ACTIONS[change.action],
        }
    lines.event(
        f"{deferred.address}: Deferred ({deferred.reason.value})",
        {"type": "deferred_change", "deferred": members},
    )


def _drift(drift: Drift, lines: JsonLines) -> None:
    action = "move" if drift.action is Action.NO_OP else _ACTIONS[drift.action]
    members: Members = {"resource": resource_members(drift.address)}
    if drift.previous_address is not None:
        members["previous_resource"] = resource_members(drift.previous_address)
    members["action"] = action
    lines.event(
        f"{drift.address}: Drift detected ({action})", {"type": "resource_drift", "change": members}
    )


def resource_members(address: AbsResourceInstance) -> Members:
    """A resource instance as events name it."""
    resource = address.item.resource
    return {
        "addr": str(address),
        "module": str(address.module),
        "resource": str(address.item),
        "implied_provider": resource.implied_provider,
        "resource_type": resource.type,
        "resource_name": resource.name,
        "resource_key": None if address.item.key is DEFERRED else address.item.key,
    }


def _summary(
    lines: JsonLines,
    text: str,
    operation: str,
    counts: tuple[int, int, int, int, int],
    invoked: int,
    failed: int = 0,
) -> None:
    names = ("add", "change", "import", "remove", "forget")
    changes: Members = {**dict(zip(names, counts, strict=True)), "operation": operation}
    if invoked:
        # OpenTofu's events do not have these members, so they are left out without actions.
        changes.update(action_invocation=invoked, action_fail=failed)
    lines.event(text, {"type": "change_summary", "changes": changes})


def result_text(is_destroy: bool, done: Counts) -> str:
    """The line that says what has come of a plan."""
    actions = ""
    if done.invoked:
        failed = f", {done.failed_actions} failed" if done.failed_actions else ""
        actions = f" Actions: {done.invoked} invoked{failed}."
    if is_destroy:
        return DESTROYED.format(destroy=done.destroyed) + actions
    text = APPLIED.format(add=done.added, change=done.changed, destroy=done.destroyed)
    if done.taken:
        text = text.replace("Resources: ", f"Resources: {done.taken} imported, ", 1)
    if done.forgotten:
        text = f"{text[:-1]}, {done.forgotten} forgotten."
    return text + actions


def result_events(is_destroy: bool, done: Counts, result: State, lines: JsonLines) -> None:
    """Tell what has come of a plan."""
    counts = (done.added, done.changed, done.taken, done.destroyed, done.forgotten)
    operation = "destroy" if is_destroy else "apply"
    text = result_text(is_destroy, done)
    _summary(lines, text, operation, counts, done.invoked, done.failed_actions)
    if not is_destroy:
        output_events(result, lines)


def output_events(result: State, lines: JsonLines) -> None:
    """Tell the output values."""
    from nigari.plan.show.plan_json import value_to_data

    outputs: Members = {}
    for name, output in sorted(result.outputs.items()):
        members: Members = {
            "sensitive": output.sensitive,
            **({"deprecated": output.deprecated} if output.deprecated else {}),
            "type": json.loads(type_to_json(output.value.type)),
        }
        if not output.sensitive:
            members["value"] = value_to_data(output.value)
        outputs[name] = members
    lines.event(f"Outputs: {len(outputs)}", {"type": "outputs", "outputs": outputs})
