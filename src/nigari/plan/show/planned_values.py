"""The `planned_values` and the `prior_state` of a plan in `show -json`.

The prior state is the refreshed one, with the outputs that planning has found. Data that is read
during apply is not in it yet, and data that a destroy forgets still is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from nigari.addrs.absolute import AbsResource
from nigari.addrs.module import ROOT_MODULE, ModuleAddr
from nigari.addrs.resource import DATA
from nigari.config.blocks.output import Output
from nigari.cty.type_json import type_to_json
from nigari.cty.types import DYNAMIC
from nigari.lang.marks import SENSITIVE
from nigari.plan.model.changes import Action, Change, OutputChange, Plan, PlanMode, Reason
from nigari.plan.show.plan_json import Members, known_part, sensitive_data, value_to_data
from nigari.state.draft import StateDraft
from nigari.state.model import OutputState, State


def planned_values(plan: Plan) -> Members:
    """Output values and objects, each module with those below it."""
    data: Members = {}
    outputs = {
        name: _output(each)
        for name, each in plan.outputs.items()
        if each.action is not Action.DELETE
    }
    if outputs:
        data["outputs"] = outputs
    data["root_module"] = _modules(plan)
    return data


def _output(change: OutputChange) -> Members:
    data: Members = {"sensitive": change.sensitive}
    value, _ = change.after.unmark_deep()
    if value.is_wholly_known:
        # A plan does not tell of which type a null is.
        data["type"] = json.loads(type_to_json(DYNAMIC if value.is_null else value.type))
        data["value"] = value_to_data(value)
    return data


def _modules(plan: Plan) -> Members:
    """The root module with its children in it, put together from the deepest modules up."""
    resources: dict[ModuleAddr, list[Change]] = {ROOT_MODULE: []}
    for change in plan.changes:
        if change.deposed or change.action is Action.DELETE:
            continue
        module = change.address.module
        resources.setdefault(module, []).append(change)
        while module.parent is not None and module.parent not in resources:
            module = module.parent
            resources[module] = []
    children: dict[ModuleAddr, list[ModuleAddr]] = {}
    for module in resources:
        if module.parent is not None:
            children.setdefault(module.parent, []).append(module)
    shown: dict[ModuleAddr, Members] = {}
    for module in sorted(resources, key=lambda each: -each.depth):
        data: Members = {}
        if resources[module]:
            in_order = sorted(resources[module], key=lambda each: str(each.address))
            data["resources"] = [_resource(each) for each in in_order]
        if not module.is_root:
            data["address"] = module.text
        if module in children:
            below = sorted(children[module], key=lambda each: each.text)
            data["child_modules"] = [shown[each] for each in below]
        shown[module] = data
    return shown[ROOT_MODULE]


def _resource(change: Change) -> Members:
    item = change.address.item
    data: Members = {
        "address": str(change.address),
        "mode": "data" if item.resource.mode is DATA else "managed",
        "type": item.resource.type,
        "name": item.resource.name,
    }
    if item.key is not None:
        data["index"] = item.key
    data["provider_name"] = str(change.provider.item.provider)
    data["schema_version"] = change.schema.version
    values = value_to_data(known_part(change.after))
    if values:
        data["values"] = values
    shape = sensitive_data(change.after)
    data["sensitive_values"] = shape
    identity = change.schema.identity
    if identity is not None and change.identity is not None and not change.identity.is_null:
        data["identity"] = value_to_data(known_part(change.identity))
        data["identity_schema_version"] = identity.version
    return data


def prior_state(
    plan: Plan, declared: Mapping[str, Output], is_declared: Callable[[AbsResource], bool]
) -> State:
    """The state that a plan starts from; how checks went belongs to the plan, not to it."""
    draft = StateDraft(plan.refreshed_state)
    if plan.mode is PlanMode.DESTROY:
        for resource in plan.previous_state.resources.values():
            is_data = resource.address.item.mode is DATA
            if is_data and not draft.resource(resource.address) and is_declared(resource.address):
                draft.put_resource(resource)
    for change in plan.changes:
        if change.action is Action.READ and change.reason is not Reason.CHECK_NESTED:
            draft.remove_instance(change.address)
    draft.set_checks(())
    draft.set_outputs(_outputs(plan, declared))
    return draft.finish()


def _outputs(plan: Plan, declared: Mapping[str, Output]) -> dict[str, OutputState]:
    """The output values that are known already, and the stored ones of all others."""
    stored = plan.refreshed_state.outputs
    outputs = {name: state for name, state in stored.items() if name not in plan.outputs}
    for name, change in plan.outputs.items():
        value, marks = change.after.unmark_deep()
        if change.action is Action.DELETE or not value.is_wholly_known:
            if name in stored:
                outputs[name] = stored[name]
        elif not value.is_null:
            output = declared.get(name)
            is_secret = SENSITIVE in marks or (output is not None and output.sensitive)
            advice = "" if output is None else output.deprecated
            outputs[name] = OutputState(value, is_secret, advice)
    return outputs
