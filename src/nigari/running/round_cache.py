"""Values that are kept while several rounds follow each other in one run.

What one round has read from a data source, or a function has returned that differs at every call, is
the same in the next.
"""

from __future__ import annotations

from nigari.addrs.absolute import AbsResourceInstance
from nigari.cty.values import Value
from nigari.eval.core.fixed_functions import FixedResults


class RoundCache:
    """What the rounds of one run have in common."""

    def __init__(self, timestamp: str) -> None:
        self.timestamp = timestamp
        """What `plantimestamp` is in all of them."""
        self.functions: FixedResults = {}
        self._data: dict[AbsResourceInstance, tuple[Value, Value]] = {}

    def data(self, address: AbsResourceInstance, config: Value) -> Value | None:
        """What a data source said with the same configuration; None where it was not asked yet."""
        known = self._data.get(address)
        return known[1] if known is not None and known[0] == config else None

    def keep_data(self, address: AbsResourceInstance, config: Value, result: Value) -> None:
        """Keep what a data source has said."""
        self._data[address] = config, result
