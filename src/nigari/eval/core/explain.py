"""Chains of an unknown value: from where it is back to its root cause.

The chain is found only when it must be shown. Every node can say which expression gave its value and
in which module that was evaluated, so the way back follows the references whose values carry the
cause, shortest first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from nigari.addrs.values import CountAttr, EachAttr
from nigari.diagnostics import Cause, Range
from nigari.eval.core.causes import CauseKind, UnknownCause, causes_within
from nigari.eval.core.instances import Origin
from nigari.eval.core.keyed_references import indexed_references, referenced_value
from nigari.eval.core.scope import nodes_of
from nigari.hcl.calls import FunctionCall
from nigari.hcl.expressions import Expression
from nigari.lang.references import Reference
from nigari.record import record


@record
class ReferenceStep:
    """One step of the way: a name, and where it is used."""

    name: str
    range: Range


def way_to(cause: UnknownCause, origin: Origin) -> list[ReferenceStep]:
    """The names that carried a cause to an expression, from the expression back to the root.

    Where the root is a function, the way ends with the place that it is called in; where it is an
    error, with what has the error.
    """
    pending: deque[tuple[Origin, tuple[ReferenceStep, ...]]] = deque([(origin, ())])
    seen: set[object] = set()
    while pending:
        place, way = pending.popleft()
        is_root = True
        references = list(place.compiled.references)
        if cause.kind is CauseKind.PLANNED:
            references = indexed_references(place, references)
        for reference in references:
            for carrier in _carriers(cause, place, reference):
                is_root = False
                if carrier.further is None:
                    return [*way, carrier.link]
                if carrier.key not in seen:
                    seen.add(carrier.key)
                    pending.append((carrier.further, (*way, carrier.link)))
        if is_root and way and cause.kind is CauseKind.REPORTED:
            return list(way)
        call = _call_of(cause, place.compiled.expr) if is_root else None
        if call is not None:
            return [*way, ReferenceStep(cause.text, call.range)]
    return []


@record
class _Carrier:
    """A carrier of a cause: its name where it is used, and the origin of its value."""

    link: ReferenceStep
    further: Origin | None
    key: object
    """The same for what need not be followed twice."""


def _carriers(cause: UnknownCause, place: Origin, reference: Reference) -> Iterator[_Carrier]:
    """The carriers of the cause behind a reference."""
    subject = reference.subject
    if isinstance(subject, EachAttr | CountAttr):
        expr = place.data.expr
        if expr is not None:
            compiled = place.frame.instance.compiled.expression(expr)
            link = ReferenceStep(str(subject), reference.range)
            yield _Carrier(link, Origin(place.frame, compiled), (place.frame, expr))
        return
    for node in nodes_of(place.frame, reference):
        part = None
        if cause.kind is CauseKind.PLANNED:
            part = referenced_value(node, node.value, reference)
        if cause in causes_within(node.value if part is None else part):
            yield _Carrier(ReferenceStep(node.label, reference.range), node.origin(), node)


def _call_of(cause: UnknownCause, expr: Expression) -> FunctionCall | None:
    """The call of the function that is the cause, in an expression."""
    if cause.kind not in (CauseKind.IMPURE_FUNCTION, CauseKind.PROVIDER_FUNCTION):
        return None
    pending = [expr]
    while pending:
        current = pending.pop()
        if isinstance(current, FunctionCall):
            name = current.name.removeprefix("core::")
            if cause.name == f"{name}()":
                return current
        pending.extend(current.children())
    return None


_ENDINGS = {
    CauseKind.MISSING_VARIABLE: "which has no value",
    CauseKind.MISSING_ARGUMENT: "for which the call has no argument",
    CauseKind.NEVER_STATIC: "which is declared with const = false",
    CauseKind.RESOURCE: "which is known only after plan or apply",
    CauseKind.PLANNED: "which is known only after apply",
    CauseKind.EACH: "whose instances may differ",
    CauseKind.COUNT: "whose instances may differ",
    CauseKind.IMPURE_FUNCTION: "whose result differs at every call",
    CauseKind.PROVIDER_FUNCTION: "which only its provider can compute",
    CauseKind.RUN_TIME: "which is known only at run time",
    CauseKind.OTHER_STATE: "which is known only after that configuration is applied",
    CauseKind.MODULE: "which could not be loaded",
    CauseKind.NO_INSTANCES: "which has no instances",
    CauseKind.INSTANCE: "which is different in each instance",
    CauseKind.DEFERRED: "which is deferred to a later round",
    CauseKind.REPORTED: "which has been reported",
}


def chain(
    what: str, cause: UnknownCause, way: list[ReferenceStep]
) -> tuple[str, tuple[Cause, ...]]:
    """The whole way as one line, and frame by frame with the root cause first."""
    if way and way[0].name == what:
        way = way[1:]
    names = [link.name for link in way]
    if names and cause.kind is CauseKind.PLANNED:
        # The cause names the attribute of the object that the way ends with.
        del names[-1]
    if (names or [what])[-1] != cause.text:
        names.append(cause.text)
    line = " ← ".join([what, *names])
    ending = _ENDINGS[cause.kind]
    frames = [Cause(f"{cause.text}, {ending}", cause.range)]
    for position in range(len(way) - 1, -1, -1):
        user = what if position == 0 else way[position - 1].name
        frames.append(Cause(f"{user} uses {way[position].name}", way[position].range))
    return f"{line}, {ending}", tuple(frames)
