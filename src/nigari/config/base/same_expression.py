"""Compares expressions by how they are written, whatever their layout."""

from __future__ import annotations

from nigari.hcl.expressions import Expression, Parentheses
from nigari.hcl.scanner import scan_expression


def is_same_iteration(first: Expression | None, second: Expression | None) -> bool:
    """Whether two blocks iterate over the same collection, which may change.

    Only what depends on something can change; two equal lists that are written out stay equal.
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
