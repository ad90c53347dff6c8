"""The number of rounds that something takes, from nothing, by what is written.

Nothing is planned. At most, each block whose instances, or whose provider, are worked out from a
resource waits for it; at least, those do that need what only a provider can say.
"""

from __future__ import annotations

from nigari.lazy import lazy_pattern
from nigari.plan.order.block_graph import Block, expansion_block
from nigari.plan.order.rounds import BlockRounds
from nigari.workspace.explain.asked import Evaluation
from nigari.workspace.explain.least_rounds import LeastRounds, SchemaOf
from nigari.workspace.explain.uses import WrittenGraph

_KEY = lazy_pattern(r'\[(?:[0-9]+|\*|"(?:[^"\\]|\\.)*")\]')


def rounds_of(evaluation: Evaluation, address: str, schema_of: SchemaOf) -> tuple[int, int]:
    """The numbers of rounds after which what an address names, or is a part of, is done at the
    earliest and at the latest; 1 where nothing has to wait.
    """
    graph = WrittenGraph(evaluation.run)
    block = _named(graph, address)
    most = 1 if block is None else BlockRounds(graph, lambda _: True).latest(block)
    if block is None or most == 1:
        return 1, 1
    least = LeastRounds(evaluation, schema_of)
    is_call = block == expansion_block(block[0])
    return (least.of_call(block[0]) if is_call else least.of(*block)), most


def _named(graph: WrittenGraph, address: str) -> Block | None:
    """The block that an address names, or a part of which it names."""
    words = _KEY.sub("", address).split(".")
    for length in range(len(words), 0, -1):
        found = graph.named(".".join(words[:length]))
        if found:
            return found[0]
    return None
