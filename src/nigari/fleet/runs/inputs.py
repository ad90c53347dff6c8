"""Inputs of the units of a run whose outputs become known one after the other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection

from nigari.diagnostics import Diagnostics
from nigari.fleet.units.graph_loader import Survey
from nigari.fleet.work.inputs import UnitInputs, needs_of
from nigari.fleet.work.tasks import Outputs

ReadOutputs = Callable[[str, Diagnostics], Awaitable[Outputs | None]]
"""Reads the outputs in the state of a unit; None where it has no state, or after reporting why they
cannot be read.
"""


class Inputs:
    """The outputs of units as far as they are known, and what follows for others."""

    def __init__(
        self, found: Survey, members: Collection[str], read: ReadOutputs, must_exist: bool
    ) -> None:
        """`members` are the units of this run, whose states change; `must_exist` says that who is
        given outputs cannot do without them.
        """
        self._found = found
        self._members = frozenset(members)
        self._read = read
        self._must_exist = must_exist
        self._known: dict[str, Outputs | None] = {}

    def know(self, name: str, outputs: Outputs) -> None:
        """Take note of the outputs of a unit of this run."""
        self._known[name] = outputs

    async def of(self, name: str, diags: Diagnostics) -> UnitInputs | None:
        """What a unit is given; None after reporting what is missing."""
        needs = needs_of(self._found.graph, name, self._members, self._must_exist)
        wanted = [*needs.outputs_of, *(each for each, _ in needs.states)]
        outputs = {each: await self._outputs_of(each, diags) for each in dict.fromkeys(wanted)}
        values = self._found.definition.values
        inputs = None if diags.has_errors else needs.inputs(values, outputs, diags)
        return None if diags.has_errors else inputs

    async def _outputs_of(self, name: str, diags: Diagnostics) -> Outputs | None:
        if name not in self._known:
            self._known[name] = await self._read(name, diags)
        return self._known[name]
