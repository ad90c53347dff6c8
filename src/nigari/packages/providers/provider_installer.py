"""Provider installation: from the store, the shared cache or a source, verified against the locks.

A package is installed only if the lock file records one of its checksums. Downloads are concurrent;
local packages need no event loop. Every outcome is data: output is based on
`Installation.outcomes`, or on a listener.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from nigari.addrs.provider import Provider
from nigari.diagnostics import Diagnostics
from nigari.lang.versions import Version
from nigari.packages.providers import checksums
from nigari.packages.providers.installation import (
    Installation,
    InstalledProvider,
    InstallListener,
    InstallStep,
    Silence,
)
from nigari.packages.providers.lockfile import Locks, ProviderLock
from nigari.packages.providers.provider_package import ProviderPackage
from nigari.packages.providers.provider_selection import (
    builtin_is_sound,
    choose_offer,
    choose_version,
    report_source,
)
from nigari.packages.providers.provider_sources import (
    Fetched,
    Offer,
    ProviderSource,
    ProviderSourceError,
    Verified,
)
from nigari.packages.providers.provider_store import ProviderStore, StoreError
from nigari.packages.providers.requirement import (
    Requirement,
    by_provider,
    combined_constraints,
    first_subject,
)
from nigari.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.packages.content.download_pool import DownloadPool


@record
class InstallLocations:
    """Sources and destinations of packages."""

    source: ProviderSource
    store: ProviderStore
    cache: ProviderStore | None = None
    """A store shared by several working directories, to which this one then links."""
    trust_cache: bool = False
    """True to accept a cached package even if the lock file has no checksum for it."""
    overridden: frozenset[Provider] = frozenset()
    """Providers that are used from elsewhere and need no package (development, reattach)."""
    environment: Mapping[str, str] = MappingProxyType({})


async def install_providers(
    requirements: Iterable[Requirement],
    locks: Locks,
    places: InstallLocations,
    diags: Diagnostics,
    upgrade: bool = False,
    listener: InstallListener | None = None,
) -> Installation:
    """Make every required provider available. Providers that fail retain their lock."""
    wanted = by_provider(requirements)
    listener = listener or Silence()
    works: list[_Work] = []
    outcomes: dict[Provider, InstalledProvider] = {}
    for provider in sorted(wanted):
        asked = wanted[provider]
        if provider.is_builtin:
            if builtin_is_sound(provider, asked, diags):
                outcomes[provider] = InstalledProvider(provider, None, InstallStep.BUILT_IN)
        elif provider not in places.overridden:
            lock = locks.providers.get(provider)
            works.append(_Work(provider, asked, lock, places, upgrade, listener))
    remote = [work for work in works if not work.take_what_is_there() and work.is_remote]
    if remote:
        import asyncio

        # Without an event loop, this yields so that the caller notices that one is needed.
        await asyncio.sleep(0)
        try:
            await _side_by_side(remote, places.store.directory.parent)
        finally:
            listener.finished()
    for work in works:
        if work.outcome is None and work not in remote:
            await work.begin()
        diags.extend(work.diags)
        if work.outcome is not None:
            outcomes[work.provider] = work.outcome
    kept = {work.provider: work.lock for work in works if work.lock is not None}
    done = tuple(outcomes[provider] for provider in sorted(outcomes))
    return Installation(replace(locks, providers=kept), done)


async def _side_by_side(works: Sequence[_Work], directory: Path) -> None:
    import asyncio

    from nigari.packages.content.download_pool import DownloadPool

    pool = DownloadPool(directory)
    tasks = [asyncio.ensure_future(work.begin(pool)) for work in works]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        pool.close()


class _Work:
    """The installation of one provider."""

    def __init__(
        self,
        provider: Provider,
        asked: Sequence[Requirement],
        lock: ProviderLock | None,
        places: InstallLocations,
        upgrade: bool,
        listener: InstallListener,
    ) -> None:
        self.provider = provider
        self.lock = lock
        self.outcome: InstalledProvider | None = None
        self.diags = Diagnostics()
        self._asked = asked
        self._constraints = combined_constraints(asked)
        self._places = places
        self._held = None if upgrade else lock
        self._listener = listener

    @property
    def is_remote(self) -> bool:
        return self._places.source.is_remote(self.provider)

    def take_what_is_there(self) -> bool:
        """Use the locked version without contacting any source, if it is installed; return whether
        it is.
        """
        held = self._held
        if held is None or not self._constraints.allows(held.version):
            return False
        return self._take(held)

    def _take(self, lock: ProviderLock) -> bool:
        """Use the version of a lock from the store or the cache, if a checksum matches."""
        known = checksums.understood(lock.hashes)
        for store, step in (
            (self._places.store, InstallStep.REUSED),
            (self._places.cache, InstallStep.CACHED),
        ):
            path = None if store is None else store.installed(lock.provider, lock.version)
            # OpenTofu: a package in the cache is used only if the lock file has a checksum of it.
            if path is None or not checksums.recorded(path, known):
                continue
            if step is InstallStep.CACHED:
                try:
                    path = self._link(lock.version, path)
                except StoreError as error:
                    self._report_store(lock.version, error)
                    return False
            self.lock = replace(lock, constraints=self._constraints)
            self.outcome = InstalledProvider(lock.provider, lock.version, step, path)
            return True
        return False

    async def begin(self, pool: DownloadPool | None = None) -> None:
        """Select a version, get its package and install it. Local packages need no pool."""
        if self.diags.has_errors:
            return
        held, places = self._held, self._places
        locked = held.version if held is not None else None
        self._listener.finding(self.provider, self._constraints.text, locked)
        version = await choose_version(self._asked, held, places.source, self.diags)
        if version is None:
            return
        known = self.lock if self.lock is not None and self.lock.version == version else None
        # With -upgrade, the same version may turn out to be the newest.
        if known is not None and held is None and self._take(known):
            return
        recorded = checksums.understood(known.hashes) if known is not None else []
        if self._trust_cache(version, recorded):
            return
        platform = places.store.platform
        offer = await choose_offer(version, platform, self._asked, places.source, self.diags)
        if offer is None:
            return
        try:
            if offer.package is not None or pool is None:
                await self._install_local(offer, version, recorded)
            else:
                await self._install_remote(offer, version, pool, recorded)
        except ProviderSourceError as error:
            report_source(error, self._asked, self.diags)
        except (StoreError, OSError) as error:
            self._report_store(version, error, offer.location)

    async def _install_remote(
        self, offer: Offer, version: Version, pool: DownloadPool, recorded: Sequence[str]
    ) -> None:
        async with pool.directory() as directory:
            fetched, put = await self._fetch(offer, version, directory, recorded)
            self._conclude(offer, version, fetched, await pool.in_thread(put), recorded)

    async def _install_local(self, offer: Offer, version: Version, recorded: Sequence[str]) -> None:
        fetched, put = await self._fetch(offer, version, Path(), recorded)
        self._conclude(offer, version, fetched, put(), recorded)

    async def _fetch(
        self, offer: Offer, version: Version, directory: Path, recorded: Sequence[str]
    ) -> tuple[Fetched, Callable[[], tuple[Path, str] | None]]:
        """Get a package, and a function that installs it and returns its path and checksum, or None
        if the lock file forbids it.
        """
        provider, listener = self.provider, self._listener
        listener.fetching(provider, version, offer.location)
        fetched = await offer.fetch(
            directory, lambda size, total: listener.received(provider, size, total)
        )
        package = ProviderPackage(provider, version, self._places.store.platform, fetched.path)

        def put() -> tuple[Path, str] | None:
            if not _is_recorded(package.path, recorded, fetched.verified.checked):
                return None
            return self._put(package)

        return fetched, put

    def _conclude(
        self,
        offer: Offer,
        version: Version,
        fetched: Fetched,
        put_there: tuple[Path, str] | None,
        recorded: Sequence[str],
    ) -> None:
        if put_there is None:
            self._report_checksum(version, offer)
            return
        path, checksum = put_there
        self._succeed(version, path, checksum, fetched, recorded)

    def _put(self, package: ProviderPackage) -> tuple[Path, str]:
        """Install a package; return its path and checksum."""
        places, provider, version = self._places, self.provider, package.version
        store = places.cache or places.store
        done = store.install(package, lambda: self._listener.waiting(provider, store.directory))
        path = done.path if places.cache is None else self._link(version, done.path)
        return path, done.checksum or checksums.directory_checksum(path)

    def _link(self, version: Version, path: Path) -> Path:
        store = self._places.store
        package = ProviderPackage(self.provider, version, store.platform, path)
        return store.install(package).path

    def _trust_cache(self, version: Version, recorded: Sequence[str]) -> bool:
        """Use a cached package that no checksum covers, if the user allows that."""
        places = self._places
        # TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE: the lock file gets this platform only.
        if recorded or places.cache is None or not places.trust_cache:
            return False
        program = places.cache.program(self.provider, version)
        if program is None:
            return False
        try:
            path = self._link(version, program.parent)
            checksum = checksums.directory_checksum(path)
        except (StoreError, OSError) as error:
            self._report_store(version, error)
            return True
        self._succeed(version, path, checksum, None, recorded)
        return True

    def _succeed(
        self,
        version: Version,
        path: Path,
        checksum: str,
        fetched: Fetched | None,
        recorded: Sequence[str],
    ) -> None:
        verified = Verified() if fetched is None else fetched.verified
        vouching = vouched(self.provider, verified, self._places.environment)
        local = {checksum, *verified.checked}
        # OpenTofu never removes checksums of a version from the lock file: other platforms need
        # them.
        hashes = tuple(sorted({*recorded, *local, *vouching}))
        self.lock = ProviderLock(self.provider, version, self._constraints, hashes)
        is_alone = not vouching and (not recorded or sorted(recorded) == sorted(local))
        step = InstallStep.CACHED if fetched is None else InstallStep.INSTALLED
        known = None if fetched is None else verified
        self.outcome = InstalledProvider(self.provider, version, step, path, known, is_alone)
        for text in verified.warnings:
            self.diags.warning("Expired signature of a provider package", text)
        self._listener.installed(self.outcome)

    def _report_checksum(self, version: Version, offer: Offer) -> None:
        self.diags.error(
            "Wrong checksum of a provider package",
            f"The package of {self.provider.display} {version} in {offer.location} "
            "matches none of the checksums in the dependency lock file, so it was not installed. "
            "Either the package was changed, or the lock file only has checksums for other "
            f"platforms: in that case add those of {self._places.store.platform} with "
            '"nigari providers lock".',
            first_subject(self._asked),
        )

    def _report_store(self, version: Version, error: Exception, location: str = "") -> None:
        origin = f" from {location}" if location else ""
        self.diags.error(
            "Cannot install a provider",
            f"{self.provider.display} {version}{origin} cannot be installed: {error}.",
            first_subject(self._asked),
        )


def vouched(
    provider: Provider, verified: Verified, environment: Mapping[str, str]
) -> frozenset[str]:
    """Return the checksums for the lock file that a registry, mirror or signature vouches for."""
    if not verified.reported and not verified.trusted:
        return frozenset()
    from nigari.packages.providers.provider_registry import needs_signature

    if needs_signature(provider, environment):
        return verified.signed
    # OpenTofu trusts its own registry for checksums of all platforms.
    return verified.reported | verified.trusted


def _is_recorded(package: Path, recorded: Sequence[str], checked: Iterable[str]) -> bool:
    """Check that the lock file allows a package; it does if it has no checksums of that form.
    `checked` are checksums already known to match.
    """
    if not set(checked).isdisjoint(recorded):
        return True
    # A checksum of the packed bytes does not apply to unpacked files.
    is_unpacked = package.is_dir()
    checkable = [text for text in recorded if not (is_unpacked and text.startswith("zh:"))]
    # OpenTofu: without a checksum that could be compared, the package is accepted and recorded.
    return not checkable or bool(checksums.matching(package, checkable))
