"""`-target` and `-exclude`: which blocks are looked at, by one walk over the graph of blocks.

A target brings along what it needs. What is excluded takes with it whatever needs it. Resources
that are only in the state follow the dependencies that are stored there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from nigari.addrs.absolute import AbsResource
from nigari.addrs.targets import Target
from nigari.plan.block_graph import Block, BlockGraph, resource_block
from nigari.plan.operation_order import stored_needs
from nigari.state.model import State


def selected_blocks(
    graph: BlockGraph, state: State, targets: Sequence[Target], excluded: Sequence[Target]
) -> frozenset[Block] | None:
    """The resource blocks that are looked at; None where nobody has singled out anything."""
    if not targets and not excluded:
        return None
    stored = stored_needs(state)
    known: dict[Block, AbsResource] = {resource_block(each): each for each in graph.resources()}
    for resource in state.resources.values():
        known.setdefault(resource_block(resource.address), resource.address.unkeyed)
    if not targets:
        return _without(graph, stored, known, excluded)
    selected: set[Block] = set()
    for block, address in known.items():
        if any(target.touches_block(address) for target in targets):
            selected.add(block)
            selected.update(_before(graph, stored, block))
    return frozenset(selected) | _outputs(graph, selected)


def _outputs(graph: BlockGraph, selected: AbstractSet[Block]) -> set[Block]:
    """The root's outputs that come from nothing but selected resources."""
    return {
        block
        for block in graph.root_outputs()
        if all(resource_block(each) in selected for each in graph.resources_before(block))
    }


def _without(
    graph: BlockGraph,
    stored: dict[Block, set[Block]],
    known: dict[Block, AbsResource],
    excluded: Sequence[Target],
) -> frozenset[Block]:
    gone = {
        block
        for block, address in known.items()
        if any(target.touches_block(address) for target in excluded)
    }
    left = {
        block
        for block in known
        if block not in gone and gone.isdisjoint(_before(graph, stored, block))
    }
    return frozenset(left) | _outputs(graph, left)


def _before(graph: BlockGraph, stored: dict[Block, set[Block]], block: Block) -> Iterable[Block]:
    if graph.is_resource(block):
        return [resource_block(each) for each in graph.resources_before(block)]
    return stored.get(block, set())
