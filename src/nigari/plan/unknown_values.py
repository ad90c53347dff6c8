"""Places that need a value while planning, and what is said when it is known only after apply.

The way from the place back to the resource that decides is found only then, by following the
references whose values are unknown.
"""

from __future__ import annotations

from collections import deque

from nigari.config.declared import Repetition
from nigari.cty.values import Value
from nigari.diagnostics import Cause
from nigari.eval.causes import CauseKind, causes_within
from nigari.eval.instances import Frame, Origin, ResourceNode
from nigari.eval.scope import nodes_of
from nigari.hcl.expressions import Expression

_MOST = 4


def deciding_resources(origin: Origin) -> list[Cause]:
    """The resources whose results an unknown value waits for, each with where it is declared."""
    pending: deque[Origin] = deque([origin])
    seen: set[object] = set()
    found: dict[str, Cause] = {}
    while pending and len(found) < _MOST:
        place = pending.popleft()
        for reference in place.compiled.references:
            for node in nodes_of(place.frame, reference):
                if node in seen or node.value.is_wholly_known:
                    continue
                seen.add(node)
                if isinstance(node, ResourceNode):
                    text = f"{node.label} is known only after it has been applied"
                    found[node.label] = Cause(text, node.range)
                    continue
                further = node.origin()
                if further is not None:
                    pending.append(further)
    return list(found.values())


def is_reported(value: Value) -> bool:
    """Whether a value is unknown because of an error that has been told already."""
    return any(cause.kind is CauseKind.REPORTED for cause in causes_within(value))


def report_unknown_expansion(frame: Frame, name: str, repetition: Repetition, value: Value) -> None:
    """Report instances that cannot be told before something has been applied."""
    if is_reported(value):
        return
    for argument, expr in (
        ("count", repetition.count),
        ("for_each", repetition.for_each),
        ("enabled", repetition.enabled),
    ):
        if expr is not None:
            _report(frame, name, argument, expr)
            return


def _report(frame: Frame, name: str, argument: str, expr: Expression) -> None:
    causes = deciding_resources(Origin(frame, frame.instance.compiled.expression(expr)))
    what = "which instances" if argument == "for_each" else "how many instances"
    because = (
        f" It depends on {', '.join(c.text.split(' is ')[0] for c in causes)}." if causes else ""
    )
    frame.run.diags.error(
        f"Unknown {argument} argument",
        f"The {argument} of {frame.label(name)} is known only after something else has been "
        f"applied, so it cannot be told {what} there will be.{because} Use keys that the "
        "configuration itself decides, and put what is found out later into values only; or "
        "apply what it depends on first, with -target.",
        expr.range,
        causes=tuple(causes),
    )
