"""Addresses in the configuration whose keys may be expressions: `terraform_data.r[local.key]`.

An address is syntax; only the keys in brackets are evaluated, later. Its form is parsed here, with
a placeholder for every key that is not literal, so that all rules about its form can be checked.
"""

from __future__ import annotations

from collections.abc import Sequence

from nigari.config.core.literals import native
from nigari.cty.values import Value, string
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.expressions import Expression, Index, Reference, RelativeTraversal, SyntaxFault
from nigari.hcl.source import Source
from nigari.hcl.traversal import Step, Traversal, TraverseIndex
from nigari.record import record

_STAND_IN = string("")


@record
class WrittenAddress:
    """An address with unevaluated keys."""

    source: Source
    start: int
    end: int
    steps: tuple[Step, ...]
    keys: tuple[Expression, ...]
    """Keys to evaluate, in order."""
    places: tuple[int, ...]
    """Indexes of the steps with these keys."""

    @property
    def range(self) -> Range:
        """Range of the address."""
        return self.source.range(self.start, self.end)

    @property
    def shape(self) -> Traversal:
        """The address with placeholders for the keys to evaluate."""
        return Traversal(self.source, list(self.steps))

    def with_keys(self, keys: Sequence[Value]) -> Traversal:
        """Fill in the values of the keys."""
        steps = list(self.steps)
        for place, key in zip(self.places, keys, strict=True):
            step = steps[place]
            steps[place] = TraverseIndex(key, step.start, step.end)
        return Traversal(self.source, steps)


def decode_address(expr: Expression, diags: Diagnostics) -> WrittenAddress | None:
    """Parse the address in an argument."""
    errors = diags.error_count
    expr = native(expr, diags)
    if diags.error_count > errors:
        return None
    steps: list[Step] = []
    keys: list[Expression] = []
    places: list[int] = []
    if not _collect(expr, steps, keys, places):
        _report_shape(expr, diags)
        return None
    return WrittenAddress(
        expr.source, expr.start, expr.end, tuple(steps), tuple(keys), tuple(places)
    )


def _collect(
    expr: Expression, steps: list[Step], keys: list[Expression], places: list[int]
) -> bool:
    """Append the steps of an address; return False for any other expression."""
    chain: list[Expression] = []
    while isinstance(expr, Index | RelativeTraversal):
        chain.append(expr)
        expr = expr.collection if isinstance(expr, Index) else expr.base
    if not isinstance(expr, Reference):
        return False
    steps.extend(expr.steps)
    for part in reversed(chain):
        if isinstance(part, Index):
            keys.append(part.key)
            places.append(len(steps))
            steps.append(TraverseIndex(_STAND_IN, part.open_start, part.end))
        elif isinstance(part, RelativeTraversal):
            steps.extend(part.steps)
    return True


def _report_shape(expr: Expression, diags: Diagnostics) -> None:
    if isinstance(expr, SyntaxFault):
        return
    diags.error(
        "Address required",
        "The address of a resource or module is required here, such as aws_instance.web or "
        'module.net["eu"].aws_subnet.a[0]. Only a key in brackets can be an expression.',
        expr.range,
    )
