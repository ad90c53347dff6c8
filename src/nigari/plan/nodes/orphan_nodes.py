"""Objects of the prior state that nothing in the configuration wants any more.

Their providers are found from the state. An orphan is destroyed, or only forgotten; the code that makes
a node has found out which.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nigari.addrs.absolute import AbsResourceInstance, resource_of
from nigari.addrs.keys import InstanceKey
from nigari.addrs.provider import AbsProviderInstance
from nigari.config.core.declared import Repetition
from nigari.cty.values import FALSE, Value, null
from nigari.diagnostics import Diagnostics, Range
from nigari.eval.core.instances import Frame, Origin
from nigari.eval.core.worklist import DONE, Need, Node
from nigari.eval.nodes.module_call import expand
from nigari.hcl.body import Body
from nigari.plan.model.changes import Action, Change, Reason
from nigari.plan.nodes.plan_host import PlanHost
from nigari.plan.nodes.protection import protection, refuse_destruction
from nigari.plan.objects.prior_object import PriorObject, read, taken_over, upgraded
from nigari.providers import api
from nigari.providers.diagnostics import located
from nigari.record import record, replace
from nigari.running.declared_modules import declared_module
from nigari.running.deferrals import Deferral, DeferralReason, DeferredKind
from nigari.running.provider_node import ProviderNode
from nigari.running.provider_run import frame_at
from nigari.running.requests import AskProvider
from nigari.schema.provider import ProviderSchema, Schema
from nigari.state.model import StoredObject
from nigari.state.objects import UnreadableObject, decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

Manager: TypeAlias = Callable[[], ProviderNode | list[Need] | None]
"""The provider instance of an object, what is needed first to tell, or nothing after reporting why
there is none.
"""


@record
class End:
    """The end of an orphan: destroyed or forgotten."""

    forgets: bool
    """True if the object stays and is only forgotten."""
    reason: Reason
    body: Body | None = None
    """The declaration, if its resource still exists."""
    is_renewed: bool = False
    """True if the state adopts the current configuration's settings if the object stays."""


class Declaration:
    """The repetition of a resource that may still have an instance."""

    __slots__ = ("_frame", "_keys", "_repetition")

    def __init__(self, frame: Frame, repetition: Repetition) -> None:
        self._frame = frame
        self._repetition = repetition
        self._keys: frozenset[InstanceKey] | None = None

    def has(self, key: InstanceKey) -> bool | list[Need]:
        """Return whether there is such an instance; no where that is not known."""
        if self._keys is None:
            expansion = expand(self._frame, self._repetition)
            if isinstance(expansion, list):
                return expansion
            self._keys = frozenset(expansion.instances)
        return key in self._keys


