"""Mocked providers: nothing real is created, changed or read.

The real plugin provides schemas and validates configurations; it is never configured. The creator
of a mock provides the values of objects.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Final

from nigari import cty
from nigari.addrs.resource import DATA, EPHEMERAL, MANAGED, ResourceMode
from nigari.providers import api
from nigari.providers.base import problem
from nigari.schema.block import Block
from nigari.testing.composed import Values, compose

NOTHING: Final[Values] = {}


class Mock:
    """A provider with mocked objects, some of whose values are given."""

    def __init__(self, real: api.Provider, given: Values = NOTHING) -> None:
        self.real = real
        """Provides the schemas."""
        self._given = given

    # -- mocked operations --------------------------------------------------------------------

    async def validate_provider(self, config: cty.Value) -> api.Response:
        return api.Response()

    async def configure(self, config: cty.Value, may_defer: bool = False) -> api.Response:
        return api.Response()

    async def read(self, request: api.ReadRequest) -> api.ReadResponse:
        return api.ReadResponse(request.state, request.private, request.identity)

    async def plan(self, request: api.PlanRequest) -> api.PlanResponse:
        if request.config.is_null:
            return api.PlanResponse(request.proposed, planned_private=request.prior_private)
        block = await self._block(MANAGED, request.type_name)
        value, reported = compose(request.type_name, block, request.config, self._given)
        planned = request.proposed if value is None else value
        return api.PlanResponse(
            planned, planned_private=request.prior_private, diagnostics=reported
        )

    async def apply(self, request: api.ApplyRequest) -> api.ApplyResponse:
        return api.ApplyResponse(request.planned, request.planned_private, request.identity)

    async def read_data(self, request: api.ReadDataRequest) -> api.ReadDataResponse:
        block = await self._block(DATA, request.type_name)
        value, reported = compose(request.type_name, block, request.config, self._given)
        return api.ReadDataResponse(request.config if value is None else value, reported)

    async def open_ephemeral(self, type_name: str, config: cty.Value) -> api.OpenEphemeralResponse:
        block = await self._block(EPHEMERAL, type_name)
        value, reported = compose(type_name, block, config, self._given)
        return api.OpenEphemeralResponse(config if value is None else value, diagnostics=reported)

    async def renew_ephemeral(
        self, type_name: str, private: bytes | None
    ) -> api.RenewEphemeralResponse:
        return api.RenewEphemeralResponse(private)

    async def close_ephemeral(self, type_name: str, private: bytes | None) -> api.Response:
        return api.Response()

    async def list_resources(self, request: api.ListRequest) -> AsyncGenerator[api.ListEvent, None]:
        """A mocked world has no objects."""
        nothing: tuple[api.ListEvent, ...] = ()
        for event in nothing:
            yield event

    async def plan_action(
        self, type_name: str, config: cty.Value, may_defer: bool = False
    ) -> api.PlanActionResponse:
        return api.PlanActionResponse()

    async def invoke_action(
        self, type_name: str, config: cty.Value
    ) -> AsyncGenerator[api.ActionEvent, None]:
        """A mocked action does nothing, and succeeds."""
        yield api.ActionEvent(is_end=True)

    async def import_state(self, request: api.ImportRequest) -> api.ImportResponse:
        return api.ImportResponse((), _nothing_to_take_over("imported"))

    async def move_state(self, request: api.MoveRequest) -> api.MoveResponse:
        return api.MoveResponse(
            cty.null(cty.DYNAMIC), diagnostics=_nothing_to_take_over("taken over")
        )

    async def _block(self, mode: ResourceMode, type_name: str) -> Block:
        offered = (await self.real.schema()).schema
        # An object is only requested after its schema has been loaded.
        assert offered is not None
        found = {
            MANAGED: offered.resources,
            DATA: offered.data_sources,
            EPHEMERAL: offered.ephemeral_resources,
        }[mode]
        return found[type_name].block

    # -- delegated operations -----------------------------------------------------------------

    async def schema(self) -> api.SchemaResponse:
        return await self.real.schema()

    async def validate_resource(self, type_name: str, config: cty.Value) -> api.Response:
        return await self.real.validate_resource(type_name, config)

    async def validate_data(self, type_name: str, config: cty.Value) -> api.Response:
        return await self.real.validate_data(type_name, config)

    async def validate_ephemeral(self, type_name: str, config: cty.Value) -> api.Response:
        return await self.real.validate_ephemeral(type_name, config)

    async def validate_list(self, request: api.ListRequest) -> api.Response:
        return await self.real.validate_list(request)

    async def validate_action(self, type_name: str, config: cty.Value) -> api.Response:
        return await self.real.validate_action(type_name, config)

    async def upgrade(self, request: api.UpgradeRequest) -> api.UpgradeResponse:
        return await self.real.upgrade(request)

    async def functions(self) -> api.FunctionsResponse:
        return await self.real.functions()

    async def call_function(self, name: str, arguments: Sequence[cty.Value]) -> api.CallResponse:
        return await self.real.call_function(name, arguments)

    async def stop(self) -> None:
        await self.real.stop()

    async def close(self) -> None:
        await self.real.close()


def _nothing_to_take_over(what: str) -> api.ProviderDiagnostics:
    return problem(
        "Object of a mock",
        f"A mocked provider has no objects outside of the test, so nothing can be {what}. Leave "
        "the block out of the test, for instance by overriding the module that it is in.",
    )
