"""Deferred changes: what a plan leaves for later, each with the chain to what it waits for.

The chain is found when the plan is made, by following references whose values are unknown, from the
expression that must be known back to the resource that decides.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from nigari.addrs.absolute import Abs
from nigari.addrs.keys import DEFERRED
from nigari.addrs.module import (
    ModuleAddr,
    ModuleCall,
    ModuleCallInstance,
    ModuleCallOutput,
)
from nigari.addrs.resource import DATA, EPHEMERAL, ResourceInstance
from nigari.addrs.values import CountAttr, EachAttr
from nigari.config.blocks.resource import Resource
from nigari.cty.values import Value, null, unknown
from nigari.eval.base.causes import UnknownCause, causes_within
from nigari.eval.base.instances import Frame, ModuleInstance, ResourceNode, ValueNode
from nigari.eval.base.scope import nodes_of
from nigari.eval.nodes.output import OutputNode
from nigari.eval.nodes.provider_names import find_block
from nigari.eval.nodes.resource import resource_schema
from nigari.hcl.traversal import TraverseAttr
from nigari.lang.references import Reference
from nigari.plan.model.changes import Action, Change, DeferredChange
from nigari.plan.nodes.plan_run import PlanRun
from nigari.plan.nodes.resources import PlannedResource
from nigari.plan.order.block_graph import Block, output_block, resource_block
from nigari.plan.order.rounds import BlockRounds
from nigari.record import record
from nigari.running.deferrals import Deferral, DeferralReason, DeferredKind, WrittenReferences
from nigari.running.provider_run import ExpandedCall

Carries = Callable[[Value], bool]
_MOST_NAMED: Final = 16
"""How many names a chain has at most."""


def deferred_changes(run: PlanRun) -> tuple[DeferredChange, ...]:
    """Everything that is left for later, in the order of addresses."""
    if run.deferrals is None or not run.deferrals.found:
        # Then nothing waits for anything.
        return ()
    found = _Collected(run)
    return tuple(sorted(found.all(), key=lambda each: (each.round, each.address)))


class _Collected:
    def __init__(self, run: PlanRun) -> None:
        assert run.deferrals is not None
        self._run = run
        self._deferrals = run.deferrals
        self._open: set[Block] = set()
        self._inside: set[ModuleAddr] = set()
        self._rounds = BlockRounds(run.blocks, self._may_wait)
        self._earliest: dict[UnknownCause, int] = {}
        self._chains: dict[UnknownCause, tuple[str, ...]] = {}

    def all(self) -> Iterator[DeferredChange]:
        calls = [each for each in self._calls() if each.deferral is not None]
        for call in calls:
            self._inside.add(call.frame.instance.addr.unkeyed.child(call.call.name))
        for deferral in self._deferrals.found.values():
            self._open.update(self._block_of(deferral))
        needed = {
            each.cause for deferral in self._deferrals.found.values() for each in deferral.before
        }
        for deferral in self._deferrals.found.values():
            # A provider by itself is nothing that could be done.
            if deferral.kind is not DeferredKind.PROVIDER or deferral.cause in needed:
                yield self._change(deferral)
        for call in calls:
            assert call.deferral is not None
            yield from self._contents(call, call.deferral)
        yield from self._waiting_values()

    def _calls(self) -> Iterator[ExpandedCall]:
        for frame in (self._run.root, *self._run.called):
            for call in frame.calls.values():
                if isinstance(call, ExpandedCall):
                    yield call

    def _may_wait(self, block: Block) -> bool:
        if block in self._open:
            return True
        path: ModuleAddr | None = block[0]
        while path is not None:
            if path in self._inside:
                return True
            path = path.parent
        return False

    def _block_of(self, deferral: Deferral) -> Iterator[Block]:
        """The block that a deferral is about, as the block graph knows it."""
        change = self._run.record.deferred.get(deferral.cause)
        if change is not None:
            yield resource_block(Abs(change.address.module, change.address.item.resource))

    # -- one by one -----------------------------------------------------------------------------

    def _change(self, deferral: Deferral) -> DeferredChange:
        change = self._run.record.deferred.get(deferral.cause)
        latest = deferral.latest
        if change is not None:
            block = resource_block(Abs(change.address.module, change.address.item.resource))
            latest = max(latest, self._rounds.latest(block))
        return DeferredChange(
            deferral.name,
            deferral.kind,
            deferral.reason,
            self._chain(deferral),
            self._first_round(deferral),
            latest,
            change,
            deferral.settled,
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
        chain = (deferral.name, *self._chain(deferral))
        while pending:
            module, instance = pending.pop()
            for resource in instance.module.resources.values():
                if resource.addr.mode is not EPHEMERAL:
                    yield self._inner(module, instance, resource, deferral, chain)
            for name, inner in instance.children.items():
                for one in list(inner.values())[:1]:
                    single = one.call is None or one.call.repetition.has_one_value
                    pending.append((module.child(name, None if single else DEFERRED), one))

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
        offered = self._run.pool.of(found.item.provider)
        schema = None if offered is None else resource_schema(offered, resource.addr)
        change = None
        if schema is not None:
            type_ = schema.block.implied_type
            action = Action.READ if resource.addr.mode is DATA else Action.CREATE
            provider = Abs(found.module, found.item.instance(None))
            change = Change(address, action, null(type_), unknown(type_), provider, schema)
        block = resource_block(Abs(module, resource.addr))
        return DeferredChange(
            str(address),
            DeferredKind.RESOURCE,
            DeferralReason.INSTANCES,
            chain,
            self._first_round(deferral),
            max(deferral.latest, self._rounds.latest(block)),
            change,
        )

    def _chain(self, deferral: Deferral) -> tuple[str, ...]:
        """What a deferral waits for, step by step, the last of its causes first."""
        pending = [deferral]
        while pending:
            current = pending[-1]
            before = max(current.before, key=lambda each: each.latest, default=None)
            if before is not None and before.cause not in self._chains:
                pending.append(before)
                continue
            pending.pop()
            names = tuple(_names(current, before))
            if before is not None:
                names = (*names, before.name, *self._chains[before.cause])
            self._chains[current.cause] = _shortened(names)
        return self._chains[deferral.cause]

    # -- outputs and checks ---------------------------------------------------------------------

    def _waiting_values(self) -> Iterator[DeferredChange]:
        """The outputs of the root module and the conditions that wait, too."""
        run = self._run
        for name, node in run.root.outputs.items():
            before = self._deferrals.within(node.value)
            if isinstance(node, OutputNode) and before:
                yield self._waiting(f"output.{name}", DeferredKind.OUTPUT, before)
        planned = {str(each.address) for each in run.record.changes.values()}
        for kind, _, address, conditions in run.record.conditions:
            before = self._deferrals.of_causes(conditions.outcome.causes)
            if kind == "resource":
                address = f"conditions of {address}"
                before = before if address.removeprefix("conditions of ") in planned else []
            if before:
                yield self._waiting(address, DeferredKind.CHECK, before)

    def _waiting(
        self, address: str, kind: DeferredKind, before: Iterable[Deferral]
    ) -> DeferredChange:
        last = max(before, key=lambda each: each.latest)
        chain = (last.name, *self._chain(last))
        earliest, latest = max(self._first_round(each) for each in before), last.latest
        if kind is DeferredKind.OUTPUT:
            block = output_block(address.removeprefix("output."))
            latest = max(latest, self._rounds.latest(block))
        return DeferredChange(address, kind, DeferralReason.DEFERRED, chain, earliest, latest)

    # -- rounds ---------------------------------------------------------------------------------

    def _first_round(self, deferral: Deferral) -> int:
        """The earliest round that can do something.

        What waits for something deferred takes another round for certain where it needs an
        attribute that only the provider can give. Anything else may be known once that is planned.
        """
        pending = [deferral]
        while pending:
            current = pending[-1]
            missing = [each for each in current.before if each.cause not in self._earliest]
            if missing:
                pending += missing
                continue
            pending.pop()
            at = max((self._earliest[each.cause] for each in current.before), default=2)
            # A provider may be configured with less, and plan something all the same.
            needs = current.needs_values and current.kind is not DeferredKind.PROVIDER
            needs = needs and self._needs_computed(current)
            self._earliest[current.cause] = at + 1 if needs else at
        return self._earliest[deferral.cause]

    def _needs_computed(self, deferral: Deferral) -> bool:
        """Whether a deferral needs an attribute of a new object that the provider works out."""
        causes = {each.cause for each in deferral.before}
        pending, seen = list(deferral.origins), set[ValueNode]()
        while pending:
            place = pending.pop()
            for node, reference in _nodes(place, causes):
                if isinstance(node, PlannedResource):
                    if _is_computed(node, reference) and not self._exists(node):
                        return True
                elif node not in seen and (origin := node.origin()) is not None:
                    seen.add(node)
                    pending.append(
                        WrittenReferences(origin.frame, origin.compiled.references, origin.data)
                    )
        return False

    def _exists(self, node: PlannedResource) -> bool:
        return Abs(node.frame.instance.addr, node.resource.addr) in self._run.prior.resources


def _nodes(
    place: WrittenReferences, causes: set[UnknownCause]
) -> Iterator[tuple[ValueNode, Reference]]:
    """What is referred to that is not known for one of these causes."""
    for reference in place.references:
        for node in nodes_of(place.frame, reference):
            if isinstance(node, PlannedResource):
                is_concerned = bool(causes & _causes_of(node))
            else:
                is_concerned = not causes.isdisjoint(causes_within(node.value))
            if is_concerned:
                yield node, reference


def _causes_of(node: PlannedResource) -> set[UnknownCause]:
    found = [node.deferral, *(each.deferral for each in node.instances.values())]
    return {each.cause for each in found if each is not None}


def _is_computed(node: PlannedResource, reference: Reference) -> bool:
    """Whether a reference names an attribute that only the provider sets."""
    steps = reference.remaining.steps
    first = steps[0] if steps else None
    if node.schema is None or not isinstance(first, TraverseAttr):
        return False
    attribute = node.schema.block.attributes.get(first.name)
    return attribute is not None and attribute.computed and not attribute.optional


# -- chains -----------------------------------------------------------------------------------


def _shortened(chain: tuple[str, ...]) -> tuple[str, ...]:
    """A chain without its middle, where it is very long: both ends say what matters."""
    if len(chain) <= _MOST_NAMED:
        return chain
    half = _MOST_NAMED // 2
    return (*chain[:half], "…", *chain[-half:])


def _names(deferral: Deferral, before: Deferral | None) -> list[str]:
    """The names between a deferral and what it waits for; without that, to what is unknown."""
    if before is None:
        found = _way(deferral.origins, lambda value: not value.is_wholly_known)
        return found or list(deferral.functions)
    cause = before.cause
    way = _way(deferral.origins, lambda value: cause in causes_within(value))
    return way[:-1] if way and _is_about(way[-1], before.name) else way


def _is_about(name: str, address: str) -> bool:
    """Whether an address is that of an instance of something."""
    return address == name or address.startswith(f"{name}[")


def _way(start: Iterable[WrittenReferences], carries: Carries) -> list[str]:
    """The shortest way over names whose values carry something, to where it comes from."""
    pending: deque[tuple[WrittenReferences, tuple[str, ...]]] = deque((each, ()) for each in start)
    seen: set[object] = set()
    longest: tuple[str, ...] = ()
    while pending:
        place, way = pending.popleft()
        for reference in place.references:
            for step in _carriers(place, reference, carries):
                if step.key in seen:
                    continue
                seen.add(step.key)
                further = way if not step.name else (*way, step.name)
                if step.further is None:
                    return list(further)
                longest = max(longest, further, key=len)
                pending.append((step.further, further))
    return list(longest)


@record
class _Step:
    name: str
    further: WrittenReferences | None
    key: object


def _carriers(place: WrittenReferences, reference: Reference, carries: Carries) -> Iterator[_Step]:
    subject, frame = reference.subject, place.frame
    if isinstance(subject, EachAttr | CountAttr):
        expr = place.data.expr
        if expr is not None:
            references = frame.instance.compiled.expression(expr).references
            yield _Step("", WrittenReferences(frame, references), (frame, expr))
        return
    call = _call_of(frame, reference)
    if call is not None and call.deferral is not None:
        if carries(call.deferral.value()):
            yield _Step(call.deferral.name, None, call)
        return
    for node in nodes_of(frame, reference):
        if not carries(node.value):
            continue
        origin = None if isinstance(node, ResourceNode) else node.origin()
        further = None
        if origin is not None:
            further = WrittenReferences(origin.frame, origin.compiled.references, origin.data)
        yield _Step(_name(node), further, node)


def _call_of(frame: Frame, reference: Reference) -> ExpandedCall | None:
    subject = reference.subject
    if isinstance(subject, ModuleCallOutput | ModuleCallInstance):
        subject = subject.call
    call = frame.calls.get(subject.name) if isinstance(subject, ModuleCall) else None
    return call if isinstance(call, ExpandedCall) else None


def _name(node: ValueNode) -> str:
    """What a node is called by its whole address."""
    addr = node.frame.instance.addr
    if addr.is_root:
        return node.label
    name = node.label.removesuffix(f" of {addr}")
    if isinstance(node, OutputNode):
        name = node.output.name
    return f"{addr}.{name}"
