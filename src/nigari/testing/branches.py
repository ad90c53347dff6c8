"""Branches of conditionals: those in the source, and those taken with the values of a run.

The evaluator does not record branches, as that would slow it down. Conditions are evaluated again
here for coverage.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.types import BOOL
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.hcl.collections import For
from nigari.hcl.dynamic_blocks import IteratedExpression
from nigari.hcl.expressions import Expression
from nigari.hcl.operators import Conditional
from nigari.hcl.scope import Scope

_MOST: Final = 10_000
"""Maximum number of evaluated elements of all `for` expressions in one expression."""


def written_branches(expr: Expression) -> Iterator[Expression]:
    """Yield all branches of the conditionals in an expression."""
    pending = [expr]
    while pending:
        current = pending.pop()
        if isinstance(current, Conditional):
            yield from current.results
            yield current.otherwise
        pending.extend(current.children())


def taken_branches(expr: Expression, scope: Scope) -> Iterator[Expression]:
    """Yield the branches taken with these values."""
    left = _MOST
    pending = [(expr, scope)]
    while pending and left:
        current, names = pending.pop()
        if isinstance(current, Conditional):
            for part, is_taken in _chosen(current, names):
                if is_taken:
                    yield part
                pending.append((part, names))
        elif isinstance(current, For):
            pending.append((current.collection, names))
            for inner in _elements(current, names):
                left -= 1
                parts = (current.key, current.result, current.condition)
                pending += [(part, inner) for part in parts if part is not None]
                if not left:
                    break
        elif isinstance(current, IteratedExpression):
            pending.append((current.inner, Scope(current.iterators, parent=names)))
        else:
            pending += [(child, names) for child in current.children()]


def truth_of(expr: Expression, scope: Scope) -> bool | None:
    """Evaluate a condition; None if it is unknown."""
    reported = Diagnostics()
    value = expr.value(scope, reported).unmark_deep()[0]
    if reported.has_errors or not value.is_known or value.is_null:
        return None
    try:
        return convert(value, BOOL).as_bool()
    except CtyError:
        return None


def _chosen(conditional: Conditional, scope: Scope) -> Iterator[tuple[Expression, bool]]:
    """Yield the evaluated parts of a conditional, and whether each is a branch."""
    for condition, result in zip(conditional.conditions, conditional.results, strict=True):
        yield condition, False
        truth = truth_of(condition, scope)
        if truth is None:
            return
        if truth:
            yield result, True
            return
    yield conditional.otherwise, True


def _elements(loop: For, scope: Scope) -> Iterator[Scope]:
    """Yield the scope inside a `for` expression for each element."""
    collection = loop.collection.value(scope, Diagnostics()).unmark_deep()[0]
    if not collection.is_known or collection.is_null:
        return
    if not isinstance(collection.data, dict | tuple):
        return
    for key, element in collection.items():
        names: dict[str, Value] = {loop.value_name: element}
        if loop.key_name:
            names[loop.key_name] = key
        yield Scope(names, parent=scope)