class OrphanNode(Node):
    """An object that is to go: the current one of an instance, or a deposed one."""

    __slots__ = (
        "_deposed",
        "_effect",
        "_end",
        "_manager",
        "_protected",
        "_provider",
        "_run",
        "_stored",
        "address",
        "before",
        "declared",
        "protection",
    )

    def __init__(
        self,
        run: PlanHost,
        address: AbsResourceInstance,
        stored: StoredObject,
        manager: Manager,
        end: End,
        deposed: str = "",
    ) -> None:
        super().__init__()
        self.address: AbsResourceInstance = address
        self._run = run
        self._stored = stored
        self._manager = manager
        self._provider: ProviderNode | None = None
        self._end = end
        self._deposed = deposed
        self._protected: Value = FALSE
        self.protection: Origin | None = None
        """The range of `prevent_destroy`, if the resource is still declared."""
        self.declared: Declaration | None = None
        """The possible declaration, if the state takes over its arguments."""
        self.before: Deferral | None = None
        """The deferred dependants of the object."""
        self._effect: AskProvider | None = None

    @property
    def label(self) -> str:
        return str(self.address)

    @property
    def range(self) -> Range | None:
        return None

    def fail(self) -> None:
        """Nothing depends on its result."""

    def step(self) -> Sequence[Need]:
        if self.protection is not None:
            found = protection(self.protection, self.address, self._run.diags)
            if isinstance(found, list):
                return found
            self._protected = found
        if self.declared is not None:
            has_instance = self.declared.has(self.address.item.key)
            if isinstance(has_instance, list):
                return has_instance
            if has_instance:
                self._take_over()
            self.declared = None
        if self.before is not None:
            self._postpone(DeferralReason.DEFERRED, self.before)
            return ()
        if self._is_forgotten and self._forget():
            return ()
        if self._provider is None:
            manager = self._manager()
            if isinstance(manager, list):
                return manager
            self._provider = manager
        provider = self._provider
        if provider is not None and provider.state != DONE:
            return (provider,)
        if provider is not None and (provider.deferral is not None or provider.is_partial):
            self._postpone(DeferralReason.PROVIDER, provider.deferral or provider.incomplete())
            return ()
        if self._effect is None and provider is not None and provider.provider is not None:
            self._effect = AskProvider(self)
            return (self._effect,)
        return ()

    @property
    def _is_forgotten(self) -> bool:
        """Return whether this plan forgets the object, so that it need not be refreshed."""
        run = self._run
        return self._end.forgets and run.options.is_for_apply and not run.options.is_refresh_only

    @property
    def _recorded(self) -> AbsProviderInstance:
        """The provider that the object has in the state."""
        resource = self._run.prior.resources[resource_of(self.address)]
        return resource.manager_of(self.address.item.key, self._deposed)

    def _take_over(self) -> None:
        """Have what the configuration says now count, and not what it once said."""
        self._end = replace(self._end, is_renewed=True)
        if self._end.reason is Reason.KEPT_BY_STATE:
            self._end = replace(self._end, forgets=False, reason=Reason.NONE)

    def _postpone(self, reason: DeferralReason, before: Deferral) -> None:
        """Leave the object as it is until a later round."""
        run, address = self._run, self.address
        assert run.deferrals is not None
        deposed = f" (deposed object {self._deposed})" if self._deposed else ""
        name = f"{address.item}{deposed}"
        deferral = run.deferrals.add(
            DeferredKind.RESOURCE,
            reason,
            address.module,
            name,
            None,
            (),
            (before,),
            needs_values=False,
        )
        provider = self._recorded
        offered = run.pool.of(provider.item.provider)
        schema = None if offered is None else offered.resources.get(address.item.resource.type)
        if schema is None:
            return
        try:
            value = decode(self._stored, schema)
        except UnreadableObject:
            return
        action = Action.FORGET if self._end.forgets else Action.DELETE
        nothing = null(schema.block.implied_type)
        change = Change(
            address=address,
            action=action,
            before=value,
            after=nothing,
            provider=provider,
            schema=schema,
            reason=self._end.reason,
            deposed=self._deposed,
        )
        run.record.note_deferred(deferral, change)

    def _forget(self) -> bool:
        """Plan to forget the object, which takes its provider's schema and nothing else.

        An object that only the provider itself can read must be read by it.
        """
        address = self._recorded
        offered = self._run.pool.of(address.item.provider)
        schema = None if offered is None else offered.resources.get(self.address.item.resource.type)
        if schema is None:
            return False
        try:
            value = decode(self._stored, schema)
        except UnreadableObject:
            return False
        self._note(value, schema, address, self._stored.private)
        return True

    async def perform(self) -> None:
        """See whether the object is still there, and plan its end."""
        run, node = self._run, self._provider
        assert node is not None
        assert node.schema is not None
        type_name = self.address.item.resource.type
        schema = node.schema.resources.get(type_name)
        previous = run.previous_address(self.address)
        if previous is not None and previous.item.resource.type == type_name:
            previous = None
        if schema is None:
            if previous is not None:
                _report_conversion(self.address, previous, run)
            else:
                _report_type(self.address, node.schema, run)
            return
        provider = node.running_for(self.address)
        if previous is not None:
            manager = previous, node.address
            prior = await taken_over(
                provider, schema, self.address, manager, self._stored, run.diags
            )
        else:
            prior = await upgraded(provider, schema, self.address, self._stored, run.diags)
        if prior is None:
            return
        now: PriorObject | None = prior
        if not self._is_forgotten and run.reads(self.address):
            before, body = prior, self._end.body

            async def read_now(diags: Diagnostics) -> PriorObject | None:
                return await read(provider, schema, self.address, before, self._meta, diags, body)

            now, reported = await run.read(self.address, self._deposed, schema, prior, read_now)
            run.diags.extend(reported)
            if now is None and reported.has_errors:
                return
        run.record.note_refreshed(self.address, prior, now, schema, node.address, self._deposed)
        if now is None or run.options.is_refresh_only:
            return
        if self._end.is_renewed and not self._deposed:
            run.record.note_lifecycle(self.address, node.address)
        if self._is_refused():
            return
        private = now.private
        if not self._end.forgets and node.schema.plans_destroy:
            private = await self._ask(now, schema, provider)
        self._note(now.value, schema, node.address, private)

    @property
    def _meta(self) -> Value | None:
        """The `provider_meta` of the module, if it still exists."""
        assert self._provider is not None
        return self._run.meta_at(self.address.module, self._provider.address.item.provider)

    def _is_refused(self) -> bool:
        if self.protection is None or self._end.forgets or not self._run.options.is_for_apply:
            return False
        return refuse_destruction(self.address, self._protected, self.protection, self._run.diags)

    def _note(
        self, value: Value, schema: Schema, provider: AbsProviderInstance, private: bytes
    ) -> None:
        change = Change(
            address=self.address,
            action=Action.FORGET if self._end.forgets else Action.DELETE,
            before=value,
            after=null(schema.block.implied_type),
            provider=provider,
            schema=schema,
            reason=self._end.reason,
            private=private,
            deposed=self._deposed,
            previous_address=self._run.previous_address(self.address),
        )
        self._run.record.note_change(change)

    async def _ask(self, now: PriorObject, schema: Schema, provider: api.Provider) -> bytes:
        nothing = null(schema.block.implied_type)
        prior, _ = now.value.unmark_deep()
        answer = await provider.plan(
            api.PlanRequest(
                type_name=self.address.item.resource.type,
                prior=prior,
                proposed=nothing,
                config=nothing,
                prior_private=now.private,
                provider_meta=self._meta,
                identity=now.identity,
            )
        )
        reported = located(answer.diagnostics, schema.block, self._end.body, str(self.address))
        self._run.diags.extend(reported)
        return answer.planned_private


