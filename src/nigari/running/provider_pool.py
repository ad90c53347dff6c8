"""Provider processes: started when first needed, one for each configured instance.

The process that tells a provider's schema becomes that of its first instance. Functions can be
called without any configuration, and for that a provider has a process of its own. Where programs
come from, and how they are started, is told by who makes the pool.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable

from nigari.addrs.provider import Provider
from nigari.diagnostics import Diagnostics
from nigari.providers import api
from nigari.providers.diagnostics import located
from nigari.running.overrides import REAL, StandIns
from nigari.running.resource_stack import Opened, OpenThing
from nigari.schema.provider import ProviderSchema

Starter = Callable[[Provider, ProviderSchema | None, Diagnostics], Awaitable[api.Provider | None]]
"""Starts a provider, whose schema may be known already; None after reporting why it cannot be."""


class ProviderPool:
    """The providers of one run."""

    def __init__(self, start: Starter, stand_ins: StandIns = REAL) -> None:
        self.stand_ins = stand_ins
        self.opened: Opened = Opened()
        """The processes, and what others have opened with their help."""
        self._start = start
        self._schemas: dict[Provider, ProviderSchema | None] = {}
        self._spare: dict[Provider, api.Provider] = {}
        self._unconfigured: dict[Provider, asyncio.Task[api.Provider | None]] = {}
        self._running: dict[api.Provider, OpenThing] = {}

    def of(self, provider: Provider) -> ProviderSchema | None:
        """What a provider offers, once that has been loaded."""
        return self._schemas.get(provider)

    def is_loaded(self, provider: Provider) -> bool:
        """Whether it has been asked what a provider offers, with whatever result."""
        return provider in self._schemas

    async def load(self, providers: Iterable[Provider], diags: Diagnostics) -> None:
        """Get the schemas of providers that are not known yet, of all of them at once."""
        fresh = [each for each in dict.fromkeys(providers) if each not in self._schemas]
        self._schemas.update(dict.fromkeys(fresh))
        for told in await asyncio.gather(*(self._load_one(each) for each in fresh)):
            diags.extend(told)

    async def _load_one(self, provider: Provider) -> Diagnostics:
        told = Diagnostics()
        running = await self._begin(provider, told)
        if running is not None:
            answer = await running.schema()
            told.extend(located(answer.diagnostics))
            self._schemas[provider] = answer.schema
            self._spare[provider] = running
        return told

    async def open(self, provider: Provider, diags: Diagnostics) -> api.Provider | None:
        """A process of its own for a provider instance, not configured yet."""
        spare = self._spare.pop(provider, None)
        if spare is None:
            return await self._begin(provider, diags)
        # Its turn to be closed is that of what it is used for from now on.
        self._running[spare].level = self.opened.next_level()
        return spare

    def is_ready(self, running: api.Provider) -> None:
        """A process has its configuration, so that it can be used."""
        self.opened.is_ready(self._running[running])

    async def unconfigured(self, provider: Provider, diags: Diagnostics) -> api.Provider | None:
        """The process that functions are called in without any configuration."""
        starting = self._unconfigured.get(provider)
        if starting is None:
            starting = asyncio.create_task(self.open(provider, diags))
            self._unconfigured[provider] = starting
        return await asyncio.shield(starting)

    async def close(self, running: api.Provider) -> None:
        """End one process."""
        entry = self._running.pop(running, None)
        if entry is not None:
            await self.opened.close(entry)

    async def close_all(self) -> None:
        """Close everything, what was opened last first."""
        self._spare.clear()
        for starting in self._unconfigured.values():
            starting.cancel()
        self._unconfigured.clear()
        self._running.clear()
        await self.opened.close_all()

    async def stop(self) -> None:
        """Ask all processes to come to an end with what they are doing."""
        await asyncio.gather(*(running.stop() for running in list(self._running)))

    async def _begin(self, provider: Provider, diags: Diagnostics) -> api.Provider | None:
        level = self.opened.next_level()
        running = await self._start(provider, self._schemas.get(provider), diags)
        if running is not None:
            self._running[running] = self.opened.add(level, running.close)
        return running
