"""Validations of variables that refer to something which needs the variable itself.

Whatever uses a variable waits for its validations, so these could never be looked at. Values do not
wait for validations, which is why no evaluation notices.
"""

from __future__ import annotations

from itertools import groupby

from nigari.diagnostics import Diagnostics
from nigari.plan.order.block_graph import Block, BlockGraph, block_label


def report_validation_cycles(graph: BlockGraph, diags: Diagnostics) -> None:
    """Report each cycle once, at a validation that is part of it."""
    told: set[Block] = set()
    for block, where in graph.referring_validations():
        way = [] if block in told else _way_back(graph, block)
        if way:
            told.update(way)
            names = [name for name, _ in groupby(map(block_label, (*way, block)))]
            diags.error(
                "Dependency cycle",
                f"The validation of {names[0]} refers to something that depends on the variable "
                f"itself: {' → '.join(names)}. Use a condition that refers to the variable, and to "
                "nothing that needs it.",
                where,
            )


def _way_back(graph: BlockGraph, start: Block) -> list[Block]:
    """The blocks through which a block needs itself, from that block on; none where it does not."""
    user: dict[Block, Block] = {}
    pending = [start]
    while pending:
        at = pending.pop()
        for need in graph.needs(at):
            if need == start:
                way = [at]
                while way[-1] != start:
                    way.append(user[way[-1]])
                return way[::-1]
            if need not in user:
                user[need] = at
                pending.append(need)
    return []
