"""Provider sources: the common interface, and several sources combined in order.

A source lists the versions of a provider, and offers the package of one of them. An offer can be
fetched, with the verification of its content; the store installs it. Patterns (`address_patterns`)
select the providers of a source.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from nigari.addrs.provider import Provider
from nigari.lang.versions import Version
from nigari.packages.hosts.address_patterns import ProviderPattern
from nigari.packages.providers.provider_package import ProviderPackage, find_packages
from nigari.record import record
from nigari.typed import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

Progress = Callable[[int, int | None], None]
"""Receives the number of bytes downloaded, and the total if it is known."""


class ProviderSourceError(Exception):
    """A source that cannot answer; the text is full sentences, without the last full stop."""

    def __init__(self, text: str, summary: str = "Provider not found") -> None:
        super().__init__(text)
        self.summary = summary


class ProviderUnknown(ProviderSourceError):
    """A provider that a source does not have, but another one may."""


@record
class Versions:
    """Versions of a provider in a source, each with its platforms as far as they are known."""

    platforms: Mapping[Version, tuple[str, ...]] = MappingProxyType({})
    warnings: tuple[str, ...] = ()
    """Warnings of the source about the provider."""
    cooling: Mapping[Version, datetime] = MappingProxyType({})
    """Versions that are too new to be selected until a certain time, unless they are locked."""


@record
class Verified:
    """Checksums of a package, by how they were verified."""

    checked: frozenset[str] = frozenset()
    """Checksums that the package was found to have."""
    reported: frozenset[str] = frozenset()
    """Checksums that the provider's registry vouches for, of all platforms."""
    trusted: frozenset[str] = frozenset()
    """Checksums from a mirror that the user trusts."""
    signed: frozenset[str] = frozenset()
    """Checksums covered by a signature."""
    of_platform: frozenset[str] = frozenset()
    """Those among all of them that belong to this package."""
    key_id: str = ""
    """ID of the signing key."""
    warnings: tuple[str, ...] = ()

    @property
    def word(self) -> str:
        """Describe the confidence that the package is its author's."""
        if self.signed:
            return "signed"
        if self.is_unsigned:
            return "signing skipped"
        return "verified checksum" if self.checked else "unauthenticated"

    @property
    def is_unsigned(self) -> bool:
        """True for a package from a registry without a key to verify it."""
        return bool(self.reported) and not self.signed


@record
class Fetched:
    """A package on this machine: a directory or a zip file."""

    path: Path
    verified: Verified = Verified()


class Offer(Protocol):
    """The package of one version for one platform, from one source."""

    @property
    def package(self) -> ProviderPackage | None:
        """The package, if it is on this machine."""
        ...

    @property
    def location(self) -> str:
        """Description of its location for messages."""
        ...

    async def fetch(self, directory: Path, progress: Progress) -> Fetched:
        """Download and verify the package; files go into the directory. Raises
        `ProviderSourceError`.
        """
        ...


class ProviderSource(Protocol):
    """A source of provider packages."""

    @property
    def name(self) -> str:
        """Name of the source in messages: a directory, a host."""
        ...

    def is_remote(self, provider: Provider) -> bool:
        """Check whether a provider requires network access."""
        ...

    async def versions(self, provider: Provider) -> Versions:
        """List the available versions; raise `ProviderUnknown` if there are none."""
        ...

    async def offer(self, provider: Provider, version: Version, platform: str) -> Offer | None:
        """Return the package for a platform; `None` if there is none."""
        ...


@record
class LocalOffer:
    """A package that already is on this machine."""

    package: ProviderPackage

    @property
    def location(self) -> str:
        return str(self.package.path)

    async def fetch(self, directory: Path, progress: Progress) -> Fetched:
        return Fetched(self.package.path)


