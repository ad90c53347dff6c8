"""Managed resources while planning: what each instance is to become.

An instance upgrades and refreshes what is stored, or imports it, evaluates what may force or
prevent a replacement, and asks its provider for a plan. How a prior object and a configuration
become a change is in `nigari.plan.objects.planned_change`; what is no longer declared is in
`nigari.plan.nodes.orphan_nodes`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from functools import partial

from nigari.addrs.absolute import Abs, resource_of
from nigari.addrs.keys import InstanceKey
from nigari.addrs.resource import Resource as ResourceAddr
from nigari.addrs.resource import ResourceInstance
from nigari.config.blocks.lifecycle import Lifecycle
from nigari.cty.values import FALSE, Value, null, unknown
from nigari.diagnostics import Diagnostics
from nigari.eval.core.instances import Origin
from nigari.eval.core.module_tree import InstanceData
from nigari.eval.core.scope import evaluate
from nigari.eval.core.worklist import DONE, Need
from nigari.hcl.expressions import Expression
from nigari.lang.references import parse_reference
from nigari.plan.model.changes import Action, Change, Reason
from nigari.plan.nodes.imports import ImportTarget, imported, report_missing
from nigari.plan.nodes.instances import ChangingInstance
from nigari.plan.nodes.protection import protection, refuse_destruction
from nigari.plan.nodes.resources import PlannedResource
from nigari.plan.objects.ignore_changes import ignore, ignore_all
from nigari.plan.objects.planned_change import DesiredObject, Ignore, plan_change
from nigari.plan.objects.prior_object import PriorObject, as_secret_as, read, taken_over, upgraded
from nigari.plan.objects.provider_deferral import ProviderDefers
from nigari.plan.objects.triggers import (
    check_trigger_value,
    have_changed,
    is_triggering,
    trigger_digests,
    trigger_traversal,
)
from nigari.providers import api
from nigari.running.provider_objects import with_schema_marks
from nigari.state.model import InstanceState, StoredObject


class ManagedResource(PlannedResource):
    """A managed resource of one module instance."""

    __slots__ = ()

    def instance(self, key: InstanceKey, data: InstanceData) -> ManagedInstance:
        return ManagedInstance(self, key, data)

    def as_stored(self, values: dict[InstanceKey, Value]) -> dict[InstanceKey, Value]:
        repetition = self.resource.repetition
        if repetition.is_single or self.schema is None:
            return values
        present = [key for key in self._stored() if not self._is_gone(key)]
        keys: Iterable[InstanceKey] = [key for key in present if key is None]
        if repetition.for_each is not None:
            keys = sorted(each for each in present if isinstance(each, str))
        elif repetition.count is not None:
            keys = range(max((each + 1 for each in present if isinstance(each, int)), default=0))
        found = {key: unknown(self.schema.block.implied_type) for key in keys}
        found.update((key, self.prior_value(key)) for key in found if key in present)
        found.update((key, value) for key, value in values.items() if key in found)
        return found

    def _stored(self) -> Collection[InstanceKey]:
        """The instances of which the state has an object."""
        state = self.run.prior.resources.get(Abs(self.frame.instance.addr, self.resource.addr))
        if state is None:
            return ()
        return [key for key, each in state.instances.items() if each.current is not None]

    def _is_gone(self, key: InstanceKey) -> bool:
        """Return whether an object of the state was not found when it was read."""
        instance = self.instances.get(key)
        return isinstance(instance, ManagedInstance) and instance.prior is None


class ManagedInstance(ChangingInstance):
    """One instance of a managed resource."""

    __slots__ = ("_protected", "_trigger_values", "_triggers_at", "prior", "replaces")

    def __init__(self, owner: PlannedResource, key: InstanceKey, data: InstanceData) -> None:
        self.prior: PriorObject | None = None
        self.replaces: Reason = Reason.NONE
        self._protected: Value = FALSE
        self._triggers_at = 0
        self._trigger_values: list[Value] = []
        super().__init__(owner, key, data)

    def stages(self) -> Iterable[Callable[[], Sequence[Need]]]:
        lifecycle = self.owner.resource.lifecycle
        if self.owner.run.deferrals is not None:
            yield self._wait_for_dependencies
            if lifecycle.action_triggers:
                yield self._wait_for_actions
        if self.owner.run.options.is_refresh_only:
            return
        if self.owner.run.imports:
            yield self._wait_for_imports
        if lifecycle.prevent_destroy is not None:
            yield self._protect
        if lifecycle.replace_triggered_by:
            yield self._look_at_triggers
        if lifecycle.replacing_values:
            yield self._evaluate_triggers

    def evaluate(self) -> Sequence[Need]:
        if not self.owner.run.options.is_refresh_only:
            return super().evaluate()
        # Only what there is counts, so a mistake in what is wanted is none here.
        self.config: Value | None = null(self.schema.block.implied_type)
        return ()

    def _wait_for_dependencies(self) -> Sequence[Need]:
        """Wait for what `depends_on` names, if that is left for later."""
        from nigari.plan.nodes.pending import deferred_before, instance_dependencies

        run = self.owner.run
        resource = self.owner.resource
        values = instance_dependencies(self.frame, resource, self.data)
        if isinstance(values, list):
            return values
        named = (*resource.named_dependencies, *values)
        found = deferred_before(self.frame, named, run.blocks)
        if isinstance(found, list):
            return found
        self.wait_for(found)
        return ()

    def _wait_for_actions(self) -> Sequence[Need]:
        """Wait for what the triggered actions depend on, if that is left for later."""
        from nigari.plan.nodes.pending import deferred_before_actions

        triggers = self.owner.resource.lifecycle.action_triggers
        actions = {each.addr for trigger in triggers for each in trigger.actions}
        found = deferred_before_actions(self.frame, actions, self.owner.run.blocks)
        if isinstance(found, list):
            return found
        self.wait_for(found)
        return ()

    def _wait_for_imports(self) -> Sequence[Need]:
        run = self.owner.run
        blocks = run.imports.of(resource_of(self.address))
        needs = [each for each in blocks if each.state != DONE]
        if not needs and run.deferrals is not None:
            state = run.prior.instance(self.address)
            if state is None or state.current is None:
                self.wait_for(run.imports.waiting(self.address))
        return needs

    # -- what the lifecycle says --------------------------------------------------------------

    def _protect(self) -> Sequence[Need]:
        origin = self._protection(self.owner.resource.lifecycle)
        found = protection(origin, self.address, self.owner.run.diags)
        if isinstance(found, list):
            return found
        self._protected = found
        return ()

    def _protection(self, lifecycle: Lifecycle) -> Origin:
        assert lifecycle.prevent_destroy is not None
        expr = self.frame.instance.compiled.expression(lifecycle.prevent_destroy)
        return Origin(self.frame, expr, self.data)

    def _look_at_triggers(self) -> Sequence[Need]:
        triggers = self.owner.resource.lifecycle.replace_triggered_by
        while self._triggers_at < len(triggers):
            needs = self._look_at(triggers[self._triggers_at])
            if needs:
                return needs
            self._triggers_at += 1
        return ()

    def _look_at(self, expr: Expression) -> Sequence[Need]:
        """Replace the object if what the expression names is going to change."""
        traversal = trigger_traversal(expr, self.data)
        diags = self.frame.run.diags
        reference = None if traversal is None else parse_reference(traversal, diags)
        subject = None if reference is None else reference.subject
        key: InstanceKey = None
        is_whole = isinstance(subject, ResourceAddr)
        if isinstance(subject, ResourceInstance):
            key = subject.key
            subject = subject.resource
        node = self.frame.resources.get(subject) if isinstance(subject, ResourceAddr) else None
        if not isinstance(node, ManagedResource) or reference is None:
            return ()
        if node.state != DONE:
            return (node,)
        if node.deferral is not None and key not in node.instances:
            self.wait_for((node.deferral,))
        for each, instance in node.instances.items():
            if (is_whole or each == key) and instance.deferral is not None:
                self.wait_for((instance.deferral,))
            if not isinstance(instance, ManagedInstance) or instance.change is None:
                continue
            if (is_whole or each == key) and is_triggering(
                instance.change, reference.remaining, self.frame
            ):
                self.replaces = Reason.TRIGGERED
        return ()

    def _evaluate_triggers(self) -> Sequence[Need]:
        """Replace the object if the values in `replace_triggered_by` are not what they were."""
        run, written = self.owner.run, self.owner.resource.lifecycle.replacing_values
        for expr in written[len(self._trigger_values) :]:
            value = evaluate(self.frame, self.frame.instance.compiled.expression(expr), self.data)
            if not isinstance(value, Value):
                return value
            check_trigger_value(value, expr, str(self.address), run.diags)
            if run.deferrals is not None:
                self.wait_for(run.deferrals.within(value))
            self._trigger_values.append(value)
        stored = self._stored
        if stored is not None and stored.current is not None:
            if have_changed(stored.current.triggers, self._trigger_values):
                self.replaces = Reason.TRIGGERED
        return ()

    def _note_triggers(self) -> None:
        """Record the values of an unchanged object that has none recorded, or others in addition."""
        digests = trigger_digests(self._trigger_values)
        if self.prior is not None and digests is not None:
            if digests != self.prior.stored.triggers:
                self.owner.run.record.note_triggers(self.address, digests, self.provider_address)

    def _ignore(self) -> Ignore | None:
        settings, frame, addr = self.owner.run.settings, self.frame, self.owner.resource.addr
        lifecycle = self.owner.resource.lifecycle
        if lifecycle.ignore_all_changes or settings.ignores_all(frame, addr):
            return partial(ignore_all, self.schema.block)
        ignored = settings.ignored(frame, addr)
        return partial(ignore, ignored) if ignored else None

    # -- the provider -------------------------------------------------------------------------

    @property
    def is_asked(self) -> bool:
        """Objects are refreshed even if their configuration is wrong."""
        return super().is_asked or (self.owner.run.options.refreshes and self._stored is not None)

    @property
    def _stored(self) -> InstanceState | None:
        """The instance as the state has it, if it has an object of it."""
        state = self.owner.run.prior.instance(self.address)
        return None if state is None or state.current is None else state

    async def perform(self) -> None:
        """Find out what there is, and plan what becomes of it."""
        if self.config is None:
            await self._read_in_vain()
            return
        try:
            await self._plan()
        except ProviderDefers as deferring:
            self.postpone_as(deferring.reason)

    async def _read_in_vain(self) -> None:
        """Refresh an object whose configuration is not known."""
        self.fail()
        if self._stored is not None and not self._is_partial:
            with suppress(ProviderDefers):
                await self._refresh(self._stored)

    async def _plan(self) -> None:
        run = self.owner.run
        assert self.config is not None
        state = self._stored
        exists = state is not None
        target = None if run.options.is_refresh_only else run.imports.into(self.address)
        if self._is_partial and (target is not None or exists):
            # What exists must be read, and who is only half configured may look elsewhere.
            raise ProviderDefers(api.ProviderDeferral.PROVIDER_CONFIG_UNKNOWN)
        if state is not None:
            target, is_read = None, await self._refresh(state)
        else:
            is_read = target is None or await self._import(target)
        if not is_read:
            self.fail()
            return
        wanted = self._desired()
        if run.options.is_refresh_only:
            self._stay(wanted)
            return
        change = await self._change(wanted)
        if change is None:
            self.fail()
            return
        before = run.unreplaced.get(run.blocks.resource_block(resource_of(self.address)))
        if before is not None and change.action.is_replace:
            self.wait_for((before,))
        if self.prior is not None and target is not None:
            change = change.imported(target.text, target.identity)
        self._check_destruction(change)
        is_changed = change.action is not Action.NO_OP and not self.is_waiting
        if run.options.refreshes and target is None and is_changed:
            # In case that it cannot be changed.
            run.record.note_lifecycle(self.address, wanted.provider)
        if change.action is Action.NO_OP:
            self._note_triggers()
        self.note(change)

    @property
    def _is_partial(self) -> bool:
        """Return whether the provider knows only a part of its configuration."""
        return self.provider is not None and self.provider.is_partial

    def _desired(self) -> DesiredObject:
        """The wanted object, by the configuration and the options of the plan."""
        assert self.config is not None
        run, resource = self.owner.run, self.owner.resource
        forced = self.address in run.options.replaced
        return DesiredObject(
            address=self.address,
            config=self.config,
            schema=self.schema,
            provider=self.provider_address,
            body=resource.body,
            creates_first=run.creates_first(self.address),
            replaces=Reason.REQUESTED if forced and self.replaces is Reason.NONE else self.replaces,
            ignore=self._ignore(),
            meta=self.meta,
            previous_address=run.previous_address(self.address),
            forgets=run.settings.skips_destroy(self.address.module, resource.addr),
            may_defer=run.deferrals is not None,
        )

    async def _change(self, wanted: DesiredObject) -> Change | None:
        """The planned change; None after reporting why there is none."""
        run = self.owner.run
        if not self._is_partial:
            return await plan_change(self.running, wanted, self.prior, run.diags)
        # What is wrong may be right once the provider knows all of its configuration.
        reported = Diagnostics()
        change = await plan_change(self.running, wanted, self.prior, reported)
        if change is None:
            raise ProviderDefers(api.ProviderDeferral.PROVIDER_CONFIG_UNKNOWN)
        run.diags.adopt(reported)
        return change

    def _check_destruction(self, change: Change) -> None:
        """Refuse to destroy what must not be destroyed."""
        run, lifecycle = self.owner.run, self.owner.resource.lifecycle
        is_concerned = change.action.destroys and not self.is_waiting and run.options.is_for_apply
        if lifecycle.prevent_destroy is not None and is_concerned:
            where = self._protection(lifecycle)
            refuse_destruction(self.address, self._protected, where, run.diags)

    def _stay(self, wanted: DesiredObject) -> None:
        """The value of an instance outside of the plan."""
        if self.prior is None:
            # Its conditions and its dependants are checked even so.
            self.value = unknown(self.schema.block.implied_type)
            return
        self.owner.run.record.note_lifecycle(self.address, wanted.provider)
        value: Value = with_schema_marks(self.prior.value, self.schema)
        self.value: Value = value
        self.change: Change | None = Change(
            self.address, Action.NO_OP, value, value, wanted.provider, wanted.schema
        )

    async def _import(self, target: ImportTarget) -> bool:
        """Adopt an existing object; False if that failed."""
        run = self.owner.run
        run.listener.import_started(self.address, target.text)
        may_defer = run.deferrals is not None
        found = await imported(self.running, self.schema, target, run.diags, may_defer)
        if found is None:
            return False
        run.listener.refresh_started(self.address, with_schema_marks(found.value, self.schema), "")
        there = await self._read(found, run.diags)
        if there is None:
            report_missing(target, run.diags)
            return False
        assert self.config is not None
        self.prior = as_secret_as(self.config, there, self.schema)
        value = with_schema_marks(self.prior.value, self.schema)
        run.listener.refresh_finished(self.address, value, "")
        run.record.note_imported(self.address, self.prior, self.provider_address)
        return True

    async def _refresh(self, state: InstanceState) -> bool:
        """Refresh the prior object; False if that failed."""
        run = self.owner.run
        assert state.current is not None
        prior = await self._prior(self.running, state.current)
        if prior is None:
            return False
        if prior.stored is not state.current:
            run.record.note_imported(self.address, prior, self.provider_address)
        self.prior = prior
        if run.reads(self.address):
            self.prior, reported = await run.read(
                self.address, "", self.schema, prior, partial(self._read, prior)
            )
            run.diags.extend(reported)
            if self.prior is None and reported.has_errors:
                return False
        run.record.note_refreshed(
            self.address, prior, self.prior, self.schema, self.provider_address
        )
        return True

    async def _read(self, prior: PriorObject, diags: Diagnostics) -> PriorObject | None:
        body = self.owner.resource.body
        return await read(
            self.running,
            self.schema,
            self.address,
            prior,
            self.meta,
            diags,
            body,
            self.owner.run.deferrals is not None,
        )

    async def _prior(self, provider: api.Provider, stored: StoredObject) -> PriorObject | None:
        """The prior object under the present type and schema."""
        run, schema, address = self.owner.run, self.schema, self.address
        previous = run.previous_address(address)
        if previous is None or previous.item.resource.type == address.item.resource.type:
            return await upgraded(provider, schema, address, stored, run.diags)
        manager = run.prior.resources[resource_of(address)].manager_of(address.item.key)
        return await taken_over(provider, schema, address, (previous, manager), stored, run.diags)
