"""A plugin program as a `Provider`, for plugin protocols 5 and 6.

Every operation encodes values with the types of the provider's schema, makes one call, and decodes
the response; failures become its diagnostics. A process may be given the schema that another
process of the same program returned, which saves a call.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from datetime import datetime

from google.protobuf.timestamp_pb2 import Timestamp

from nigari import cty
from nigari.diagnostics import Severity
from nigari.hcl.quoting import quoted, with_article
from nigari.providers import api
from nigari.providers.calls import CallFailed, Calls, NotOffered
from nigari.providers.launch import Plugin
from nigari.providers.received import (
    bad_value,
    received_deferral,
    received_identity,
    received_moment,
    received_object,
    received_result,
)
from nigari.providers.wire import protocol5_pb2 as pb5
from nigari.providers.wire import protocol6_pb2 as pb
from nigari.providers.wire import schemas
from nigari.providers.wire.protocol import MAX_SCHEMA
from nigari.providers.wire.stored_schema import schema_bytes
from nigari.providers.wire.values import (
    CAPABILITIES,
    capabilities,
    diagnostics,
    encode,
    path,
    raw_state,
)
from nigari.schema.provider import FunctionSignature, ProviderSchema, Schema
from nigari.version import OPENTOFU_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_SCHEMA_TIMEOUT: Final = 120.0


class PluginProvider:
    """A provider that runs as a plugin process."""

    def __init__(
        self,
        plugin: Plugin,
        known_schema: ProviderSchema | None = None,
        keep: Callable[[bytes], None] | None = None,
    ) -> None:
        """Connect a plugin; `keep` receives its serialized schema for `stored_schema`."""
        self._plugin = plugin
        self._keep = keep
        self._calls = Calls(plugin)
        self._known_schema = known_schema
        self._schema: asyncio.Task[ProviderSchema] | None = None
        self._functions: Mapping[str, FunctionSignature] = {}
        """Functions of a configured provider, in addition to those in its schema."""

    async def schema(self) -> api.SchemaResponse:
        try:
            return api.SchemaResponse(await self._get_schema())
        except CallFailed as failed:
            return api.SchemaResponse(None, failed.diagnostics)

    async def validate_provider(self, config: cty.Value) -> api.Response:
        try:
            block = (await self._get_schema()).provider.block
            request = pb.ValidateProviderConfig.Request(
                config=self._encode(config, block.implied_type)
            )
            answer = await self._calls.call(
                "ValidateProviderConfig", request, pb.ValidateProviderConfig.Response
            )
            return api.Response(diagnostics(answer.diagnostics))
        except CallFailed as failed:
            return api.Response(failed.diagnostics)

    async def validate_resource(self, type_name: str, config: cty.Value) -> api.Response:
        return await self._validate("ValidateResourceConfig", "resources", type_name, config)

    async def validate_data(self, type_name: str, config: cty.Value) -> api.Response:
        return await self._validate("ValidateDataResourceConfig", "data_sources", type_name, config)

    async def validate_ephemeral(self, type_name: str, config: cty.Value) -> api.Response:
        method = "ValidateEphemeralResourceConfig"
        return await self._validate(method, "ephemeral_resources", type_name, config)

    async def configure(self, config: cty.Value, may_defer: bool = False) -> api.Response:
        try:
            block = (await self._get_schema()).provider.block
            request = pb.ConfigureProvider.Request(
                # Some providers refuse versions below the ones they know, so this
                # is that of the OpenTofu whose behavior is followed.
                terraform_version=OPENTOFU_VERSION,
                config=self._encode(config, block.implied_type),
                client_capabilities=capabilities(may_defer),
            )
            answer = await self._calls.call(
                "ConfigureProvider", request, pb.ConfigureProvider.Response
            )
            return api.Response(diagnostics(answer.diagnostics))
        except CallFailed as failed:
            return api.Response(failed.diagnostics)

    async def upgrade(self, request: api.UpgradeRequest) -> api.UpgradeResponse:
        try:
            schema = await self._resource(request.type_name)
            message = pb.UpgradeResourceState.Request(
                type_name=request.type_name,
                version=request.version,
                raw_state=raw_state(request.json, request.flatmap),
            )
            answer = await self._calls.call(
                "UpgradeResourceState", message, pb.UpgradeResourceState.Response
            )
            # Protocol: the upgraded state has the current schema, whatever the
            # version of the stored one.
            state, found = self._state(answer.upgraded_state, schema, request.type_name)
            return api.UpgradeResponse(state, diagnostics(answer.diagnostics) + found)
        except CallFailed as failed:
            return api.UpgradeResponse(cty.null(cty.DYNAMIC), failed.diagnostics)

    async def read(self, request: api.ReadRequest) -> api.ReadResponse:
        try:
            schema = await self._resource(request.type_name)
            message = pb.ReadResource.Request(
                type_name=request.type_name,
                current_state=self._encode(request.state, schema.block.implied_type),
                private=request.private,
                provider_meta=await self._meta(request.provider_meta),
                client_capabilities=capabilities(request.may_defer),
                current_identity=self._identity_message(request.identity, schema),
            )
            answer = await self._calls.call("ReadResource", message, pb.ReadResource.Response)
            state, found = self._state(answer.new_state, schema, request.type_name)
            identity, wrong = self._identity(answer.new_identity, schema)
            reported = diagnostics(answer.diagnostics) + found + wrong
            return api.ReadResponse(
                state, answer.private, identity, reported, received_deferral(answer)
            )
        except CallFailed as failed:
            return api.ReadResponse(
                request.state, request.private, request.identity, failed.diagnostics
            )

    async def plan(self, request: api.PlanRequest) -> api.PlanResponse:
        try:
            schema = await self._resource(request.type_name)
            # Protocol: a provider without the capability plan_destroy must not be asked to plan a
            # destroy.
            if request.proposed.is_null and not (await self._get_schema()).plans_destroy:
                return api.PlanResponse(request.proposed, (), request.prior_private)
            type_ = schema.block.implied_type
            message = pb.PlanResourceChange.Request(
                type_name=request.type_name,
                prior_state=self._encode(request.prior, type_),
                proposed_new_state=self._encode(request.proposed, type_),
                config=self._encode(request.config, type_),
                prior_private=request.prior_private,
                provider_meta=await self._meta(request.provider_meta),
                client_capabilities=capabilities(request.may_defer),
                prior_identity=self._identity_message(request.identity, schema),
                planned_private=request.planned_private,
            )
            answer = await self._calls.call(
                "PlanResourceChange", message, pb.PlanResourceChange.Response
            )
            planned, found = self._state(answer.planned_state, schema, request.type_name)
            # The identity of a new object is usually unknown until apply; later it
            # must be known.
            identity, wrong = self._identity(answer.planned_identity, schema, may_be_unknown=True)
            return api.PlanResponse(
                planned=planned,
                requires_replace=tuple(path(p) for p in answer.requires_replace),
                planned_private=answer.planned_private,
                identity=identity,
                legacy_type_system=answer.legacy_type_system,
                diagnostics=diagnostics(answer.diagnostics) + found + wrong,
                deferred=received_deferral(answer),
            )
        except CallFailed as failed:
            return api.PlanResponse(request.proposed, diagnostics=failed.diagnostics)

    async def apply(self, request: api.ApplyRequest) -> api.ApplyResponse:
        try:
            schema = await self._resource(request.type_name)
            type_ = schema.block.implied_type
            message = pb.ApplyResourceChange.Request(
                type_name=request.type_name,
                prior_state=self._encode(request.prior, type_),
                planned_state=self._encode(request.planned, type_),
                config=self._encode(request.config, type_),
                planned_private=request.planned_private,
                provider_meta=await self._meta(request.provider_meta),
                planned_identity=self._identity_message(request.identity, schema),
            )
            answer = await self._calls.call(
                "ApplyResourceChange", message, pb.ApplyResourceChange.Response
            )
            state, found = self._state(answer.new_state, schema, request.type_name)
            identity, wrong = self._identity(answer.new_identity, schema)
            reported = diagnostics(answer.diagnostics) + found + wrong
            return api.ApplyResponse(
                state, answer.private, identity, answer.legacy_type_system, reported
            )
        except CallFailed as failed:
            # How far the plugin got is unknown; the prior object may still exist.
            return api.ApplyResponse(request.prior, diagnostics=failed.diagnostics)

    async def import_state(self, request: api.ImportRequest) -> api.ImportResponse:
        try:
            schema = await self._resource(request.type_name)
            message = pb.ImportResourceState.Request(
                type_name=request.type_name,
                id=request.id,
                client_capabilities=capabilities(request.may_defer),
                identity=self._identity_message(request.identity, schema),
            )
            answer = await self._calls.call(
                "ImportResourceState", message, pb.ImportResourceState.Response
            )
            reported = diagnostics(answer.diagnostics)
            imported: list[api.ImportedResource] = []
            # One import may yield several objects, even of other types, each decoded
            # by its own schema.
            for one in answer.imported_resources:
                schema = await self._resource(one.type_name)
                state, found = self._state(one.state, schema, one.type_name)
                identity, wrong = self._identity(one.identity, schema)
                reported += found + wrong
                imported.append(api.ImportedResource(one.type_name, state, one.private, identity))
            return api.ImportResponse(tuple(imported), reported, received_deferral(answer))
        except CallFailed as failed:
            return api.ImportResponse((), failed.diagnostics)

    async def move_state(self, request: api.MoveRequest) -> api.MoveResponse:
        try:
            schema = await self._resource(request.target_type_name)
            message = pb.MoveResourceState.Request(
                source_provider_address=request.source_provider,
                source_type_name=request.source_type_name,
                source_schema_version=request.source_version,
                source_state=raw_state(request.json, request.flatmap),
                target_type_name=request.target_type_name,
                source_private=request.private,
            )
            answer = await self._calls.call(
                "MoveResourceState", message, pb.MoveResourceState.Response
            )
            state, found = self._state(answer.target_state, schema, request.target_type_name)
            reported = diagnostics(answer.diagnostics) + found
            return api.MoveResponse(state, answer.target_private, reported)
        except CallFailed as failed:
            return api.MoveResponse(cty.null(cty.DYNAMIC), b"", failed.diagnostics)

    async def read_data(self, request: api.ReadDataRequest) -> api.ReadDataResponse:
        try:
            schema = await self._one_of("data_sources", request.type_name)
            message = pb.ReadDataSource.Request(
                type_name=request.type_name,
                config=self._encode(request.config, schema.block.implied_type),
                provider_meta=await self._meta(request.provider_meta),
                client_capabilities=capabilities(request.may_defer),
            )
            answer = await self._calls.call("ReadDataSource", message, pb.ReadDataSource.Response)
            state, found = self._state(answer.state, schema, request.type_name)
            reported = diagnostics(answer.diagnostics) + found
            return api.ReadDataResponse(state, reported, received_deferral(answer))
        except CallFailed as failed:
            return api.ReadDataResponse(cty.unknown(cty.DYNAMIC), failed.diagnostics)

    async def open_ephemeral(self, type_name: str, config: cty.Value) -> api.OpenEphemeralResponse:
        try:
            schema = await self._one_of("ephemeral_resources", type_name)
            message = pb.OpenEphemeralResource.Request(
                type_name=type_name,
                config=self._encode(config, schema.block.implied_type),
                client_capabilities=CAPABILITIES,
            )
            answer = await self._calls.call(
                "OpenEphemeralResource", message, pb.OpenEphemeralResource.Response
            )
            result, found = self._state(answer.result, schema, type_name)
            return api.OpenEphemeralResponse(
                result,
                # Protocol: private is optional here, and absent differs from
                # empty when it is sent back.
                answer.private if answer.HasField("private") else None,
                # Without renew_at, the object needs no renewal.
                self._moment(answer.renew_at) if answer.HasField("renew_at") else None,
                diagnostics(answer.diagnostics) + found,
            )
        except CallFailed as failed:
            unknown = cty.unknown(cty.DYNAMIC)
            return api.OpenEphemeralResponse(unknown, diagnostics=failed.diagnostics)

    async def renew_ephemeral(
        self, type_name: str, private: bytes | None
    ) -> api.RenewEphemeralResponse:
        try:
            message = pb.RenewEphemeralResource.Request(type_name=type_name, private=private)
            answer = await self._calls.call(
                "RenewEphemeralResource", message, pb.RenewEphemeralResource.Response
            )
            return api.RenewEphemeralResponse(
                answer.private if answer.HasField("private") else None,
                self._moment(answer.renew_at) if answer.HasField("renew_at") else None,
                diagnostics(answer.diagnostics),
            )
        except CallFailed as failed:
            return api.RenewEphemeralResponse(private, None, failed.diagnostics)

    async def close_ephemeral(self, type_name: str, private: bytes | None) -> api.Response:
        try:
            message = pb.CloseEphemeralResource.Request(type_name=type_name, private=private)
            answer = await self._calls.call(
                "CloseEphemeralResource", message, pb.CloseEphemeralResource.Response
            )
            return api.Response(diagnostics(answer.diagnostics))
        except CallFailed as failed:
            return api.Response(failed.diagnostics)

    async def validate_list(self, request: api.ListRequest) -> api.Response:
        try:
            schema = await self._one_of("list_resources", request.type_name)
            message = pb.ValidateListResourceConfig.Request(
                type_name=request.type_name,
                config=self._encode(request.config, schema.block.implied_type),
                include_resource_object=self._encode(
                    cty.boolean(request.include_resource), cty.BOOL
                ),
                limit=self._encode(cty.number(request.limit), cty.NUMBER),
            )
            answer = await self._calls.call(
                "ValidateListResourceConfig", message, pb.ValidateListResourceConfig.Response
            )
            return api.Response(diagnostics(answer.diagnostics))
        except CallFailed as failed:
            return api.Response(failed.diagnostics)

    async def list_resources(self, request: api.ListRequest) -> AsyncGenerator[api.ListEvent, None]:
        try:
            # The configuration of a list has its own schema; what it finds has that
            # of the resource type.
            schema = await self._one_of("list_resources", request.type_name)
            listed = await self._resource(request.type_name)
            message = pb.ListResource.Request(
                type_name=request.type_name,
                config=self._encode(request.config, schema.block.implied_type),
                include_resource_object=request.include_resource,
                limit=request.limit,
            )
            async for event in self._calls.stream("ListResource", message, pb.ListResource.Event):
                yield self._listed(event, listed, request.type_name)
        except CallFailed as failed:
            yield api.ListEvent(diagnostics=failed.diagnostics)

    def _listed(
        self, event: pb.ListResource.Event, schema: Schema, type_name: str
    ) -> api.ListEvent:
        reported = diagnostics(event.diagnostic)
        identity, wrong = self._identity(event.identity, schema)
        # ListResource: every result has an identity, by which it could be imported.
        if identity is None and not reported and not wrong:
            wrong = (_no_identity(self._plugin.name, type_name),)
        resource = None
        if event.HasField("resource_object"):
            resource, found = self._state(event.resource_object, schema, type_name)
            wrong += found
        return api.ListEvent(event.display_name, identity, resource, reported + wrong)

    async def validate_action(self, type_name: str, config: cty.Value) -> api.Response:
        try:
            schema = await self._one_of("actions", type_name)
            message = pb.ValidateActionConfig.Request(
                type_name=type_name, config=self._encode(config, schema.block.implied_type)
            )
            answer = await self._calls.call(
                "ValidateActionConfig", message, pb.ValidateActionConfig.Response
            )
            return api.Response(diagnostics(answer.diagnostics))
        except CallFailed as failed:
            return api.Response(failed.diagnostics)

    async def plan_action(
        self, type_name: str, config: cty.Value, may_defer: bool = False
    ) -> api.PlanActionResponse:
        try:
            schema = await self._one_of("actions", type_name)
            message = pb.PlanAction.Request(
                action_type=type_name,
                config=self._encode(config, schema.block.implied_type),
                client_capabilities=capabilities(may_defer),
            )
            answer = await self._calls.call("PlanAction", message, pb.PlanAction.Response)
            return api.PlanActionResponse(
                diagnostics(answer.diagnostics), received_deferral(answer)
            )
        except CallFailed as failed:
            return api.PlanActionResponse(failed.diagnostics)

    async def invoke_action(
        self, type_name: str, config: cty.Value
    ) -> AsyncGenerator[api.ActionEvent, None]:
        try:
            schema = await self._one_of("actions", type_name)
            message = pb.InvokeAction.Request(
                action_type=type_name,
                config=self._encode(config, schema.block.implied_type),
                client_capabilities=CAPABILITIES,
            )
            events = self._calls.stream("InvokeAction", message, pb.InvokeAction.Event)
            async for event in events:
                # InvokeAction: completed is the last event. Without it, the
                # outcome of the action is unknown.
                if event.HasField("completed"):
                    reported = diagnostics(event.completed.diagnostics)
                    yield api.ActionEvent(is_end=True, diagnostics=reported)
                    return
                yield api.ActionEvent(event.progress.message)
            raise CallFailed((_no_end(self._plugin.name, type_name),))
        except CallFailed as failed:
            yield api.ActionEvent(is_end=True, diagnostics=failed.diagnostics)

    async def functions(self) -> api.FunctionsResponse:
        try:
            offered = (await self._get_schema()).functions
            try:
                answer = await self._calls.call(
                    "GetFunctions", pb.GetFunctions.Request(), pb.GetFunctions.Response
                )
            # Protocol: GetFunctions is a later addition, which older providers lack.
            except NotOffered:
                return api.FunctionsResponse(offered)
            try:
                self._functions = {**offered, **schemas.functions(answer.functions)}
            except cty.CtyError as error:
                raise CallFailed((_bad_schema(self._plugin.name, error.message),)) from None
            return api.FunctionsResponse(self._functions, diagnostics(answer.diagnostics))
        except CallFailed as failed:
            return api.FunctionsResponse({}, failed.diagnostics)

    async def call_function(self, name: str, arguments: Sequence[cty.Value]) -> api.CallResponse:
        try:
            offered = (await self._get_schema()).functions
            signature = offered.get(name) or self._functions.get(name)
            if signature is None:
                raise CallFailed((_no_such("function", name),))
            encoded: list[pb.DynamicValue] = []
            for index, argument in enumerate(arguments):
                parameter = signature.parameter(index)
                if parameter is None:
                    raise CallFailed((_too_many_arguments(name),))
                # As for built-in functions, an unknown argument that the parameter does not accept
                # makes the result unknown without a call.
                if not parameter.allow_unknown and not argument.is_wholly_known:
                    return api.CallResponse(cty.unknown(signature.returns))
                if argument.is_null and not parameter.allow_null:
                    failure = api.FunctionFailure("it must not be null", index)
                    return api.CallResponse(cty.unknown(signature.returns), failure)
                encoded.append(self._encode(argument, parameter.type))
            message = pb.CallFunction.Request(name=name, arguments=encoded)
            answer = await self._calls.call("CallFunction", message, pb.CallFunction.Response)
            if answer.HasField("error"):
                argument_index = (
                    answer.error.function_argument
                    if answer.error.HasField("function_argument")
                    else None
                )
                failure = api.FunctionFailure(answer.error.text, argument_index)
                return api.CallResponse(cty.unknown(signature.returns), failure)
            is_known = all(each.is_wholly_known for each in arguments)
            return received_result(answer.result, signature.returns, self._plugin.name, is_known)
        except CallFailed as failed:
            first = failed.diagnostics[0]
            text = f"{first.summary}: {first.detail}" if first.detail else first.summary
            return api.CallResponse(cty.unknown(cty.DYNAMIC), api.FunctionFailure(text))

    async def stop(self) -> None:
        with contextlib.suppress(CallFailed):
            await self._calls.call(
                "StopProvider", pb.StopProvider.Request(), pb.StopProvider.Response, within=5
            )

    async def close(self) -> None:
        if self._schema is not None and not self._schema.done():
            self._schema.cancel()
        await self._plugin.close()

    async def _get_schema(self) -> ProviderSchema:
        # Shielded, so that one cancelled caller does not cancel it for the others.
        if self._schema is None:
            self._schema = asyncio.create_task(self._fetch_schema())
        return await asyncio.shield(self._schema)

    async def _fetch_schema(self) -> ProviderSchema:
        known = self._known_schema
        # Protocol: without the capability get_provider_schema_optional, a new process must be asked
        # for its schema before anything else.
        if known is not None and known.schema_call_optional:
            return known
        response: type[pb.GetProviderSchema.Response | pb5.GetProviderSchema.Response] = (
            pb5.GetProviderSchema.Response
            if self._plugin.protocol == 5
            else pb.GetProviderSchema.Response
        )
        answer = await self._calls.call(
            "GetProviderSchema",
            pb.GetProviderSchema.Request(),
            response,
            _SCHEMA_TIMEOUT,
            MAX_SCHEMA,
        )
        reported = diagnostics(answer.diagnostics)
        if api.has_errors(reported):
            raise CallFailed(reported)
        # The call was required, but the schema is known from another process.
        if known is not None:
            return known
        try:
            identities = await self._fetch_identities()
            schema = schemas.provider_schema(answer, identities)
        except cty.CtyError as error:
            raise CallFailed((_bad_schema(self._plugin.name, error.message),)) from None
        if self._keep is not None and schema.schema_call_optional:
            self._keep(schema_bytes(answer, identities))
        return schema

    async def _fetch_identities(self) -> Mapping[str, pb.ResourceIdentitySchema]:
        """Request the identity schemas. They are optional: a provider without them, or with invalid
        ones, works.
        """
        try:
            answer = await self._calls.call(
                "GetResourceIdentitySchemas",
                pb.GetResourceIdentitySchemas.Request(),
                pb.GetResourceIdentitySchemas.Response,
                _SCHEMA_TIMEOUT,
            )
        except NotOffered:
            return {}
        if api.has_errors(diagnostics(answer.diagnostics)):
            return {}
        return answer.identity_schemas

    async def _resource(self, type_name: str) -> Schema:
        return await self._one_of("resources", type_name)

    async def _one_of(self, kind: str, type_name: str) -> Schema:
        schema = await self._get_schema()
        known: Mapping[str, Schema] = {
            "resources": schema.resources,
            "data_sources": schema.data_sources,
            "ephemeral_resources": schema.ephemeral_resources,
            "list_resources": schema.list_resources,
            "actions": schema.actions,
        }[kind]
        found = known.get(type_name)
        if found is None and type_name in schema.faults:
            raise CallFailed((_bad_schema(self._plugin.name, schema.faults[type_name]),))
        if found is None:
            raise CallFailed((_no_such(_KIND_NAMES[kind], type_name),))
        return found

    async def _validate(
        self, method: str, kind: str, type_name: str, config: cty.Value
    ) -> api.Response:
        try:
            schema = await self._one_of(kind, type_name)
            request = pb.ValidateConfig.Request(
                type_name=type_name,
                config=self._encode(config, schema.block.implied_type),
                client_capabilities=CAPABILITIES if kind == "resources" else None,
            )
            answer = await self._calls.call(method, request, pb.ValidateConfig.Response)
            return api.Response(diagnostics(answer.diagnostics))
        except CallFailed as failed:
            return api.Response(failed.diagnostics)

    async def _meta(self, value: cty.Value | None) -> pb.DynamicValue | None:
        schema = (await self._get_schema()).provider_meta
        if schema is None:
            return None
        type_ = schema.block.implied_type
        return self._encode(cty.null(type_) if value is None else value, type_)

    def _state(
        self, message: pb.DynamicValue, schema: Schema, type_name: str
    ) -> tuple[cty.Value, api.ProviderDiagnostics]:
        return received_object(message, schema, self._plugin.name, type_name)

    def _identity_message(
        self, identity: cty.Value | None, schema: Schema
    ) -> pb.ResourceIdentityData | None:
        if identity is None or identity.is_null or schema.identity is None:
            return None
        data = self._encode(identity, schema.identity.implied_type)
        return pb.ResourceIdentityData(identity_data=data)

    def _identity(
        self, message: pb.ResourceIdentityData, schema: Schema, may_be_unknown: bool = False
    ) -> tuple[cty.Value | None, api.ProviderDiagnostics]:
        return received_identity(message, schema, self._plugin.name, may_be_unknown)

    def _moment(self, stamp: Timestamp) -> datetime:
        return received_moment(stamp, self._plugin.name)

    def _encode(self, value: cty.Value, type_: cty.Type) -> pb.DynamicValue:
        try:
            return encode(value, type_)
        except cty.CtyError as error:
            raise CallFailed((bad_value("sent to", self._plugin.name, error),)) from None


_KIND_NAMES: Final = {
    "resources": "resource type",
    "data_sources": "data source",
    "ephemeral_resources": "ephemeral resource type",
    "list_resources": "list resource type",
    "actions": "action type",
}


def _no_such(kind: str, name: str) -> api.ProviderDiagnostic:
    return api.ProviderDiagnostic(
        Severity.ERROR,
        f"Unknown {kind}",
        f"The provider does not have {with_article(kind)} named {quoted(name)}.",
    )


def _too_many_arguments(name: str) -> api.ProviderDiagnostic:
    return api.ProviderDiagnostic(
        Severity.ERROR,
        "Too many function arguments",
        f"The function {quoted(name)} accepts fewer arguments.",
    )


def _no_identity(plugin: str, type_name: str) -> api.ProviderDiagnostic:
    return api.ProviderDiagnostic(
        Severity.ERROR,
        "Query result without an identity",
        f"The plugin {plugin} returned an object of {type_name} without its identity. This is a "
        "bug in the provider.",
    )


def _no_end(plugin: str, type_name: str) -> api.ProviderDiagnostic:
    return api.ProviderDiagnostic(
        Severity.ERROR,
        "Action without a result",
        f"The plugin {plugin} did not say how the action {type_name} ended. This is a bug in the "
        "provider.",
    )


def _bad_schema(plugin: str, reason: str) -> api.ProviderDiagnostic:
    return api.ProviderDiagnostic(
        Severity.ERROR,
        "Unusable provider schema",
        f"The schema of the plugin {plugin} is not valid: {reason}. This is a bug in the provider.",
        about_provider=True,
    )
