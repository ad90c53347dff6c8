"""Plugins of a test suite: one shared process for schemas and validation in all runs, and separate
processes for configured instances.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence

from nigari import cty
from nigari.addrs.provider import Provider
from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.providers import api
from nigari.schema.provider import ProviderSchema
from nigari.workspace.plugins.providers import InstalledProviders


class Plugins:
    """The processes shared by all runs."""

    def __init__(self, installed: InstalledProviders) -> None:
        self.installed = installed
        self._shared: dict[Provider, asyncio.Task[_Shared]] = {}

    @property
    def warnings(self) -> list[Diagnostic]:
        """Warnings about the installed plugins."""
        problems = self.installed.problems
        return [each for each in problems if each.severity is Severity.WARNING]

    async def start(
        self, provider: Provider, schema: ProviderSchema | None, diags: Diagnostics
    ) -> api.Provider | None:
        """Return a provider for one use in one run."""
        shared = self._shared.get(provider)
        if shared is None:
            shared = self._shared[provider] = asyncio.create_task(self._share(provider))
        found = await asyncio.shield(shared)
        diags.extend(found.reported)
        if found.running is None:
            return None
        return SharedPlugin(self, provider, found.running)

    async def _share(self, provider: Provider) -> _Shared:
        reported = Diagnostics()
        return _Shared(await self.installed.start(provider, None, reported), reported)

    async def close(self) -> None:
        """Close the shared processes."""
        shared = [task.result() for task in self._shared.values() if task.done()]
        self._shared.clear()
        await asyncio.gather(*(each.running.close() for each in shared if each.running is not None))


class _Shared:
    """A shared process, or the reason why there is none."""

    def __init__(self, running: api.Provider | None, reported: Diagnostics) -> None:
        self.running = running
        self.reported = reported


class SharedPlugin:
    """A provider that starts with the shared process, and gets a separate one when it is
    configured.
    """

    def __init__(self, plugins: Plugins, provider: Provider, shared: api.Provider) -> None:
        self._plugins = plugins
        self._provider = provider
        self._shared = shared
        self._own: api.Provider | None = None

    @property
    def _now(self) -> api.Provider:
        return self._shared if self._own is None else self._own

    async def schema(self) -> api.SchemaResponse:
        return await self._shared.schema()

    async def validate_provider(self, config: cty.Value) -> api.Response:
        return await self._shared.validate_provider(config)

    async def validate_resource(self, type_name: str, config: cty.Value) -> api.Response:
        return await self._now.validate_resource(type_name, config)

    async def validate_data(self, type_name: str, config: cty.Value) -> api.Response:
        return await self._now.validate_data(type_name, config)

    async def validate_ephemeral(self, type_name: str, config: cty.Value) -> api.Response:
        return await self._now.validate_ephemeral(type_name, config)

    async def configure(self, config: cty.Value, may_defer: bool = False) -> api.Response:
        reported = Diagnostics()
        known = (await self._shared.schema()).schema
        self._own = await self._plugins.installed.start(self._provider, known, reported)
        if self._own is None:
            return api.Response(
                tuple(
                    api.ProviderDiagnostic(each.severity, each.summary, each.detail)
                    for each in reported
                )
            )
        if known is None or not known.schema_call_optional:
            await self._own.schema()
        return await self._own.configure(config, may_defer)

    async def validate_list(self, request: api.ListRequest) -> api.Response:
        return await self._now.validate_list(request)

    def list_resources(self, request: api.ListRequest) -> AsyncGenerator[api.ListEvent, None]:
        return self._now.list_resources(request)

    async def validate_action(self, type_name: str, config: cty.Value) -> api.Response:
        return await self._now.validate_action(type_name, config)

    async def plan_action(
        self, type_name: str, config: cty.Value, may_defer: bool = False
    ) -> api.PlanActionResponse:
        return await self._now.plan_action(type_name, config, may_defer)

    def invoke_action(
        self, type_name: str, config: cty.Value
    ) -> AsyncGenerator[api.ActionEvent, None]:
        return self._now.invoke_action(type_name, config)

    async def upgrade(self, request: api.UpgradeRequest) -> api.UpgradeResponse:
        return await self._now.upgrade(request)

    async def read(self, request: api.ReadRequest) -> api.ReadResponse:
        return await self._now.read(request)

    async def plan(self, request: api.PlanRequest) -> api.PlanResponse:
        return await self._now.plan(request)

    async def apply(self, request: api.ApplyRequest) -> api.ApplyResponse:
        return await self._now.apply(request)

    async def import_state(self, request: api.ImportRequest) -> api.ImportResponse:
        return await self._now.import_state(request)

    async def move_state(self, request: api.MoveRequest) -> api.MoveResponse:
        return await self._now.move_state(request)

    async def read_data(self, request: api.ReadDataRequest) -> api.ReadDataResponse:
        return await self._now.read_data(request)

    async def open_ephemeral(self, type_name: str, config: cty.Value) -> api.OpenEphemeralResponse:
        return await self._now.open_ephemeral(type_name, config)

    async def renew_ephemeral(
        self, type_name: str, private: bytes | None
    ) -> api.RenewEphemeralResponse:
        return await self._now.renew_ephemeral(type_name, private)

    async def close_ephemeral(self, type_name: str, private: bytes | None) -> api.Response:
        return await self._now.close_ephemeral(type_name, private)

    async def functions(self) -> api.FunctionsResponse:
        return await self._now.functions()

    async def call_function(self, name: str, arguments: Sequence[cty.Value]) -> api.CallResponse:
        return await self._now.call_function(name, arguments)

    async def stop(self) -> None:
        if self._own is not None:
            await self._own.stop()

    async def close(self) -> None:
        if self._own is not None:
            await self._own.close()
