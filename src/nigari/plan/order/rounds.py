"""The number of rounds that blocks of a configuration may take, one after the other.

A block waits a round for what its instances, or the configuration of a provider, are worked out
from. How many blocks on the way do so is told by the block graph, whatever their values: it may be
fewer in the end, since values are often known before they have to be.
"""

from __future__ import annotations

from collections.abc import Callable

from nigari.plan.order.block_graph import Block, BlockGraph, work_out


class BlockRounds:
    """The latest round in which each block is done, if every block that may wait does."""

    def __init__(self, blocks: BlockGraph, may_wait: Callable[[Block], bool]) -> None:
        self._blocks = blocks
        self._may_wait = may_wait
        self._known: dict[Block, int] = {}

    def latest(self, block: Block) -> int:
        """The round that does a block at the latest."""
        return work_out(block, self._known, self._blocks.needs, self._find)

    def _find(self, block: Block) -> int:
        before = max((self._known.get(need, 1) for need in self._blocks.needs(block)), default=1)
        waits = self._may_wait(block) and self._blocks.is_decided_by_resources(block)
        return before + 1 if waits else before
