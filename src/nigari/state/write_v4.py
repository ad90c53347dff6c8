"""Writing state files of version 4 in the bytes that OpenTofu would write.

Attribute values are pasted as the text they are, so writing a large state costs little more than
joining pieces. Where the text goes and whether it is encrypted is unknown here.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Final

from nigari.addrs.keys import InstanceKey
from nigari.addrs.resource import DATA, EPHEMERAL, MANAGED
from nigari.cty import json as cty_json
from nigari.state.json_text import compact, escaped_for_html, indented, quoted
from nigari.state.model import (
    CheckResult,
    ObjectStatus,
    OutputState,
    ResourceState,
    StateFile,
    StoredObject,
)
from nigari.state.provider_memory import MEMBER, memories_text
from nigari.version import OPENTOFU_VERSION

_MODES: Final = {MANAGED: "managed", DATA: "data"}

# Levels of indentation at which the pieces of a file stand.
_OUTPUT: Final = 2
_INSTANCE: Final = 4
_ATTRIBUTE: Final = _INSTANCE + 1
_CHECK: Final = 2


def write_v4(file: StateFile) -> str:
    """The text of the file as the local backend stores it, indented."""
    members = [
        '"version": 4',
        f'"terraform_version": {quoted(OPENTOFU_VERSION)}',
        f'"serial": {file.serial}',
        f'"lineage": {quoted(file.lineage)}',
        f'"outputs": {_outputs(file)}',
        f'"resources": {_resources(file)}',
        f'"check_results": {_checks(file.state.checks)}',
    ]
    if file.state.remembered:
        members.append(f'"{MEMBER}": {memories_text(file.state.remembered.values())}')
    text = "{\n  " + ",\n  ".join(members) + "\n}\n"
    return escaped_for_html(text) + "\n"


def write_compact_v4(file: StateFile) -> str:
    """The text of the file as it is encrypted, or sent to a remote backend."""
    return compact(write_v4(file)) + "\n"


def _outputs(file: StateFile) -> str:
    outputs = [
        f"    {quoted(name)}: {_output(output)}"
        for name, output in sorted(file.state.outputs.items())
    ]
    return "{\n" + ",\n".join(outputs) + "\n  }" if outputs else "{}"


def _output(output: OutputState) -> str:
    type_ = output.value.type
    members = [
        f'"value": {indented(cty_json.value_to_json(output.value, type_), _OUTPUT + 1)}',
        f'"type": {indented(cty_json.type_to_json(type_), _OUTPUT + 1)}',
    ]
    if output.sensitive:
        members.append('"sensitive": true')
    if output.deprecated:
        members.append(f'"deprecated": {quoted(output.deprecated)}')
    return _object(members, _OUTPUT)


def _resources(file: StateFile) -> str:
    written = [
        each for each in file.state.resources.values() if each.address.item.mode is not EPHEMERAL
    ]
    written.sort(key=_resource_order)
    resources = [f"    {_resource(each)}" for each in written]
    return "[\n" + ",\n".join(resources) + "\n  ]" if resources else "[]"


def _resource_order(resource: ResourceState) -> tuple[str, str, str, str]:
    item = resource.address.item
    return (resource.address.module.text, _MODES[item.mode], item.type, item.name)


def _resource(resource: ResourceState) -> str:
    address = resource.address
    is_keyed = any(each.provider_key is not None for each in resource.instances.values())
    members = [
        f'"mode": "{_MODES[address.item.mode]}"',
        f'"type": {quoted(address.item.type)}',
        f'"name": {quoted(address.item.name)}',
    ]
    if address.module.text:
        members.insert(0, f'"module": {quoted(address.module.text)}')
    if not is_keyed:
        members.append(f'"provider": {quoted(resource.provider.text)}')
    entries = []
    for key, instance in resource.in_order():
        provider = resource.provider_of(key).text if is_keyed else ""
        if instance.current is not None:
            entries.append(_entry(key, "", provider, instance.current))
        entries += [
            _entry(key, deposed, provider, instance.deposed[deposed])
            for deposed in sorted(instance.deposed)
        ]
    listed = "[\n        " + ",\n        ".join(entries) + "\n      ]" if entries else "[]"
    members.append(f'"instances": {listed}')
    return _object(members, 2)


def _entry(key: InstanceKey, deposed: str, provider: str, stored: StoredObject) -> str:
    members = []
    if key is not None:
        members.append(f'"index_key": {quoted(key) if isinstance(key, str) else key}')
    if stored.status is ObjectStatus.TAINTED:
        members.append('"status": "tainted"')
    if deposed:
        members.append(f'"deposed": {quoted(deposed)}')
    if provider:
        members.append(f'"provider": {quoted(provider)}')
    if stored.written is None:
        stored.written = _members(_stored(stored), _INSTANCE)
    members.append(stored.written)
    return _object(members, _INSTANCE)


def _stored(stored: StoredObject) -> list[str]:
    """The members that tell of an object whatever it is the object of."""
    members = [f'"schema_version": {stored.schema_version}']
    if stored.flat_attributes is None:
        members.append(f'"attributes": {indented(stored.attributes, _ATTRIBUTE)}')
    else:
        members.append(f'"attributes_flat": {_flat(stored.flat_attributes)}')
    sensitive = stored.sensitive_attributes
    if sensitive != "[]":
        sensitive = indented(sensitive, _ATTRIBUTE)
    members.append(f'"sensitive_attributes": {sensitive}')
    if stored.private:
        members.append(f'"private": "{base64.b64encode(stored.private).decode()}"')
    if stored.dependencies:
        texts = [quoted(each.text) for each in stored.dependencies]
        members.append(f'"dependencies": {_list(texts, _ATTRIBUTE)}')
    if stored.create_before_destroy:
        members.append('"create_before_destroy": true')
    if stored.skip_destroy:
        members.append('"skip_destroy": true')
    if stored.identity is not None:
        members.append(f'"identity": {indented(stored.identity, _ATTRIBUTE)}')
    if stored.identity_schema_version is not None:
        members.append(f'"identity_schema_version": {stored.identity_schema_version}')
    return members


def _flat(attributes: Mapping[str, str]) -> str:
    members = [f"{quoted(name)}: {quoted(attributes[name])}" for name in sorted(attributes)]
    return _object(members, _ATTRIBUTE) if members else "{}"


def _checks(checks: tuple[CheckResult, ...]) -> str:
    if not checks:
        return "null"
    results = []
    for check in checks:
        objects = []
        for each in check.objects:
            members = [
                f'"object_addr": {quoted(each.address)}',
                f'"status": {quoted(each.status)}',
            ]
            if each.failure_messages:
                messages = [quoted(message) for message in each.failure_messages]
                members.append(f'"failure_messages": {_list(messages, _CHECK + 3)}')
            objects.append(_object(members, _CHECK + 2))
        results.append(
            _object(
                [
                    f'"object_kind": {quoted(check.kind)}',
                    f'"config_addr": {quoted(check.block)}',
                    f'"status": {quoted(check.status)}',
                    f'"objects": {_list(objects, _CHECK + 1) if objects else "null"}',
                ],
                _CHECK,
            )
        )
    return _list(results, _CHECK - 1)


def _object(members: list[str], depth: int) -> str:
    return "{\n" + "  " * (depth + 1) + _members(members, depth) + "\n" + "  " * depth + "}"


def _members(members: list[str], depth: int) -> str:
    return (",\n" + "  " * (depth + 1)).join(members)


def _list(elements: list[str], depth: int) -> str:
    inner = "\n" + "  " * (depth + 1)
    return "[" + inner + ("," + inner).join(elements) + "\n" + "  " * depth + "]"
