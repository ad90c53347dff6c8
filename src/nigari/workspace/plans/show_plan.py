"""A plan as one JSON document for other programs: `show -json` of a plan.

What it says of values and changes is worked out below; here the configuration it was made from, the
state before it and how the checks went are put beside that.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from nigari.addrs.absolute import AbsResource
from nigari.config.blocks.resource import Resource
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.eval.core.module_tree import ModuleInstance
from nigari.plan.engine import PlanOutcome
from nigari.plan.model.plan_file import SavedPlan
from nigari.plan.order.required_providers import configured_providers
from nigari.running.declared_modules import declared_module
from nigari.schema.block import Block
from nigari.state.json_text import escaped_for_html
from nigari.state.model import StateFile
from nigari.version import OPENTOFU_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.plan.show.plan_json import Members
    from nigari.plan.show.relevant_attributes import RelevantAttribute


FORMAT_VERSION: Final = "1.2"


class ShownPlan:
    """A plan with all that has to be known to show it."""

    def __init__(self, outcome: PlanOutcome) -> None:
        self._inputs = outcome.inputs
        self._plan = outcome.plan

    def relevant(self) -> tuple[RelevantAttribute, ...]:
        """Which attributes have a part in what is planned."""
        from nigari.plan.show.relevant_attributes import relevant_attributes

        root = self._inputs.static.root.instance
        return relevant_attributes(self._plan, root, self._block_of)

    async def document(self, saved: SavedPlan, diags: Diagnostics) -> str | None:
        """The whole plan, or `None` after reporting what cannot be shown."""
        # A provider that cannot be asked was not needed for the plan: its arguments are left out.
        from nigari.plan.show.json_document import document

        written = configured_providers(self._inputs.static.root.instance)
        await self._inputs.pool.load(written, Diagnostics())
        data = self.data({**saved.variables, **saved.given}, diags)
        return None if data is None else escaped_for_html(document(data))

    def data(
        self, given: Mapping[str, Value], diags: Diagnostics, has_prior: bool = True
    ) -> Members | None:
        """The same as data, with the values of variables that were given."""
        from nigari.plan.show.plan_json import plan_to_json
        from nigari.plan.show.planned_values import planned_values, prior_state
        from nigari.state.show.show_json import checks_to_json, state_to_json
        from nigari.workspace.documents.show_configuration import configuration_data

        plan = self._plan
        data: Members = {"format_version": FORMAT_VERSION, "terraform_version": OPENTOFU_VERSION}
        variables = self._variables(given)
        if variables:
            data["variables"] = variables
        data["planned_values"] = planned_values(plan)
        data.update((name, part) for name, part in plan_to_json(plan).items() if part)
        if plan.invocations:
            from nigari.plan.show.action_json import invocation_to_json

            data["action_invocations"] = [invocation_to_json(each) for each in plan.invocations]
        declared = self._inputs.static.root.module.outputs
        prior = prior_state(plan, declared, self._is_declared)
        if has_prior and not prior.is_empty:
            file = StateFile(prior, "", 0, OPENTOFU_VERSION)
            shown = state_to_json(file, self._inputs.pool.schema_of, diags)
            if shown is None:
                return None
            data["prior_state"] = json.loads(shown)
        data["configuration"] = configuration_data(self._inputs.static, self._inputs.pool.of)
        relevant = [
            {"resource": each.address, "attribute": list(each.steps)} for each in self.relevant()
        ]
        if relevant:
            data["relevant_attributes"] = relevant
        if plan.checks:
            data["checks"] = json.loads(checks_to_json(plan.checks))
        data["timestamp"] = self._inputs.timestamp
        if plan.left:
            data["complete"] = False
        data["errored"] = plan.is_incomplete
        return data

    def _variables(self, values: Mapping[str, Value]) -> Members:
        """Variables as they were given, and the defaults of all others.

        The value of an ephemeral variable is nowhere; its default is in the configuration anyway.
        A unit of a fleet may have values that only the apply of another one makes known.
        """
        from nigari.plan.show.plan_json import known_part, value_to_data
        from nigari.workspace.documents.show_configuration import converted_default

        run = self._inputs.static
        root = run.root
        shown: Members = {}
        for name in sorted(root.module.variables):
            if name in values:
                shown[name] = {"value": value_to_data(known_part(values[name]))}
            elif root.module.variables[name].default is not None:
                found = converted_default(run, root, name)
                if found is not None:
                    shown[name] = {"value": value_to_data(found.unmark_deep()[0])}
        return shown

    def _is_declared(self, address: AbsResource) -> bool:
        instance = declared_module(self._inputs.static.root.instance, address.module)
        return instance is not None and address.item in instance.module.resources

    # -- schemas ------------------------------------------------------------------------------

    def _block_of(self, instance: ModuleInstance, resource: Resource) -> Block | None:
        from nigari.workspace.documents.show_configuration import schema_in

        schema = schema_in(instance, resource, self._inputs.pool.of)
        return None if schema is None else schema.block
