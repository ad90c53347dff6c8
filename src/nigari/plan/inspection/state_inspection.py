"""A configuration to inspect, with its resources as they are stored.

Nothing is planned, and no provider is asked. What is not in the state is unknown, and so is a
variable without a value.
"""

from __future__ import annotations

from collections.abc import Mapping

from nigari.addrs.absolute import Abs
from nigari.addrs.provider import Provider
from nigari.config.blocks.resource import Resource
from nigari.eval.core.compile import CompiledModule
from nigari.eval.core.instances import Frame, ResourceNode
from nigari.eval.nodes.provider_config import provider_of
from nigari.eval.nodes.resource import Schemas, resource_schema
from nigari.eval.static.inspection_run import InspectionRun
from nigari.eval.static.run import StaticSettings
from nigari.plan.nodes.prior_values import PriorResource
from nigari.record import replace
from nigari.schema.provider import ProviderSchema, Schema
from nigari.state.model import State


class _Known:
    """The schemas of the providers that have been asked, and those that are known anyway."""

    def __init__(self, asked: Mapping[Provider, ProviderSchema], others: Schemas | None) -> None:
        self._asked = asked
        self._others = others

    def of(self, provider: Provider) -> ProviderSchema | None:
        """Return a provider's schema; None if it is unavailable here."""
        offered = self._asked.get(provider)
        return self._others.of(provider) if offered is None and self._others else offered


class StateInspection(InspectionRun):
    """The whole tree, with what is stored."""

    def __init__(
        self,
        root: CompiledModule,
        settings: StaticSettings,
        state: State,
        schemas: Mapping[Provider, ProviderSchema],
    ) -> None:
        self._state = state
        self._schemas = schemas
        known = _Known(schemas, settings.schemas)
        super().__init__(root, replace(settings, schemas=known))

    def resource_node(self, frame: Frame, resource: Resource) -> ResourceNode:
        if Abs(frame.instance.addr, resource.addr) in self._state.resources:
            return PriorResource(frame, resource, self._state, self._schema_of)
        return super().resource_node(frame, resource)

    def _schema_of(self, frame: Frame, resource: Resource) -> Schema | None:
        offered = self._schemas.get(provider_of(frame.module, resource.provider_name))
        return resource_schema(offered, resource.addr)
