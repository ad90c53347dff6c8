"""Resources as the prior state has them, for whatever is evaluated while they are left alone.

That is the case for everything while a destroy is planned, and for what is not targeted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from nigari.addrs.absolute import Abs
from nigari.addrs.keys import InstanceKey, key_order
from nigari.config.blocks.resource import Resource
from nigari.cty.values import DYNAMIC_UNKNOWN, Value, unknown
from nigari.eval.core.instances import Frame
from nigari.eval.core.worklist import Need
from nigari.plan.nodes.resources import RepeatedResource, collected
from nigari.plan.objects.prior_object import current_value
from nigari.schema.provider import Schema
from nigari.state.model import ResourceState, State


class PriorResource(RepeatedResource):
    """A resource as it was before."""

    __slots__ = ("_prior", "_schema_of")

    def __init__(
        self,
        frame: Frame,
        resource: Resource,
        prior: State,
        schema_of: Callable[[Frame, Resource], Schema | None],
    ) -> None:
        super().__init__(frame, resource)
        self._prior = prior
        self._schema_of = schema_of

    def step(self) -> Sequence[Need]:
        schema = self._schema_of(self.frame, self.resource)
        state = self._prior.resources.get(Abs(self.frame.instance.addr, self.resource.addr))
        self.value: Value = self._value(state, schema)
        return ()

    def _value(self, state: ResourceState | None, schema: Schema | None) -> Value:
        if schema is None:
            return DYNAMIC_UNKNOWN
        values = {} if state is None else prior_values(state, schema)
        repetition = self.resource.repetition
        if repetition.is_single and None not in values:
            return unknown(schema.block.implied_type)
        return collected(repetition, values)


def prior_values(state: ResourceState, schema: Schema) -> Mapping[InstanceKey, Value]:
    """The current objects of a resource as values, by key."""
    values: dict[InstanceKey, Value] = {}
    for key, instance in sorted(state.instances.items(), key=lambda item: key_order(item[0])):
        if instance.current is not None:
            values[key] = current_value(instance, schema)
    return values
