"""Inputs of a unit: what it is given of others, worked out from the outputs they have or will have.

What a unit needs is data that can be sent to another process; the process that has the outputs evaluates the
inputs there. Where outputs come from is not known here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping

from nigari.backends.backend_address import StateIdentity
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.fleet.units.graph import EdgeReason, Graph
from nigari.fleet.units.unit_values import UnitValues
from nigari.fleet.work.tasks import Outputs, as_stored
from nigari.plan.model.plan_data import value_to_plan
from nigari.record import record


@record
class UnitInputs:
    """The inputs of a unit."""

    variables: Mapping[str, Value]
    planned: Mapping[StateIdentity, Outputs]

    @property
    def is_known(self) -> bool:
        """Return whether no input depends on a pending apply."""
        given = [*self.variables.values()]
        given += [value for outputs in self.planned.values() for value in outputs.values()]
        return all(value.is_wholly_known for value in given)

    @property
    def digest(self) -> str:
        """A digest that equal inputs share, and that reveals nothing about them."""
        found = {
            "variables": _data(self.variables),
            "states": {str(state): _data(each) for state, each in self.planned.items()},
        }
        text = json.dumps(found, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()


def _data(values: Mapping[str, Value]) -> dict[str, object]:
    return {name: value_to_plan(value) for name, value in values.items()}


@record
class UnitNeeds:
    """The outputs that a unit cannot do without, and what becomes of them."""

    unit: str
    outputs_of: tuple[str, ...]
    """The units whose outputs are in the values of its variables."""
    states: tuple[tuple[str, StateIdentity], ...]
    """The units whose states it reads and that are worked with before it, with these states."""
    must_exist: bool
    """True if the unit cannot be planned without those outputs."""

    def inputs(
        self, values: UnitValues, outputs: Mapping[str, Outputs | None], diags: Diagnostics
    ) -> UnitInputs:
        """Return the unit's inputs for these outputs of other units, None for units without a
        state. Missing outputs are reported.
        """
        given: dict[str, Outputs] = {}
        for name in self.outputs_of:
            found = outputs[name]
            if found is not None:
                given[name] = found
            elif self.must_exist:
                diags.append(_no_outputs(self.unit, name))
        variables = values.variables(self.unit, given, diags).values
        planned: dict[StateIdentity, Outputs] = {}
        for name, state in self.states:
            found = outputs[name]
            if found is not None:
                planned[state] = as_stored(found)
        return UnitInputs(variables, planned)


def needs_of(graph: Graph, name: str, members: Collection[str], must_exist: bool) -> UnitNeeds:
    """The inputs of a unit in a run of which others are `members`, whose outputs may change."""
    outputs_of = [
        each.needs for each in graph.edges_of.get(name, ()) if each.reason is EdgeReason.OUTPUTS
    ]
    states = [(each, graph.states[each]) for each in graph.reads(name) if each in members]
    return UnitNeeds(name, tuple(dict.fromkeys(outputs_of)), tuple(states), must_exist)


def _no_outputs(name: str, needed: str) -> Diagnostic:
    return Diagnostic(
        Severity.ERROR,
        "No outputs yet",
        f"{name} is given outputs of {needed}, which has no state yet and is not among the selected "
        f"units. Select it as well, for example with -only=+{name}, or apply it first.",
    )
