"""The `planned_values` of `show -json`: what there will be once a plan is applied."""

from __future__ import annotations

import json

from nigari.addrs.module import ROOT_MODULE, ModuleAddr
from nigari.addrs.resource import DATA
from nigari.cty.type_json import type_to_json
from nigari.cty.types import DYNAMIC
from nigari.plan.model.changes import Action, Change, OutputChange, Plan
from nigari.plan.show.plan_json import Members, known_part, sensitive_data, value_to_data


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
