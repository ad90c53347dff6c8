"""Inputs of units: what each is given of the others, from the outputs they have or will have."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Collection, Mapping

from nigari.backends.identity import StateIdentity
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.fleet.units.survey import Survey
from nigari.fleet.work.tasks import Outputs, as_stored
from nigari.plan.model.plan_file import value_to_plan
from nigari.record import record

ReadOutputs = Callable[[str], Awaitable[Outputs | None]]
"""Reads the outputs in the state of a unit; None where it has no state."""


@record
class UnitInputs:
    """What a unit is given."""

    variables: Mapping[str, Value]
    planned: Mapping[StateIdentity, Outputs]

    @property
    def is_known(self) -> bool:
        """Whether nothing of it has to wait for an apply."""
        given = [*self.variables.values()]
        given += [value for outputs in self.planned.values() for value in outputs.values()]
        return all(value.is_wholly_known for value in given)

    @property
    def digest(self) -> str:
        """What equal inputs have in common, and others have not; nothing can be learnt from it."""
        found = {
            "variables": _data(self.variables),
            "states": {str(state): _data(each) for state, each in self.planned.items()},
        }
        text = json.dumps(found, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()


def _data(values: Mapping[str, Value]) -> dict[str, object]:
    return {name: value_to_plan(value) for name, value in values.items()}


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
        self._known: dict[str, Outputs] = {}
        """What units of this run have, or will have."""
        self._stored: dict[str, Outputs | None] = {}

    def know(self, name: str, outputs: Outputs) -> None:
        """Take note of the outputs of a unit of this run."""
        self._known[name] = outputs

    async def of(self, name: str, diags: Diagnostics) -> UnitInputs:
        """What a unit is given; what is missing is reported."""
        graph = self._found.graph
        outputs: dict[str, Outputs] = {}
        for edge in graph.edges_of.get(name, ()):
            if edge.reason.value == "outputs" and edge.needs not in outputs:
                found = await self._outputs_of(edge.needs)
                if found is not None:
                    outputs[edge.needs] = found
                elif self._must_exist:
                    diags.append(_no_outputs(name, edge.needs))
        values = self._found.definition.variables(name, outputs, diags)
        planned: dict[StateIdentity, Outputs] = {}
        for each in graph.reads(name):
            found = await self._outputs_of(each) if each in self._members else None
            if found is not None:
                planned[graph.states[each]] = as_stored(found)
        return UnitInputs(values.values, planned)

    async def _outputs_of(self, name: str) -> Outputs | None:
        known = self._known.get(name)
        if known is not None:
            return known
        if name not in self._stored:
            self._stored[name] = await self._read(name)
        return self._stored[name]


def _no_outputs(name: str, needed: str) -> Diagnostic:
    return Diagnostic(
        Severity.ERROR,
        "No outputs yet",
        f"{name} is given outputs of {needed}, which has no state yet and is not among the selected "
        f"units. Select it as well, for example with -only=+{name}, or apply it first.",
    )
