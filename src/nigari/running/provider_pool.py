"""Pool of provider processes: started on first use, one for each configured instance.

The process that returned a provider's schema becomes that of its first instance. Functions can be
called without a configuration, in a separate process. The creator of the pool provides the starter
of programs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from nigari.addrs.provider import Provider
from nigari.addrs.resource import Resource
from nigari.config.blocks.required_providers import ProviderMeta
from nigari.config.module import Module
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.eval.core.compile import CompiledModule
from nigari.eval.core.module_tree import ModuleInstance
from nigari.eval.nodes.provider_config import provider_of
from nigari.eval.nodes.resource import resource_schema
from nigari.event_loop import event_loop, side_by_side
from nigari.hcl.decode import decode
from nigari.hcl.scope import Scope
from nigari.providers import api
from nigari.providers.diagnostics import located
from nigari.running.overrides import NO_OVERRIDES, ProviderOverrides
from nigari.running.resource_stack import OpenResource, ResourceStack
from nigari.schema.decode import decoder_spec
from nigari.schema.provider import ProviderSchema, Schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio

Starter = Callable[[Provider, ProviderSchema | None, Diagnostics], Awaitable[api.Provider | None]]
"""Starts a provider, whose schema may already be known; None after reporting a failure."""


class ProviderPool:
    """The provider processes of one run."""

    def __init__(self, start: Starter, overrides: ProviderOverrides = NO_OVERRIDES) -> None:
        self.overrides = overrides
        self.opened: ResourceStack = ResourceStack()
        """Processes, and the resources opened with them."""
        self._start = start
        self._schemas: dict[Provider, ProviderSchema | None] = {}
        self._spare: dict[Provider, api.Provider] = {}
        self._unconfigured: dict[Provider, asyncio.Task[api.Provider | None]] = {}
        self._running: dict[api.Provider, OpenResource] = {}

    def of(self, provider: Provider) -> ProviderSchema | None:
        """Return a provider's schema, once it is loaded."""
        return self._schemas.get(provider)

    def schema_of(self, provider: Provider, addr: Resource) -> Schema | None:
        """Return the schema of a resource, once its provider's is loaded."""
        return resource_schema(self._schemas.get(provider), addr)

    def is_loaded(self, provider: Provider) -> bool:
        """Check whether loading the schema has been attempted, successfully or not."""
        return provider in self._schemas

    async def load(self, providers: Iterable[Provider], diags: Diagnostics) -> None:
        """Load all missing schemas concurrently."""
        fresh = [each for each in dict.fromkeys(providers) if each not in self._schemas]
        self._schemas.update(dict.fromkeys(fresh))
        for reported in await side_by_side(self._load_one(each) for each in fresh):
            diags.extend(reported)

    async def _load_one(self, provider: Provider) -> Diagnostics:
        reported = Diagnostics()
        running = await self._begin(provider, reported)
        if running is not None:
            answer = await running.schema()
            reported.extend(located(answer.diagnostics))
            self._schemas[provider] = answer.schema
            self._spare[provider] = running
        return reported

    async def open(self, provider: Provider, diags: Diagnostics) -> api.Provider | None:
        """Return a separate, unconfigured process for a provider instance."""
        spare = self._spare.pop(provider, None)
        if spare is None:
            return await self._begin(provider, diags)
        # It closes at the level of its new use.
        self._running[spare].level = self.opened.next_level()
        return spare

    def is_ready(self, running: api.Provider) -> None:
        """Mark a configured process as ready for use."""
        self.opened.is_ready(self._running[running])

    async def unconfigured(self, provider: Provider, diags: Diagnostics) -> api.Provider | None:
        """Return the process for function calls without a configuration."""
        await event_loop()
        import asyncio

        starting = self._unconfigured.get(provider)
        if starting is None:
            starting = asyncio.create_task(self.open(provider, diags))
            self._unconfigured[provider] = starting
        return await asyncio.shield(starting)

    async def close(self, running: api.Provider) -> None:
        """Close a process."""
        entry = self._running.pop(running, None)
        if entry is not None:
            await self.opened.close(entry)

    async def close_all(self) -> None:
        """Close everything, in reverse order of opening."""
        self._spare.clear()
        for starting in self._unconfigured.values():
            starting.cancel()
        self._unconfigured.clear()
        self._running.clear()
        await self.opened.close_all()

    async def stop(self) -> None:
        """Ask all processes to stop their current operations."""
        await side_by_side(running.stop() for running in list(self._running))

    async def _begin(self, provider: Provider, diags: Diagnostics) -> api.Provider | None:
        level = self.opened.next_level()
        running = await self._start(provider, self._schemas.get(provider), diags)
        if running is not None:
            self._running[running] = self.opened.add(level, running.close)
        return running


class ProviderMetas:
    """The `provider_meta` blocks of all modules, each evaluated once."""

    def __init__(self, pool: ProviderPool, diags: Diagnostics) -> None:
        self._pool = pool
        self._diags = diags
        self._known: dict[tuple[CompiledModule, Provider], Value | None] = {}

    def of(self, instance: ModuleInstance, provider: Provider) -> Value | None:
        """Return a module's metadata for a provider; None if it has none."""
        if not instance.module.provider_metas:
            return None
        key = instance.compiled, provider
        if key not in self._known:
            self._known[key] = self._find(instance.module, provider)
        return self._known[key]

    def _find(self, module: Module, provider: Provider) -> Value | None:
        for meta in module.provider_metas.values():
            if provider_of(module, meta.provider) == provider:
                return self._value(meta, provider)
        return None

    def _value(self, meta: ProviderMeta, provider: Provider) -> Value | None:
        offered = self._pool.of(provider)
        if offered is None:
            return None
        if offered.provider_meta is None:
            self._diags.error(
                "provider_meta not supported",
                f"{provider.display} does not accept information about modules, so there can be "
                "no provider_meta block for it.",
                meta.range,
            )
            return None
        # All arguments must be literal, so they need no scope.
        spec = decoder_spec(offered.provider_meta.block)
        return decode(meta.body, spec, Scope(), self._diags)
