"""Finds the references of an expression that its value depends on.

A branch that is not taken, or an alternative of `coalesce` that is not reached, is written and does
not matter. A reference matters if the value would not be known without it: the expression is
evaluated once more with an unknown value in place of the reference, and the evaluator itself says
what that does to the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nigari.addrs.module import ROOT_MODULE
from nigari.addrs.values import ProviderFunction
from nigari.cty.values import Value, unknown
from nigari.diagnostics import Diagnostics
from nigari.eval.core.causes import CauseKind, UnknownCause, causes_within
from nigari.eval.core.instances import Frame, Origin
from nigari.eval.core.module_tree import NO_INSTANCE_DATA
from nigari.eval.core.scope import Binding
from nigari.eval.core.shared_values import Names
from nigari.hcl.expressions import Expression
from nigari.hcl.static import attribute_expression
from nigari.lang.references import Reference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_MARKER: Final = UnknownCause(CauseKind.RUN_TIME, ROOT_MODULE, "what is left out")
_MOST: Final = 40
"""An expression with more references is taken as it is written: each costs an evaluation."""


WithoutReference = dict[tuple[Frame, Expression, str], "tuple[Value, bool] | None"]
"""Expression values without one of their references, and whether that reference matters to the
result; None if that cannot be determined.
"""


def decisive_references(
    origin: Origin, names: Sequence[str] = (), known: WithoutReference | None = None
) -> list[Reference]:
    """The references that matter, each name once, in the order in which they are written; with
    `names`, those that matter to the attribute at the end of them.

    Only to be asked where evaluating the expression has given a value. What is `known` is not
    evaluated again for another attribute of the same object.
    """
    known = {} if known is None or origin.data is not NO_INSTANCE_DATA else known
    found: dict[str, Reference] = {}
    expr, names = written_part(origin.compiled.expr, names)
    for part in (expr,) if names else independent_parts(expr):
        compiled = origin.frame.instance.compiled.expression(part)
        references = {str(each): each for each in compiled.references}
        if len(references) > _MOST or part.static_traversal() is not None:
            found.update(references)
            continue
        for name, reference in references.items():
            if name in found:
                continue
            key = (origin.frame, part, name)
            if key not in known:
                known[key] = _without(origin, part, reference)
            if _matters(known[key], names):
                found[name] = reference
    return list(found.values())


def written_part(expr: Expression, names: Sequence[str]) -> tuple[Expression, Sequence[str]]:
    """The expression of the attribute at the end of these names, as far as they lead through
    objects that are written out, and the names that are left.
    """
    while names:
        inner = attribute_expression(expr, names[0])
        if inner is None:
            break
        expr, names = inner, names[1:]
    return expr, names


def independent_parts(expr: Expression) -> Iterator[Expression]:
    """The parts of a written object or tuple, at any depth; another expression is one part."""
    pending = [expr]
    while pending:
        current = pending.pop()
        items = current.static_map()
        parts = (
            current.static_list() if items is None else [each for pair in items for each in pair]
        )
        if parts is None:
            yield current
        else:
            pending.extend(reversed(parts))


def _matters(without: tuple[Value, bool] | None, names: Sequence[str]) -> bool:
    if without is None or not names or not without[1]:
        return without is None or without[1]
    return _MARKER in causes_within(part_of(without[0], names))


def _without(origin: Origin, expr: Expression, one: Reference) -> tuple[Value, bool] | None:
    """The value of an expression where one of its references is not known; None where that cannot
    be said.
    """
    if isinstance(one.subject, ProviderFunction):
        return None
    errors = Diagnostics()
    without = Binding(origin.frame, origin.data, diags=errors)
    without.bind(origin.frame.instance.compiled.expression(expr).references)
    alone = Binding(origin.frame, origin.data, diags=errors)
    alone.bind([one])
    if without.needs or alone.needs:
        return None
    without.names = _left_out(without.names, alone.names)
    value = expr.value(without.scope(), errors)
    return None if errors.has_errors else (value, _MARKER in causes_within(value))


def part_of(value: Value, names: Sequence[str]) -> Value:
    """The attribute at the end of these names, or what they lead to as far as there is anything."""
    for name in names:
        data = value.data
        inner = data.get(name) if isinstance(data, dict) else None
        if not isinstance(inner, Value):
            break
        value = inner.with_marks(value.marks)
    return value


def _left_out(names: Names, wanted: Names) -> Names:
    """The names with an unknown value wherever the other names have a value."""
    result = dict(names)
    for name, inner in wanted.items():
        current = names.get(name, inner)
        if isinstance(current, Value):
            result[name] = _unknown(current)
        elif isinstance(inner, Value):
            result[name] = _unknown(inner)
        else:
            result[name] = _left_out(current, inner)
    return result


def _unknown(value: Value) -> Value:
    return unknown(value.type).with_causes((_MARKER,)).with_marks(value.marks)