class FilesystemMirror:
    """A directory of packages, packed or unpacked. It is searched once."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._found: dict[Provider, list[ProviderPackage]] | None = None

    @property
    def name(self) -> str:
        return str(self._directory)

    def is_remote(self, provider: Provider) -> bool:
        return False

    async def versions(self, provider: Provider) -> Versions:
        found: dict[Version, tuple[str, ...]] = {}
        for package in self.all_packages().get(provider, ()):
            found[package.version] = (*found.get(package.version, ()), package.platform)
        if not found:
            raise ProviderUnknown(f"{self._directory} has no package of {provider.display}")
        return Versions(found)

    async def offer(self, provider: Provider, version: Version, platform: str) -> Offer | None:
        for package in self.all_packages().get(provider, ()):
            if (package.version, package.platform) == (version, platform):
                return LocalOffer(package)
        return None

    def all_packages(self) -> dict[Provider, list[ProviderPackage]]:
        """List all packages of the mirror, by provider."""
        if self._found is None:
            found: dict[Provider, list[ProviderPackage]] = {}
            try:
                for package in find_packages(self._directory):
                    found.setdefault(package.provider, []).append(package)
            except OSError as error:
                reason = error.strerror or str(error)
                raise ProviderSourceError(
                    f"The provider mirror {self._directory} cannot be searched: {reason}"
                ) from error
            self._found = found
        return self._found


@record
class SelectiveSource:
    """A source for some providers only."""

    source: ProviderSource
    include: tuple[ProviderPattern, ...] = ()
    """Empty for all."""
    exclude: tuple[ProviderPattern, ...] = ()
    """Takes precedence over `include`."""

    @property
    def name(self) -> str:
        return self.source.name

    def is_for(self, provider: Provider) -> bool:
        if any(pattern.matches(provider) for pattern in self.exclude):
            return False
        return not self.include or any(pattern.matches(provider) for pattern in self.include)


class CombinedSources:
    """Several sources; an earlier one takes precedence."""

    def __init__(self, sources: Sequence[SelectiveSource]) -> None:
        self._sources = tuple(sources)
        self._listed: dict[tuple[int, Provider], Versions] = {}

    @property
    def name(self) -> str:
        return ", ".join(source.name for source in self._sources)

    def names_for(self, provider: Provider) -> list[str]:
        """List the sources that apply to this provider."""
        return [source.name for source in self._sources if source.is_for(provider)]

    def is_remote(self, provider: Provider) -> bool:
        return any(
            each.source.is_remote(provider) for each in self._sources if each.is_for(provider)
        )

    async def versions(self, provider: Provider) -> Versions:
        if not self.names_for(provider):
            raise ProviderSourceError(
                f"No method in the provider_installation block of the CLI configuration is for "
                f"{provider.display}: it is excluded, or not included. Change include or exclude "
                "there, or add a method"
            )
        found: dict[Version, tuple[str, ...]] = {}
        cooling: dict[Version, datetime] = {}
        warnings: list[str] = []
        unknown: list[ProviderUnknown] = []
        for number, selective in enumerate(self._sources):
            if not selective.is_for(provider):
                continue
            try:
                listed = await selective.source.versions(provider)
            except ProviderUnknown as error:
                self._listed[number, provider] = Versions()
                unknown.append(error)
                continue
            self._listed[number, provider] = listed
            warnings += listed.warnings
            # Another source that has the version already has a reason for it.
            cooling = {
                each: until for each, until in cooling.items() if each not in listed.platforms
            }
            cooling |= {each: at for each, at in listed.cooling.items() if each not in found}
            for version, platforms in listed.platforms.items():
                found[version] = tuple(dict.fromkeys((*found.get(version, ()), *platforms)))
        if not found and unknown:
            if len(unknown) == 1:
                raise unknown[0]
            raise ProviderUnknown(
                f"None of the configured installation sources "
                f"({', '.join(self.names_for(provider))}) has a package of {provider.display}"
            )
        return Versions(found, tuple(warnings), cooling)

    async def offer(self, provider: Provider, version: Version, platform: str) -> Offer | None:
        for number, selective in enumerate(self._sources):
            listed = self._listed.get((number, provider))
            is_known = listed is None or version in listed.platforms
            if selective.is_for(provider) and is_known:
                offer = await selective.source.offer(provider, version, platform)
                if offer is not None:
                    return offer
        return None


def implied_sources(directories: Sequence[Path], registry: ProviderSource) -> CombinedSources:
    """Build the default sources: the existing mirror directories, then the registry.

    As in OpenTofu, a provider in any of the directories is never looked up in the registry,
    regardless of the version.
    """
    selective: list[SelectiveSource] = []
    local: set[Provider] = set()
    for directory in directories:
        # A home directory that cannot be read has no mirror either.
        if not os.path.isdir(directory):
            continue
        mirror = FilesystemMirror(directory)
        try:
            local.update(mirror.all_packages())
        except ProviderSourceError:
            continue
        selective.append(SelectiveSource(mirror))
    exclude = tuple(ProviderPattern(p.hostname, p.namespace, p.type) for p in sorted(local))
    return CombinedSources([*selective, SelectiveSource(registry, exclude=exclude)])
