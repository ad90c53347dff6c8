"""The chains from what is left for later to what it waits for, by the names that users wrote.

A chain is found when the plan is made, by following references whose values are unknown, from the
expression that must be known back to the resource that decides.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator

from nigari.addrs.values import CountAttr, EachAttr
from nigari.cty.values import Value
from nigari.eval.core.causes import UnknownCause, causes_within
from nigari.eval.core.instances import ResourceNode, ValueNode
from nigari.eval.core.scope import nodes_of
from nigari.eval.nodes.output import OutputNode
from nigari.lang.references import Reference
from nigari.plan.deferred.round_plan import call_of
from nigari.record import record
from nigari.running.deferrals import Deferral, Written, written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

Carries = Callable[[Value], bool]
_MOST_NAMED: Final = 16
"""The most names of a chain."""


class Chains:
    """The chains of a plan's deferrals."""

    def __init__(self) -> None:
        self._known: dict[UnknownCause, tuple[str, ...]] = {}

    def of(self, deferral: Deferral) -> tuple[str, ...]:
        """The chain of a deferral. Of several predecessors, the deepest is named."""
        pending = [deferral]
        while pending:
            current = pending[-1]
            before = max(current.before, key=lambda each: each.depth, default=None)
            if before is not None and before.cause not in self._known:
                pending.append(before)
                continue
            pending.pop()
            names = tuple(_names(current, before))
            if before is not None:
                names = (*names, before.name, *self._known[before.cause])
            self._known[current.cause] = _shortened(names)
        return self._known[deferral.cause]


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
    """Return whether an address belongs to an instance of a resource or module."""
    return address == name or address.startswith(f"{name}[")


def _way(start: Iterable[Written], carries: Carries) -> list[str]:
    """The shortest way over names whose values carry something, to where it comes from."""
    pending: deque[tuple[Written, tuple[str, ...]]] = deque((each, ()) for each in start)
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
    further: Written | None
    key: object


def _carriers(place: Written, reference: Reference, carries: Carries) -> Iterator[_Step]:
    subject, frame = reference.subject, place.frame
    if isinstance(subject, EachAttr | CountAttr):
        expr = place.data.expr
        if expr is not None:
            compiled = frame.instance.compiled.expression(expr)
            yield _Step("", Written(frame, compiled), (frame, expr))
        return
    call = call_of(frame, reference)
    if call is not None and call.deferral is not None:
        if carries(call.deferral.value()):
            yield _Step(call.deferral.name, None, call)
        return
    for node in nodes_of(frame, reference):
        if not carries(node.value):
            continue
        origin = None if isinstance(node, ResourceNode) else node.origin()
        further = None if origin is None else written(origin)
        yield _Step(_name(node), further, node)


def _name(node: ValueNode) -> str:
    """The whole address of a node."""
    addr = node.frame.instance.addr
    if addr.is_root:
        return node.label
    name = node.label.removesuffix(f" of {addr}")
    if isinstance(node, OutputNode):
        name = node.output.name
    return f"{addr}.{name}"
