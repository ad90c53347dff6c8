"""An installer at work against a registry of providers."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from nigari.addrs.provider import Provider
from nigari.diagnostics import Diagnostics
from nigari.packages.hosts.cli_config import CliConfig
from nigari.packages.hosts.network import Network
from nigari.packages.providers.installation import Installation
from nigari.packages.providers.lockfile import Locks
from nigari.packages.providers.provider_installer import InstallLocations, install_providers
from nigari.packages.providers.provider_registry import ProviderRegistrySource
from nigari.packages.providers.provider_sources import ProviderSource
from nigari.packages.providers.provider_store import ProviderStore
from nigari.packages.providers.requirement import Requirement
from tests.net_world.world import World
from tests.packages.selecting import constraints

HOST = "registry.example.com"


PLATFORM = "linux_amd64"


THING = Provider(HOST, "acme", "thing")


class Work:
    """A working directory in a world."""

    def __init__(self, world: World, base: Path, config: CliConfig | None = None) -> None:
        self.world = world
        self.config = config or CliConfig()
        self.store = ProviderStore(base / "store", PLATFORM)
        self.cache: ProviderStore | None = None
        self.trust_cache = False
        self.locks = Locks()
        self.diags = Diagnostics()
        self.environment: dict[str, str] = {}

    def install(
        self,
        *asked: str,
        provider: Provider = THING,
        upgrade: bool = False,
        source: Callable[[Network], ProviderSource] = ProviderRegistrySource,
    ) -> Installation:
        environment = {**self.world.environment, **self.environment}
        self.diags = Diagnostics()
        wanted = [Requirement(provider, constraints(text)) for text in asked or ("",)]

        async def main() -> Installation:
            network = Network(self.config, environment)
            places = InstallLocations(
                source(network),
                self.store,
                self.cache,
                self.trust_cache,
                environment=environment,
            )
            try:
                return await install_providers(wanted, self.locks, places, self.diags, upgrade)
            finally:
                await network.close()

        done = asyncio.run(main())
        self.locks = done.locks
        return done

    @property
    def error(self) -> str:
        (diagnostic,) = self.diags
        return f"{diagnostic.summary}: {diagnostic.detail}"
