"""Provider instances of resource instances.

A name leads from a module to its provider configuration: in the module itself, or in a caller that
passes it or from which it is inherited. A key may be in the resource, or in one of the calls in
between.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from nigari.addrs.absolute import Abs
from nigari.addrs.keys import DEFERRED, InstanceKey
from nigari.addrs.provider import AbsProviderConfig, AbsProviderInstance, ProviderInstance
from nigari.config.blocks.provider_config import ProviderConfig
from nigari.config.blocks.resource import Resource
from nigari.config.module import Module
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.eval.core.instances import Frame, Origin
from nigari.eval.core.module_tree import InstanceData
from nigari.eval.core.worklist import DONE, Need
from nigari.eval.nodes.provider_config import provider_of
from nigari.eval.nodes.provider_keys import provider_key
from nigari.eval.nodes.provider_names import FoundConfig, find_config
from nigari.running.deferrals import DeferralReason, Deferrals, DeferredKind, written
from nigari.running.provider_keys import ExpandedProvider, selected_key
from nigari.running.provider_node import ProviderNode
from nigari.running.provider_pool import ProviderPool
from nigari.state.model import ProviderMemory


class ProviderInstances:
    """The provider instances of one run, each created on first use."""

    def __init__(
        self,
        pool: ProviderPool,
        remembered: Mapping[AbsProviderInstance, ProviderMemory],
        diags: Diagnostics,
        deferrals: Deferrals | None = None,
    ) -> None:
        """Use `diags` for mistakes in any instance, regardless of its first user."""
        self._expanding = deferrals
        """Deferrals of instances."""
        self._deferrals = deferrals if deferrals is not None and deferrals.is_open else None
        self._pool = pool
        self._remembered = remembered
        self._diags = diags
        self._nodes: dict[AbsProviderInstance, ProviderNode] = {}
        self._found: dict[tuple[Frame, str, str], FoundConfig] = {}
        self._expansions: dict[AbsProviderConfig, ExpandedProvider] = {}

    def memories(self) -> Iterator[ProviderMemory]:
        """Yield the configurations of running instances that the state records."""
        for node in self._nodes.values():
            if node.memory is not None and node.provider is not None:
                yield node.memory

    def config_for(self, frame: Frame, resource: Resource) -> FoundConfig:
        """Find the provider configuration of a resource block."""
        ref = resource.provider
        if ref is None:
            return self.find(frame, resource.provider_name, "")
        return self.find(frame, ref.name, ref.alias)

    def find(self, frame: Frame, name: str, alias: str) -> FoundConfig:
        """Find the provider configuration with a name in a module."""
        found = self._found.get((frame, name, alias))
        if found is None:
            found = self._found[frame, name, alias] = find_config(frame, name, alias)
        return found

    def for_instance(
        self, frame: Frame, resource: Resource, data: InstanceData
    ) -> ProviderNode | list[Need] | None:
        """Return the provider instance of a resource instance, or its pending dependencies; None
        after reporting an invalid key.
        """
        found = self.config_for(frame, resource)
        ref = resource.provider
        origin = found.key
        if ref is not None and ref.key is not None:
            compiled = frame.instance.compiled.expression(ref.key)
            origin = Origin(frame, compiled, data)
        return self.chosen(found, origin)

    def for_function(self, found: FoundConfig) -> ProviderNode | list[Need] | None:
        """Return the provider instance of a called function, or its pending dependencies; None
        after reporting an invalid key.
        """
        return self.chosen(found, found.key)

    def chosen(self, found: FoundConfig, origin: Origin | None) -> ProviderNode | list[Need] | None:
        """Return the instance of a configuration that a key selects, or its only one without a key."""
        if origin is None:
            return self.node(found, None)
        key = selected_key(origin, self._deferrals)
        if isinstance(key, list):
            return key
        if key is None:
            return None
        if isinstance(key, Value):
            return self._waiting(found, origin, key)
        config = found.config
        node = self.node(found, provider_key(config, key))
        node.asked_at = node.asked_at or origin.compiled.expr.range
        return node

    def has_stored(
        self, root: Frame, frame: Frame | None, address: AbsProviderInstance
    ) -> bool | list[Need]:
        """Check whether an address from the state leads to a provider instance that exists or is
        recorded; or return the pending dependencies.
        """
        config = None if frame is None else own_config(frame.module, address.item)
        if address in self._remembered or (frame is not None and frame.run is not root.run):
            return True
        if frame is None or config is None:
            return False
        if not config.is_expanded:
            return address.item.key is None
        block = Abs(address.module, address.item.config)
        expansion = self._expansion(FoundConfig(frame, config, block))
        assert expansion is not None
        if expansion.state != DONE:
            return [expansion]
        return address.item.key in expansion.instances or not expansion.is_known

    def _waiting(self, found: FoundConfig, origin: Origin, key: Value) -> ProviderNode:
        """Build a placeholder for the instance selected by a key that is known after apply."""
        deferrals, block = self._deferrals, found.address.item
        assert deferrals is not None
        node = ProviderNode(
            found,
            Abs(found.address.module, block.instance(DEFERRED)),
            None,
            self._pool,
            None,
            self._diags,
        )
        alias = f".{block.alias}" if block.alias else ""
        name = f"the key of provider.{block.provider.type}{alias}"
        module, where = found.address.module, origin.compiled.expr.range
        node.deferral = deferrals.add(
            DeferredKind.PROVIDER,
            DeferralReason.PROVIDER,
            module,
            name,
            where,
            (written(origin),),
            deferrals.within(key),
        )
        node.state = DONE
        return node

    def for_stored(
        self, root: Frame, frame: Frame | None, address: AbsProviderInstance
    ) -> ProviderNode:
        """Return the provider instance at an address whose module instance and block may no longer
        exist.

        Without a block, this must be the root module's default configuration, which is empty unless
        it is recorded. A block of that name that had no instances, or now has some, is a different
        one.
        """
        config = None if frame is None else own_config(frame.module, address.item)
        key = address.item.key
        is_other = config is not None and config.is_expanded is (key is None)
        if (
            frame is None
            or is_other
            or (config is None and (frame is not root or address.item.config.alias))
            or (config is None and address in self._remembered)
        ):
            is_gone, frame, config = True, root, None
        else:
            # A module instance that no longer exists is evaluated in a separate run.
            is_gone = frame.run is not root.run
        block = Abs(address.module, address.item.config)
        return self.node(FoundConfig(frame, config, block, is_gone=is_gone), key)

    def node(self, found: FoundConfig, key: InstanceKey) -> ProviderNode:
        """Return the instance with this key."""
        address = Abs(found.address.module, found.address.item.instance(key))
        node = self._nodes.get(address)
        if node is None:
            node = self._nodes[address] = ProviderNode(
                found=found,
                address=address,
                expansion=self._expansion(found),
                pool=self._pool,
                memory=self._remembered.get(address),
                diags=self._diags,
                deferrals=self._deferrals,
            )
        return node

    def _expansion(self, found: FoundConfig) -> ExpandedProvider | None:
        if found.config is None or found.is_gone:
            return None
        known = self._expansions.get(found.address)
        if known is None:
            known = ExpandedProvider(found.frame, found.config, self._expanding)
            self._expansions[found.address] = known
        return known


def own_config(module: Module, instance: ProviderInstance) -> ProviderConfig | None:
    """Find the block of a module that configures a provider under an alias, regardless of its local
    name.
    """
    alias = instance.config.alias
    for local, config in module.provider_configs.items():
        if local.alias == alias and provider_of(module, local.name) == instance.provider:
            return config
    return None
