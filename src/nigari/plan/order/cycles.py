"""Cycles: operations that wait for each other, validations that depend on their own variable, and
actions that depend on what triggers them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from nigari.diagnostics import Diagnostics
from nigari.plan.order.block_graph import BlockGraph, block_label
from nigari.plan.order.block_references import Block


def cycles(followers: Sequence[Sequence[int]]) -> list[int]:
    """Number the cycles of operations: two have the same number if each waits for the other. An
    operation in no cycle has a number of its own. This is Tarjan's algorithm without recursion.
    """
    count = len(followers)
    found, lowest, cycle = [-1] * count, [0] * count, [-1] * count
    stack: list[int] = []
    visited = 0
    for start in range(count):
        if found[start] >= 0:
            continue
        path = [(start, 0)]
        while path:
            at, done = path.pop()
            if not done:
                found[at] = lowest[at] = visited
                visited += 1
                stack.append(at)
            elif cycle[followers[at][done - 1]] < 0:
                lowest[at] = min(lowest[at], lowest[followers[at][done - 1]])
            for number in range(done, len(followers[at])):
                follower = followers[at][number]
                if found[follower] < 0:
                    path += [(at, number + 1), (follower, 0)]
                    break
                if cycle[follower] < 0:
                    lowest[at] = min(lowest[at], found[follower])
            else:
                if lowest[at] == found[at]:
                    while cycle[at] < 0:
                        cycle[stack.pop()] = found[at]
    return cycle


def report_validation_cycles(graph: BlockGraph, diags: Diagnostics) -> None:
    """Report each cycle once, at a validation that is part of it."""
    places = dict(graph.referring_validations())
    reported: set[Block] = set()
    for cycle in _cycles(graph, places):
        at = next((number for number, block in enumerate(cycle) if block in places), None)
        if at is None or not reported.isdisjoint(cycle):
            continue
        reported.update(cycle)
        way = (*cycle[at:], *cycle[: at + 1])
        names = [name for name, _ in groupby(map(block_label, way))]
        diags.error(
            "Dependency cycle",
            f"The validation of {names[0]} refers to something that depends on the variable "
            f"itself: {' → '.join(names)}. Use a condition that refers to the variable, and to "
            "nothing that needs it.",
            places[cycle[at]],
        )


def report_action_cycles(graph: BlockGraph, diags: Diagnostics) -> None:
    """Report each action that depends on something that depends on a resource which triggers it."""
    for action, where in graph.actions():
        for cycle in _cycles(graph, (action,)):
            if action not in cycle:
                continue
            at = cycle.index(action)
            names = [block_label(each) for each in (*cycle[at:], *cycle[: at + 1])]
            diags.error(
                "Cycle through an action",
                f"{names[0]} depends on something that depends on a resource which triggers it: "
                f"{' → '.join(names)}. In an action, refer to the triggering resource as caller, and "
                "to nothing that needs it.",
                where,
            )
            break


def _cycles(graph: BlockGraph, starts: Iterable[Block]) -> Iterator[list[Block]]:
    """Yield cycles of dependencies, visiting each block once."""
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
