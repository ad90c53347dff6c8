"""Server side of plugin protocol 6: a `Provider` that responds to its messages.

Each method decodes one request, calls the provider and encodes the result; an invalid request
yields an error diagnostic. Sockets and the handshake are in `nigari.providers.serve`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from nigari import cty
from nigari.hcl.quoting import quoted
from nigari.providers import api
from nigari.providers.wire import protocol6_pb2 as pb
from nigari.providers.wire import schemas
from nigari.providers.wire.answers import (
    InvalidRequest,
    decoded,
    decoded_identity,
    deferred,
    handler,
    identity_message,
    identity_schemas_message,
    stamp,
    streaming_handler,
    validated,
)
from nigari.providers.wire.values import diagnostic_messages, encode, path_message
from nigari.schema.placeholders import empty_block
from nigari.schema.provider import ProviderSchema, Schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    import grpc

_WithMetadata = (
    pb.ReadResource.Request
    | pb.PlanResourceChange.Request
    | pb.ApplyResourceChange.Request
    | pb.ReadDataSource.Request
)
"""Requests that carry a module's metadata for the provider."""


class ProviderService:
    """The provider service of one provider."""

    def __init__(self, provider: api.Provider) -> None:
        self._provider = provider
        self._schema: ProviderSchema | None = None

    def handlers(self) -> dict[str, grpc.RpcMethodHandler[object, object]]:
        """Return a handler for each supported method."""
        return {
            "GetMetadata": handler(self._metadata, pb.GetMetadata.Request),
            "GetProviderSchema": handler(self._get_schema, pb.GetProviderSchema.Request),
            "GetResourceIdentitySchemas": handler(
                self._get_identities, pb.GetResourceIdentitySchemas.Request
            ),
            "GetFunctions": handler(self._get_functions, pb.GetFunctions.Request),
            "ValidateProviderConfig": handler(
                self._validate_provider, pb.ValidateProviderConfig.Request
            ),
            "ValidateResourceConfig": handler(self._validate_resource, pb.ValidateConfig.Request),
            "ValidateDataResourceConfig": handler(self._validate_data, pb.ValidateConfig.Request),
            "ValidateEphemeralResourceConfig": handler(
                self._validate_ephemeral, pb.ValidateConfig.Request
            ),
            "ConfigureProvider": handler(self._configure, pb.ConfigureProvider.Request),
            "UpgradeResourceState": handler(self._upgrade, pb.UpgradeResourceState.Request),
            "ReadResource": handler(self._read, pb.ReadResource.Request),
            "PlanResourceChange": handler(self._plan, pb.PlanResourceChange.Request),
            "ApplyResourceChange": handler(self._apply, pb.ApplyResourceChange.Request),
            "ImportResourceState": handler(self._import, pb.ImportResourceState.Request),
            "MoveResourceState": handler(self._move, pb.MoveResourceState.Request),
            "ReadDataSource": handler(self._read_data, pb.ReadDataSource.Request),
            "OpenEphemeralResource": handler(self._open, pb.OpenEphemeralResource.Request),
            "RenewEphemeralResource": handler(self._renew, pb.RenewEphemeralResource.Request),
            "CloseEphemeralResource": handler(self._close, pb.CloseEphemeralResource.Request),
            "ValidateListResourceConfig": handler(
                self._validate_list, pb.ValidateListResourceConfig.Request
            ),
            "ListResource": streaming_handler(self._list, pb.ListResource.Request),
            "ValidateActionConfig": handler(self._validate_action, pb.ValidateActionConfig.Request),
            "PlanAction": handler(self._plan_action, pb.PlanAction.Request),
            "InvokeAction": streaming_handler(self._invoke_action, pb.InvokeAction.Request),
            "CallFunction": handler(self._call, pb.CallFunction.Request),
            "StopProvider": handler(self._stop, pb.StopProvider.Request),
        }

    async def _metadata(self, _request: pb.GetMetadata.Request) -> pb.GetMetadata.Response:
        # GetMetadata: names only, for clients that need few schemas.
        schema = await self._known_schema()
        named = pb.GetMetadata.Named
        return pb.GetMetadata.Response(
            server_capabilities=schemas.provider_schema_message(schema).server_capabilities,
            resources=[named(type_name=name) for name in schema.resources],
            data_sources=[named(type_name=name) for name in schema.data_sources],
            ephemeral_resources=[named(type_name=name) for name in schema.ephemeral_resources],
            list_resources=[named(type_name=name) for name in schema.list_resources],
            actions=[named(type_name=name) for name in schema.actions],
            functions=[pb.GetMetadata.FunctionMetadata(name=name) for name in schema.functions],
        )

    async def _get_schema(
        self, _request: pb.GetProviderSchema.Request
    ) -> pb.GetProviderSchema.Response:
        answer = await self._provider.schema()
        if answer.schema is None:
            messages = diagnostic_messages(answer.diagnostics)
            return pb.GetProviderSchema.Response(diagnostics=messages)
        self._schema = answer.schema
        message = schemas.provider_schema_message(answer.schema)
        message.diagnostics.extend(diagnostic_messages(answer.diagnostics))
        return message

    async def _get_identities(
        self, _request: pb.GetResourceIdentitySchemas.Request
    ) -> pb.GetResourceIdentitySchemas.Response:
        return identity_schemas_message(await self._known_schema())

    async def _get_functions(self, _request: pb.GetFunctions.Request) -> pb.GetFunctions.Response:
        message = pb.GetFunctions.Response()
        for name, signature in (await self._known_schema()).functions.items():
            message.functions[name].CopyFrom(schemas.function_message(signature))
        return message

    async def _validate_provider(
        self, request: pb.ValidateProviderConfig.Request
    ) -> pb.ValidateProviderConfig.Response:
        try:
            type_ = (await self._known_schema()).provider.block.implied_type
            answer = await self._provider.validate_provider(decoded(request.config, type_))
            reported = answer.diagnostics
        except InvalidRequest as refused:
            reported = refused.reported
        return pb.ValidateProviderConfig.Response(diagnostics=diagnostic_messages(reported))

    async def _validate_resource(
        self, request: pb.ValidateConfig.Request
    ) -> pb.ValidateConfig.Response:
        return await validated(request, self._resource_type, self._provider.validate_resource)

    async def _validate_data(
        self, request: pb.ValidateConfig.Request
    ) -> pb.ValidateConfig.Response:
        return await validated(request, self._data_type, self._provider.validate_data)

    async def _validate_ephemeral(
        self, request: pb.ValidateConfig.Request
    ) -> pb.ValidateConfig.Response:
        return await validated(request, self._ephemeral_type, self._provider.validate_ephemeral)

    async def _configure(
        self, request: pb.ConfigureProvider.Request
    ) -> pb.ConfigureProvider.Response:
        try:
            type_ = (await self._known_schema()).provider.block.implied_type
            reported = (await self._provider.configure(decoded(request.config, type_))).diagnostics
        except InvalidRequest as refused:
            reported = refused.reported
        return pb.ConfigureProvider.Response(diagnostics=diagnostic_messages(reported))

    async def _upgrade(
        self, request: pb.UpgradeResourceState.Request
    ) -> pb.UpgradeResourceState.Response:
        try:
            type_ = await self._resource_type(request.type_name)
        except InvalidRequest as refused:
            messages = diagnostic_messages(refused.reported)
            return pb.UpgradeResourceState.Response(diagnostics=messages)
        # RawState: JSON, or the flat form of states before version 0.12.
        raw = request.raw_state
        flat = tuple(raw.flatmap.items())
        answer = await self._provider.upgrade(
            api.UpgradeRequest(request.type_name, request.version, raw.json, flat)
        )
        return pb.UpgradeResourceState.Response(
            upgraded_state=encode(answer.state, type_),
            diagnostics=diagnostic_messages(answer.diagnostics),
        )

    async def _read(self, request: pb.ReadResource.Request) -> pb.ReadResource.Response:
        try:
            schema = await self._resource(request.type_name)
            type_ = schema.block.implied_type
            state = decoded(request.current_state, type_)
            meta = await self._meta(request)
            identity = decoded_identity(request.current_identity, schema)
        except InvalidRequest as refused:
            return pb.ReadResource.Response(diagnostics=diagnostic_messages(refused.reported))
        answer = await self._provider.read(
            api.ReadRequest(
                request.type_name,
                state,
                request.private,
                meta,
                identity,
                request.client_capabilities.deferral_allowed,
            )
        )
        return pb.ReadResource.Response(
            new_state=encode(answer.state, type_),
            private=answer.private,
            new_identity=identity_message(answer.identity, schema),
            diagnostics=diagnostic_messages(answer.diagnostics),
            deferred=deferred(answer.deferred),
        )

    async def _plan(self, request: pb.PlanResourceChange.Request) -> pb.PlanResourceChange.Response:
        try:
            schema = await self._resource(request.type_name)
            type_ = schema.block.implied_type
            ours = api.PlanRequest(
                type_name=request.type_name,
                prior=decoded(request.prior_state, type_),
                proposed=decoded(request.proposed_new_state, type_),
                config=decoded(request.config, type_),
                prior_private=request.prior_private,
                provider_meta=await self._meta(request),
                identity=decoded_identity(request.prior_identity, schema),
                may_defer=request.client_capabilities.deferral_allowed,
                planned_private=request.planned_private,
            )
        except InvalidRequest as refused:
            return pb.PlanResourceChange.Response(diagnostics=diagnostic_messages(refused.reported))
        answer = await self._provider.plan(ours)
        return pb.PlanResourceChange.Response(
            planned_state=encode(answer.planned, type_),
            requires_replace=[path_message(path) for path in answer.requires_replace],
            planned_private=answer.planned_private,
            planned_identity=identity_message(answer.identity, schema),
            diagnostics=diagnostic_messages(answer.diagnostics),
            deferred=deferred(answer.deferred),
        )

    async def _apply(
        self, request: pb.ApplyResourceChange.Request
    ) -> pb.ApplyResourceChange.Response:
        try:
            schema = await self._resource(request.type_name)
            type_ = schema.block.implied_type
            ours = api.ApplyRequest(
                type_name=request.type_name,
                prior=decoded(request.prior_state, type_),
                planned=decoded(request.planned_state, type_),
                config=decoded(request.config, type_),
                planned_private=request.planned_private,
                provider_meta=await self._meta(request),
                identity=decoded_identity(request.planned_identity, schema),
            )
        except InvalidRequest as refused:
            return pb.ApplyResourceChange.Response(
                diagnostics=diagnostic_messages(refused.reported)
            )
        answer = await self._provider.apply(ours)
        return pb.ApplyResourceChange.Response(
            new_state=encode(answer.state, type_),
            private=answer.private,
            new_identity=identity_message(answer.identity, schema),
            diagnostics=diagnostic_messages(answer.diagnostics),
        )

    async def _import(
        self, request: pb.ImportResourceState.Request
    ) -> pb.ImportResourceState.Response:
        try:
            schema = await self._resource(request.type_name)
            identity = decoded_identity(request.identity, schema)
        except InvalidRequest as refused:
            return pb.ImportResourceState.Response(
                diagnostics=diagnostic_messages(refused.reported)
            )
        answer = await self._provider.import_state(
            api.ImportRequest(
                request.type_name,
                request.id,
                identity,
                request.client_capabilities.deferral_allowed,
            )
        )
        message = pb.ImportResourceState.Response(
            diagnostics=diagnostic_messages(answer.diagnostics), deferred=deferred(answer.deferred)
        )
        for one in answer.resources:
            # One import may yield objects of several types.
            schema = await self._resource(one.type_name)
            message.imported_resources.add(
                type_name=one.type_name,
                state=encode(one.state, schema.block.implied_type),
                private=one.private,
                identity=identity_message(one.identity, schema),
            )
        return message

    async def _move(self, request: pb.MoveResourceState.Request) -> pb.MoveResourceState.Response:
        try:
            type_ = await self._resource_type(request.target_type_name)
        except InvalidRequest as refused:
            return pb.MoveResourceState.Response(diagnostics=diagnostic_messages(refused.reported))
        answer = await self._provider.move_state(
            api.MoveRequest(
                source_provider=request.source_provider_address,
                source_type_name=request.source_type_name,
                source_version=request.source_schema_version,
                target_type_name=request.target_type_name,
                json=request.source_state.json,
                flatmap=tuple(request.source_state.flatmap.items()),
                private=request.source_private,
            )
        )
        return pb.MoveResourceState.Response(
            target_state=encode(answer.state, type_),
            target_private=answer.private,
            diagnostics=diagnostic_messages(answer.diagnostics),
        )

    async def _read_data(self, request: pb.ReadDataSource.Request) -> pb.ReadDataSource.Response:
        try:
            type_ = await self._data_type(request.type_name)
            config = decoded(request.config, type_)
            meta = await self._meta(request)
        except InvalidRequest as refused:
            return pb.ReadDataSource.Response(diagnostics=diagnostic_messages(refused.reported))
        answer = await self._provider.read_data(
            api.ReadDataRequest(
                request.type_name,
                config,
                meta,
                may_defer=request.client_capabilities.deferral_allowed,
            )
        )
        return pb.ReadDataSource.Response(
            state=encode(answer.state, type_),
            diagnostics=diagnostic_messages(answer.diagnostics),
            deferred=deferred(answer.deferred),
        )

    async def _open(
        self, request: pb.OpenEphemeralResource.Request
    ) -> pb.OpenEphemeralResource.Response:
        try:
            type_ = await self._ephemeral_type(request.type_name)
            config = decoded(request.config, type_)
        except InvalidRequest as refused:
            messages = diagnostic_messages(refused.reported)
            return pb.OpenEphemeralResource.Response(diagnostics=messages)
        answer = await self._provider.open_ephemeral(request.type_name, config)
        return pb.OpenEphemeralResource.Response(
            result=encode(answer.result, type_),
            private=answer.private,
            renew_at=stamp(answer.renew_at),
            diagnostics=diagnostic_messages(answer.diagnostics),
        )

    async def _renew(
        self, request: pb.RenewEphemeralResource.Request
    ) -> pb.RenewEphemeralResource.Response:
        # The field is optional: absent and empty differ.
        private = request.private if request.HasField("private") else None
        answer = await self._provider.renew_ephemeral(request.type_name, private)
        return pb.RenewEphemeralResource.Response(
            private=answer.private,
            renew_at=stamp(answer.renew_at),
            diagnostics=diagnostic_messages(answer.diagnostics),
        )

    async def _close(
        self, request: pb.CloseEphemeralResource.Request
    ) -> pb.CloseEphemeralResource.Response:
        private = request.private if request.HasField("private") else None
        answer = await self._provider.close_ephemeral(request.type_name, private)
        messages = diagnostic_messages(answer.diagnostics)
        return pb.CloseEphemeralResource.Response(diagnostics=messages)

    async def _validate_list(
        self, request: pb.ValidateListResourceConfig.Request
    ) -> pb.ValidateListResourceConfig.Response:
        try:
            # ValidateListResourceConfig sends both as values, since they may be unknown.
            limit = decoded(request.limit, cty.NUMBER)
            whole = decoded(request.include_resource_object, cty.BOOL)
            ours = api.ListRequest(
                type_name=request.type_name,
                config=decoded(request.config, await self._list_type(request.type_name)),
                limit=_whole_number(limit),
                include_resource=not whole.is_null and whole.is_known and whole.as_bool(),
            )
            reported = (await self._provider.validate_list(ours)).diagnostics
        except InvalidRequest as refused:
            reported = refused.reported
        messages = diagnostic_messages(reported)
        return pb.ValidateListResourceConfig.Response(diagnostics=messages)

    async def _list(self, request: pb.ListResource.Request) -> AsyncIterator[pb.ListResource.Event]:
        try:
            config = decoded(request.config, await self._list_type(request.type_name))
            schema = await self._resource(request.type_name)
        except InvalidRequest as refused:
            yield pb.ListResource.Event(diagnostic=diagnostic_messages(refused.reported))
            return
        type_ = schema.block.implied_type
        # ListResource sends them plain: they are known by then.
        found = self._provider.list_resources(
            api.ListRequest(
                request.type_name, config, request.limit, request.include_resource_object
            )
        )
        async for each in found:
            yield pb.ListResource.Event(
                identity=identity_message(each.identity, schema),
                display_name=each.display_name,
                resource_object=None if each.resource is None else encode(each.resource, type_),
                diagnostic=diagnostic_messages(each.diagnostics),
            )

    async def _validate_action(
        self, request: pb.ValidateActionConfig.Request
    ) -> pb.ValidateActionConfig.Response:
        try:
            config = await self._action_config(request.type_name, request.config)
            reported = (await self._provider.validate_action(request.type_name, config)).diagnostics
        except InvalidRequest as refused:
            reported = refused.reported
        return pb.ValidateActionConfig.Response(diagnostics=diagnostic_messages(reported))

    async def _plan_action(self, request: pb.PlanAction.Request) -> pb.PlanAction.Response:
        name = request.action_type
        try:
            config = await self._action_config(name, request.config)
        except InvalidRequest as refused:
            return pb.PlanAction.Response(diagnostics=diagnostic_messages(refused.reported))
        may_defer = request.client_capabilities.deferral_allowed
        answer = await self._provider.plan_action(name, config, may_defer)
        return pb.PlanAction.Response(
            diagnostics=diagnostic_messages(answer.diagnostics), deferred=deferred(answer.deferred)
        )

    async def _invoke_action(
        self, request: pb.InvokeAction.Request
    ) -> AsyncIterator[pb.InvokeAction.Event]:
        event = pb.InvokeAction.Event
        try:
            config = await self._action_config(request.action_type, request.config)
        except InvalidRequest as refused:
            messages = diagnostic_messages(refused.reported)
            # The stream must end with completed, even if nothing was done.
            yield event(completed=event.Completed(diagnostics=messages))
            return
        async for each in self._provider.invoke_action(request.action_type, config):
            if each.is_end:
                messages = diagnostic_messages(each.diagnostics)
                yield event(completed=event.Completed(diagnostics=messages))
            else:
                yield event(progress=event.Progress(message=each.message))

    async def _call(self, request: pb.CallFunction.Request) -> pb.CallFunction.Response:
        signature = (await self._known_schema()).functions.get(request.name)
        if signature is None:
            text = f"the provider has no function named {quoted(request.name)}"
            return pb.CallFunction.Response(error=pb.FunctionError(text=text))
        arguments: list[cty.Value] = []
        for index, argument in enumerate(request.arguments):
            parameter = signature.parameter(index)
            if parameter is None:
                # Protocol: function errors are text with the index of an
                # argument, not diagnostics.
                error = pb.FunctionError(text="too many arguments", function_argument=index)
                return pb.CallFunction.Response(error=error)
            try:
                arguments.append(decoded(argument, parameter.type))
            except InvalidRequest as refused:
                error = pb.FunctionError(text=refused.reported[0].detail, function_argument=index)
                return pb.CallFunction.Response(error=error)
        answer = await self._provider.call_function(request.name, arguments)
        if answer.failure is not None:
            failure = answer.failure
            return pb.CallFunction.Response(
                error=pb.FunctionError(text=failure.text, function_argument=failure.argument)
            )
        return pb.CallFunction.Response(result=encode(answer.result, signature.returns))

    async def _stop(self, _request: pb.StopProvider.Request) -> pb.StopProvider.Response:
        await self._provider.stop()
        return pb.StopProvider.Response()

    async def _known_schema(self) -> ProviderSchema:
        if self._schema is None:
            answer = await self._provider.schema()
            if answer.schema is None:
                first = answer.diagnostics[0]
                raise InvalidRequest(first.summary, first.detail)
            self._schema = answer.schema
        return self._schema

    async def _meta(self, request: _WithMetadata) -> cty.Value | None:
        schema = (await self._known_schema()).provider_meta
        if schema is None or not request.HasField("provider_meta"):
            return None
        return decoded(request.provider_meta, schema.block.implied_type)

    async def _resource(self, name: str) -> Schema:
        found = (await self._known_schema()).resources.get(name)
        if found is None:
            raise InvalidRequest(
                "Unknown resource type", f"There is no resource type {quoted(name)}."
            )
        return found

    async def _resource_type(self, name: str) -> cty.Type:
        return (await self._resource(name)).block.implied_type

    async def _data_type(self, name: str) -> cty.Type:
        found = (await self._known_schema()).data_sources.get(name)
        if found is None:
            raise InvalidRequest("Unknown data source", f"There is no data source {quoted(name)}.")
        return found.block.implied_type

    async def _list_type(self, name: str) -> cty.Type:
        found = (await self._known_schema()).list_resources.get(name)
        if found is None:
            raise InvalidRequest("Unknown list resource type", f"There is no {quoted(name)}.")
        return found.block.implied_type

    async def _action_config(self, name: str, message: pb.DynamicValue) -> cty.Value:
        found = (await self._known_schema()).actions.get(name)
        if found is None:
            raise InvalidRequest("Unknown action type", f"There is no {quoted(name)}.")
        config = decoded(message, found.block.implied_type)
        # Terraform sends null for an action without a config block.
        return empty_block(found.block) if config.is_null else config

    async def _ephemeral_type(self, name: str) -> cty.Type:
        found = (await self._known_schema()).ephemeral_resources.get(name)
        if found is None:
            raise InvalidRequest("Unknown ephemeral resource type", f"There is no {quoted(name)}.")
        return found.block.implied_type


def _whole_number(value: cty.Value) -> int:
    """Read a limit; 0 for one that is not given."""
    if value.is_null or not value.is_known:
        return 0
    number = value.as_number()
    return number if isinstance(number, int) else 0
