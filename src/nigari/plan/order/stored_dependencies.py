"""Stored dependencies of objects, block by block.

A state names dependencies without the keys of modules.

Where the instances of a module are of several variants, such a name may mean a block of each. What the
configuration says decides between them, or else that objects of one instance depend on each other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet

from nigari.addrs.absolute import AbsResource, AbsResourceInstance, resource_of
from nigari.addrs.module import ModuleAddr
from nigari.plan.order.block_graph import BlockGraph
from nigari.plan.order.block_references import Block
from nigari.plan.order.cycles import cycles
from nigari.plan.order.operations_of import shared_depth
from nigari.state.model import State
from nigari.state.moves.moving import MovedInstance

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

Moved: TypeAlias = Mapping[AbsResourceInstance, MovedInstance]
"""Objects that have moved, by new address."""


class StoredBlocks:
    """The blocks of a state's resources and of a configuration, by their names without keys.

    A state also has names of where objects were before they moved.
    """

    def __init__(
        self, blocks: BlockGraph, state: State, moved: Iterable[AbsResourceInstance] = ()
    ) -> None:
        self._blocks = blocks
        self._by_name: dict[AbsResource, dict[Block, None]] = {}
        if blocks.variants.has_several:
            for block, resource in blocks.resources().items():
                self._by_name.setdefault(resource, {})[block] = None
            for address in (*state.resources, *map(resource_of, moved)):
                block = blocks.resource_block(address)
                self._by_name.setdefault(address.unkeyed, {})[block] = None

    def meant(self, user: Block, stored: AbsResource) -> Collection[Block]:
        """The dependencies of a block's object, by its name in the state."""
        found = self._by_name.get(stored, ())
        if len(found) < 2:
            return found or (self._blocks.resource_block(stored),)
        depth = shared_depth(user[0].unkeyed, stored.module)
        near = [each for each in found if shared_depth(user[0], each[0]) == depth]
        if self._blocks.is_resource(user):
            declared = self._blocks.resource_blocks_before(user).intersection(found)
            if declared:
                # The configuration does not say what depended on instances that are gone.
                return declared.union(each for each in near if not self._blocks.is_resource(each))
        return near or found


def stored_needs(state: State, moved: Moved, blocks: BlockGraph) -> dict[Block, set[Block]]:
    """Return the stored dependencies of each block's objects, including those that moved since:
    states name them by their old address.
    """
    meant = StoredBlocks(blocks, state, (each.source for each in moved.values())).meant
    places, found = moved_blocks(moved, blocks), dict[Block, set[Block]]()
    for resource in state.resources.values():
        block = blocks.resource_block(resource.address)
        needs = found.setdefault(block, set())
        for instance in resource.instances.values():
            for stored in (instance.current, *instance.deposed.values()):
                for each in () if stored is None else stored.dependencies:
                    needs.update(meant(block, each))
        if places:
            needs.update(*[places[each] for each in needs if each in places])
    return found


def former_needs(state: State, moved: Moved, blocks: BlockGraph) -> dict[Block, set[Block]]:
    """The dependencies of each block's objects before planning added to them."""
    needs = stored_needs(state, moved, blocks)
    for before, after in moved_blocks(moved, blocks).items():
        for block in after:
            needs.setdefault(block, set()).update(needs.get(before, ()))
    return needs


def former_modules(moved: Moved, blocks: BlockGraph) -> dict[Block, set[ModuleAddr]]:
    """The variants from which objects of blocks have moved that were in others."""
    found: dict[Block, set[ModuleAddr]] = {}
    for address, each in moved.items():
        path = blocks.variants.of(each.source.module)
        block = blocks.resource_block(resource_of(address))
        if path != block[0]:
            found.setdefault(block, set()).add(path)
    return found


def moved_blocks(moved: Moved, blocks: BlockGraph) -> dict[Block, set[Block]]:
    """The new addresses of blocks that have moved."""
    found: dict[Block, set[Block]] = {}
    for address, each in moved.items():
        before, after = (blocks.resource_block(resource_of(at)) for at in (each.source, address))
        if before != after:
            found.setdefault(before, set()).add(after)
    return found


def contrary_holders(
    state: State, moved: Moved, blocks: BlockGraph, needs: Mapping[Block, AbstractSet[Block]]
) -> dict[tuple[Block, Block], set[ModuleAddr]]:
    """The module instances whose objects needed others, for blocks of which some objects needed each
    other one way round and some the other: those of instances that had other sources.
    """
    numbers = {block: number for number, block in enumerate(needs)}
    circle = cycles(
        [[numbers[each] for each in found if each in numbers] for found in needs.values()]
    )
    if len(set(circle)) == len(circle):
        return {}
    meant = StoredBlocks(blocks, state, (each.source for each in moved.values())).meant
    places = moved_blocks(moved, blocks)
    holders: dict[tuple[Block, Block], set[ModuleAddr]] = {}
    for address, instance in state.instances():
        block = blocks.resource_block(resource_of(address))
        for stored in (instance.current, *instance.deposed.values()):
            for each in () if stored is None else stored.dependencies:
                for need in meant(block, each):
                    for at in (need, *places.get(need, ())):
                        if at in numbers and circle[numbers[at]] == circle[numbers[block]]:
                            holders.setdefault((block, at), set()).add(address.module)
    return holders
