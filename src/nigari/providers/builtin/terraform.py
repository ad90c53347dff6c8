"""The built-in provider: its resource type, data source and functions combined.

Most configurations only use the resource type; the other parts are imported on first use.
"""

from __future__ import annotations

from collections.abc import Sequence

from nigari import cty
from nigari.providers import api
from nigari.providers.base import ProviderBase
from nigari.providers.builtin import terraform_data
from nigari.providers.builtin.schema import (
    PLAIN_SCHEMA,
    REMOTE_STATE_NAME,
    SCHEMA,
    TERRAFORM_DATA_NAME,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.providers.builtin.remote_state import Checker, Reader


class TerraformProvider(ProviderBase):
    """`terraform.io/builtin/terraform`. It needs no configuration and no process."""

    def __init__(
        self,
        reader: Reader | None = None,
        checker: Checker | None = None,
        has_store: bool = True,
    ) -> None:
        """Create the provider with a `reader` of other states, and a `checker` of backend
        arguments. Without `has_store`, its objects have no block `store`, as in OpenTofu.
        """
        self._reader = reader
        self._checker = checker
        self._schema = SCHEMA if has_store else PLAIN_SCHEMA
        self._data = self._schema.resources[TERRAFORM_DATA_NAME].block

    async def schema(self) -> api.SchemaResponse:
        return api.SchemaResponse(self._schema)

    async def validate_resource(self, type_name: str, config: cty.Value) -> api.Response:
        if type_name != TERRAFORM_DATA_NAME:
            return await super().validate_resource(type_name, config)
        return api.Response(terraform_data.validate(config))

    async def validate_data(self, type_name: str, config: cty.Value) -> api.Response:
        if type_name != REMOTE_STATE_NAME:
            return await super().validate_data(type_name, config)
        from nigari.providers.builtin import remote_state

        checker = self._checker or remote_state.no_checker
        return api.Response(await remote_state.validate(config, checker))

    async def upgrade(self, request: api.UpgradeRequest) -> api.UpgradeResponse:
        if request.type_name != TERRAFORM_DATA_NAME:
            return await super().upgrade(request)
        return terraform_data.upgrade(request, self._data)

    async def read(self, request: api.ReadRequest) -> api.ReadResponse:
        if request.type_name != TERRAFORM_DATA_NAME:
            return await super().read(request)
        return api.ReadResponse(request.state)

    async def plan(self, request: api.PlanRequest) -> api.PlanResponse:
        if request.type_name != TERRAFORM_DATA_NAME:
            return await super().plan(request)
        return terraform_data.plan(request)

    async def apply(self, request: api.ApplyRequest) -> api.ApplyResponse:
        if request.type_name != TERRAFORM_DATA_NAME:
            return await super().apply(request)
        return terraform_data.apply(request)

    async def import_state(self, request: api.ImportRequest) -> api.ImportResponse:
        if request.type_name != TERRAFORM_DATA_NAME:
            return await super().import_state(request)
        return terraform_data.import_state(request, self._data)

    async def move_state(self, request: api.MoveRequest) -> api.MoveResponse:
        if request.target_type_name != TERRAFORM_DATA_NAME:
            return await super().move_state(request)
        return terraform_data.move_state(request, self._data)

    async def read_data(self, request: api.ReadDataRequest) -> api.ReadDataResponse:
        if request.type_name != REMOTE_STATE_NAME:
            return await super().read_data(request)
        from nigari.providers.builtin import remote_state

        return await remote_state.read(request, self._reader or remote_state.no_reader)

    async def call_function(self, name: str, arguments: Sequence[cty.Value]) -> api.CallResponse:
        from nigari.providers.builtin import functions

        function = functions.ALL.get(name)
        if function is None:
            return await super().call_function(name, arguments)
        return function.call(arguments)
