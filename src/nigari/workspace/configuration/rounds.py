"""How many rounds something may take, from nothing, by what is written.

No provider is asked and nothing is planned: each block whose instances, or whose provider, are worked
out from a resource counts as one that waits for it.
"""

from __future__ import annotations

from nigari.eval.static.run import StaticRun
from nigari.lazy import lazy_pattern
from nigari.plan.order.rounds import Rounds
from nigari.workspace.configuration.uses import WrittenGraph, block_name

_KEY = lazy_pattern(r'\[(?:[0-9]+|\*|"(?:[^"\\]|\\.)*")\]')


def most_rounds(run: StaticRun, address: str) -> int:
    """The number of rounds after which what an address names, or is a part of, is done at the latest;
    1 where nothing has to wait.
    """
    graph = WrittenGraph(run)
    named = {block_name(block): block for block in graph.blocks}
    words = _KEY.sub("", address).split(".")
    for length in range(len(words), 0, -1):
        block = named.get(".".join(words[:length]))
        if block is not None:
            return Rounds(graph, lambda _: True).latest(block)
    return 1
