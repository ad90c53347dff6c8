"""A configuration to look at: as before anything runs, and with its resources as they are stored.

Nothing is planned, and no provider is asked. What is not in the state is unknown, and so is a
variable that nobody has given.
"""

from __future__ import annotations

from collections.abc import Mapping

from nigari.addrs.module import ModuleAddr
from nigari.addrs.provider import Provider
from nigari.config.resource import Resource
from nigari.eval.compile import CompiledModule
from nigari.eval.instances import Frame, ResourceNode
from nigari.eval.provider_config import provider_of
from nigari.eval.resource import resource_schema
from nigari.eval.static import StaticRun, Surroundings
from nigari.plan.prior_values import PriorResource
from nigari.schema.provider import ProviderSchema, Schema
from nigari.state.model import State


class StoredRun(StaticRun):
    """One pass over the whole tree, in which every call is expanded."""

    def __init__(
        self,
        root: CompiledModule,
        surroundings: Surroundings,
        state: State,
        schemas: Mapping[Provider, ProviderSchema],
    ) -> None:
        self._state = state
        self._schemas = schemas
        super().__init__(root, surroundings)

    def resource_node(self, frame: Frame, resource: Resource) -> ResourceNode:
        return PriorResource(frame, resource, self._state, self._schema_of)

    def must_expand(self, module: ModuleAddr, call: str) -> bool:
        return True

    def _schema_of(self, frame: Frame, resource: Resource) -> Schema | None:
        offered = self._schemas.get(provider_of(frame.module, resource.provider_name))
        return None if offered is None else resource_schema(offered, resource.addr)
