"""Provider configurations recorded in a state, with the objects they manage.

An instance whose key or block was removed from the configuration can be configured again from them,
so that its objects can be destroyed. Sensitive values are never recorded. OpenTofu ignores the
member of the file and drops it when it writes. Only the provider's schema gives the arguments
meaning.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from nigari.addrs.absolute import Abs
from nigari.cty import CtyError
from nigari.cty import json as cty_json
from nigari.state.json_text import (
    compact,
    indented,
    quoted,
    read_elements,
    read_members,
    read_text,
)
from nigari.state.model import PROVIDER_MEMORIES, ProviderMemory
from nigari.state.sensitive_paths import parse_paths
from nigari.state.stored_addresses import StoredAddresses
from nigari.typed import cast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_ENTRY_DEPTH: Final = 2


# -- reading ----------------------------------------------------------------------------------


def memories(text: str, addresses: StoredAddresses) -> Iterator[ProviderMemory]:
    """Parse the member. Invalid entries are ignored, since the record is only an aid."""
    try:
        entries, _ = read_elements(text, 0, read_text)
    except ValueError:
        return
    for entry in entries:
        try:
            yield _memory(entry, addresses)
        except (CtyError, ValueError, KeyError):
            continue


def _memory(text: str, addresses: StoredAddresses) -> ProviderMemory:
    entry = _members(text)
    module = addresses.module(_text(entry.get("module", '""')), PROVIDER_MEMORIES)
    provider = addresses.provider(_text(entry["provider"]), PROVIDER_MEMORIES)
    if module is None or provider is None:
        raise ValueError
    value, secret = None, "[]"
    if "each" in entry:
        each = _members(entry["each"])
        value = cty_json.value_from_json(each["value"], cty_json.type_from_json(each["type"]))
        secret = compact(each.get("withheld", "[]"))
        parse_paths(secret)
    arguments = entry.get("arguments", "{}")
    _members(arguments)
    withheld, _ = read_elements(entry.get("withheld", "[]"), 0, read_text)
    return ProviderMemory(
        Abs(module, provider.item),
        value,
        secret,
        compact(arguments),
        tuple(_text(each) for each in withheld),
        {name: _text(each) for name, each in _members(entry.get("sources", "{}")).items()},
    )


def _members(text: str) -> dict[str, str]:
    return cast("dict[str, str]", read_members(text, 0, {}, read_text)[0])


def _text(text: str) -> str:
    value = json.loads(text)
    if not isinstance(value, str):
        raise ValueError
    return value


# -- writing ----------------------------------------------------------------------------------


def memories_text(remembered: Iterable[ProviderMemory]) -> str:
    """Write the value of the member, indented for its position in the file."""
    ordered = sorted(remembered, key=lambda each: each.address.sort_key())
    entries = ",".join(_entry_text(each) for each in ordered)
    return indented(f"[{entries}]", _ENTRY_DEPTH - 1)


def _entry_text(memory: ProviderMemory) -> str:
    address = memory.address
    members = [f'"provider":{quoted(address.item.text)}']
    if address.module.text:
        members.insert(0, f'"module":{quoted(address.module.text)}')
    if memory.each_value is not None:
        type_ = memory.each_value.type
        each = [
            f'"value":{cty_json.value_to_json(memory.each_value, type_)}',
            f'"type":{cty_json.type_to_json(type_)}',
        ]
        if memory.each_withheld != "[]":
            each.append(f'"withheld":{memory.each_withheld}')
        members.append(f'"each":{{{",".join(each)}}}')
    members.append(f'"arguments":{memory.arguments}')
    if memory.withheld:
        members.append(f'"withheld":[{",".join(quoted(each) for each in memory.withheld)}]')
    if memory.sources:
        members.append(f'"sources":{json.dumps(dict(sorted(memory.sources.items())))}')
    return f"{{{','.join(members)}}}"
