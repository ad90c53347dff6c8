"""Where provider packages can be had: filesystem mirrors, several places after one another.

A source answers one question, which packages of a provider it has; getting one is the store's
business. Patterns (`provider_pattern`) say which providers a source is asked for.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from nigari.addrs.provider import Provider
from nigari.lang.versions import Version
from nigari.packages.provider_package import ProviderPackage, find_packages
from nigari.packages.provider_pattern import Pattern
from nigari.record import record


class SourceError(Exception):
    """A source cannot answer; the text says why, as a full sentence without its full stop."""


class NotReachable(SourceError):
    """A source that could be asked only over the network, which is not to be had."""


class ProviderSource(Protocol):
    """Something that has provider packages."""

    @property
    def name(self) -> str:
        """What to call the source in a message: a directory, a host."""
        ...

    async def packages(self, provider: Provider) -> Sequence[ProviderPackage]:
        """All packages of the provider, for every platform; empty if there are none."""
        ...


class FilesystemMirror:
    """A directory of packages, packed or unpacked. It is searched once."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._found: dict[Provider, list[ProviderPackage]] | None = None

    @property
    def name(self) -> str:
        return str(self._directory)

    async def packages(self, provider: Provider) -> Sequence[ProviderPackage]:
        return self.all_packages().get(provider, ())

    def all_packages(self) -> dict[Provider, list[ProviderPackage]]:
        """Everything the mirror has, by provider."""
        if self._found is None:
            found: dict[Provider, list[ProviderPackage]] = {}
            try:
                for package in find_packages(self._directory):
                    found.setdefault(package.provider, []).append(package)
            except OSError as error:
                reason = error.strerror or str(error)
                raise SourceError(
                    f"The provider mirror {self._directory} cannot be searched: {reason}"
                ) from error
            self._found = found
        return self._found


class UnreachableRegistry:
    """Stands where a registry would be asked: the program does not download providers yet."""

    @property
    def name(self) -> str:
        return "the provider's own registry"

    async def packages(self, provider: Provider) -> Sequence[ProviderPackage]:
        raise NotReachable(
            f"Provider {provider.display} is in no local mirror, and providers cannot be"
            f" downloaded from {provider.hostname} by this program. Put its package into a"
            " filesystem mirror, or run tofu init once"
        )


@record
class SelectiveSource:
    """A source that is asked only for some providers."""

    source: ProviderSource
    include: tuple[Pattern, ...] = ()
    """None means all."""
    exclude: tuple[Pattern, ...] = ()
    """Wins over `include`."""

    @property
    def name(self) -> str:
        return self.source.name

    def is_for(self, provider: Provider) -> bool:
        if any(pattern.matches(provider) for pattern in self.exclude):
            return False
        return not self.include or any(pattern.matches(provider) for pattern in self.include)


class CombinedSources:
    """Several sources; what an earlier one has counts before a later one's."""

    def __init__(self, sources: Sequence[SelectiveSource]) -> None:
        self._sources = tuple(sources)

    @property
    def name(self) -> str:
        return ", ".join(source.name for source in self._sources)

    def names_for(self, provider: Provider) -> list[str]:
        """The sources that are asked for this provider."""
        return [source.name for source in self._sources if source.is_for(provider)]

    async def packages(self, provider: Provider) -> Sequence[ProviderPackage]:
        found: dict[tuple[Version, str], ProviderPackage] = {}
        unreachable: NotReachable | None = None
        for selective in self._sources:
            if not selective.is_for(provider):
                continue
            try:
                packages = await selective.source.packages(provider)
            except NotReachable as error:
                unreachable = error
                continue
            for package in packages:
                found.setdefault((package.version, package.platform), package)
        if not found and unreachable is not None:
            raise unreachable
        return list(found.values())


def implied_sources(directories: Sequence[Path], registry: ProviderSource) -> CombinedSources:
    """What is used when nothing is configured: the directories that exist, then the registry.

    A provider that any of the directories has is never looked for in the registry, whatever
    version is wanted.
    """
    selective: list[SelectiveSource] = []
    local: set[Provider] = set()
    for directory in directories:
        # A home that may not be looked into has no mirror either.
        if not os.path.isdir(directory):
            continue
        mirror = FilesystemMirror(directory)
        try:
            local.update(mirror.all_packages())
        except SourceError:
            continue
        selective.append(SelectiveSource(mirror))
    exclude = tuple(Pattern(p.hostname, p.namespace, p.type) for p in sorted(local))
    return CombinedSources([*selective, SelectiveSource(registry, exclude=exclude)])
