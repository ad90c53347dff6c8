"""The blocks that a state means: its dependencies name resources without the keys of modules.

Where the instances of a module are of several variants, such a name may mean a block of each. What the
configuration says decides between them, or else that objects of one instance depend on each other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from nigari.addrs.absolute import AbsResource, AbsResourceInstance, resource_of
from nigari.plan.order.block_graph import Block, BlockGraph
from nigari.plan.order.operations_of import shared_depth
from nigari.state.model import State


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
        """What an object of a block depends on, by the name of that in a state."""
        found = self._by_name.get(stored, ())
        if len(found) < 2:
            return found or (self._blocks.resource_block(stored),)
        if self._blocks.is_resource(user):
            declared = self._blocks.resource_blocks_before(user).intersection(found)
            if declared:
                return declared
        depth = shared_depth(user[0].unkeyed, stored.module)
        return [each for each in found if shared_depth(user[0], each[0]) == depth] or found