class NamedData(Node):
    """Data that a target of a destroy names, which counts as gone once it is not declared any more."""

    __slots__ = ("_declaration", "address", "is_declared")

    def __init__(self, address: AbsResourceInstance, declaration: Declaration | None) -> None:
        super().__init__()
        self.address: AbsResourceInstance = address
        self._declaration = declaration
        self.is_declared: bool = False

    @property
    def label(self) -> str:
        return str(self.address)

    def fail(self) -> None:
        """Nothing depends on its result."""

    def step(self) -> Sequence[Need]:
        found = self._declaration is not None and self._declaration.has(self.address.item.key)
        if isinstance(found, list):
            return found
        self.is_declared = found
        return ()


def reason_for(run: PlanHost, root: Frame, address: AbsResourceInstance) -> Reason:
    """The reason for which no block declares an instance."""
    module = declared_module(root.instance, address.module)
    resource = None if module is None else module.module.resources.get(address.item.resource)
    if resource is None:
        is_moved = run.previous_address(address) is not None
        return Reason.NO_MOVE_TARGET if is_moved else Reason.NO_RESOURCE
    if frame_at(root, address.module) is None:
        return Reason.NO_MODULE
    key: InstanceKey = address.item.key
    repetition = resource.repetition
    if isinstance(key, int):
        return Reason.COUNT_INDEX if repetition.count is not None else Reason.WRONG_REPETITION
    if isinstance(key, str):
        return Reason.EACH_KEY if repetition.for_each is not None else Reason.WRONG_REPETITION
    return Reason.DISABLED if repetition.enabled is not None else Reason.WRONG_REPETITION


def _report_conversion(
    address: AbsResourceInstance, previous: AbsResourceInstance, run: PlanHost
) -> None:
    run.diags.error(
        "Moved object of another provider",
        f"{previous} was moved to {address}, which is not declared, so it has to be destroyed. Its "
        f"provider has no resource type {address.item.resource.type}. Declare {address} and apply "
        "once, or remove the moved block, so that the object is destroyed as what it is.",
        address=str(address),
    )


def _report_type(address: AbsResourceInstance, offered: ProviderSchema, run: PlanHost) -> None:
    type_name = address.item.resource.type
    fault = offered.faults.get(type_name)
    if fault is None:
        reason = f"no longer has a resource type {type_name}"
    else:
        reason = f"has no valid schema for the resource type {type_name}: {fault}"
    run.diags.error(
        "Unknown resource type in the state",
        f"{address} is in the state, but its provider {reason}. Use a version of the provider "
        "that has it, or remove the object from the state.",
        address=str(address),
    )
