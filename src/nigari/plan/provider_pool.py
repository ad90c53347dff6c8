"""Provider processes: started when first needed, one for each configured instance.

The process that tells a provider's schema becomes that of its first instance. Where programs come
from, and how they are started, is told by who makes the pool.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable

from nigari.addrs.provider import Provider
from nigari.diagnostics import Diagnostics
from nigari.providers import api
from nigari.providers.diagnostics import located
from nigari.schema.provider import ProviderSchema

Starter = Callable[[Provider, ProviderSchema | None, Diagnostics], Awaitable[api.Provider | None]]
"""Starts a provider, whose schema may be known already; None after reporting why it cannot be."""


class ProviderPool:
    """The providers of one run."""

    def __init__(self, start: Starter) -> None:
        self._start = start
        self._schemas: dict[Provider, ProviderSchema | None] = {}
        self._spare: dict[Provider, api.Provider] = {}
        self._running: list[api.Provider] = []

    def of(self, provider: Provider) -> ProviderSchema | None:
        """What a provider offers, once that has been loaded."""
        return self._schemas.get(provider)

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
        return spare if spare is not None else await self._begin(provider, diags)

    async def close(self, running: api.Provider) -> None:
        """End one process."""
        if running in self._running:
            self._running.remove(running)
            await running.close()

    async def close_all(self) -> None:
        """End all processes, the last one first."""
        self._spare.clear()
        while self._running:
            await self._running.pop().close()

    async def stop(self) -> None:
        """Ask all processes to come to an end with what they are doing."""
        for running in list(self._running):
            await running.stop()

    async def _begin(self, provider: Provider, diags: Diagnostics) -> api.Provider | None:
        running = await self._start(provider, self._schemas.get(provider), diags)
        if running is not None:
            self._running.append(running)
        return running
