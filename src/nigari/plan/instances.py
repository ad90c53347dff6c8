"""What resources have in common while planning: expansion, and the value of all instances together.

A resource node waits for its expansion, then for a node per instance. What planning an instance
means, the modules for managed, data and ephemeral resources say.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Protocol

from nigari.addrs.absolute import Abs, AbsResourceInstance
from nigari.addrs.keys import InstanceKey
from nigari.addrs.provider import AbsProviderInstance
from nigari.addrs.resource import ResourceInstance
from nigari.config.declared import Repetition
from nigari.config.resource import Resource
from nigari.cty.types import DYNAMIC
from nigari.cty.values import Value, null, object_value, tuple_value, unknown
from nigari.diagnostics import Diagnostics, Range
from nigari.eval.compile import CompiledBody
from nigari.eval.expansion import InstanceData
from nigari.eval.instances import FAILED, Frame, ResourceNode, ValueNode
from nigari.eval.module_call import expand
from nigari.eval.once import DONE, Effect, Need
from nigari.eval.resource import by_mode
from nigari.eval.scope import evaluate_body
from nigari.plan.changes import Change
from nigari.plan.conditions import Conditions
from nigari.plan.host import settled
from nigari.plan.imports import ImportsNode
from nigari.plan.prior import PriorObject
from nigari.plan.provider_instances import ProviderInstances, ProviderNode
from nigari.plan.provider_pool import ProviderPool
from nigari.plan.settings import Settings
from nigari.schema.decode import decoder_spec
from nigari.schema.provider import Schema
from nigari.state.model import State


class Planning(Protocol):
    """What nodes need of the plan that they are part of."""

    diags: Diagnostics
    pool: ProviderPool
    providers: ProviderInstances
    prior: State
    """The state before planning, after moves."""
    settings: Settings
    imports: ImportsNode
    refreshes: bool
    is_refresh_only: bool

    def forced_replacement(self, address: AbsResourceInstance) -> bool:
        """Whether the user asks for an instance to be replaced."""
        ...

    def previous_address(self, address: AbsResourceInstance) -> AbsResourceInstance | None:
        """Where an instance was before it was moved."""
        ...

    def note(self, change: Change, resource: Resource | None) -> None:
        """Make a change part of the plan."""
        ...

    def note_refreshed(
        self,
        address: AbsResourceInstance,
        before: PriorObject,
        now: PriorObject | None,
        schema: Schema,
        provider: AbsProviderInstance,
    ) -> None:
        """Remember what a prior object is now."""
        ...

    def note_imported(
        self, address: AbsResourceInstance, found: PriorObject, provider: AbsProviderInstance
    ) -> None:
        """Remember an object that is taken over."""
        ...

    def note_data(
        self,
        address: AbsResourceInstance,
        value: Value,
        schema: Schema,
        provider: AbsProviderInstance,
    ) -> None:
        """Remember what a data source says."""
        ...

    def note_conditions(self, kind: str, block: str, address: str, found: Conditions) -> None:
        """Remember how the conditions of an object went."""
        ...


class AskProvider(Effect):
    """A provider must be asked about a resource instance."""

    __slots__ = ("node",)

    def __init__(self, node: InstanceNode) -> None:
        self.node = node


class RepeatedResource(ResourceNode):
    """A resource whose value is made of its instances."""

    __slots__ = ("instances",)

    def __init__(self, frame: Frame, resource: Resource) -> None:
        super().__init__(frame, resource)
        self.instances: dict[InstanceKey, InstanceNode] = {}

    def collected(self, values: Mapping[InstanceKey, Value]) -> Value:
        """The values of the instances as the block's repetition shapes them."""
        return collected(self.resource.repetition, values)


def collected(repetition: Repetition, values: Mapping[InstanceKey, Value]) -> Value:
    """The values of a resource's instances, as its repetition shapes them."""
    if repetition.count is not None:
        return tuple_value(values.values())
    if repetition.for_each is not None:
        return object_value({str(key): value for key, value in values.items()})
    if repetition.enabled is not None and None not in values:
        return null(DYNAMIC)
    return values.get(None, FAILED)


