"""Default implementation of every provider operation, as a base for providers written in Python.

A subclass overrides the operations that it supports. All others return an error diagnostic and
never raise.
"""

from collections.abc import AsyncGenerator, Sequence

from nigari import cty
from nigari.diagnostics import Severity
from nigari.hcl.quoting import quoted, with_article
from nigari.providers import api
from nigari.schema.block import Block
from nigari.schema.provider import ProviderSchema, Schema


class ProviderBase:
    """A provider with an empty configuration and no resources."""

    async def schema(self) -> api.SchemaResponse:
        return api.SchemaResponse(ProviderSchema(Schema(Block())))

    async def validate_provider(self, config: cty.Value) -> api.Response:
        return api.Response()

    async def validate_resource(self, type_name: str, config: cty.Value) -> api.Response:
        return api.Response(unknown_type("resource type", type_name))

    async def validate_data(self, type_name: str, config: cty.Value) -> api.Response:
        return api.Response(unknown_type("data source", type_name))

    async def validate_ephemeral(self, type_name: str, config: cty.Value) -> api.Response:
        return api.Response(unknown_type("ephemeral resource type", type_name))

    async def configure(self, config: cty.Value, may_defer: bool = False) -> api.Response:
        return api.Response()

    async def upgrade(self, request: api.UpgradeRequest) -> api.UpgradeResponse:
        """Accept state of the current schema version unchanged."""
        offered = (await self.schema()).schema
        schema = None if offered is None else offered.resources.get(request.type_name)
        if schema is None:
            reported = unknown_type("resource type", request.type_name)
        # Only the provider knows what its older schemas meant, so a subclass with several
        # versions must override this.
        elif request.version != schema.version or not request.json:
            reported = problem(
                "State of another provider version",
                f"The object was stored with version {request.version} of its schema, and this"
                f" provider has version {schema.version}.",
            )
        else:
            try:
                return api.UpgradeResponse(
                    cty.value_from_json(request.json, schema.block.implied_type)
                )
            except cty.CtyError as error:
                reported = problem("State does not match the schema", f"{error.message}.")
        return api.UpgradeResponse(cty.null(cty.DYNAMIC), reported)

    async def read(self, request: api.ReadRequest) -> api.ReadResponse:
        reported = unknown_type("resource type", request.type_name)
        return api.ReadResponse(request.state, request.private, request.identity, reported)

    async def plan(self, request: api.PlanRequest) -> api.PlanResponse:
        reported = unknown_type("resource type", request.type_name)
        return api.PlanResponse(request.proposed, diagnostics=reported)

    async def apply(self, request: api.ApplyRequest) -> api.ApplyResponse:
        reported = unknown_type("resource type", request.type_name)
        return api.ApplyResponse(request.prior, diagnostics=reported)

    async def import_state(self, request: api.ImportRequest) -> api.ImportResponse:
        return api.ImportResponse((), unknown_type("resource type", request.type_name))

    async def move_state(self, request: api.MoveRequest) -> api.MoveResponse:
        reported = problem(
            "Move between resource types not supported",
            f"A {request.source_type_name} of {request.source_provider} cannot become a"
            f" {request.target_type_name}.",
        )
        return api.MoveResponse(cty.null(cty.DYNAMIC), diagnostics=reported)

    async def read_data(self, request: api.ReadDataRequest) -> api.ReadDataResponse:
        reported = unknown_type("data source", request.type_name)
        return api.ReadDataResponse(cty.unknown(cty.DYNAMIC), reported)

    async def open_ephemeral(self, type_name: str, config: cty.Value) -> api.OpenEphemeralResponse:
        reported = unknown_type("ephemeral resource type", type_name)
        return api.OpenEphemeralResponse(cty.unknown(cty.DYNAMIC), diagnostics=reported)

    async def renew_ephemeral(
        self, type_name: str, private: bytes | None
    ) -> api.RenewEphemeralResponse:
        reported = unknown_type("ephemeral resource type", type_name)
        return api.RenewEphemeralResponse(private, None, reported)

    async def close_ephemeral(self, type_name: str, private: bytes | None) -> api.Response:
        return api.Response(unknown_type("ephemeral resource type", type_name))

    async def validate_list(self, request: api.ListRequest) -> api.Response:
        return api.Response(unknown_type("list resource type", request.type_name))

    async def list_resources(self, request: api.ListRequest) -> AsyncGenerator[api.ListEvent, None]:
        reported = unknown_type("list resource type", request.type_name)
        yield api.ListEvent(diagnostics=reported)

    async def validate_action(self, type_name: str, config: cty.Value) -> api.Response:
        return api.Response(unknown_type("action type", type_name))

    async def plan_action(
        self, type_name: str, config: cty.Value, may_defer: bool = False
    ) -> api.PlanActionResponse:
        return api.PlanActionResponse(unknown_type("action type", type_name))

    async def invoke_action(
        self, type_name: str, config: cty.Value
    ) -> AsyncGenerator[api.ActionEvent, None]:
        reported = unknown_type("action type", type_name)
        yield api.ActionEvent(is_end=True, diagnostics=reported)

    async def functions(self) -> api.FunctionsResponse:
        answer = await self.schema()
        offered = {} if answer.schema is None else answer.schema.functions
        return api.FunctionsResponse(offered, answer.diagnostics)

    async def call_function(self, name: str, arguments: Sequence[cty.Value]) -> api.CallResponse:
        failure = api.FunctionFailure(f"the provider has no function named {quoted(name)}")
        return api.CallResponse(cty.unknown(cty.DYNAMIC), failure)

    async def stop(self) -> None:
        pass

    async def close(self) -> None:
        pass


def problem(summary: str, detail: str, path: cty.Path | None = None) -> api.ProviderDiagnostics:
    return (api.ProviderDiagnostic(Severity.ERROR, summary, detail, path),)


def unknown_type(kind: str, name: str) -> api.ProviderDiagnostics:
    """Build the error for an unknown resource type, data source or ephemeral resource type."""
    return problem(
        f"Unknown {kind}", f"The provider does not have {with_article(kind)} named {quoted(name)}."
    )
