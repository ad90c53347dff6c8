"""Providers of objects that state format 4 cannot express, in a separate member of the file.

The format has one provider block for all instances of a resource, in a module without keys, and one
key for all objects of an instance. An object that was moved from another resource, or created with
a key that its instance no longer has, may have a different provider. OpenTofu rejects a file in
which the instances of a resource name different blocks, and uses the block of the current
configuration, so the file must be one that it reads, with an object that it does not use.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from nigari.addrs.absolute import Abs, AbsResourceInstance
from nigari.addrs.provider import (
    AbsProviderConfig,
    AbsProviderInstance,
    config_of,
    provider_for,
)
from nigari.addrs.resource import MANAGED
from nigari.state.json_text import indented, quoted
from nigari.state.model import InstanceState, ResourceState, StoredObject
from nigari.state.stored_addresses import StoredAddresses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


OTHER_PROVIDERS: Final = "nigari_object_providers"

_BARRIER: Final = 1 << 32
"""Offset of the schema version of such an object. OpenTofu neither reads nor destroys an object
whose schema version exceeds its provider's (`upgradeResourceState`), and preserves the number.
"""


class NamedProviders:
    """Providers named in the entries of a resource."""

    __slots__ = ("_is_managed", "_module", "_nameable", "block")

    block: AbsProviderConfig

    def __init__(self, resource: ResourceState) -> None:
        self._module = resource.address.module
        self._is_managed = resource.address.item.mode is MANAGED
        self._nameable: dict[AbsProviderInstance, AbsProviderInstance] = {}
        """The name of each provider in an entry of this resource."""
        for provider in resource.managers():
            block = config_of(provider)
            named = Abs(block.module, block.item.instance(provider.item.key))
            if provider_for(self._module, named) == provider:
                self._nameable[provider] = named
        blocks = sorted({config_of(each) for each in self._nameable})
        is_used = resource.provider in blocks or not blocks
        self.block = resource.provider if is_used else blocks[0]

    @property
    def have_keys(self) -> bool:
        """True if each entry names a provider, instead of the resource."""
        return any(
            each.item.key is not None and config_of(each) == self.block
            for each in self._nameable.values()
        )

    def of(self, instance: InstanceState) -> AbsProviderInstance:
        """Return the provider that the entries of an instance name."""
        for _, _, provider in instance.objects():
            named = self._nameable.get(provider)
            if named is not None and config_of(named) == self.block:
                return named
        return Abs(self.block.module, self.block.item.instance())

    def is_other(self, provider: AbsProviderInstance, named: AbsProviderInstance) -> bool:
        """Check whether a managed object has another provider than its entry names."""
        return self._is_managed and self._nameable.get(provider) != named


def behind_barrier(stored: StoredObject) -> StoredObject:
    """Offset an object's schema version for writing, so that OpenTofu does not use it."""
    return stored.with_schema_version(stored.schema_version + _BARRIER)


def before_barrier(stored: StoredObject) -> StoredObject:
    """Undo the offset of an object's schema version."""
    return stored.with_schema_version(stored.schema_version - _BARRIER)


def is_behind_barrier(stored: StoredObject) -> bool:
    """Check for an offset schema version. The provider is lost once OpenTofu has rewritten the
    file.
    """
    return stored.schema_version >= _BARRIER


def other_provider_text(
    address: AbsResourceInstance, deposed: str, provider: AbsProviderInstance
) -> str:
    """Write one element of the member."""
    members = [f'"object":{quoted(address.text)}']
    if deposed:
        members.append(f'"deposed":{quoted(deposed)}')
    if provider.module.text:
        members.append(f'"module":{quoted(provider.module.text)}')
    members.append(f'"provider":{quoted(provider.item.text)}')
    return f"{{{','.join(members)}}}"


def other_providers_text(entries: Iterable[str]) -> str:
    """Write the value of the member, indented for its position in the file."""
    return indented(f"[{','.join(entries)}]", 1)


def read_other_providers(
    text: str, addresses: StoredAddresses
) -> dict[tuple[str, str], AbsProviderInstance]:
    """Parse the providers by instance address and deposed key.

    Invalid entries are dropped: their objects cannot be used.
    """
    found: dict[tuple[str, str], AbsProviderInstance] = {}
    entries = json.loads(text)
    for entry in entries if isinstance(entries, list) else ():
        given = entry if isinstance(entry, dict) else {}
        address, deposed, module, provider = (
            part if isinstance(part := given.get(name, ""), str) else ""
            for name in ("object", "deposed", "module", "provider")
        )
        known = addresses.module(module, OTHER_PROVIDERS)
        instance = addresses.provider(provider, OTHER_PROVIDERS)
        if known is not None and instance is not None:
            found[address, deposed] = Abs(known, instance.item)
    return found
