"""Writer of state format 4, byte for byte as OpenTofu.

Attribute values are copied as text, and the text of each unchanged object and resource is cached.
So writing a large state costs little more than joining pieces, and rewriting it after a small
change little more than copying it. Deliberately unknown here: storage and encryption.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from operator import itemgetter

from nigari.addrs.absolute import AbsResource, instance_of
from nigari.addrs.keys import InstanceKey
from nigari.addrs.resource import DATA, EPHEMERAL, MANAGED
from nigari.cty import json as cty_json
from nigari.lazy import lazy_pattern
from nigari.state.formats.other_providers import (
    OTHER_PROVIDERS,
    NamedProviders,
    behind_barrier,
    other_provider_text,
    other_providers_text,
)
from nigari.state.json_text import compact, escaped_for_html, indented, quoted
from nigari.state.model import (
    PROVIDER_MEMORIES,
    TRIGGERS,
    CheckResult,
    ObjectStatus,
    OutputState,
    ResourceState,
    State,
    StateFile,
    StoredObject,
)
from nigari.version import OPENTOFU_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_MODES: Final = {MANAGED: "managed", DATA: "data"}

# Indentation levels of the parts of a file.
# A text in UTF-8 cannot hold these. The others stand for bytes of a file, which stay what they were.
_LONE_SURROGATES: Final = lazy_pattern("[\ud800-\udc7f\udd00-\udfff]")
_OUTPUT: Final = 2
_INSTANCE: Final = 4
_ATTRIBUTE: Final = _INSTANCE + 1
_CHECK: Final = 2


class Writer:
    """Writes successive states, with work in proportion to their changes."""

    __slots__ = ("_after_entries", "_before_entry", "_before_resource", "_is_compact", "_known")

    def __init__(self, is_for_people: bool) -> None:
        self._is_compact = not is_for_people
        self._known: dict[AbsResource, tuple[ResourceState, str, list[bytes], list[str]]] = {}
        """Cached resources, each with its sort key, the pieces of its text, and its entries in the
        member for other providers.
        """
        # Every list element includes the comma before it, so that lists are simply joined.
        self._before_resource = self._laid_out(",\n    ")
        self._before_entry = self._laid_out(",\n        ")
        self._after_entries = self._laid_out("\n      ]\n    }")

    def write(self, file: StateFile) -> bytes:
        """Write the file: indented as the local backend stores it, or without white space."""
        state = file.state
        members = [
            '"version": 4',
            # The version whose format this is, whatever version this program has.
            f'"terraform_version": {quoted(OPENTOFU_VERSION)}',
            f'"serial": {file.serial}',
            f'"lineage": {quoted(file.lineage)}',
            f'"outputs": {_outputs(file)}',
        ]
        before = "{\n  " + ",\n  ".join(members) + ',\n  "resources": ['
        pieces = [self._laid_out(before)]
        others = self._add_resources(state, pieces)
        after = f'],\n  "check_results": {_checks(state.checks)}'
        if others:
            after += f',\n  "{OTHER_PROVIDERS}": {other_providers_text(others)}'
        if state.remembered:
            from nigari.state.provider_memory import memories_text

            after += f',\n  "{PROVIDER_MEMORIES}": {memories_text(state.remembered.values())}'
        after += "\n}\n"
        if len(pieces) > 1:
            pieces[1] = pieces[1][1:]
            after = "\n  " + after
        pieces += (self._laid_out(after), b"\n")
        return b"".join(pieces)

    def _laid_out(self, text: str) -> bytes:
        # encoding/json of Go escapes <, > and & for HTML, and replaces what is not valid
        # UTF-8 by U+FFFD.
        text = _LONE_SURROGATES.sub("\ufffd", escaped_for_html(text))
        return (compact(text) if self._is_compact else text).encode("utf-8", "surrogateescape")

    def _add_resources(self, state: State, pieces: list[bytes]) -> list[str]:
        known, rows = self._known, []
        for address, resource in state.resources.items():
            row = known.get(address)
            if row is None or row[0] is not resource:
                # writeStateV4 skips ephemeral resources: nothing of them may be
                # stored.
                if address.item.mode is EPHEMERAL:
                    continue
                row = known[address] = (resource, _place(address), *self._resource(resource))
            rows.append(row)
        if len(known) > 2 * len(rows):
            self._known = {row[0].address: row for row in rows}
        # sortResourcesV4: module, mode, type, name. The order makes states comparable as
        # text.
        rows.sort(key=itemgetter(1))
        others: list[str] = []
        for row in rows:
            pieces += row[2]
            others += row[3]
        return others

    def _resource(self, resource: ResourceState) -> tuple[list[bytes], list[str]]:
        address = resource.address
        names = NamedProviders(resource)
        members = [
            f'"mode": "{_MODES[address.item.mode]}"',
            f'"type": {quoted(address.item.type)}',
            f'"name": {quoted(address.item.name)}',
        ]
        if address.module.text:
            members.insert(0, f'"module": {quoted(address.module.text)}')
        # appendInstanceObjectStateV4: with provider instances that have keys, each entry
        # names its own and the resource names none.
        if not names.have_keys:
            members.append(f'"provider": {quoted(names.block.text)}')
        members.append('"instances": [')
        before = self._before_resource + self._laid_out("{\n      " + _members(members, 2))
        entries, others = self._entries(resource, names)
        if not entries:
            return [before + self._laid_out("]\n    }")], others
        entries[0] = entries[0][1:]
        entries.append(self._after_entries)
        return [before + b"".join(entries)] if len(entries) == 2 else [before, *entries], others

    def _entries(
        self, resource: ResourceState, names: NamedProviders
    ) -> tuple[list[bytes], list[str]]:
        entries, others, have_keys = [], [], names.have_keys
        for key, instance in resource.in_order():
            named = names.of(instance)
            text = named.text if have_keys else ""
            for deposed, stored, provider in instance.objects():
                if names.is_other(provider, named):
                    address = instance_of(resource.address, key)
                    others.append(other_provider_text(address, deposed, provider))
                    stored = behind_barrier(stored)
                entries.append(self._entry(key, deposed, text, stored))
        return entries, others

    def _entry(self, key: InstanceKey, deposed: str, provider: str, stored: StoredObject) -> bytes:
        """Write an object, using the cached text if it is unchanged."""
        known = stored.written
        if (
            known is not None
            and known[0] is self._is_compact
            and known[1] == key
            and known[2] == deposed
            and known[3] == provider
        ):
            return known[4]
        text = self._before_entry + self._laid_out(_entry(key, deposed, provider, stored))
        stored.written = (self._is_compact, key, deposed, provider, text)
        return text


def _place(address: AbsResource) -> str:
    """Return a text that sorts resources in OpenTofu's order."""
    item = address.item
    # A separator below every character of names, so that shorter names sort first, as in a
    # comparison by parts.
    return f"{address.module.text}\0{_MODES[item.mode]}\0{item.type}\0{item.name}"


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
    return _object(members + _stored(stored), _INSTANCE)


def _stored(stored: StoredObject) -> list[str]:
    """Write the members of an object that are independent of its address."""
    members = [f'"schema_version": {stored.schema_version}']
    # Objects of format 3 stay flat until a provider has upgraded them.
    if stored.flat_attributes is None:
        members.append(f'"attributes": {indented(stored.attributes, _ATTRIBUTE)}')
    elif stored.flat_attributes:
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
    if stored.triggers:
        members.append(
            f'"{TRIGGERS}": {_list([quoted(each) for each in stored.triggers], _ATTRIBUTE)}'
        )
    if stored.identity is not None:
        members.append(f'"identity": {indented(stored.identity, _ATTRIBUTE)}')
    if stored.identity_schema_version is not None:
        members.append(f'"identity_schema_version": {stored.identity_schema_version}')
    return members


def _flat(attributes: Mapping[str, str]) -> str:
    members = [f"{quoted(name)}: {quoted(attributes[name])}" for name in sorted(attributes)]
    return _object(members, _ATTRIBUTE) if members else "{}"


def _checks(checks: tuple[CheckResult, ...]) -> str:
    # OpenTofu writes null, not an empty array, if no check has results.
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
