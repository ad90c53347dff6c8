"""Drafts: mutable states, created from an existing one.

A resource is copied when it is first changed, so that recording ten thousand objects costs ten
thousand small steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from nigari.addrs.absolute import Abs, AbsResource, AbsResourceInstance, resource_of
from nigari.addrs.keys import InstanceKey
from nigari.addrs.provider import (
    AbsProviderConfig,
    AbsProviderInstance,
    Provider,
    ProviderConfig,
    config_of,
)
from nigari.record import replace
from nigari.state.model import (
    EMPTY_STATE,
    CheckResult,
    InstanceState,
    OutputState,
    ProviderMemory,
    ResourceState,
    State,
    StoredObject,
)


class StateDraft:
    """A mutable state."""

    __slots__ = ("_checks", "_outputs", "_owned", "_remembered", "_resources")

    def __init__(self, state: State = EMPTY_STATE) -> None:
        self._resources: dict[AbsResource, ResourceState] = dict(state.resources)
        self._owned: dict[AbsResource, dict[InstanceKey, InstanceState]] = {}
        self._outputs: dict[str, OutputState] = dict(state.outputs)
        self._checks = state.checks
        self._remembered: dict[AbsProviderInstance, ProviderMemory] = dict(state.remembered)

    def finish(self) -> State:
        """Return the current state; the draft stays usable."""
        self._owned = {}
        return State(
            dict(self._resources), dict(self._outputs), self._checks, dict(self._remembered)
        )

    def resource(self, address: AbsResource) -> ResourceState | None:
        return self._resources.get(address)

    def instance(self, address: AbsResourceInstance) -> InstanceState | None:
        resource = self._resources.get(resource_of(address))
        return None if resource is None else resource.instances.get(address.item.key)

    def replace_provider(self, old: Provider, new: Provider) -> None:
        """Replace one provider by another everywhere, under the same aliases and keys."""
        for resource in list(self._resources.values()):
            if old in resource.providers():
                self._replace_provider_of(resource, old, new)
        self._rename_memories(old, new)

    def _rename_memories(self, old: Provider, new: Provider) -> None:
        """Move retained provider configurations along with their objects.

        If two of them would become one and differ, neither is retained: then the configuration must
        declare the provider.
        """
        for address, memory in list(self._remembered.items()):
            if address.item.provider != old:
                continue
            del self._remembered[address]
            renamed = replace(memory, address=_under(address, old, new))
            if self._remembered.setdefault(renamed.address, renamed) != renamed:
                del self._remembered[renamed.address]

    def _replace_provider_of(self, known: ResourceState, old: Provider, new: Provider) -> None:
        instances = {
            key: replace(
                each,
                provider=None if each.provider is None else _under(each.provider, old, new),
                deposed_providers={
                    deposed: _under(provider, old, new)
                    for deposed, provider in each.deposed_providers.items()
                },
            )
            for key, each in known.instances.items()
        }
        module, block = known.provider.module, known.provider.item
        config = ProviderConfig(new if block.provider == old else block.provider, block.alias)
        self.put_resource(ResourceState(known.address, Abs(module, config), instances))

    def set_instance(self, address: AbsResourceInstance, instance: InstanceState) -> None:
        """Record the objects of a resource instance; without any object, forget it."""
        if instance.is_empty:
            self.remove_instance(address)
            return
        provider = next(provider for _, _, provider in instance.objects())
        self._instances_for(resource_of(address), config_of(provider))[address.item.key] = instance

    def set_current(
        self,
        address: AbsResourceInstance,
        current: StoredObject | None,
        provider: AbsProviderInstance,
    ) -> None:
        """Record the current object of a resource instance, or its absence."""
        known = self.instance(address) or InstanceState()
        manager = None if current is None else provider
        self.set_instance(
            address, InstanceState(current, known.deposed, manager, known.deposed_providers)
        )
        if current is not None and known.provider != provider:
            resource = resource_of(address)
            state, block = self._resources[resource], config_of(provider)
            if state.provider != block:
                self._resources[resource] = replace(state, provider=block)

    def renew(
        self, address: AbsResourceInstance, current: StoredObject, provider: AbsProviderInstance
    ) -> None:
        """Record the current object and its provider, unless both are unchanged."""
        resource, known = self.resource(resource_of(address)), self.instance(address)
        if (
            resource is None
            or known is None
            or current != known.current
            or provider != known.provider
        ):
            self.set_current(address, current, provider)

    def set_deposed(
        self,
        address: AbsResourceInstance,
        key: str,
        deposed: StoredObject | None,
        provider: AbsProviderInstance,
    ) -> None:
        """Record a deposed object of a resource instance, or its absence."""
        known = self.instance(address) or InstanceState()
        objects, providers = {**known.deposed}, {**known.deposed_providers}
        objects.pop(key, None)
        providers.pop(key, None)
        if deposed is not None:
            objects[key], providers[key] = deposed, provider
        self.set_instance(address, InstanceState(known.current, objects, known.provider, providers))

    def remove_instance(self, address: AbsResourceInstance) -> None:
        """Forget a resource instance, and the resource with its last one."""
        resource = resource_of(address)
        known = self._resources.get(resource)
        if known is None or address.item.key not in known.instances:
            return
        instances = self._instances_for(resource, known.provider)
        del instances[address.item.key]
        if not instances:
            self.remove_resource(resource)

    def remove_resource(self, address: AbsResource) -> None:
        """Forget a resource with all its instances."""
        self._resources.pop(address, None)
        self._owned.pop(address, None)

    def remove_empty_resources(self) -> None:
        """Forget resources without any instance, of which OpenTofu stores entries."""
        for address, resource in list(self._resources.items()):
            if not resource.instances:
                self.remove_resource(address)

    def put_resource(self, resource: ResourceState) -> None:
        """Record a whole resource."""
        self._owned.pop(resource.address, None)
        self._resources[resource.address] = resource

    def set_outputs(self, outputs: Mapping[str, OutputState]) -> None:
        self._outputs = dict(outputs)

    def set_checks(self, checks: Iterable[CheckResult]) -> None:
        self._checks = tuple(checks)

    def remember(self, memory: ProviderMemory) -> None:
        """Record the configuration of a provider instance."""
        if memory.says_something:
            self._remembered[memory.address] = memory
        else:
            self._remembered.pop(memory.address, None)

    def _instances_for(
        self, address: AbsResource, provider: AbsProviderConfig
    ) -> dict[InstanceKey, InstanceState]:
        owned = self._owned.get(address)
        if owned is None:
            known = self._resources.get(address)
            owned = {} if known is None else dict(known.instances)
            self._owned[address] = owned
            self._resources[address] = ResourceState(
                address, provider if known is None else known.provider, owned
            )
        return owned


def _under(instance: AbsProviderInstance, old: Provider, new: Provider) -> AbsProviderInstance:
    """Return the instance of another provider under the same alias and key."""
    if instance.item.provider != old:
        return instance
    config = ProviderConfig(new, instance.item.config.alias)
    return Abs(instance.module, config.instance(instance.item.key))
