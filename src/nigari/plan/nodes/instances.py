"""Resources while planning: expansion, and the value of all instances together.

A resource node waits for its expansion, then for a node per instance. What planning an instance
means, the modules for managed, data and ephemeral resources say.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Protocol

from nigari.addrs.absolute import Abs, AbsResourceInstance
from nigari.addrs.keys import DEFERRED, InstanceKey
from nigari.addrs.module import ModuleAddr
from nigari.addrs.provider import AbsProviderInstance, Provider
from nigari.addrs.resource import DATA, EPHEMERAL, ResourceInstance
from nigari.config.base.declared import CheckRule, Repetition
from nigari.config.blocks.resource import Resource
from nigari.cty.types import DYNAMIC
from nigari.cty.values import Value, null, object_value, tuple_value, unknown
from nigari.diagnostics import Diagnostics, Range, Severity
from nigari.eval.base.causes import UnknownCause
from nigari.eval.base.compile import CompiledBody
from nigari.eval.base.expansion import Expansion, InstanceData
from nigari.eval.base.instances import FAILED, Frame, ResourceNode, ValueNode
from nigari.eval.base.once import DONE, Need, Stages
from nigari.eval.base.scope import evaluate_body
from nigari.eval.nodes.conditions import Conditions
from nigari.eval.nodes.module_call import expand
from nigari.eval.nodes.resource import advised
from nigari.events import Listener
from nigari.plan.model.changes import Action, Change
from nigari.plan.model.conditions import resource_conditions
from nigari.plan.nodes.imports import Imports
from nigari.plan.nodes.plan_record import PlanRecord
from nigari.plan.objects.prior import PriorModules, current_value
from nigari.plan.order.block_graph import Block, BlockGraph, resource_block
from nigari.plan.order.selection import Selection
from nigari.plan.order.settings import BlockSettings
from nigari.providers import api
from nigari.running.deferrals import (
    Deferral,
    DeferralReason,
    Deferrals,
    DeferredKind,
    WrittenReferences,
)
from nigari.running.ephemeral_objects import EphemeralObjects
from nigari.running.kept import KeptValues
from nigari.running.provider_instances import ProviderInstances
from nigari.running.provider_node import ProviderNode
from nigari.running.provider_pool import ProviderPool
from nigari.running.provider_run import known_instances
from nigari.running.requests import AskProvider
from nigari.running.unknown_values import is_reported
from nigari.schema.decode import decoder_spec
from nigari.schema.provider import Schema
from nigari.state.model import State


class PlanLookups(Protocol):
    """What nodes look up in the plan that they are part of, and where they note what they find."""

    diags: Diagnostics
    record: PlanRecord
    listener: Listener
    pool: ProviderPool
    providers: ProviderInstances
    prior: State
    """The state before planning, after moves."""
    prior_modules: PriorModules
    """The module instances that have objects in that state."""
    undeclared: frozenset[ModuleAddr]
    """The module instances in or below which that state has objects that are not declared."""
    settings: BlockSettings
    blocks: BlockGraph
    ephemeral: EphemeralObjects
    unread: dict[AbsResourceInstance, str]
    """Data sources of checks that could not be read, and why."""
    imports: Imports
    selection: Selection | None
    """What the user singled out, if anything."""
    refreshes: bool
    is_refresh_only: bool
    """Whether the instances of resources are those of the state, and nothing is imported."""
    protects: bool
    """Whether a plan is refused that would destroy what must not be destroyed."""
    deferrals: Deferrals | None
    """What is left for a later round; None where everything must be known by now."""
    kept: KeptValues | None
    """What the rounds of a run have in common, where there are several."""
    staying: frozenset[Block]
    """The blocks whose objects stay for now, though the configuration does not have them any more,
    because others need them that are left for later.
    """

    def meta_at(self, module: ModuleAddr, provider: Provider) -> Value | None:
        """What a module tells a provider about itself; None where that is nothing."""
        ...

    def schema_of(self, frame: Frame, resource: Resource) -> Schema | None:
        """What the provider says a resource looks like."""
        ...

    def creates_first(self, address: AbsResourceInstance) -> bool:
        """Whether a new object is made before the old one is destroyed."""
        ...

    def forced_replacement(self, address: AbsResourceInstance) -> bool:
        """Whether the user asks for an instance to be replaced."""
        ...

    def previous_address(self, address: AbsResourceInstance) -> AbsResourceInstance | None:
        """Where an instance was before it was moved."""
        ...


class RepeatedResource(ResourceNode):
    """A resource whose value is made of its instances."""

    __slots__ = ("instances", "left_out")

    def __init__(self, frame: Frame, resource: Resource) -> None:
        super().__init__(frame, resource)
        self.instances: dict[InstanceKey, InstanceNode] = {}
        self.left_out: dict[InstanceKey, Value] = {}
        """What those instances are that are not looked at."""

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

    def __init__(self, frame: Frame, resource: Resource, run: PlanLookups) -> None:
        super().__init__(frame, resource)
        self.run: PlanLookups = run
        self.schema: Schema | None = None
        self.body: CompiledBody | None = None
        self._is_expanded = False
        self._keys: tuple[InstanceKey, ...] | None = None
        """Those of all instances; None where it is reported that they are not known."""
        self.declared: frozenset[InstanceKey] = frozenset()
        """The instances that the configuration has."""
        self.deferral: Deferral | None = None
        """Why it is not known which instances there are, or which others."""

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
        if self.run.is_refresh_only:
            values = self.as_stored(values)
        self.value: Value = self.collected(values)
        return ()

    def _seen(self, value: Value) -> Value:
        """What others see of an instance.

        Advice against using it is given before planning, but for instances that are known only now.
        """
        if self.schema is None or self.resource.repetition.has_one_value:
            return value
        return advised(self.schema.block, value, self.resource.addr)

    def _unexpanded(self, deferral: Deferral) -> Value:
        """What others see of a resource whose instances are not known."""
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
        data = self.wanted(declared)
        for key, each in data.items():
            if self.is_looked_at(key):
                self.instances[key] = self.instance(key, each)
            else:
                self.left_out[key] = self.prior_value(key)
                self._leave_open(key, each)
        self._keys = tuple(data)
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
                DeferredKind.RESOURCE, frame, name, resource.repetition, expansion, resource.range
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
        """Whether an instance is among those that the user singled out."""
        selection = self.run.selection
        return selection is None or selection.has(self._address(key))

    def wanted(
        self, expansion: Mapping[InstanceKey, InstanceData]
    ) -> Mapping[InstanceKey, InstanceData]:
        """The instances that are looked at, of those that the configuration has."""
        return expansion

    def as_stored(self, values: dict[InstanceKey, Value]) -> dict[InstanceKey, Value]:
        """The values of all instances where those of the state count."""
        return values

    def _address(self, key: InstanceKey) -> AbsResourceInstance:
        return Abs(self.frame.instance.addr, ResourceInstance(self.resource.addr, key))

    @property
    def is_expanded(self) -> bool:
        """Whether it is known which instances there are."""
        return self._keys is not None

    @property
    def has_failed(self) -> bool:
        """Whether something is wrong with it, or with one of its instances."""
        return not self.is_expanded or any(each.has_failed for each in self.instances.values())

    @property
    def has_orphans(self) -> bool:
        """Whether there are instances that the configuration does not have any more."""
        if resource_block(Abs(self.frame.instance.addr, self.resource.addr)) in self.run.staying:
            return False
        state = self.run.prior.resources.get(Abs(self.frame.instance.addr, self.resource.addr))
        return state is not None and any(
            self.is_looked_at(key)
            for key in state.instances
            if key not in self.instances and key not in self.left_out
        )

    def prior_value(self, key: InstanceKey) -> Value:
        """What an instance is that is left as it is."""
        assert self.schema is not None
        state = self.run.prior.instance(self._address(key))
        return current_value(state, self.schema)

    def _find_schema(self) -> bool:
        resource = self.resource
        self.schema = self.run.schema_of(self.frame, resource)
        if self.schema is None:
            # That there is none has been reported when everything was looked at first.
            return False
        spec = decoder_spec(self.schema.block)
        self.body = self.frame.instance.compiled.body(resource.body, spec)
        return True

    @abstractmethod
    def instance(self, key: InstanceKey, data: InstanceData) -> InstanceNode:
        """The node for one instance."""


class InstanceNode(ValueNode):
    """One instance of a resource while planning."""

    __slots__ = (
        "_effect",
        "_stages",
        "address",
        "_waits",
        "config",
        "data",
        "deferral",
        "has_failed",
        "owner",
        "provider",
    )

    def __init__(self, owner: PlannedResource, key: InstanceKey, data: InstanceData) -> None:
        super().__init__(owner.frame)
        self.owner: PlannedResource = owner
        self.data: InstanceData = data
        self.address: AbsResourceInstance = Abs(
            owner.frame.instance.addr, ResourceInstance(owner.resource.addr, key)
        )
        self.config: Value | None = None
        self.provider: ProviderNode | None = None
        self._effect: AskProvider | None = None
        self.has_failed: bool = False
        """Whether something is wrong with it that keeps the plan from being carried out."""
        self._waits: dict[UnknownCause, Deferral] = {}
        self.deferral: Deferral | None = None
        """Why it is left for a later round."""
        self.value = owner.value
        lifecycle = owner.resource.lifecycle
        stages = [self.evaluate, self.choose_provider, *self.stages(), self.ask]
        if lifecycle.preconditions:
            conditions = self._conditions("precondition", lifecycle.preconditions)
            stages.insert(0, partial(self._check_first, conditions))
        if lifecycle.postconditions:
            stages.append(self._check_result)
        self._stages = Stages(*stages)

    def stages(self) -> Iterable[Callable[[], Sequence[Need]]]:
        """What is to be done besides before the provider is asked."""
        return ()

    def step(self) -> Sequence[Need]:
        return self._stages.step()

    @property
    def label(self) -> str:
        return str(self.address)

    @property
    def range(self) -> Range:
        return self.owner.resource.range

    @property
    def about(self) -> str:
        return str(self.address)

    @property
    def running(self) -> api.Provider:
        """The provider, by the time that it is asked."""
        assert self.provider is not None
        assert self.provider.provider is not None
        stand_ins = self.owner.run.pool.stand_ins
        return stand_ins.for_instance(self.address, self.provider.provider)

    @property
    def provider_address(self) -> AbsProviderInstance:
        """The provider instance, by the time that it is asked."""
        assert self.provider is not None
        return self.provider.address

    @property
    def meta(self) -> Value | None:
        """What the module tells the provider about itself."""
        provider = self.provider_address.item.provider
        return self.owner.run.meta_at(self.address.module, provider)

    @property
    def schema(self) -> Schema:
        assert self.owner.schema is not None
        return self.owner.schema

    def fail(self) -> None:
        self.has_failed = True
        self.value: Value = unknown(self.schema.block.implied_type).with_causes(FAILED.causes)

    # -- conditions ---------------------------------------------------------------------------

    def _conditions(
        self, kind: str, rules: Sequence[CheckRule], self_value: Value | None = None
    ) -> Conditions:
        run = self.owner.run
        severity = Severity.WARNING if run.is_refresh_only else Severity.ERROR
        noted = resource_conditions(
            self.frame, self.address, kind, rules, self.data, self_value, severity
        )
        run.record.note_conditions(noted)
        return noted[3]

    def _check_first(self, conditions: Conditions) -> Sequence[Need]:
        """Look at the preconditions; where one does not hold, nothing more is done."""
        needs = conditions.step()
        if not needs and conditions.is_refusing:
            self.fail()
            self._stages = Stages()
        deferrals = self.owner.run.deferrals
        if not needs and deferrals is not None:
            self.wait_for(deferrals.of_causes(conditions.outcome.causes))
        return needs

    def _check_result(self) -> Sequence[Need]:
        """Look at the postconditions, now that there is something to look at."""
        if self.has_failed or self.deferral is not None:
            return ()
        rules = self.owner.resource.lifecycle.postconditions
        conditions = self._conditions("postcondition", rules, self.value)
        self._stages = Stages(partial(self._check_last, conditions))
        return self._stages.step()

    def _check_last(self, conditions: Conditions) -> Sequence[Need]:
        needs = conditions.step()
        self.has_failed = conditions.is_refusing
        return needs

    # -- the provider -------------------------------------------------------------------------

    def evaluate(self) -> Sequence[Need]:
        """Work out the configuration."""
        assert self.owner.body is not None
        diags = self.frame.run.diags
        errors = diags.error_count
        value = evaluate_body(self.frame, self.owner.body, self.data)
        if not isinstance(value, Value):
            return value
        # What is made from a mistake that was told would be planned as something it never becomes.
        if diags.error_count == errors and not is_reported(value):
            self.config = value
            deferrals = self.owner.run.deferrals
            if deferrals is not None and not value.is_wholly_known:
                place = WrittenReferences(self.frame, self.owner.body.references, self.data)
                self.wait_for(deferrals.within(value) or deferrals.beside(place))
        return ()

    def choose_provider(self) -> Sequence[Need]:
        """Find the provider instance and have it opened."""
        if self.config is None:
            return ()
        found = self.owner.run.providers.for_instance(self.frame, self.owner.resource, self.data)
        if isinstance(found, list):
            return found
        self.provider = found
        if found is None:
            return ()
        found.asked_by = found.asked_by or str(self.address)
        if found.state != DONE:
            return (found,)
        if found.deferral is not None:
            self.wait_for((found.deferral,))
        return ()

    def ask(self) -> Sequence[Need]:
        """Have the provider asked, unless something is wrong already."""
        if self._effect is not None:
            return ()
        if self.config is None or self.provider is None:
            self.fail()
            return ()
        if self.provider.deferral is not None:
            self.postpone(DeferralReason.PROVIDER)
            return ()
        if self.provider.provider is None:
            self.fail()
            return ()
        self._effect = AskProvider(self)
        return (self._effect,)

    # -- what is left for later ---------------------------------------------------------------

    def wait_for(self, deferrals: Iterable[Deferral]) -> None:
        """Leave the object for the round in which these are known."""
        self._waits.update((each.cause, each) for each in deferrals)

    @property
    def is_waiting(self) -> bool:
        """Whether it needs something that is left for later."""
        return bool(self._waits)

    def postpone(
        self,
        reason: DeferralReason = DeferralReason.DEFERRED,
        change: Change | None = None,
        needs_values: bool = False,
    ) -> None:
        """Leave the object for a later round, whatever it is by now; others see nothing of it."""
        run, owner = self.owner.run, self.owner
        assert run.deferrals is not None
        assert owner.body is not None
        self.deferral = run.deferrals.add(
            DeferredKind.RESOURCE,
            reason,
            self.address.module,
            str(self.address.item),
            owner.resource.range,
            (WrittenReferences(self.frame, owner.body.references, self.data),),
            tuple(self._waits.values()),
            needs_values,
        )
        self.value = self.deferral.value(self.schema.block.implied_type)
        run.record.note_deferred(self.deferral, change or owner.unplanned(self.address.item.key))
        lifecycle = owner.resource.lifecycle
        if lifecycle.postconditions or lifecycle.preconditions:
            rules = (*lifecycle.preconditions, *lifecycle.postconditions)
            self._conditions("postcondition", rules, self.value).outcome.is_unknown = True

    def postpone_as(self, reason: DeferralReason) -> None:
        """Leave the object for later for a reason that lies with the provider."""
        if reason is DeferralReason.PROVIDER and self.provider is not None:
            if self.provider.is_partial:
                self.wait_for((self.provider.incomplete(),))
                self.postpone(reason)
                return
        self.postpone(reason, needs_values=True)

    @abstractmethod
    async def perform(self) -> None:
        """Ask the provider."""


class ChangingInstance(InstanceNode):
    """An instance with which something is to be done when the plan is applied."""

    __slots__ = ("change",)

    def __init__(self, owner: PlannedResource, key: InstanceKey, data: InstanceData) -> None:
        self.change: Change | None = None
        super().__init__(owner, key, data)

    def note(self, change: Change) -> None:
        """Make a change part of the plan; its result is what others see.

        What needs something that is left for later waits for it.
        """
        if self.is_waiting:
            self.postpone(change=change)
            return
        self.change = change
        self.value: Value = change.after
        self.owner.run.record.note_change(change)
