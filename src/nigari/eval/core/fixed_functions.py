"""Functions whose results are kept within a run of several rounds.

`timestamp`, `uuid` and `bcrypt` give another result at every call. Where several plans follow each
other in one run, each call in the configuration keeps the result that it had when it was first
applied: what one round has made of it does not change in the next.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping

from nigari.cty.function import Function
from nigari.cty.types import Type
from nigari.cty.values import Value
from nigari.lang.functions.table import CALLERS, CORE, IMPURE, FunctionTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


FixedResults = dict[Hashable, Value]
"""The results of calls, by where they are written and what they were called with."""

_EVERYWHERE: Final = frozenset(("timestamp",))
"""The results that are the same for all calls of a run."""


class FixedFunctions(Mapping[str, Function]):
    """A table of functions in which those that differ at every call keep their results."""

    __slots__ = ("_results", "_table")

    def __init__(self, table: FunctionTable, results: FixedResults) -> None:
        self._table = table
        self._results = results

    def at(self, site: Hashable) -> Mapping[str, Function]:
        """The functions as one expression calls them."""
        return _Site(self._table, self._results, site)

    def fix_timestamp(self) -> None:
        """Have `timestamp` known from now on, whether or not anything has called it."""
        self.at(None)["timestamp"].call(())

    def __getitem__(self, name: str) -> Function:
        return self._table[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)


class _Site(FixedFunctions):
    """The functions that one expression calls, in one evaluation of it."""

    __slots__ = ("_calls", "_site")

    def __init__(self, table: FunctionTable, results: FixedResults, site: Hashable) -> None:
        super().__init__(table, results)
        self._site = site
        self._calls: dict[Hashable, int] = {}

    def __getitem__(self, name: str) -> Function:
        function = self._table[name]
        bare = name.removeprefix(CORE)
        if bare in CALLERS:
            return self._table.calling(bare, self)
        if bare not in IMPURE:
            return function

        def kept(args: list[Value], type_: Type) -> Value:
            key = self._key(bare, tuple(args))
            result = self._results.get(key)
            if result is None:
                result = function.implementation(args, type_)
                if result.is_wholly_known:
                    self._results[key] = result
            return result

        return Function(
            function.parameters,
            function.variadic,
            function.return_type,
            kept,
            function.refine,
            function.description,
        )

    def _key(self, name: str, args: tuple[Value, ...]) -> Hashable:
        """The identity of a call: its position, and the number of like calls before."""
        if name in _EVERYWHERE:
            return name
        number = self._calls[name, args] = self._calls.get((name, args), 0) + 1
        return self._site, name, args, number
