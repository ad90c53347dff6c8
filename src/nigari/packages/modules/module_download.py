"""Download of module packages, through the store shared by all directories.

Each package is fetched once, even for concurrent requests, in this process or another. Without a
shared store, packages are fetched for the working directory alone.
"""

from __future__ import annotations

import shutil
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

from nigari.addrs.module_source import RegistrySource, RemoteSource
from nigari.diagnostics.secret_urls import hidden_url
from nigari.packages.content.module_fetch import NO_LISTENER, FetchError, FetchListener, Progress
from nigari.packages.content.package_tree import Found, PackageOrigin, package_id
from nigari.packages.modules.fetching import Fetching
from nigari.packages.modules.module_store import ModuleStore
from nigari.packages.modules.shared_store import SharedStore
from nigari.record import record
from nigari.typed import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio

    from nigari.lang.versions import Version


@record
class Pin:
    """Required content of a package."""

    revision: str = ""
    digest: str = ""
    """Hash of its content, in hexadecimal."""


_ANY = Pin()


@record
class DirectPackage:
    """A package that a registry hosts itself, or that requires the registry's credentials."""

    url: str
    hostname: str = ""
    """Registry whose credentials are sent; empty if none are."""
    subdir: str = ""


class RegistryPackages(Protocol):
    """Locates modules in registries."""

    def real_host(self, source: RegistrySource) -> str:
        """Return the registry to query for a module, which may have an alias in the source."""
        ...

    async def location(self, source: RegistrySource, version: str) -> RemoteSource | DirectPackage:
        """Locate a version, or raise `FetchError`."""
        ...

    async def fetch(self, package: DirectPackage, directory: Path, progress: Progress) -> str:
        """Download a package into an empty directory and return its revision, or raise
        `FetchError`.
        """
        ...


