"""What carrying out an operation means, one kind at a time.

Each operation gets the change that it belongs to; it asks the provider, checks what it says, and
records what exists now. What it cannot do it reports, and then it has failed.
"""

from __future__ import annotations

import secrets
from functools import partial
from typing import Protocol

from nigari.addrs.absolute import AbsResource, AbsResourceInstance, block_of, resource_of
from nigari.addrs.provider import AbsProviderInstance
from nigari.apply.host import AppliedResource, ApplyHost
from nigari.apply.provisioners import CREATE, DESTROY, Provisioning
from nigari.cty.marks import mark_with_paths, unmark_deep_with_paths
from nigari.cty.paths import path_text, unknown_as_null
from nigari.cty.values import Value, null, number, string
from nigari.diagnostics import Diagnostics
from nigari.eval.expansion import NO_INSTANCE_DATA, InstanceData
from nigari.eval.once import DONE
from nigari.eval.scope import evaluate_body
from nigari.plan.block_graph import BlockGraph, resource_block
from nigari.plan.changes import Action, Change, Plan
from nigari.plan.conditions import Conditions, Noted
from nigari.plan.data import checked_data
from nigari.plan.execution_graph import Operation, OperationKind
from nigari.plan.ignored import ignore, ignore_all
from nigari.plan.operation_order import REPLACED
from nigari.plan.planned_change import Ignore, Wanted, plan_change
from nigari.plan.prior import PriorObject, with_schema_marks
from nigari.plan.provider_checks import Fault, result_faults, type_faults
from nigari.plan.provider_instances import ConfigureProvider, ProviderNode
from nigari.plan.settings import Settings
from nigari.providers import api
from nigari.providers.diagnostics import located
from nigari.schema.decode import decoder_spec
from nigari.state.model import InstanceState, ObjectStatus, StateDraft, StoredObject
from nigari.state.objects import decode, encode


class ApplyView(Protocol):
    """Who is told what happens."""

    def started(self, operation: Operation, change: Change) -> None:
        """An operation on a resource begins."""
        ...

    def finished(self, operation: Operation, change: Change, value: Value | None) -> None:
        """An operation on a resource has succeeded."""
        ...

    def failed(self, operation: Operation, change: Change) -> None:
        """An operation on a resource has failed."""
        ...

    def said(self, text: str) -> None:
        """A provisioner has something to say."""
        ...


class Failed(Exception):
    """An operation has not succeeded; why has been reported."""


