"""Explanation of failed conditions: the origins of their values, as lines of text.

Everything is already evaluated; only the expressions along the chain are evaluated again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from nigari.addrs.keys import InstanceKey
from nigari.addrs.values import OutputValue
from nigari.diagnostics import Diagnostics
from nigari.eval.core.instances import CallNode, Frame
from nigari.eval.core.module_tree import NO_INSTANCE_DATA
from nigari.eval.core.worklist import Node
from nigari.eval.static.run import StaticRun
from nigari.hcl.expressions import Expression, Literal, Parentheses
from nigari.hcl.operators import Operation
from nigari.hcl.scope import Scope
from nigari.lang.references import Reference
from nigari.lang.render import value_glimpse
from nigari.workspace.explain.chain_text import chain_lines
from nigari.workspace.explain.explanation import Explanation, ExplanationBuilder
from nigari.workspace.explain.queries import ValueQueries

Sources = Mapping[str, bytes]


class FinishedEvaluation(ValueQueries):
    """Queries of a configuration that has been planned or applied."""

    __slots__ = ()

    def __init__(self, static: StaticRun, sources: Sources) -> None:
        super().__init__(static, sources)

    def evaluate(self, nodes: Sequence[Node]) -> None:
        # Nodes without a result were not needed, and stay unevaluated.
        for node in nodes:
            node.step()

    def module_instances(self, call: CallNode) -> Mapping[InstanceKey, Frame]:
        return call.frames


def condition_origins(
    condition: Expression,
    references: Sequence[Reference],
    scope: Scope,
    frame: Frame,
    evaluation: FinishedEvaluation,
) -> tuple[str, ...]:
    """Describe the sides of a condition, and the origins of the values it refers to."""
    builder = ExplanationBuilder(evaluation, follows_keys=False, follows_resources=True)
    lines = list(_sides(condition, scope))
    for part in _parts(references, frame, builder):
        lines += chain_lines(part, "")
    return tuple(lines)


def _sides(condition: Expression, scope: Scope) -> Iterator[str]:
    """Yield the sides of a comparison or other operation, except for plain references."""
    pending = [condition]
    while pending:
        current = pending.pop()
        if isinstance(current, Parentheses):
            pending.append(current.inner)
        elif isinstance(current, Operation):
            pending += reversed(current.operands)
        elif not isinstance(current, Literal) and current.children():
            reported = Diagnostics()
            value = current.value(scope, reported)
            if not reported.has_errors:
                text = current.source.glimpse(current.start, current.end)
                shown = value_glimpse(value)
                if text != shown:
                    yield f"{text} = {shown}"


def _parts(
    references: Sequence[Reference], frame: Frame, builder: ExplanationBuilder
) -> Iterator[Explanation]:
    found = {str(each): each for each in references}
    for reference in found.values():
        subject = reference.subject
        if isinstance(subject, OutputValue):
            node = frame.outputs.get(subject.name)
            if node is not None:
                yield builder.node(node)
        else:
            yield from builder.references(frame, NO_INSTANCE_DATA, [reference])
