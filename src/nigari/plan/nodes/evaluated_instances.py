"""Evaluated instances: which instances the configuration has, may have, or defers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nigari.addrs.absolute import AbsResourceInstance
from nigari.addrs.module import ModuleAddr
from nigari.eval.core.instances import Frame
from nigari.eval.core.worklist import DONE
from nigari.plan.nodes.instances import InstanceNode
from nigari.plan.nodes.resources import PlannedResource, RepeatedResource
from nigari.plan.order.block_references import Block
from nigari.plan.order.variants import with_callers
from nigari.running.deferrals import Deferral
from nigari.running.provider_run import ExpandedCall, frame_at


class EvaluatedInstances:
    """The instances of all modules that a run has opened."""

    def __init__(self, frames: Sequence[Frame], may_defer: bool) -> None:
        """`frames` grow while the run opens modules; the root module is the first."""
        self._frames = frames
        self._may_defer = may_defer

    def has(self, address: AbsResourceInstance) -> bool:
        """Return whether the configuration declares an instance."""
        node = self._resource(address)
        key = address.item.key
        return node is not None and (key in node.instances or key in node.left_out)

    def node(self, address: AbsResourceInstance) -> InstanceNode | None:
        """The node of a declared instance that is part of the plan."""
        node = self._resource(address)
        return None if node is None else node.instances.get(address.item.key)

    def has_resource(self, address: AbsResourceInstance) -> bool:
        """Return whether the configuration declares an instance's resource."""
        return self._resource(address) is not None

    def _resource(self, address: AbsResourceInstance) -> RepeatedResource | None:
        frame = frame_at(self._frames[0], address.module)
        node = None if frame is None else frame.resources.get(address.item.resource)
        return node if isinstance(node, RepeatedResource) else None

    def is_decided(self, address: AbsResourceInstance) -> bool:
        """Return whether the instances of a resource and of its modules could be determined."""
        frame = self._frames[0]
        for name, key in address.module.steps:
            call = frame.calls.get(name)
            if call is None:
                return True
            child = call.frames.get(key)
            if child is None:
                return call.state == DONE and not call.has_failed
            frame = child
        node = frame.resources.get(address.item.resource)
        return not isinstance(node, PlannedResource) or node.is_expanded

    def deferral_of(self, address: AbsResourceInstance) -> Deferral | None:
        """The deferral of an instance, or of what decides whether there will be one."""
        if not self._may_defer:
            return None
        frame = self._frames[0]
        for name, key in address.module.steps:
            call = frame.calls.get(name)
            child = None if call is None else call.frames.get(key)
            if child is None:
                return call.deferral if isinstance(call, ExpandedCall) else None
            frame = child
        node = frame.resources.get(address.item.resource)
        if not isinstance(node, PlannedResource):
            return None
        instance = node.instances.get(address.item.key)
        return node.deferral if instance is None else instance.deferral

    @property
    def has_pending_data(self) -> bool:
        """Return whether a data source or ephemeral resource is pending a change."""
        from nigari.plan.nodes.pending import DeferrableResource

        return any(
            isinstance(node, DeferrableResource) and node.state == DONE and node.has_pending
            for frame in self._frames
            for node in frame.resources.values()
        )

    def deferred_blocks(self) -> Callable[[ModuleAddr, str], bool]:
        """Return a check of whether any instances of a block are deferred."""
        modules: set[ModuleAddr] = set()
        blocks: set[Block] = set()
        for frame in self._frames if self._may_defer else ():
            path = frame.instance.variant
            for call in frame.calls.values():
                if isinstance(call, ExpandedCall) and call.deferral is not None:
                    modules.add(path.child(call.call.name))
            for addr, node in frame.resources.items():
                if isinstance(node, PlannedResource) and node.deferral is not None:
                    blocks.add((path, str(addr)))

        def is_deferred(module: ModuleAddr, item: str) -> bool:
            return (module, item) in blocks or not modules.isdisjoint(with_callers((module,)))

        return is_deferred
