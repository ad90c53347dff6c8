"""Comparison of expressions by their tokens, regardless of layout."""

from __future__ import annotations

from nigari.hcl.expressions import Expression, Parentheses
from nigari.hcl.scanner import scan_expression


def is_same_iteration(first: Expression | None, second: Expression | None) -> bool:
    """Check that two blocks iterate over the same variable collection.

    A collection without references cannot change, so two equal literals do not count.
    """
    if first is None or second is None:
        return False
    if not first.variables() or not second.variables():
        return False
    return _tokens(first) == _tokens(second)


def _tokens(expr: Expression) -> list[str]:
    while isinstance(expr, Parentheses):
        expr = expr.inner
    return scan_expression(expr.source.text[expr.start : expr.end]).texts
