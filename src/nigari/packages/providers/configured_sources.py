"""Provider sources from the CLI configuration, or the default ones."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from nigari.addrs.provider import Provider
from nigari.lang.versions import Version
from nigari.packages.hosts.cli_config import CliConfig, InstallMethod
from nigari.packages.hosts.network import Network
from nigari.packages.providers.provider_sources import (
    CombinedSources,
    FilesystemMirror,
    Offer,
    ProviderSource,
    SelectiveSource,
    Versions,
    implied_sources,
)


def provider_source(
    config: CliConfig, environment: Mapping[str, str], working_directory: Path, network: Network
) -> CombinedSources:
    """Combine the provider sources, as configured or by default."""
    # OpenTofu (implicitProviderSource): local directories first, and a provider found there is
    # never looked for elsewhere.
    if config.installation is None:
        directories = _usual_directories(environment, working_directory)
        return implied_sources(directories, registry_source(network))
    return CombinedSources(
        [
            SelectiveSource(
                _source(method, working_directory, network), method.include, method.exclude
            )
            for method in config.installation.methods
        ]
    )


def origin_source(
    config: CliConfig, environment: Mapping[str, str], working_directory: Path, network: Network
) -> ProviderSource:
    """Combine the sources of checksums and copies: registries, even if mirrors are configured.

    Only a provider excluded from its registry comes from another source.
    """
    if config.installation is None:
        return registry_source(network)
    registries = [
        SelectiveSource(
            registry_source(network, each.download_retries, each.cooldown),
            each.include,
            each.exclude,
        )
        for each in config.installation.methods
        if each.kind == "direct"
    ]
    return OriginSource(
        registries, provider_source(config, environment, working_directory, network)
    )


class OriginSource:
    """The first of several selective sources that matches a provider, otherwise a default."""

    def __init__(self, first: Sequence[SelectiveSource], otherwise: ProviderSource) -> None:
        self._first = first
        self._otherwise = otherwise

    @property
    def name(self) -> str:
        return ", ".join(
            dict.fromkeys((*(each.name for each in self._first), self._otherwise.name))
        )

    def is_remote(self, provider: Provider) -> bool:
        return self._source(provider).is_remote(provider)

    async def versions(self, provider: Provider) -> Versions:
        return await self._source(provider).versions(provider)

    async def offer(self, provider: Provider, version: Version, platform: str) -> Offer | None:
        return await self._source(provider).offer(provider, version, platform)

    def _source(self, provider: Provider) -> ProviderSource:
        fitting = (each.source for each in self._first if each.is_for(provider))
        return next(fitting, self._otherwise)


def registry_source(
    network: Network, retries: int | None = None, cooldown: int = 0
) -> ProviderSource:
    """Create the source for the registries in provider addresses."""
    from nigari.packages.providers.provider_registry import ProviderRegistrySource

    return ProviderRegistrySource(network, retries, cooldown)


def _source(method: InstallMethod, working_directory: Path, network: Network) -> ProviderSource:
    if method.kind == "filesystem_mirror":
        return FilesystemMirror(working_directory / method.location)
    if method.kind == "network_mirror":
        from nigari.packages.providers.network_mirror import NetworkMirror

        return NetworkMirror(
            method.location, network, method.download_retries, method.trust_all_hashes
        )
    if method.kind == "oci_mirror":
        from nigari.packages.providers.oci_mirror import OciMirror

        return OciMirror(method.location, network)
    return registry_source(network, method.download_retries, method.cooldown)


def _usual_directories(environment: Mapping[str, str], working_directory: Path) -> list[Path]:
    directories = [working_directory / "terraform.d" / "plugins"]
    home = environment.get("HOME", "")
    if home:
        directories.append(Path(home, ".terraform.d", "plugins"))
    data_home = environment.get("XDG_DATA_HOME", "")
    if data_home:
        directories.append(Path(data_home, "opentofu", "plugins"))
    # XDG Base Directory Specification: the default of XDG_DATA_DIRS.
    shared = environment.get("XDG_DATA_DIRS", "") or "/usr/local/share:/usr/share"
    bases = [data_home or (f"{home}/.local/share" if home else ""), *shared.split(os.pathsep)]
    directories += [Path(base, "terraform", "plugins") for base in bases if base]
    return directories
