"""Provider instances: the one that each resource instance uses, and all of a run.

A name leads from a module to where it is configured: in the module itself, or with a caller who
passes it or from whom it is inherited. A key may be written at the resource or at one of the calls
on the way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from nigari.addrs.absolute import Abs
from nigari.addrs.keys import DEFERRED, InstanceKey
from nigari.addrs.provider import AbsProviderConfig, AbsProviderInstance, ProviderInstance
from nigari.config.blocks.provider_config import ProviderConfig
from nigari.config.blocks.resource import Resource
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
    """The provider instances of one run, each made when it is first asked for."""

    def __init__(
        self,
        pool: ProviderPool,
        remembered: Mapping[AbsProviderInstance, ProviderMemory],
        diags: Diagnostics,
        deferrals: Deferrals | None = None,
    ) -> None:
        """`diags` hears what is wrong with any of them, whoever happens to ask for it first."""
        self._expanding = deferrals
        """What is left for later, among the instances of blocks."""
        self._deferrals = deferrals if deferrals is not None and deferrals.is_open else None
        self._pool = pool
        self._remembered = remembered
        self._diags = diags
        self._nodes: dict[AbsProviderInstance, ProviderNode] = {}
        self._found: dict[tuple[Frame, str, str], FoundConfig] = {}
        self._expansions: dict[AbsProviderConfig, ExpandedProvider] = {}

    def memories(self) -> Iterator[ProviderMemory]:
        """How the instances that run are configured, as far as that is to be remembered."""
        for node in self._nodes.values():
            if node.memory is not None and node.provider is not None:
                yield node.memory

    def config_for(self, frame: Frame, resource: Resource) -> FoundConfig:
        """The configuration that a resource block names."""
        ref = resource.provider
        if ref is None:
            return self.find(frame, resource.provider_name, "")
        return self.find(frame, ref.name, ref.alias)

    def find(self, frame: Frame, name: str, alias: str) -> FoundConfig:
        """The configuration that a name means in a module."""
        found = self._found.get((frame, name, alias))
        if found is None:
            found = self._found[frame, name, alias] = find_config(frame, name, alias)
        return found

    def for_instance(
        self, frame: Frame, resource: Resource, data: InstanceData
    ) -> ProviderNode | list[Need] | None:
        """The provider instance of a resource instance, what is needed first to tell, or nothing
        where the key is wrong, which is then reported.
        """
        found = self.config_for(frame, resource)
        ref = resource.provider
        origin = found.key
        if ref is not None and ref.key is not None:
            compiled = frame.instance.compiled.expression(ref.key)
            origin = Origin(frame, compiled, data)
        return self.chosen(found, origin)

    def for_function(self, found: FoundConfig) -> ProviderNode | list[Need] | None:
        """The provider instance whose function is called, what is needed first to tell, or nothing
        where the key is wrong, which is then reported.
        """
        return self.chosen(found, found.key)

    def chosen(self, found: FoundConfig, origin: Origin | None) -> ProviderNode | list[Need] | None:
        """The instance of a configuration that a key selects, or its only one without a key."""
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
        """Whether an address of the state leads to a provider instance, one that is still there or
        that is remembered; or what must be done first to tell.
        """
        config = None if frame is None else _own_config(frame, address.item)
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
        """Stands for the instance that a key selects which is known only after apply."""
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
        """The provider instance at an address, whose module instance and block may be gone.

        Without a block, only the root module's default configuration can be meant, which is then
        an empty one, unless it is remembered. A block of that name without instances, or now with
        some, is another one.
        """
        config = None if frame is None else _own_config(frame, address.item)
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
            # A module instance that is not there any more is evaluated in a run of its own.
            is_gone = frame.run is not root.run
        block = Abs(address.module, address.item.config)
        return self.node(FoundConfig(frame, config, block, is_gone=is_gone), key)

    def node(self, found: FoundConfig, key: InstanceKey) -> ProviderNode:
        """The instance with this key."""
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


def _own_config(frame: Frame, instance: ProviderInstance) -> ProviderConfig | None:
    """The block of a module that configures a provider under an alias, whatever it is called."""
    module, alias = frame.module, instance.config.alias
    for local, config in module.provider_configs.items():
        if local.alias == alias and provider_of(module, local.name) == instance.provider:
            return config
    return None
