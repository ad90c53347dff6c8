"""Validations of variables that refer to something which needs the variable itself.

Whatever uses a variable waits for its validations, so these could never be looked at. Values do not
wait for validations, which is why no evaluation notices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from nigari.diagnostics import Diagnostics
from nigari.plan.order.block_graph import Block, BlockGraph, block_label


def report_validation_cycles(graph: BlockGraph, diags: Diagnostics) -> None:
    """Report each cycle once, at a validation that is part of it."""
    places = dict(graph.referring_validations())
    told: set[Block] = set()
    for cycle in _cycles(graph, places):
        at = next((number for number, block in enumerate(cycle) if block in places), None)
        if at is None or not told.isdisjoint(cycle):
            continue
        told.update(cycle)
        way = (*cycle[at:], *cycle[: at + 1])
        names = [name for name, _ in groupby(map(block_label, way))]
        diags.error(
            "Dependency cycle",
            f"The validation of {names[0]} refers to something that depends on the variable "
            f"itself: {' → '.join(names)}. Use a condition that refers to the variable, and to "
            "nothing that needs it.",
            places[cycle[at]],
        )


def _cycles(graph: BlockGraph, starts: Iterable[Block]) -> Iterator[list[Block]]:
    """The ways on which blocks come back to themselves. Each block is looked at once."""
    done: set[Block] = set()
    for start in starts:
        way = {} if start in done else {start: iter(graph.needs(start))}
        while way:
            at = next(reversed(way))
            need = next(way[at], None)
            if need is None:
                done.add(at)
                del way[at]
            elif need in way:
                blocks = list(way)
                yield blocks[blocks.index(need) :]
            elif need not in done:
                way[need] = iter(graph.needs(need))
