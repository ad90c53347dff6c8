"""The earliest round in which each deferral of a plan can be done.

What needs something deferred can be known together with it, unless it must have an attribute that
only the provider sets, of an object that there will be for certain. Of several values that one is
made of, any may turn out to be enough (`a || b`, a branch that is not taken), so the first of them
counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from nigari.addrs.absolute import Abs
from nigari.addrs.address import Address
from nigari.addrs.module import ModuleCall, ModuleCallInstance, ModuleCallOutput
from nigari.addrs.resource import MANAGED, ResourceInstance
from nigari.addrs.values import CountAttr, EachAttr
from nigari.cty.values import Value
from nigari.eval.core.causes import UnknownCause
from nigari.eval.core.instances import Frame, Origin
from nigari.eval.core.scope import nodes_of
from nigari.eval.core.value_dependencies import (
    WithoutReference,
    decisive_references,
    independent_parts,
)
from nigari.hcl.expressions import Expression
from nigari.hcl.traversal import TraverseAttr
from nigari.lang.references import Reference, function_calls
from nigari.plan.nodes.plan_run import PlanRun
from nigari.plan.nodes.resources import PlannedResource
from nigari.plan.order.earliest_rounds import EarliestRounds
from nigari.record import record
from nigari.running.deferrals import Deferral, DeferredKind, Written
from nigari.running.provider_run import ExpandedCall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias


@record
class _Waiting:
    """The round in which what others wait for under this cause is done."""

    cause: UnknownCause


@record
class _Usable:
    """The round in which the value of an expression waits for nothing deferred, or, with `is_known`,
    in which it is known when planning.
    """

    origin: Origin
    is_known: bool


_Item: TypeAlias = _Waiting | _Usable
_Choice: TypeAlias = list[tuple[_Item, int]]


class DeferralRounds:
    """The earliest rounds of all deferrals of one plan."""

    def __init__(self, run: PlanRun) -> None:
        assert run.deferrals is not None
        self._run = run
        self._deferrals = run.deferrals
        self._earliest = EarliestRounds(
            self._waits_of, lambda item: 2 if isinstance(item, _Waiting) else 1
        )
        self._without: WithoutReference = {}

    def earliest(self, deferral: Deferral) -> int:
        """The earliest round that can do something."""
        return self._earliest.of(_Waiting(deferral.cause))

    def earliest_value(self, origin: Origin) -> int:
        """The earliest round in which a value waits for nothing deferred."""
        return max(2, self._earliest.of(_Usable(origin, False)))

    def _waits_of(self, item: _Item) -> Iterable[_Choice]:
        if isinstance(item, _Waiting):
            return self._of_deferral(self._deferrals.found[item.cause])
        return self._of_value(item)

    def _of_deferral(self, deferral: Deferral) -> Iterator[_Choice]:
        used = {
            each.cause
            for origin in deferral.origins
            for reference in origin.references
            for node in nodes_of(origin.frame, reference)
            for each in self._deferrals.within(node.value)
        }
        for before in deferral.before:
            if before.cause not in used:
                yield [(_Waiting(before.cause), 0)]
        # A provider may be configured with less, and plan something all the same.
        is_known = deferral.needs_values and deferral.kind is not DeferredKind.PROVIDER
        for origin in deferral.origins:
            yield from self._of_written(origin, is_known)

    def _of_written(self, written: Written, is_known: bool) -> Iterator[_Choice]:
        compiled = written.frame.instance.compiled
        for expr in written.expressions():
            origin = Origin(written.frame, compiled.expression(expr), written.data)
            yield [(_Usable(origin, is_known), 0)]

    def _of_value(self, item: _Usable) -> Iterator[_Choice]:
        """All parts of what is written have to be there, each by any of what it comes from."""
        origin = item.origin
        for part in independent_parts(origin.compiled.expr):
            yield self._of_part(item, part)

    def _of_part(self, item: _Usable, part: Expression) -> _Choice:
        frame, data = item.origin.frame, item.origin.data
        origin = Origin(frame, frame.instance.compiled.expression(part), data)
        choice: _Choice = []
        for reference in decisive_references(origin, (), self._without):
            found = self._of_reference(origin, reference, item.is_known)
            if found == []:
                # It waits for what this round makes, and that may be enough.
                return []
            choice += found or ()
        return choice

    def _of_reference(self, origin: Origin, reference: Reference, is_known: bool) -> _Choice | None:
        """Return what a reference waits for; None if it is known."""
        subject, frame = reference.subject, origin.frame
        if isinstance(subject, EachAttr | CountAttr):
            data = origin.data
            values = (data.each_key, data.each_value, data.count_index)
            return self._by_causes([each for each in values if each is not None])
        call = call_of(frame, reference)
        if call is not None and call.deferral is not None:
            return [(_Waiting(call.deferral.cause), 0)]
        nodes = [each for each in nodes_of(frame, reference) if not each.value.is_wholly_known]
        if not nodes:
            return None
        choice: _Choice = []
        for node in nodes:
            written = None if isinstance(node, PlannedResource) else node.origin()
            if isinstance(node, PlannedResource):
                found = self._of_resource(origin, node, reference, is_known)
            elif written is not None:
                found = [(_Usable(written, is_known), 0)]
            else:
                found = self._by_causes([node.value]) or []
            if not found:
                return []
            choice += found
        return choice

    def _by_causes(self, values: Iterable[Value]) -> _Choice | None:
        unknown = [each for each in values if not each.is_wholly_known]
        if not unknown:
            return None
        return [
            (_Waiting(each.cause), 0) for value in unknown for each in self._deferrals.within(value)
        ]

    def _of_resource(
        self, origin: Origin, node: PlannedResource, reference: Reference, is_known: bool
    ) -> _Choice:
        more = is_known and _is_computed(node, reference) and not self._exists(node)
        subject, instances = reference.subject, node.instances
        if node.deferral is not None:
            more = more and (node.resource.repetition.is_single or _must_exist(origin, subject))
            return [(_Waiting(node.deferral.cause), int(more))]
        if isinstance(subject, ResourceInstance) and subject.key in instances:
            instances = {subject.key: instances[subject.key]}
        found = [each.deferral for each in instances.values()]
        return [(_Waiting(each.cause), int(more)) for each in found if each is not None]

    def _exists(self, node: PlannedResource) -> bool:
        return Abs(node.frame.instance.addr, node.resource.addr) in self._run.prior.resources


def _must_exist(origin: Origin, subject: Address) -> bool:
    """Return whether a missing instance is an error that no function catches."""
    if not isinstance(subject, ResourceInstance) or subject.key is None:
        return False
    return all(each.name not in ("try", "can") for each in function_calls(origin.compiled.expr))


def call_of(frame: Frame, reference: Reference) -> ExpandedCall | None:
    """The module call that a reference is about, if it is about one."""
    subject = reference.subject
    if isinstance(subject, ModuleCallOutput | ModuleCallInstance):
        subject = subject.call
    call = frame.calls.get(subject.name) if isinstance(subject, ModuleCall) else None
    return call if isinstance(call, ExpandedCall) else None


def _is_computed(node: PlannedResource, reference: Reference) -> bool:
    """Return whether a reference names a computed attribute of an object that will be created."""
    steps = reference.remaining.steps
    first = steps[0] if steps else None
    is_made = node.resource.addr.mode is MANAGED
    if node.schema is None or not is_made or not isinstance(first, TraverseAttr):
        return False
    attribute = node.schema.block.attributes.get(first.name)
    return attribute is not None and attribute.computed and not attribute.optional
