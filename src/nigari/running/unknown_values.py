"""Diagnostics for values that must be known during planning but are known after apply.

The resources that determine the value are only searched for then, by following references with
unknown values.
"""

from __future__ import annotations

from collections import deque

from nigari.config.core.declared import Repetition
from nigari.cty.values import Value
from nigari.diagnostics import Cause
from nigari.diagnostics.advice import advice
from nigari.eval.core.causes import CauseKind, causes_within
from nigari.eval.core.instances import Frame, Origin, ResourceNode, ValueNode
from nigari.eval.core.scope import nodes_of, scope_of
from nigari.hcl.expressions import Expression
from nigari.hcl.reference_values import scope_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_MOST = 4


def deciding_resources(origin: Origin) -> list[Cause]:
    """Find the resources and outputs of other configurations that an unknown value depends on, with
    their ranges.
    """
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
                others = _other_states(node)
                if others:
                    found.update({each.text: each for each in others})
                    continue
                if isinstance(node, ResourceNode):
                    text = f"{node.label} is known after apply"
                    found[node.label] = Cause(text, node.range)
                    continue
                further = node.origin()
                if further is not None:
                    pending.append(further)
    return list(found.values())


def _other_states(node: ValueNode) -> list[Cause]:
    """Find the outputs of other configurations that a value depends on."""
    return [
        Cause(f"{each.name} is known only after that has been applied", node.range)
        for each in causes_within(node.value)
        if each.kind is CauseKind.OTHER_STATE
    ]


def is_reported(value: Value) -> bool:
    """Check whether a value is unknown because of an already reported error."""
    return any(cause.kind is CauseKind.REPORTED for cause in causes_within(value))


def report_unknown_expansion(frame: Frame, name: str, repetition: Repetition, value: Value) -> None:
    """Report instances that are unknown before apply."""
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
    compiled = frame.instance.compiled.expression(expr)
    causes = deciding_resources(Origin(frame, compiled))
    frame.run.diags.error(
        f"Unknown {argument} argument",
        f"The {argument} of {frame.label(name)} is known only after something else has been "
        f"applied, so nigari cannot tell {_QUESTIONS[argument]}. {_WAYS_OUT[argument]}apply "
        f"{_first(frame, name)}. {in_rounds()}",
        expr.range,
        values=scope_values(expr, scope_of(frame, compiled), unknowns=True),
        causes=tuple(causes),
    )


_QUESTIONS: Final = {
    "count": "how many instances there will be",
    "for_each": "which instances there will be",
    "enabled": "whether the object will exist",
}
_WAYS_OUT: Final = {
    "count": "Use a number that is set in the configuration, or ",
    "for_each": "Use a map whose keys are set in the configuration, with computed results in its values "
    "only; or ",
    "enabled": "Use a value that is set in the configuration, or ",
}


def in_rounds() -> str:
    """Explain that unknown values can be deferred."""
    option = advice().option("-allow-deferral")
    return f"With {option}, plan leaves it for later, and apply does it in another round."


def _first(frame: Frame, name: str) -> str:
    """Describe what to apply before an object with unknown instances."""
    if name.startswith("provider."):
        return f"what it depends on first, with {advice().option('-target')}"
    module = frame.instance.addr
    address = name if module.is_root else f"{module}.{name}"
    return f"everything else first, with {advice().option('-exclude', address)}"