class ModuleDownloads:
    """Fetches packages for one working directory."""

    def __init__(
        self,
        fetching: Fetching,
        registries: RegistryPackages,
        store: ModuleStore,
        shared: SharedStore | None = None,
    ) -> None:
        self._fetching = fetching
        self._registries = registries
        self._store = store
        self._shared = shared if shared is not None and shared.is_usable() else None
        self._remote: dict[str, Awaitable[Found]] = {}
        self._tags: dict[str, asyncio.Future[dict[str, RemoteSource]]] = {}

    def keeps(self, source: RegistrySource, version: str) -> bool:
        """Check whether a version of a module has been fetched before, on this machine."""
        return self._shared is not None and self._shared.knows(self._key(source, version))

    def _key(self, source: RegistrySource, version: str) -> str:
        """Return the key of a module version in the shared store."""
        return f"{self._registries.real_host(source)}/{source.package_path}@{version}"

    async def remote(
        self,
        source: RemoteSource,
        pin: Pin = _ANY,
        listener: FetchListener = NO_LISTENER,
    ) -> Found:
        """Fetch the package of a remote source, or raise `FetchError`."""
        import asyncio

        # Several registry modules may share one package.
        work = self._remote.get(source.package)
        if work is None:
            work = asyncio.ensure_future(self._get_remote(source, pin, listener))
            self._remote[source.package] = work
        return await work

    async def tag_versions(self, source: RemoteSource) -> dict[Version, RemoteSource]:
        """List the tags of a repository that are versions, with their packages, or raise `FetchError`."""
        import asyncio

        work = self._tags.get(source.package)
        if work is None:
            work = self._tags[source.package] = asyncio.ensure_future(self._fetching.tagged(source))
        tags = await asyncio.shield(work)
        return {version: tags[tag] for version, tag in _tagged_versions(tags).items()}

    async def tagged(
        self,
        source: RemoteSource,
        version: str,
        pin: Pin = _ANY,
        listener: FetchListener = NO_LISTENER,
    ) -> Found:
        """Fetch the package of a tag, or of the revision that is locked for it."""
        if pin.revision:
            return await self.remote(
                self._fetching.at_revision(source, pin.revision), pin, listener
            )
        for known, package in (await self.tag_versions(source)).items():
            if str(known) == version:
                return await self.remote(package, pin, listener)
        raise FetchError(f"The repository no longer has a tag for version {version}.")

    async def _get_remote(self, source: RemoteSource, pin: Pin, listener: FetchListener) -> Found:
        received = listener.received

        async def fetch(directory: Path) -> PackageOrigin:
            return PackageOrigin(
                await self._fetching.fetch(source, directory, received, pin.revision)
            )

        shared, key = self._shared, source.package
        if shared is None:
            return await self._fetched(fetch, listener)
        async with shared.locked(key):
            found = await self._at_hand(shared, source, pin)
            if found is None:
                found = await self._fetched(fetch, listener)
                shared.remember(key, hidden_url(source.package), found)
        return found

    async def _at_hand(self, shared: SharedStore, source: RemoteSource, pin: Pin) -> Found | None:
        """Return the current package if it was fetched before."""
        import asyncio

        if pin.digest:
            package = await asyncio.to_thread(shared.find_package, package_id(pin.digest))
            if package is not None:
                return Found(package, PackageOrigin(pin.revision))
        if not shared.knows(source.package):
            return None
        revision = pin.revision or await self._fetching.revision(source)
        if not revision:
            return None
        return await asyncio.to_thread(shared.find, source.package, revision)

    async def registry(
        self,
        source: RegistrySource,
        version: str,
        pin: Pin = _ANY,
        origin: PackageOrigin | None = None,
        ask: bool = False,
        listener: FetchListener = NO_LISTENER,
    ) -> Found:
        """Fetch the package of a module version, or raise `FetchError`. A cached one is used
        without contacting the registry, unless `ask` is set. `origin` comes from a lock file.
        """
        shared, key = self._shared, self._key(source, version)
        if shared is None:
            return await self._get_version(source, version, pin, listener)
        async with shared.locked(key):
            found = await self._version_at_hand(shared, key, pin, origin, ask)
            if found is None:
                found = await self._get_version(source, version, pin, listener)
                shown = f"{self._registries.real_host(source)}/{source.package_path} {version}"
                shared.remember(key, shown, found, is_only=True)
        return found

    async def _version_at_hand(
        self, shared: SharedStore, key: str, pin: Pin, origin: PackageOrigin | None, ask: bool
    ) -> Found | None:
        import asyncio

        if pin.digest and origin is not None:
            package = await asyncio.to_thread(shared.find_package, package_id(pin.digest))
            if package is not None:
                return Found(package, origin)
        if ask or not shared.knows(key):
            return None
        return await asyncio.to_thread(shared.find_only, key)

    async def _get_version(
        self, source: RegistrySource, version: str, pin: Pin, listener: FetchListener
    ) -> Found:
        location = await self._registries.location(source, version)
        if isinstance(location, RemoteSource):
            found = await self.remote(location, Pin(pin.revision), listener)
            shown = hidden_url(location.package)
            return Found(
                found.package, PackageOrigin(found.origin.revision, shown, location.subdir)
            )
        package = location

        async def fetch(directory: Path) -> PackageOrigin:
            revision = await self._registries.fetch(package, directory, listener.received)
            return PackageOrigin(revision, hidden_url(package.url), package.subdir)

        return await self._fetched(fetch, listener)

    async def _fetched(
        self, fetch: Callable[[Path], Awaitable[PackageOrigin]], listener: FetchListener
    ) -> Found:
        """Fetch a package, and put it into the store."""
        import asyncio

        listener.begins()
        if self._shared is None:
            directory = self._store.staging()
            try:
                origin = await fetch(directory)
                return await asyncio.to_thread(self._store.add, directory, origin)
            except BaseException:
                shutil.rmtree(directory, ignore_errors=True)
                raise
        directory = self._shared.staging()
        try:
            origin = await fetch(directory)
            return Found(await asyncio.to_thread(self._shared.add, directory), origin)
        except BaseException:
            self._shared.discard(directory)
            raise


def _tagged_versions(tags: Iterable[str]) -> dict[Version, str]:
    """Return the tags that are versions: `v1.2.3` or `1.2.3`, with `_` for `+` in OCI registries."""
    from nigari.lang.versions import parse_version

    found: dict[Version, str] = {}
    # A tag with v and one without may name one version. The latter wins.
    for tag in sorted(tags, key=lambda tag: tag.startswith("v")):
        version = parse_version(tag.removeprefix("v").replace("_", "+"))
        if version is not None:
            found.setdefault(version, tag)
    return found
