"""A configuration to inspect, with its resources as a plan will make them.

Explains planned changes without planning again and without asking a provider. What
is known only after apply is unknown here, and its cause names the attribute.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nigari.addrs.absolute import Abs, AbsResource, resource_of
from nigari.addrs.keys import InstanceKey, key_order, key_text
from nigari.addrs.resource import EPHEMERAL
from nigari.config.blocks.resource import Resource
from nigari.cty.paths import GetAttr, Path, path_text, transform
from nigari.cty.values import DYNAMIC_UNKNOWN, Value, unknown
from nigari.eval.core.causes import CauseKind, Phase, UnknownCause
from nigari.eval.core.compile import CompiledModule
from nigari.eval.core.instances import Frame, ResourceNode
from nigari.eval.core.worklist import Need
from nigari.eval.nodes.provider_config import provider_of
from nigari.eval.nodes.resource import Schemas, resource_schema
from nigari.eval.static.inspection_run import InspectionRun
from nigari.eval.static.run import StaticSettings
from nigari.plan.model.changes import Action, Change, Plan, PlanMode
from nigari.plan.nodes.prior_values import prior_values
from nigari.plan.nodes.resources import RepeatedResource, collected
from nigari.record import replace
from nigari.schema.provider import Schema
from nigari.state.model import State

_GONE = (Action.DELETE, Action.FORGET)


class PlanInspection(InspectionRun):
    """The whole tree as it is planned."""

    def __init__(
        self, root: CompiledModule, settings: StaticSettings, plan: Plan, schemas: Schemas
    ) -> None:
        self._schemas = schemas
        self.plan = plan
        self.changes: Mapping[AbsResource, dict[InstanceKey, Change]] = _by_resource(plan)
        """Changes to each resource's current objects, by key."""
        super().__init__(root, replace(settings, schemas=schemas))

    def resource_node(self, frame: Frame, resource: Resource) -> ResourceNode:
        if resource.addr.mode is EPHEMERAL:
            return super().resource_node(frame, resource)
        return PlannedObjects(frame, resource, self)

    def schema_of(self, frame: Frame, resource: Resource) -> Schema | None:
        """Return the provider's schema of a resource."""
        offered = self._schemas.of(provider_of(frame.module, resource.provider_name))
        return resource_schema(offered, resource.addr)


class PlannedObjects(RepeatedResource):
    """A resource as it is planned, and as it was stored before."""

    __slots__ = ("_earlier", "_run")

    def __init__(self, frame: Frame, resource: Resource, run: PlanInspection) -> None:
        super().__init__(frame, resource)
        self._run = run
        self._earlier: tuple[Value | None] | None = None

    @property
    def address(self) -> AbsResource:
        return Abs(self.frame.instance.addr, self.resource.addr)

    @property
    def changes(self) -> Mapping[InstanceKey, Change]:
        """Return the changes to its objects."""
        return self._run.changes.get(self.address, {})

    def step(self) -> Sequence[Need]:
        schema = self._run.schema_of(self.frame, self.resource)
        if schema is None:
            self.value = DYNAMIC_UNKNOWN
            return ()
        values = dict(self._stored(self._run.plan.refreshed_state, schema))
        if self._run.plan.mode is PlanMode.NORMAL:
            for key, change in self.changes.items():
                if change.action in _GONE:
                    values.pop(key, None)
                else:
                    values[key] = change.after
        found = self._collected(values, schema)
        self.value: Value = found if found.is_wholly_known else transform(found, self._caused)
        return ()

    def stored_value(self) -> Value | None:
        """Return the stored value; None if there was none."""
        if self._earlier is None:
            schema = self._run.schema_of(self.frame, self.resource)
            values = {} if schema is None else self._stored(self._run.plan.previous_state, schema)
            is_there = bool(values) and schema is not None
            self._earlier = (self._collected(values, schema) if is_there and schema else None,)
        return self._earlier[0]

    def _stored(self, state: State, schema: Schema) -> Mapping[InstanceKey, Value]:
        found = state.resources.get(self.address)
        return {} if found is None else prior_values(found, schema)

    def _collected(self, values: Mapping[InstanceKey, Value], schema: Schema) -> Value:
        repetition = self.resource.repetition
        if repetition.is_single and None not in values:
            return unknown(schema.block.implied_type)
        ordered = dict(sorted(values.items(), key=lambda item: key_order(item[0])))
        return collected(repetition, ordered)

    def _caused(self, path: Path, part: Value) -> Value:
        if part.is_known or part.causes:
            return part
        steps, key = path, ""
        if self.resource.repetition.for_each is not None and path:
            # All instances together are an object, and its attributes are the keys.
            assert isinstance(path[0], GetAttr)
            steps, key = path[1:], key_text(path[0].name)
        name = f"{self.resource.addr}{key}{path_text(steps)}"
        where = self.resource.range
        module = self.frame.instance.addr
        cause = UnknownCause(CauseKind.PLANNED, module, name, where, Phase.APPLY)
        return part.with_causes((cause,))


def _by_resource(plan: Plan) -> Mapping[AbsResource, dict[InstanceKey, Change]]:
    found: dict[AbsResource, dict[InstanceKey, Change]] = {}
    for change in plan.changes:
        if not change.deposed:
            of_resource = found.setdefault(resource_of(change.address), {})
            of_resource[change.address.item.key] = change
    return found
