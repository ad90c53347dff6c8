"""Drafts indexed by address, for moves within a state.

Modules, resources and resource instances are moved one by one; an occupied address is never
overwritten. Affected objects are found without walking the whole state. Deliberately unknown here:
the reasons for moves, which `nigari.state.moves.moving` and `nigari.state.edit` own.
"""

from __future__ import annotations

from nigari.addrs.absolute import Abs, AbsResource, AbsResourceInstance, instance_of, resource_of
from nigari.addrs.module import ModuleAddr, Step, module_from_steps
from nigari.addrs.moves import AnyKey, MovePattern
from nigari.addrs.resource import Resource
from nigari.state.draft import StateDraft
from nigari.state.model import InstanceState, ResourceState, State


class IndexedDraft:
    """A mutable state whose parts can be found by address."""

    __slots__ = ("_below", "_draft", "_modules", "_named")

    def __init__(self, state: State) -> None:
        self._draft = StateDraft(state)
        self._modules: dict[ModuleAddr, dict[Resource, None]] = {}
        self._below: dict[str, dict[ModuleAddr, None]] = {}
        """Modules with resources, by the text of each enclosing module instance."""
        self._named: dict[tuple[str, ...], dict[ModuleAddr, None]] = {}
        """Modules with resources, by the declared path of each enclosing module."""
        for address in state.resources:
            self._enter(address)

    def finish(self) -> State:
        """Return the state after all moves."""
        return self._draft.finish()

    def has_module(self, module: ModuleAddr) -> bool:
        """Check for resources directly in this module instance."""
        return module in self._modules

    def resource(self, address: AbsResource) -> ResourceState | None:
        return self._draft.resource(address)

    def instance(self, address: AbsResourceInstance) -> InstanceState | None:
        return self._draft.instance(address)

    def modules_for(self, pattern: MovePattern) -> list[ModuleAddr]:
        """List the module instances that a pattern may affect, including those below them."""
        steps: list[Step] = []
        for name, key in pattern.steps:
            if isinstance(key, AnyKey):
                names = tuple(name for name, _ in pattern.steps)
                return list(self._named.get(names, ()))
            steps.append((name, key))
        return self.modules_in(module_from_steps(steps))

    def modules_in(self, module: ModuleAddr) -> list[ModuleAddr]:
        """List the module instances with resources at or below this one."""
        return list(self._below.get(module.text, ()))

    def resources_in(self, module: ModuleAddr) -> list[AbsResource]:
        """List the resources directly in a module instance."""
        return [Abs(module, resource) for resource in self._modules.get(module, ())]

    def move_module(self, old: ModuleAddr, new: ModuleAddr) -> None:
        """Move the resources of a module instance to an empty one."""
        for address in self.resources_in(old):
            self.move_resource(address, Abs(new, address.item))

    def move_resource(self, old: AbsResource, new: AbsResource) -> None:
        """Move a resource to a free address."""
        resource = self._draft.resource(old)
        if resource is None:
            return
        self._draft.remove_resource(old)
        self._leave(old)
        self._draft.put_resource(ResourceState(new, resource.provider, resource.instances))
        self._enter(new)

    def move_instance(self, old: AbsResourceInstance, new: AbsResourceInstance) -> None:
        """Move a resource instance to a free address; its objects keep their providers."""
        instance = self._draft.instance(old)
        if instance is not None:
            self.remove_instance(old)
            self.put_instance(new, instance)

    def remove_instance(self, address: AbsResourceInstance) -> None:
        """Remove a resource instance, and its resource with the last one."""
        self._draft.remove_instance(address)
        resource = resource_of(address)
        if self._draft.resource(resource) is None:
            self._leave(resource)

    def put(self, resource: ResourceState) -> None:
        """Add a whole resource at its address."""
        self._draft.put_resource(resource)
        self._enter(resource.address)

    def put_instance(self, address: AbsResourceInstance, instance: InstanceState) -> None:
        """Add a resource instance at an address."""
        self._draft.set_instance(address, instance)
        self._enter(resource_of(address))

    def remove_resource(self, address: AbsResource) -> None:
        self._draft.remove_resource(address)
        self._leave(address)

    def instances_of(self, address: AbsResource) -> list[AbsResourceInstance]:
        """List the addresses of a resource's instances."""
        resource = self._draft.resource(address)
        return [] if resource is None else [instance_of(address, key) for key in resource.instances]

    def _enter(self, address: AbsResource) -> None:
        module = address.module
        known = self._modules.get(module)
        if known is not None:
            known[address.item] = None
            return
        self._modules[module] = {address.item: None}
        for ancestor, names in _ancestors(module):
            self._below.setdefault(ancestor, {})[module] = None
            self._named.setdefault(names, {})[module] = None

    def _leave(self, address: AbsResource) -> None:
        module = address.module
        known = self._modules.get(module)
        if known is None:
            return
        known.pop(address.item, None)
        if known:
            return
        del self._modules[module]
        for ancestor, names in _ancestors(module):
            self._below[ancestor].pop(module, None)
            self._named[names].pop(module, None)


def _ancestors(module: ModuleAddr) -> list[tuple[str, tuple[str, ...]]]:
    """List the module and its ancestors, each as text and declared path."""
    ancestors = []
    names = module.names
    at: ModuleAddr | None = module
    while at is not None:
        ancestors.append((at.text, names[: at.depth]))
        at = at.parent
    return ancestors
