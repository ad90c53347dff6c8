"""Resources while planning: expansion, and the value of all instances together.

A resource node waits for its expansion, then for a node per instance. What planning an instance
means is in `nigari.plan.nodes.instances`, and in the modules for the modes of resources.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence

from nigari.addrs.absolute import Abs, AbsResourceInstance
from nigari.addrs.keys import DEFERRED, InstanceKey
from nigari.addrs.resource import DATA, EPHEMERAL, ResourceInstance
from nigari.config.blocks.resource import Resource
from nigari.config.core.declared import Repetition
from nigari.cty.types import DYNAMIC
from nigari.cty.values import Value, null, object_value, tuple_value, unknown
from nigari.eval.core.compile import CompiledBody
from nigari.eval.core.expansion import Expansion
from nigari.eval.core.instances import FAILED, Frame, ResourceNode
from nigari.eval.core.module_tree import InstanceData
from nigari.eval.core.worklist import Need
from nigari.eval.nodes.module_call import expand
from nigari.eval.nodes.resource import advised
from nigari.lang.references import Reference
from nigari.plan.model.changes import Action, Change
from nigari.plan.model.check_results import resource_conditions
from nigari.plan.nodes.instances import InstanceNode
from nigari.plan.nodes.plan_host import PlanHost
from nigari.plan.objects.prior_object import current_value
from nigari.running.deferrals import (
    Deferral,
    DeferredKind,
)
from nigari.running.provider_run import known_instances
from nigari.schema.decode import decoder_spec
from nigari.schema.provider import Schema


class RepeatedResource(ResourceNode):
    """A resource whose value is made of its instances."""

    __slots__ = ("instances", "left_out")

    def __init__(self, frame: Frame, resource: Resource) -> None:
        super().__init__(frame, resource)
        self.instances: dict[InstanceKey, InstanceNode] = {}
        self.left_out: dict[InstanceKey, Value] = {}
        """The values of the instances that are left out."""

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

    __slots__ = ("_is_expanded", "_keys", "body", "declared", "deferral", "run", "schema")

    def __init__(self, frame: Frame, resource: Resource, run: PlanHost) -> None:
        super().__init__(frame, resource)
        self.run: PlanHost = run
        self.schema: Schema | None = None
        self.body: CompiledBody | None = None
        self._is_expanded = False
        self._keys: tuple[InstanceKey, ...] | None = None
        """Those of all instances; None where it is reported that they are not known."""
        self.declared: frozenset[InstanceKey] = frozenset()
        """The instances that the configuration has."""
        self.deferral: Deferral | None = None
        """The reason for which the instances, or some of them, are not known."""

    def step(self) -> Sequence[Need]:
        if not self._is_expanded:
            needs = self._expand()
            if needs:
                return needs
            self._is_expanded = True
            if self.instances:
                return list(self.instances.values())
        if self._keys is None:
            self.fail()
            return ()
        if self.deferral is not None:
            self.value = self._unexpanded(self.deferral)
            return ()
        values = {key: self._seen(node.value) for key, node in self.instances.items()}
        if self.left_out:
            values.update(self.left_out)
            values = {key: values[key] for key in self._keys}
        if self.run.options.is_refresh_only:
            values = self.as_stored(values)
        self.value: Value = self.collected(values)
        return ()

    def _seen(self, value: Value) -> Value:
        """Return the value that others see of an instance.

        Deprecations are reported before planning, except for instances that are only known now.
        """
        if self.schema is None or self.resource.repetition.has_one_value:
            return value
        return advised(self.schema.block, value, self.resource.addr)

    def _unexpanded(self, deferral: Deferral) -> Value:
        """The value of a resource whose instances are not known, for references."""
        if self.schema is None or not self.resource.repetition.has_one_value:
            return deferral.value()
        return deferral.value(self.schema.block.implied_type)

    def _expand(self) -> Sequence[Need]:
        frame, resource = self.frame, self.resource
        expansion = expand(frame, resource.repetition)
        if isinstance(expansion, list):
            return expansion
        if not self._find_schema():
            return ()
        declared = self._settled(expansion)
        if declared is None:
            return ()
        self.declared = frozenset(declared)
        for key, each in declared.items():
            if self.is_looked_at(key):
                self.instances[key] = self.instance(key, each)
            else:
                self.left_out[key] = self.prior_value(key)
                self._leave_open(key, each)
        self._keys = tuple(declared)
        return ()

    def _leave_open(self, key: InstanceKey, data: InstanceData) -> None:
        """Note that it is not known whether the conditions of an instance hold."""
        lifecycle = self.resource.lifecycle
        rules = lifecycle.preconditions + lifecycle.postconditions
        if rules:
            noted = resource_conditions(self.frame, self._address(key), "", rules, data, None)
            noted[3].outcome.is_unknown = True
            self.run.record.note_conditions(noted)

    def _settled(self, expansion: Expansion) -> Mapping[InstanceKey, InstanceData] | None:
        """The instances that are known; None, after reporting it, where they must be and are not."""
        frame, resource, deferrals = self.frame, self.resource, self.run.deferrals
        name = str(resource.addr)
        if deferrals is not None:
            found = deferrals.expanded(
                DeferredKind.RESOURCE,
                frame,
                name,
                resource.repetition,
                expansion,
                resource.range,
            )
            if found is not None:
                self.deferral, certain = found
                key = None if resource.repetition.has_one_value else DEFERRED
                self.run.record.note_deferred(self.deferral, self.unplanned(key))
                return certain
        return known_instances(frame, expansion, name, resource)

    def unplanned(self, key: InstanceKey) -> Change | None:
        """As much as can be said of an instance, or of all, without asking the provider."""
        if self.resource.addr.mode is EPHEMERAL:
            return None
        assert self.schema is not None
        address, type_ = self._address(key), self.schema.block.implied_type
        config = self.run.providers.config_for(self.frame, self.resource).address
        provider = Abs(config.module, config.item.instance(None))
        state = self.run.prior.instance(address)
        is_data = self.resource.addr.mode is DATA
        if is_data or state is None or state.current is None:
            action, before = Action.READ if is_data else Action.CREATE, null(type_)
        else:
            action, before = Action.UPDATE, current_value(state, self.schema)
        return Change(address, action, before, unknown(type_), provider, self.schema)

    def is_looked_at(self, key: InstanceKey) -> bool:
        """Return whether an instance is selected."""
        selection = self.run.selection
        return selection is None or selection.has(self._address(key))

    def as_stored(self, values: dict[InstanceKey, Value]) -> dict[InstanceKey, Value]:
        """The values of all instances where those of the state count."""
        return values

    def _address(self, key: InstanceKey) -> AbsResourceInstance:
        return Abs(self.frame.instance.addr, ResourceInstance(self.resource.addr, key))

    @property
    def is_expanded(self) -> bool:
        """Return whether the instances are known."""
        return self._keys is not None

    @property
    def has_failed(self) -> bool:
        """Return whether the resource or one of its instances has an error."""
        return not self.is_expanded or any(each.has_failed for each in self.instances.values())

    @property
    def has_orphans(self) -> bool:
        """Return whether there are instances that the configuration no longer has."""
        if (self.frame.instance.variant, str(self.resource.addr)) in self.run.staying:
            return False
        state = self.run.prior.resources.get(Abs(self.frame.instance.addr, self.resource.addr))
        return state is not None and any(
            self.is_looked_at(key)
            for key in state.instances
            if key not in self.instances and key not in self.left_out
        )

    def prior_value(self, key: InstanceKey) -> Value:
        """The value of an instance that is left as it is."""
        assert self.schema is not None
        state = self.run.prior.instance(self._address(key))
        return current_value(state, self.schema)

    def body_references(self) -> Sequence[Reference]:
        return () if self.body is None else self.body.references

    def _find_schema(self) -> bool:
        resource = self.resource
        self.schema = self.run.schema_of(self.frame, resource)
        if self.schema is None:
            # Validation has reported that there is none.
            return False
        spec = decoder_spec(self.schema.block)
        self.body = self.frame.instance.compiled.body(resource.body, spec)
        return True

    @abstractmethod
    def instance(self, key: InstanceKey, data: InstanceData) -> InstanceNode:
        """The node for one instance."""
