"""JSON output of a state for other programs: `show -json`.

The format is OpenTofu's, with members in the same order. As there, sensitive values are included,
and `sensitive_values` marks them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from nigari.addrs.absolute import Abs, instance_of
from nigari.addrs.keys import InstanceKey
from nigari.addrs.module import ROOT_MODULE, ModuleAddr
from nigari.addrs.resource import DATA, MANAGED, ResourceInstance
from nigari.addrs.values import Check, InputVariable, OutputValue
from nigari.cty import Value
from nigari.cty import json as cty_json
from nigari.diagnostics import Diagnostics
from nigari.lang.marks import SENSITIVE
from nigari.state.json_text import compact, escaped_for_html, flag_text, object_text, quoted
from nigari.state.model import (
    CheckObject,
    CheckResult,
    ObjectStatus,
    OutputState,
    ResourceState,
    State,
    StateFile,
    StoredObject,
)
from nigari.state.objects import SchemaLookup, stored_part
from nigari.state.show.shown_object import shown_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


FORMAT_VERSION: Final = "1.0"
_MODES: Final = {MANAGED: "managed", DATA: "data"}
_CHECK_KINDS: Final = {
    "resource": "resource",
    "output": "output_value",
    "check": "check",
    "var": "var",
}


def state_to_json(file: StateFile | None, schemas: SchemaLookup, diags: Diagnostics) -> str | None:
    """Write the whole state; `None` after reporting an object that cannot be decoded."""
    members = {"format_version": quoted(FORMAT_VERSION)}
    if file is not None and not file.state.is_empty:
        if file.version:
            members["terraform_version"] = quoted(file.version)
        values = values_to_json(file.state, schemas, diags)
        if values is None:
            return None
        members["values"] = values
        if file.state.checks:
            members["checks"] = checks_to_json(file.state.checks)
    return escaped_for_html(object_text(members))


def values_to_json(state: State, schemas: SchemaLookup, diags: Diagnostics) -> str | None:
    """Write outputs and resources, in the form that plans use too."""
    members = {}
    if state.outputs:
        members["outputs"] = object_text(
            {name: _output(state.outputs[name]) for name in sorted(state.outputs)}
        )
    root = _modules(state, schemas, diags)
    if root is None:
        return None
    members["root_module"] = root
    return object_text(members)


def checks_to_json(checks: Iterable[CheckResult]) -> str:
    """Write the check results."""
    results = []
    for check in sorted(checks, key=lambda each: each.block):
        objects = sorted(check.objects, key=lambda each: each.address)
        members = {
            "address": _check_address(check),
            "status": quoted(check.status),
        }
        if objects:
            members["instances"] = _list(_check_object(check.kind, each) for each in objects)
        results.append(object_text(members))
    return _list(results)


def _output(output: OutputState) -> str:
    members = {"sensitive": flag_text(output.sensitive)}
    if output.deprecated:
        members["deprecated"] = quoted(output.deprecated)
    members["value"] = cty_json.value_to_json(output.value)
    members["type"] = cty_json.type_to_json(output.value.type)
    return object_text(members)


def _modules(state: State, schemas: SchemaLookup, diags: Diagnostics) -> str | None:
    """Write the root module with its children, assembled from the deepest modules up."""
    resources: dict[ModuleAddr, list[str]] = {}
    children: dict[ModuleAddr, dict[ModuleAddr, None]] = {ROOT_MODULE: {}}
    for resource in state.in_order():
        shown = _resource(resource, schemas, diags)
        resources.setdefault(resource.address.module, []).extend(shown)
        module = resource.address.module
        while module.parent is not None and module not in children:
            children[module] = {}
            module = module.parent
    if diags.has_errors:
        return None
    for module in children:
        if module.parent is not None:
            children[module.parent][module] = None
    texts: dict[ModuleAddr, str] = {}
    for module in sorted(children, key=lambda each: -each.depth):
        members = {}
        if resources.get(module):
            members["resources"] = _list(resources[module])
        if not module.is_root:
            members["address"] = quoted(module.text)
        if children[module]:
            below = sorted(children[module], key=lambda each: each.text)
            members["child_modules"] = _list(texts.pop(each) for each in below)
        texts[module] = object_text(members)
    return texts[ROOT_MODULE]


def _resource(resource: ResourceState, schemas: SchemaLookup, diags: Diagnostics) -> list[str]:
    shown = []
    for key, instance in resource.in_order():
        if instance.current is not None:
            shown.append(_instance(resource, key, instance.current, "", schemas, diags))
        shown += [
            _instance(resource, key, instance.deposed[deposed], deposed, schemas, diags)
            for deposed in sorted(instance.deposed)
        ]
    return shown


def _instance(
    resource: ResourceState,
    key: InstanceKey,
    stored: StoredObject,
    deposed: str,
    schemas: SchemaLookup,
    diags: Diagnostics,
) -> str:
    address = instance_of(resource.address, key)
    schema = schemas(resource.provider.item.provider, resource.address.item)
    value = shown_object(resource, address, stored, schema, diags)
    if value is None:
        return ""
    item = resource.address.item
    members = {
        "address": quoted(address.text),
        "mode": quoted(_MODES[item.mode]),
        "type": quoted(item.type),
        "name": quoted(item.name),
    }
    if key is not None:
        members["index"] = quoted(key) if isinstance(key, str) else str(key)
    members["provider_name"] = quoted(resource.provider.item.provider.text)
    members["schema_version"] = "0" if deposed else str(stored.schema_version)
    plain, _ = value.unmark_deep()
    assert schema is not None, "the object has been decoded with it"
    plain = stored_part(plain, schema.block)
    members["values"] = object_text(
        {name: cty_json.value_to_json(part) for name, part in sorted(plain.mapping().items())}
    )
    members["sensitive_values"] = _data(sensitive_shape(value))
    if stored.dependencies:
        members["depends_on"] = _list(quoted(each.text) for each in stored.dependencies)
    if stored.status is ObjectStatus.TAINTED:
        members["tainted"] = "true"
    if deposed:
        members["deposed_key"] = quoted(deposed)
    if stored.identity is not None:
        members["identity"] = compact(stored.identity)
        if stored.identity_schema_version is not None:
            members["identity_schema_version"] = str(stored.identity_schema_version)
    return object_text(members)


def sensitive_shape(value: Value) -> object:
    """Build a structure with true for sensitive values, omitting all others."""
    if value.has_mark(SENSITIVE):
        return True
    if value.is_null or not value.is_known:
        return False
    if isinstance(value.data, dict):
        shapes = {name: sensitive_shape(part) for name, part in value.data.items()}
        return {name: shapes[name] for name in sorted(shapes) if shapes[name] is not False}
    if isinstance(value.data, tuple):
        return [sensitive_shape(part) for part in value.elements()]
    return False


def _check_address(check: CheckResult) -> str:
    from nigari.addrs.parse import parse_address

    members: dict[str, object] = {"kind": _CHECK_KINDS[check.kind], "to_display": check.block}
    address = parse_address(check.block, Diagnostics())
    if isinstance(address, Abs):
        item = address.item
        if isinstance(item, ResourceInstance):
            members["mode"] = _MODES.get(item.resource.mode, "ephemeral")
            members["type"] = item.resource.type
            members["name"] = item.resource.name
        elif isinstance(item, OutputValue | Check | InputVariable):
            members["name"] = item.name
        if not address.module.is_root:
            members["module"] = address.module.text
    return _data(members)


def _check_object(kind: str, each: CheckObject) -> str:
    from nigari.addrs.parse import parse_address, parse_resource_instance

    address: dict[str, object] = {"to_display": each.address}
    if kind == "resource":
        instance = parse_resource_instance(each.address, Diagnostics())
        module = None if instance is None else instance.module
        if instance is not None and instance.item.key is not None:
            address["instance_key"] = instance.item.key
    else:
        named = parse_address(each.address, Diagnostics())
        module = named.module if isinstance(named, Abs) else None
    if module is not None and not module.is_root:
        address["module"] = module.text
    members = {"address": _data(address), "status": quoted(each.status)}
    if each.failure_messages:
        members["problems"] = _list(
            object_text({"message": quoted(message)}) for message in sorted(each.failure_messages)
        )
    return object_text(members)


def _list(elements: Iterable[str]) -> str:
    return "[" + ",".join(elements) + "]"


def _data(data: object) -> str:
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False, sort_keys=True)
