"""Cache for the rounds of one run.

Results of data sources and impure functions stay the same in all rounds.
"""

from __future__ import annotations

from nigari.addrs.absolute import AbsResourceInstance
from nigari.cty.values import Value
from nigari.eval.core.fixed_functions import FixedResults


class RoundCache:
    """Cached results, shared by the rounds of one run."""

    def __init__(self, timestamp: str) -> None:
        self.timestamp = timestamp
        """Value of `plantimestamp` in all rounds."""
        self.functions: FixedResults = {}
        self._data: dict[AbsResourceInstance, tuple[Value, Value]] = {}

    def data(self, address: AbsResourceInstance, config: Value) -> Value | None:
        """Return a data source's result for the same configuration; None if it has not been read."""
        known = self._data.get(address)
        return known[1] if known is not None and known[0] == config else None

    def keep_data(self, address: AbsResourceInstance, config: Value, result: Value) -> None:
        """Cache the result of a data source."""
        self._data[address] = config, result