class PlannedResource(RepeatedResource):
    """A resource of one module instance while planning."""

    __slots__ = ("_is_expanded", "body", "run", "schema")

    def __init__(self, frame: Frame, resource: Resource, run: Planning) -> None:
        super().__init__(frame, resource)
        self.run = run
        self.schema: Schema | None = None
        self.body: CompiledBody | None = None
        self._is_expanded = False

    def step(self) -> Sequence[Need]:
        if not self._is_expanded:
            needs = self._expand()
            if needs:
                return needs
            self._is_expanded = True
            if self.instances:
                return list(self.instances.values())
        self.value = self.collected({key: node.value for key, node in self.instances.items()})
        return ()

    def _expand(self) -> Sequence[Need]:
        frame, resource = self.frame, self.resource
        expansion = expand(frame, resource.repetition)
        if isinstance(expansion, list):
            return expansion
        if not self._find_schema():
            return ()
        data = settled(frame, expansion, str(resource.addr), resource)
        for key, each in data.items():
            self.instances[key] = self.instance(key, each)
        return ()

    def _find_schema(self) -> bool:
        resource = self.resource
        found = self.run.providers.config_for(self.frame, resource)
        offered = self.run.pool.of(found.provider)
        if offered is None:
            return False
        self.schema = by_mode(offered, resource).get(resource.addr.type)
        if self.schema is None:
            self.frame.run.diags.error(
                f"Unknown {resource.addr.mode.value} type",
                f"The provider {found.provider.display} has no {resource.addr.type}.",
                resource.type_range,
            )
            return False
        spec = decoder_spec(self.schema.block)
        self.body = self.frame.instance.compiled.body(resource.body, spec)
        return True

    @abstractmethod
    def instance(self, key: InstanceKey, data: InstanceData) -> InstanceNode:
        """The node for one instance."""


class InstanceNode(ValueNode):
    """One instance of a resource while planning."""

    __slots__ = ("_effect", "address", "config", "data", "owner", "provider")

    def __init__(self, owner: PlannedResource, key: InstanceKey, data: InstanceData) -> None:
        super().__init__(owner.frame)
        self.owner = owner
        self.data = data
        self.address: AbsResourceInstance = Abs(
            owner.frame.instance.addr, ResourceInstance(owner.resource.addr, key)
        )
        self.config: Value | None = None
        self.provider: ProviderNode | None = None
        self._effect: AskProvider | None = None
        self.value = owner.value

    @property
    def label(self) -> str:
        return str(self.address)

    @property
    def range(self) -> Range:
        return self.owner.resource.range

    @property
    def schema(self) -> Schema:
        assert self.owner.schema is not None
        return self.owner.schema

    def fail(self) -> None:
        self.value = unknown(self.schema.block.implied_type).with_causes(FAILED.causes)

    def evaluate(self) -> Sequence[Need]:
        """Work out the configuration."""
        assert self.owner.body is not None
        diags = self.frame.run.diags
        errors = diags.error_count
        value = evaluate_body(self.frame, self.owner.body, self.data)
        if not isinstance(value, Value):
            return value
        if diags.error_count == errors:
            self.config = value
        return ()

    def choose_provider(self) -> Sequence[Need]:
        """Find the provider instance and have it opened."""
        if self.config is None:
            return ()
        found = self.owner.run.providers.for_instance(self.frame, self.owner.resource, self.data)
        if isinstance(found, list):
            return found
        self.provider = found
        return () if found is None or found.state == DONE else (found,)

    def ask(self) -> Sequence[Need]:
        """Have the provider asked, unless something is wrong already."""
        if self._effect is not None:
            return ()
        if self.config is None or self.provider is None or self.provider.provider is None:
            self.fail()
            return ()
        self._effect = AskProvider(self)
        return (self._effect,)

    @abstractmethod
    async def perform(self) -> None:
        """Ask the provider."""
