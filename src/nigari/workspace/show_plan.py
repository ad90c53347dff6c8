"""A plan as one JSON document for other programs: `show -json` of a plan.

What it says of values and changes is worked out below; here the configuration it was made from, the
state before it and how the checks went are put beside that.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from nigari.addrs.provider import Provider
from nigari.addrs.resource import Resource as ResourceAddr
from nigari.config.resource import Resource
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.eval.instances import ModuleInstance
from nigari.eval.resource import resource_schema
from nigari.lang.marks import SENSITIVE
from nigari.plan.changes import Action, Plan
from nigari.plan.json_document import document
from nigari.plan.relevant import RelevantAttribute, relevant_attributes
from nigari.plan.show_json import Members, plan_to_json, value_to_data
from nigari.plan.show_values import planned_values
from nigari.record import replace
from nigari.schema.block import Block
from nigari.schema.provider import Schema
from nigari.state.json_text import escaped_for_html
from nigari.state.model import OutputState, State, StateFile
from nigari.state.show_json import checks_to_json, state_to_json
from nigari.version import OPENTOFU_VERSION
from nigari.workspace.planning import Planning
from nigari.workspace.show_configuration import configuration_data, schema_in

FORMAT_VERSION: Final = "1.2"


class ShownPlan:
    """A plan with all that has to be known to show it."""

    def __init__(self, planning: Planning, plan: Plan) -> None:
        self._planning = planning
        self._plan = plan

    def relevant(self) -> tuple[RelevantAttribute, ...]:
        """Which attributes have a part in what is planned."""
        root = self._planning.static.root.instance
        return relevant_attributes(self._plan, root, self._block_of)

    def document(self, variables: Mapping[str, Value], diags: Diagnostics) -> str | None:
        """The whole plan, or `None` after reporting what cannot be shown."""
        plan = self._plan
        data: Members = {"format_version": FORMAT_VERSION, "terraform_version": OPENTOFU_VERSION}
        if variables:
            data["variables"] = {
                name: {"value": value_to_data(variables[name])} for name in sorted(variables)
            }
        data["planned_values"] = planned_values(plan)
        data.update((name, part) for name, part in plan_to_json(plan).items() if part)
        prior = self._prior_state()
        if not prior.is_empty:
            file = StateFile(prior, "", 0, OPENTOFU_VERSION)
            shown = state_to_json(file, self._schema_of_stored, diags)
            if shown is None:
                return None
            data["prior_state"] = json.loads(shown)
        planning = self._planning
        data["configuration"] = configuration_data(planning.static, planning.pool.of)
        relevant = [
            {"resource": each.address, "attribute": list(each.steps)} for each in self.relevant()
        ]
        if relevant:
            data["relevant_attributes"] = relevant
        if plan.checks:
            data["checks"] = json.loads(checks_to_json(plan.checks))
        data["timestamp"] = plan.timestamp or self._planning.timestamp
        data["errored"] = plan.is_incomplete
        return escaped_for_html(document(data))

    def _prior_state(self) -> State:
        """The state that the plan starts from, with the output values that are known already."""
        state, declared = self._plan.refreshed_state, self._planning.static.root.module.outputs
        outputs: dict[str, OutputState] = {}
        for name, change in self._plan.outputs.items():
            value, marks = change.after.unmark_deep()
            if change.action is Action.DELETE or not value.is_wholly_known:
                if name in state.outputs:
                    outputs[name] = state.outputs[name]
            elif not value.is_null:
                is_secret = name in declared and declared[name].sensitive
                outputs[name] = OutputState(value, is_secret or SENSITIVE in marks)
        return replace(state, outputs=outputs)

    # -- schemas ------------------------------------------------------------------------------

    def _block_of(self, instance: ModuleInstance, resource: Resource) -> Block | None:
        schema = schema_in(instance, resource, self._planning.pool.of)
        return None if schema is None else schema.block

    def _schema_of_stored(self, provider: Provider, resource: ResourceAddr) -> Schema | None:
        offered = self._planning.pool.of(provider)
        return None if offered is None else resource_schema(offered, resource)
