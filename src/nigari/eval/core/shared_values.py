"""Values that do not depend on the instance of a repeated block, computed once for all of them.

What is shared are expressions that may take long (loops, splats, calls), as large as they can be
without `each`, `count`, `self`, `caller`, a name that is bound around them, and functions that need not give
the same result twice. An instance that finds other values behind any name, even equal ones, shares
nothing with those before; so do references that are still open in one phase and known in another.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from nigari.addrs.values import Caller, CountAttr, EachAttr, Self
from nigari.cty.values import Value
from nigari.eval.core.compile import Compiled, CompiledBody
from nigari.hcl.expressions import CostlyExpression, Expression
from nigari.hcl.source import Source
from nigari.hcl.splats import Splat, SplatItem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


Names = dict[str, "Value | Names"]
"""Names of a scope: a value, or the names one step further in."""

_OF_INSTANCES: Final = frozenset(("caller", "count", "each", "self"))


class SharedValues:
    """Values that the instances of one block share while all names have the same values."""

    __slots__ = ("compiled", "names", "values")

    def __init__(self, compiled: Compiled | CompiledBody, names: Names) -> None:
        self.compiled: Compiled | CompiledBody = compiled
        self.names: Names = names
        self.values: dict[Hashable, Value | None] | None = None
        """None until a second instance asks: most blocks have only one."""


def shared_values(
    found: dict[int, SharedValues], compiled: Compiled | CompiledBody, names: Names
) -> dict[Hashable, Value | None] | None:
    """The expressions whose values other instances can share, with those already found."""
    known = found.get(id(compiled))
    if known is None or not _are_same(known.names, names):
        found[id(compiled)] = SharedValues(compiled, names)
        return None
    if known.values is None:
        known.values = dict.fromkeys(_shareable(compiled))
    return known.values


def _are_same(before: Names, names: Names) -> bool:
    """Return whether all names have the same values, except those that differ between instances."""
    outer, inner = (
        {name: each for name, each in given.items() if name not in _OF_INSTANCES}
        for given in (before, names)
    )
    return _have_same(outer, inner)


def _have_same(one: Value | Names, other: Value | Names) -> bool:
    if one is other:
        return True
    if isinstance(one, Value) or isinstance(other, Value):
        # Paths and workspace names are new objects for each instance.
        is_text = isinstance(one, Value) and isinstance(one.data, str)
        return is_text and one == other
    return one.keys() == other.keys() and all(
        _have_same(inner, other[name]) for name, inner in one.items()
    )


def _shareable(compiled: Compiled | CompiledBody) -> Iterator[Hashable]:
    steady = {
        (each.source, each.start)
        for each in compiled.references
        if not isinstance(each.subject, EachAttr | CountAttr | Self | Caller)
    }
    pending = list(_expressions(compiled))
    while pending:
        current = pending.pop()
        if isinstance(current, CostlyExpression) and _is_steady(current, steady):
            yield current
        else:
            pending.extend(current.children())


def _expressions(compiled: Compiled | CompiledBody) -> Iterator[Expression]:
    if isinstance(compiled, Compiled):
        yield compiled.expr
        return
    from nigari.hcl.dynamic_blocks import expand_expressions

    for expression, _ in expand_expressions(compiled.body, compiled.spec):
        yield expression


def _is_steady(expression: Expression, steady: set[tuple[Source, int]]) -> bool:
    """Return whether the value depends only on references that are the same for all instances.

    Names bound by an enclosing loop or iterator are not references.
    """
    from nigari.lang.functions.table import is_steady
    from nigari.lang.references import function_calls

    return (
        all((each.source, each[0].start) in steady for each in expression.variables())
        and all(is_steady(call.name) for call in function_calls(expression))
        and not _has_outer_item(expression)
    )


def _has_outer_item(expression: Expression) -> bool:
    """Return whether it uses the element of an enclosing splat."""
    if isinstance(expression, SplatItem):
        return True
    parts = [expression.operand] if isinstance(expression, Splat) else expression.children()
    return any(_has_outer_item(each) for each in parts)
