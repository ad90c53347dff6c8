"""Instances of resources while planning: conditions, configuration, provider, and what is left for
later.

These are the stages that every instance goes through before and after its provider is asked. What it
is asked, the modules for managed, data and ephemeral resources say.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from nigari.addrs.absolute import Abs, AbsResourceInstance
from nigari.addrs.keys import InstanceKey
from nigari.addrs.provider import AbsProviderInstance
from nigari.addrs.resource import ResourceInstance
from nigari.config.blocks.resource import Resource
from nigari.config.core.declared import CheckRule
from nigari.cty.values import Value, unknown
from nigari.diagnostics import Range, Severity
from nigari.eval.core.causes import UnknownCause
from nigari.eval.core.compile import CompiledBody
from nigari.eval.core.instances import FAILED, Frame, ValueNode
from nigari.eval.core.module_tree import InstanceData
from nigari.eval.core.scope import evaluate_body
from nigari.eval.core.worklist import DONE, Need, Node, Stages
from nigari.eval.nodes.conditions import Conditions
from nigari.plan.model.changes import Change
from nigari.plan.model.check_results import resource_conditions
from nigari.plan.nodes.plan_host import PlanHost
from nigari.providers import api
from nigari.running.deferrals import (
    Deferral,
    DeferralReason,
    DeferredKind,
    Written,
)
from nigari.running.provider_node import ProviderNode
from nigari.running.requests import AskProvider
from nigari.running.unknown_values import is_reported
from nigari.schema.provider import Schema
from nigari.typed import Protocol


class InstanceOwner(Protocol):
    """The resource that an instance belongs to, as far as the instance asks it."""

    frame: Frame
    resource: Resource
    value: Value
    run: PlanHost
    schema: Schema | None
    body: CompiledBody | None

    @property
    def label(self) -> str:
        """The name of the resource."""
        ...

    def mention_of(self, other: Node) -> Range:
        """The reference of the resource to another node."""
        ...

    def unplanned(self, key: InstanceKey) -> Change | None:
        """As much as can be said of an instance without asking the provider."""
        ...


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

    def __init__(self, owner: InstanceOwner, key: InstanceKey, data: InstanceData) -> None:
        super().__init__(owner.frame)
        self.owner: InstanceOwner = owner
        self.data: InstanceData = data
        self.address: AbsResourceInstance = Abs(
            owner.frame.instance.addr, ResourceInstance(owner.resource.addr, key)
        )
        self.config: Value | None = None
        self.provider: ProviderNode | None = None
        self._effect: AskProvider | None = None
        self.has_failed: bool = False
        """True if an error prevents the plan from being applied."""
        self._waits: dict[UnknownCause, Deferral] = {}
        self.deferral: Deferral | None = None
        """The reason of the deferral."""
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
        """Further work before the provider is called."""
        return ()

    def step(self) -> Sequence[Need]:
        return self._stages.step()

    @property
    def label(self) -> str:
        return str(self.address)

    @property
    def declared_label(self) -> str:
        return self.owner.label

    @property
    def range(self) -> Range:
        return self.owner.resource.range

    def mention_of(self, other: Node) -> Range:
        return self.owner.mention_of(other)

    @property
    def about(self) -> str:
        return str(self.address)

    @property
    def running(self) -> api.Provider:
        """The running provider; only once an effect of this node is performed."""
        assert self.provider is not None
        return self.provider.running_for(self.address)

    @property
    def provider_address(self) -> AbsProviderInstance:
        """The provider instance; only once an effect of this node is performed."""
        assert self.provider is not None
        return self.provider.address

    @property
    def meta(self) -> Value | None:
        """The `provider_meta` of the module."""
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
        severity = Severity.WARNING if run.options.is_refresh_only else Severity.ERROR
        noted = resource_conditions(
            self.frame, self.address, kind, rules, self.data, self_value, severity
        )
        run.record.note_conditions(noted)
        return noted[3]

    def _check_first(self, conditions: Conditions) -> Sequence[Need]:
        """Look at the preconditions; where one does not hold, the configuration does not matter."""
        needs = conditions.step()
        if not needs and conditions.is_refusing:
            self._stages.follow_with(self.choose_provider, self.ask)
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
        self._stages.follow_with(partial(self._check_last, conditions))
        return ()

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
        # After a reported mistake, the change would be planned with a value that it never gets.
        if diags.error_count == errors and not is_reported(value):
            self.config = value
            deferrals = self.owner.run.deferrals
            if deferrals is not None and not value.is_wholly_known:
                place = Written(self.frame, self.owner.body, self.data)
                self.wait_for(deferrals.within(value) or deferrals.beside(place))
        return ()

    @property
    def is_asked(self) -> bool:
        """Return whether the provider must be asked."""
        return self.config is not None

    def choose_provider(self) -> Sequence[Need]:
        """Find the provider instance and have it opened."""
        if not self.is_asked:
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
        if not self.is_asked or self.provider is None:
            self.fail()
            return ()
        if self.provider.deferral is not None and self.config is not None:
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
        """Return whether it depends on a deferred change."""
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
            (Written(self.frame, owner.body, self.data),),
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

    def __init__(self, owner: InstanceOwner, key: InstanceKey, data: InstanceData) -> None:
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
