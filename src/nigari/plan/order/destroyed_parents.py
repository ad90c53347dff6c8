"""Parents in `all_objects_part_of`: whether an object goes with what it lives in.

What a provider manages in a cluster that is destroyed goes with the cluster, and cannot be destroyed one
by one once the provider cannot reach it. So it is forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from nigari.addrs.absolute import Abs, AbsResourceInstance, instance_of, resource_of
from nigari.addrs.address import Address
from nigari.addrs.module import ModuleAddr, ModuleCall, ModuleCallInstance
from nigari.addrs.provider import AbsProviderInstance
from nigari.addrs.resource import MANAGED, Resource, ResourceInstance
from nigari.config.blocks.provider_config import ProviderConfig
from nigari.diagnostics import Diagnostics
from nigari.eval.core.instances import Frame
from nigari.eval.nodes.provider_config import provider_of
from nigari.lang.references import parse_reference
from nigari.state.model import State


class DestroyedParents:
    """The parents of providers, as far as they are destroyed or forgotten by a plan."""

    def __init__(
        self,
        prior: State,
        frame_of: Callable[[ModuleAddr], Frame | None],
        is_ended: Callable[[AbsResourceInstance], bool],
    ) -> None:
        """`is_ended` tells whether a stored object is destroyed or forgotten."""
        self._prior = prior
        self._frame_of = frame_of
        self._is_ended = is_ended
        self._known: dict[AbsProviderInstance, bool] = {}

    def has_destroyed(self, address: AbsResourceInstance) -> bool:
        """Return whether any parent of an object's provider is destroyed or forgotten."""
        manager = self._prior.resources[resource_of(address)].manager_of(address.item.key)
        if manager not in self._known:
            self._known[manager] = self._is_any_destroyed(manager)
        return self._known[manager]

    def _is_any_destroyed(self, manager: AbsProviderInstance) -> bool:
        frame = self._frame_of(manager.module)
        config = None if frame is None else _config_of(frame, manager)
        for traversal in () if config is None else config.parents:
            reference = parse_reference(traversal, Diagnostics())
            objects = (
                [] if reference is None else [*self._objects(manager.module, reference.subject)]
            )
            if objects and all(map(self._is_ended, objects)):
                return True
        return False

    def _objects(self, module: ModuleAddr, subject: Address) -> Iterator[AbsResourceInstance]:
        """The stored objects of a parent."""
        resources = self._prior.resources
        if isinstance(subject, ResourceInstance) and subject.key is None:
            subject = subject.resource
        if isinstance(subject, ResourceInstance):
            if self._prior.instance(Abs(module, subject)) is not None:
                yield Abs(module, subject)
        elif isinstance(subject, Resource):
            state = resources.get(Abs(module, subject))
            for key in () if state is None else state.instances:
                yield instance_of(Abs(module, subject), key)
        elif isinstance(subject, ModuleCall | ModuleCallInstance):
            for resource in resources.values():
                is_inside = _is_inside(resource.address.module, module, subject)
                if is_inside and resource.address.item.mode is MANAGED:
                    for key in resource.instances:
                        yield instance_of(resource.address, key)


def _config_of(frame: Frame, manager: AbsProviderInstance) -> ProviderConfig | None:
    """The provider block that an object's provider has in a module."""
    wanted = manager.item.config
    for local, config in frame.module.provider_configs.items():
        is_same = provider_of(frame.module, local.name) == wanted.provider
        if is_same and local.alias == wanted.alias:
            return config
    return None


def _is_inside(
    module: ModuleAddr, caller: ModuleAddr, call: ModuleCall | ModuleCallInstance
) -> bool:
    """Return whether a module instance is that of a call, or one below it."""
    depth = caller.depth
    if module.depth <= depth or module.steps[:depth] != caller.steps:
        return False
    name, key = module.steps[depth]
    if isinstance(call, ModuleCall):
        return name == call.name
    return name == call.call.name and call.key in (None, key)
