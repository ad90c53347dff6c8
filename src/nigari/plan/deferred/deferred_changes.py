"""Deferred changes: everything that a plan leaves for later, with its chain and its earliest round.

Besides what was deferred itself there is what is inside of it, the resources of a module whose
instances are not known, and what waits for a value only: outputs and conditions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from nigari.addrs.absolute import Abs
from nigari.addrs.keys import DEFERRED
from nigari.addrs.module import ModuleAddr
from nigari.addrs.resource import DATA, EPHEMERAL, ResourceInstance
from nigari.config.blocks.resource import Resource
from nigari.cty.values import null, unknown
from nigari.eval.core.module_tree import ModuleInstance
from nigari.eval.nodes.output import OutputNode
from nigari.eval.nodes.provider_names import find_block
from nigari.plan.model.changes import Action, Change, DeferredChange
from nigari.plan.nodes.plan_run import PlanRun
from nigari.running.deferrals import Deferral, DeferralReason, DeferredKind
from nigari.running.provider_run import ExpandedCall


def deferred_changes(run: PlanRun) -> tuple[DeferredChange, ...]:
    """Everything that is left for later, in the order of addresses."""
    if run.deferrals is None or not run.deferrals.found:
        # Then nothing waits for anything.
        return ()
    found = _Collected(run)
    return tuple(sorted(found.all(), key=lambda each: (each.round, each.address)))


class _Collected:
    def __init__(self, run: PlanRun) -> None:
        from nigari.plan.deferred.chains import Chains
        from nigari.plan.deferred.round_plan import DeferralRounds

        assert run.deferrals is not None
        self._run = run
        self._deferrals = run.deferrals
        self._rounds = DeferralRounds(run)
        self._chains = Chains()

    def all(self) -> Iterator[DeferredChange]:
        needed = {
            each.cause for deferral in self._deferrals.found.values() for each in deferral.before
        }
        for deferral in self._deferrals.found.values():
            # A provider by itself is nothing that could be done.
            if deferral.kind is not DeferredKind.PROVIDER or deferral.cause in needed:
                yield self._change(deferral)
        for call in self._calls():
            if call.deferral is not None:
                yield from self._contents(call, call.deferral)
        yield from self._waiting_values()

    def _calls(self) -> Iterator[ExpandedCall]:
        for frame in self._run.frames():
            for call in frame.calls.values():
                if isinstance(call, ExpandedCall):
                    yield call

    # -- one by one -----------------------------------------------------------------------------

    def _change(self, deferral: Deferral) -> DeferredChange:
        return DeferredChange(
            address=deferral.name,
            kind=deferral.kind,
            reason=deferral.reason,
            chain=self._chains.of(deferral),
            round=self._rounds.earliest(deferral),
            change=self._run.record.deferred.get(deferral.cause),
            settled=deferral.settled,
        )

    def _contents(self, call: ExpandedCall, deferral: Deferral) -> Iterator[DeferredChange]:
        """The resources of a module whose instances are not known, one for all instances."""
        caller = call.frame.instance
        children = caller.children.get(call.call.name, {})
        child = children.get(DEFERRED) or next(iter(children.values()), None)
        if child is None:
            return
        key = None if call.call.repetition.has_one_value else DEFERRED
        pending = [(caller.addr.child(call.call.name, key), child)]
        chain = (deferral.name, *self._chains.of(deferral))
        while pending:
            module, instance = pending.pop()
            for resource in instance.module.resources.values():
                if resource.addr.mode is not EPHEMERAL:
                    yield self._inner(module, instance, resource, deferral, chain)
            for name, inner in instance.children.items():
                single = instance.module.calls[name].repetition.has_one_value
                variants = {one.variant: one for one in inner.values()}
                for one in variants.values():
                    alike = module.child(name, None if single else DEFERRED)
                    differs = len(variants) > 1
                    pending.append((module.child(name, one.addr.key) if differs else alike, one))

    def _inner(
        self,
        module: ModuleAddr,
        instance: ModuleInstance,
        resource: Resource,
        deferral: Deferral,
        chain: tuple[str, ...],
    ) -> DeferredChange:
        key = None if resource.repetition.has_one_value else DEFERRED
        address = Abs(module, ResourceInstance(resource.addr, key))
        found = find_block(instance, resource.provider_name, resource.provider_alias).address
        schema = self._run.pool.schema_of(found.item.provider, resource.addr)
        change = None
        if schema is not None:
            type_ = schema.block.implied_type
            action = Action.READ if resource.addr.mode is DATA else Action.CREATE
            provider = Abs(found.module, found.item.instance(None))
            change = Change(address, action, null(type_), unknown(type_), provider, schema)
        return DeferredChange(
            str(address),
            DeferredKind.RESOURCE,
            DeferralReason.INSTANCES,
            chain,
            self._rounds.earliest(deferral),
            change,
        )

    # -- outputs and checks ---------------------------------------------------------------------

    def _waiting_values(self) -> Iterator[DeferredChange]:
        """The outputs of the root module and the conditions that wait, too."""
        run = self._run
        for name, node in run.root.outputs.items():
            before = self._deferrals.within(node.value)
            if isinstance(node, OutputNode) and before:
                earliest = self._rounds.earliest_value(node.origin())
                kind = DeferredKind.OUTPUT
                yield self._waiting(f"output.{name}", kind, before, earliest)
        planned = {str(each.address) for each in run.record.changes.values()}
        for owner, _, address, conditions in run.record.conditions:
            before = self._deferrals.of_causes(conditions.outcome.causes)
            if owner == "resource":
                address = f"conditions of {address}"
                before = before if address.removeprefix("conditions of ") in planned else []
            if before:
                # One that fails is enough.
                earliest = min(map(self._rounds.earliest, before))
                yield self._waiting(address, DeferredKind.CHECK, before, earliest)

    def _waiting(
        self, address: str, kind: DeferredKind, before: Iterable[Deferral], earliest: int
    ) -> DeferredChange:
        last = max(before, key=lambda each: each.depth)
        chain = (last.name, *self._chains.of(last))
        return DeferredChange(address, kind, DeferralReason.DEFERRED, chain, earliest)