class Operations:
    """Everything that operations work on."""

    def __init__(
        self, host: ApplyHost, plan: Plan, blocks: BlockGraph, settings: Settings, view: ApplyView
    ) -> None:
        self.host = host
        self.plan = plan
        self.draft = StateDraft(plan.refreshed_state)
        self._blocks = blocks
        self._settings = settings
        self._view = view
        self._providers: dict[str, ProviderNode] = {}
        self._addresses: dict[str, AbsProviderInstance] = {}
        self._changes: dict[tuple[str, str], Change] = {}
        self._deposed: dict[AbsResourceInstance, str] = {}
        self.conditions: list[Noted] = []
        """How the conditions of resources went."""
        for change in plan.changes:
            self._changes[str(change.address), change.deposed] = change
            self._addresses[str(change.provider)] = change.provider

    @property
    def diags(self) -> Diagnostics:
        return self.host.diags

    async def perform(self, operation: Operation) -> bool:
        """Carry out one operation; False where it failed."""
        kind = operation.kind
        if kind is OperationKind.SETTLE:
            return True
        if kind is OperationKind.OPEN:
            return await self._open(operation.address)
        if kind is OperationKind.CLOSE:
            await self._close(operation.address)
            return True
        deposed = "" if operation.deposed == REPLACED else operation.deposed
        change = self._changes[operation.address, deposed]
        self._view.started(operation, change)
        try:
            value = await self._on_resource(operation, change)
        except Failed:
            self._view.failed(operation, change)
            return False
        self._view.finished(operation, change, value)
        return True

    async def _on_resource(self, operation: Operation, change: Change) -> Value | None:
        kind = operation.kind
        if kind is OperationKind.FORGET:
            self._forget(operation, change)
            return None
        if kind is OperationKind.DELETE:
            await self._delete(operation, change)
            return None
        if kind is OperationKind.READ:
            return await self._read(change)
        return await self._make(change)

    def renew_dependencies(self) -> None:
        """Note for what stays as it is what it depends on now, and who manages it."""
        for change in self.plan.changes:
            state = self.draft.instance(change.address)
            if change.action is not Action.NO_OP or state is None or state.current is None:
                continue
            dependencies = self._dependencies(change)
            resource = self.draft.resource(resource_of(change.address))
            assert resource is not None
            is_same = resource.provider_of(change.address.item.key) == change.provider
            first = self._settings.is_declared_first(
                change.address.module, change.address.item.resource
            )
            known = state.current
            is_same = is_same and known.create_before_destroy == first
            if known.dependencies != dependencies or not is_same:
                stored = _renewed(known, dependencies, first)
                self.draft.set_current(change.address, stored, change.provider)

    def _dependencies(self, change: Change) -> tuple[AbsResource, ...]:
        block = resource_block(resource_of(change.address))
        return tuple(sorted(self._blocks.resources_before(block), key=str))

    # -- providers ----------------------------------------------------------------------------

    async def _open(self, address: str) -> bool:
        node = self.host.providers.for_address(self.host.root, self._addresses[address])
        self.host.evaluate((node,))
        while self.host.work.new_effects:
            effects, self.host.work.new_effects = self.host.work.new_effects, []
            for effect in effects:
                assert isinstance(effect, ConfigureProvider)
                await effect.node.perform()
                self.host.work.answer(effect)
            self.host.work.pump()
        self._providers[address] = node
        return node.state == DONE and node.provider is not None

    async def _close(self, address: str) -> None:
        node = self._providers.pop(address, None)
        if node is not None and node.provider is not None:
            await self.host.pool.close(node.provider)

    def _provider(self, change: Change) -> api.Provider:
        node = self._providers.get(str(change.provider))
        if node is None or node.provider is None:
            raise Failed
        return node.provider

    # -- making -------------------------------------------------------------------------------

    async def _make(self, change: Change) -> Value:
        """Create or update an object."""
        provider = self._provider(change)
        node, data = self._declared(change.address)
        self._check(node, data, change, "precondition", None)
        config = self._config(node, data, change)
        resource = node.resource
        prior = self._prior(change) if change.action is Action.UPDATE else None
        wanted = Wanted(
            change.address,
            config,
            change.schema,
            change.provider,
            resource.body,
            ignore=self._ignore(node, change) if prior is not None else None,
        )
        final = await plan_change(provider, wanted, prior, self.diags)
        if final is None:
            raise Failed
        self._check_final(change, final)
        if change.action is Action.CREATE_THEN_DELETE:
            self._depose(change)
        value = await self._apply(provider, change, final, config, prior)
        if change.action is not Action.UPDATE:
            await self._provision(node, data, change, value)
        self._check(node, data, change, "postcondition", value)
        return value

    async def _provision(
        self, node: AppliedResource, data: InstanceData, change: Change, value: Value
    ) -> None:
        """Run what is to run once an object exists; if it fails, the object is not sound."""
        if await self._run_provisioners(node, data, change, value, CREATE):
            return
        state = self.draft.instance(change.address)
        if state is not None and state.current is not None:
            tainted = state.current.with_status(ObjectStatus.TAINTED)
            self.draft.set_current(change.address, tainted, change.provider)
        raise Failed

    async def _run_provisioners(
        self,
        node: AppliedResource,
        data: InstanceData,
        change: Change,
        value: Value,
        moment: str,
    ) -> bool:
        module, resource = change.address.module, node.resource
        wanted = self._settings.provisioners(module, resource, moment)
        if not wanted:
            return True
        continues = partial(self._settings.continues_after, module, resource)
        work = Provisioning(self.host, node, data, self._view.said, continues)
        return await work.run(wanted, change.address, value)

    async def _apply(
        self,
        provider: api.Provider,
        change: Change,
        final: Change,
        config: Value,
        prior: PriorObject | None,
    ) -> Value:
        block = change.schema.block
        nothing = null(block.implied_type)
        planned, marks = unmark_deep_with_paths(final.after)
        before = nothing if prior is None else prior.value.unmark_deep()[0]
        plain = config.unmark_deep()[0]
        answer = await provider.apply(
            api.ApplyRequest(
                change.address.item.resource.type,
                before,
                planned,
                plain,
                final.private,
                identity=final.identity,
            )
        )
        node, _ = self._declared(change.address)
        self.diags.extend(
            located(answer.diagnostics, block, node.resource.body, str(change.address))
        )
        has_failed = api.has_errors(answer.diagnostics)
        value = answer.state
        faults = type_faults(block, value)
        if not faults and not value.is_null and not answer.legacy_type_system and not has_failed:
            faults = result_faults(planned, value)
        if not value.is_wholly_known:
            faults = faults or [Fault((), "some of it is still unknown")]
            value = unknown_as_null(value)
        self._report_faults(change, faults)
        if not value.is_null:
            value = with_schema_marks(mark_with_paths(value, marks), change.schema)
        is_new = change.action is not Action.UPDATE
        self._record(change, value, answer, is_tainted=is_new and has_failed)
        if has_failed or faults:
            raise Failed
        if value.is_null:
            self._report_faults(change, [Fault((), "there is no object after the change")])
            raise Failed
        self.host.results[change.address] = value
        return value

    def _record(
        self, change: Change, value: Value, answer: api.ApplyResponse, is_tainted: bool
    ) -> None:
        """Note what exists now, also after an error."""
        stored: StoredObject | None = None
        if not value.is_null:
            stored = encode(
                value,
                change.schema,
                ObjectStatus.TAINTED if is_tainted else ObjectStatus.READY,
                answer.private,
                self._dependencies(change),
                self._settings.is_declared_first(
                    change.address.module, change.address.item.resource
                ),
                identity=answer.identity,
            )
        elif change.address in self._deposed:
            # Nothing came of the new object, so the old one is what there is.
            self._restore(change)
            return
        self.draft.set_current(change.address, stored, change.provider)

    def _check_final(self, change: Change, final: Change) -> None:
        """Compare what is planned now with what the user agreed to."""
        planned, now = change.after.unmark_deep()[0], final.after.unmark_deep()[0]
        faults = result_faults_allowing_unknown(planned, now)
        if change.action is Action.UPDATE and final.action not in (Action.UPDATE, Action.NO_OP):
            faults.append(Fault((), "the object would have to be replaced, which was not planned"))
        for fault in faults:
            where = path_text(fault.path).removeprefix(".")
            self.diags.error(
                "Inconsistent final plan",
                f"Now that everything is known, the provider "
                f"{change.provider.item.provider.display} plans something else for "
                f"{change.address} than before{', at ' + where if where else ''}: {fault.text}. "
                "This is a fault of the provider.",
                address=str(change.address),
            )
        if faults:
            raise Failed

    def _report_faults(self, change: Change, faults: list[Fault]) -> None:
        for fault in faults:
            where = path_text(fault.path).removeprefix(".")
            self.diags.error(
                "Unexpected result of a change",
                f"After the change of {change.address} the provider "
                f"{change.provider.item.provider.display} gives something else than it planned"
                f"{', at ' + where if where else ''}: {fault.text}. This is a fault of the "
                "provider.",
                address=str(change.address),
            )

    # -- configuration ------------------------------------------------------------------------

    def _declared(self, address: AbsResourceInstance) -> tuple[AppliedResource, InstanceData]:
        frame = self.host.frame(address.module)
        node = None if frame is None else frame.resources.get(address.item.resource)
        if not isinstance(node, AppliedResource):
            raise Failed
        needs = node.expand()
        while needs:
            self.host.value(list(needs))
            needs = node.expand()
        return node, (node.data or {}).get(address.item.key, NO_INSTANCE_DATA)

    def _config(self, node: AppliedResource, data: InstanceData, change: Change) -> Value:
        compiled = node.frame.instance.compiled.body(
            node.resource.body, decoder_spec(change.schema.block)
        )
        errors = self.diags.error_count
        config: Value | None = None
        while config is None:
            config = self.host.value(evaluate_body(node.frame, compiled, data))
        if self.diags.error_count > errors:
            raise Failed
        if not config.is_wholly_known:
            self.diags.error(
                "Configuration not known",
                f"Parts of the configuration of {change.address} are still unknown, although all "
                "that it depends on has been applied.",
                node.resource.range,
                address=str(change.address),
            )
            raise Failed
        return config

    def _ignore(self, node: AppliedResource, change: Change) -> Ignore | None:
        settings, frame, addr = self._settings, node.frame, node.resource.addr
        lifecycle = node.resource.lifecycle
        if lifecycle.ignore_all_changes or settings.ignores_all(frame, addr):
            return lambda prior, config: ignore_all(change.schema.block, prior, config)
        ignored = settings.ignored(frame, addr)
        return (lambda prior, config: ignore(ignored, prior, config)) if ignored else None

    def _check(
        self,
        node: AppliedResource,
        data: InstanceData,
        change: Change,
        kind: str,
        self_value: Value | None,
    ) -> None:
        lifecycle = node.resource.lifecycle
        rules = lifecycle.preconditions if kind == "precondition" else lifecycle.postconditions
        if not rules:
            return
        what = f"{kind.capitalize()} of {change.address}"
        conditions = Conditions(node.frame, rules, what, data, self_value)
        block = str(block_of(change.address))
        self.conditions.append(("resource", block, str(change.address), conditions))
        needs = conditions.step()
        while needs:
            self.host.value(list(needs))
            needs = conditions.step()
        if conditions.outcome.status in ("fail", "error"):
            raise Failed

    def _prior(self, change: Change) -> PriorObject:
        state = self.draft.instance(change.address)
        assert state is not None
        assert state.current is not None
        stored = state.current
        return PriorObject(change.before, stored, stored.private, None)

    # -- data ---------------------------------------------------------------------------------

    async def _read(self, change: Change) -> Value:
        provider = self._provider(change)
        node, data = self._declared(change.address)
        self._check(node, data, change, "precondition", None)
        config, marks = unmark_deep_with_paths(self._config(node, data, change))
        type_name = change.address.item.resource.type
        answer = await provider.read_data(api.ReadDataRequest(type_name, config))
        block, body = change.schema.block, node.resource.body
        self.diags.extend(located(answer.diagnostics, block, body, str(change.address)))
        if api.has_errors(answer.diagnostics):
            raise Failed
        state = checked_data(answer.state, config, change.schema, str(change.address), self.diags)
        if state is None:
            raise Failed
        value = with_schema_marks(mark_with_paths(state, marks), change.schema)
        self.draft.set_current(change.address, encode(value, change.schema), change.provider)
        self.host.results[change.address] = value
        self._check(node, data, change, "postcondition", value)
        return value

    # -- ending -------------------------------------------------------------------------------

    def _depose(self, change: Change) -> None:
        """Put the current object aside, so that another can take its place."""
        state = self.draft.instance(change.address)
        if state is None or state.current is None:
            return
        key = secrets.token_hex(4)
        self._deposed[change.address] = key
        self.draft.set_deposed(change.address, key, state.current, change.provider)
        self.draft.set_current(change.address, None, change.provider)

    def _restore(self, change: Change) -> None:
        key = self._deposed.pop(change.address)
        state = self.draft.instance(change.address)
        if state is not None and key in state.deposed:
            stored = state.deposed[key]
            self.draft.set_current(change.address, stored, change.provider)
            self.draft.set_deposed(change.address, key, None, change.provider)

    def _forget(self, operation: Operation, change: Change) -> None:
        if operation.deposed:
            self.draft.set_deposed(change.address, operation.deposed, None, change.provider)
        else:
            self.draft.set_current(change.address, None, change.provider)

    async def _run_last(self, change: Change, prior: Value) -> None:
        """Run what is to run before an object is destroyed, if it is still declared."""
        frame = self.host.frame(change.address.module)
        resource = (
            None if frame is None else frame.module.resources.get(change.address.item.resource)
        )
        if frame is None or resource is None or not resource.provisioners:
            return
        key = change.address.item.key
        data = InstanceData(
            each_key=string(key) if isinstance(key, str) else None,
            count_index=number(key) if isinstance(key, int) else None,
        )
        node = AppliedResource(frame, resource, self.host)
        if not await self._run_provisioners(node, data, change, prior, DESTROY):
            raise Failed

    async def _delete(self, operation: Operation, change: Change) -> None:
        provider = self._provider(change)
        deposed = operation.deposed
        if deposed == REPLACED:
            deposed = self._deposed.get(change.address, "")
        state = self.draft.instance(change.address) or InstanceState()
        stored = state.deposed.get(deposed) if deposed else state.current
        if stored is None:
            return
        prior = decode(stored, change.schema)
        await self._run_last(change, prior)
        nothing = null(change.schema.block.implied_type)
        is_planned = change.action is Action.DELETE
        answer = await provider.apply(
            api.ApplyRequest(
                change.address.item.resource.type,
                prior.unmark_deep()[0],
                nothing,
                nothing,
                change.private if is_planned else stored.private,
            )
        )
        self.diags.extend(located(answer.diagnostics, address=str(change.address)))
        left: StoredObject | None = None
        if not answer.state.is_null:
            value = mark_with_paths(answer.state, unmark_deep_with_paths(prior)[1])
            left = encode(
                unknown_as_null(value),
                change.schema,
                stored.status,
                answer.private,
                stored.dependencies,
                stored.create_before_destroy,
            )
        if deposed:
            self.draft.set_deposed(change.address, deposed, left, change.provider)
        else:
            self.draft.set_current(change.address, left, change.provider)
        if api.has_errors(answer.diagnostics):
            raise Failed
        if left is not None:
            self._report_faults(change, [Fault((), "the object is still there")])
            raise Failed


def _renewed(
    stored: StoredObject, dependencies: tuple[AbsResource, ...], created_first: bool
) -> StoredObject:
    """The same object with what the configuration says of it now."""
    return StoredObject(
        stored.attributes,
        stored.schema_version,
        stored.status,
        stored.sensitive_attributes,
        stored.private,
        dependencies,
        created_first,
        stored.skip_destroy,
        stored.identity,
        stored.identity_schema_version,
        stored.flat_attributes,
    )


def result_faults_allowing_unknown(planned: Value, now: Value) -> list[Fault]:
    """Where a final plan contradicts an earlier one; what was unknown may still be."""
    return [
        fault
        for fault in result_faults(planned, now)
        if fault.text != "still unknown after the change"
    ]
