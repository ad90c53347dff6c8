"""Choosing a version of each provider that all modules accept, checking and installing it.

The lock file's choice stands until an upgrade is asked for. A package is installed only if it has
one of the checksums the lock file records for its version. Every outcome is data: who shows it to
the user reads `Installation.outcomes`.
"""

from collections.abc import Iterable, Sequence
from enum import Enum
from pathlib import Path
from typing import Final

from nigari.addrs.provider import Provider
from nigari.diagnostics import Diagnostics
from nigari.lang.versions import ProviderConstraints, Version
from nigari.packages import checksums
from nigari.packages.locked_versions import report_locked_out
from nigari.packages.lockfile import Locks, ProviderLock
from nigari.packages.provider_package import ProviderPackage
from nigari.packages.provider_sources import ProviderSource, SourceError
from nigari.packages.provider_store import ProviderStore, StoreError
from nigari.packages.requirement import (
    Requirement,
    by_provider,
    combined_constraints,
    demands,
    first_subject,
)
from nigari.record import record, replace

_NO_VERSION: Final = Version((0, 0, 0))
"""What some people write for a provider that was never released; it is never chosen."""


class Step(Enum):
    """How a provider came to be there."""

    BUILT_IN = "built in"
    REUSED = "already installed"
    CACHED = "from the shared cache"
    INSTALLED = "installed"


@record
class Outcome:
    """One provider that can be used now."""

    provider: Provider
    version: Version | None
    step: Step
    path: Path | None = None


@record
class Installation:
    """What is installed, and the locks to be written."""

    locks: Locks
    outcomes: tuple[Outcome, ...] = ()


@record
class Places:
    """Where packages come from and go to."""

    source: ProviderSource
    store: ProviderStore
    cache: ProviderStore | None = None
    """Shared by several working directories; the store then only links to it."""
    trust_cache: bool = False
    """Take a package from the cache even if the lock file has no checksum to compare it with."""
    overridden: frozenset[Provider] = frozenset()
    """Providers that are used from elsewhere and need no package (development, reattach)."""


async def install_providers(
    requirements: Iterable[Requirement],
    locks: Locks,
    places: Places,
    diags: Diagnostics,
    upgrade: bool = False,
) -> Installation:
    """Make every provider required available. Providers that fail keep the lock they had."""
    wanted = by_provider(requirements)
    outcomes: list[Outcome] = []
    kept: dict[Provider, ProviderLock] = {}
    for provider in sorted(wanted):
        asked = wanted[provider]
        if provider.is_builtin:
            if _builtin_is_sound(provider, asked, diags):
                outcomes.append(Outcome(provider, None, Step.BUILT_IN))
            continue
        if provider in places.overridden:
            continue
        lock = locks.providers.get(provider)
        if lock is not None:
            kept[provider] = lock
        found = await _install_one(provider, asked, lock, places, upgrade, diags)
        if found is not None:
            outcome, kept[provider] = found
            outcomes.append(outcome)
    return Installation(replace(locks, providers=kept), tuple(outcomes))


async def _install_one(
    provider: Provider,
    asked: Sequence[Requirement],
    lock: ProviderLock | None,
    places: Places,
    upgrade: bool,
    diags: Diagnostics,
) -> tuple[Outcome, ProviderLock] | None:
    constraints = combined_constraints(asked)
    held = None if upgrade else lock
    if held is not None and constraints.allows(held.version):
        reused = _already_there(held, constraints, places, diags)
        if reused is not None:
            return reused
    platforms = (places.store.platform,)
    chosen = await choose_packages(asked, held, places.source, platforms, diags)
    if chosen is None:
        return None
    (package,) = chosen
    is_same = lock is not None and lock.version == package.version
    recorded = lock.hashes if lock is not None and is_same else ()
    return _install_package(package, recorded, constraints, places, asked, diags)


async def choose_packages(
    asked: Sequence[Requirement],
    lock: ProviderLock | None,
    source: ProviderSource,
    platforms: Sequence[str],
    diags: Diagnostics,
) -> list[ProviderPackage] | None:
    """A package per platform, of the locked version or else of the newest that all accept."""
    provider = asked[0].provider
    constraints = combined_constraints(asked)
    if lock is not None and not constraints.allows(lock.version):
        report_locked_out(provider, lock, asked, diags)
        return None
    try:
        packages = await source.packages(provider)
    except SourceError as error:
        _report_source(error, asked, diags)
        return None
    available = sorted({p.version for p in packages if p.version != _NO_VERSION})
    if not available:
        _report_not_found(provider, source.name, asked, diags)
        return None
    version = constraints.newest(available) if lock is None else lock.version
    if version is None:
        _report_no_match(provider, available, asked, diags)
        return None
    if version not in available:
        _report_gone(provider, version, available, asked, diags)
        return None
    chosen = [_for_platform(version, packages, p, asked, diags) for p in platforms]
    found = [package for package in chosen if package is not None]
    return found if len(found) == len(platforms) else None


def _already_there(
    lock: ProviderLock, constraints: ProviderConstraints, places: Places, diags: Diagnostics
) -> tuple[Outcome, ProviderLock] | None:
    """The locked version, if it is installed (or in the cache) and has a recorded checksum."""
    known = checksums.understood(lock.hashes)
    renewed = replace(lock, constraints=constraints)
    for store, step in ((places.store, Step.REUSED), (places.cache, Step.CACHED)):
        path = None if store is None else store.installed(lock.provider, lock.version)
        if path is None or not checksums.recorded(path, known):
            continue
        if step is Step.CACHED:
            package = ProviderPackage(lock.provider, lock.version, places.store.platform, path)
            try:
                path = places.store.install(package)
            except StoreError as error:
                _report_store(lock.provider, lock.version, error, diags)
                return None
        return Outcome(lock.provider, lock.version, step, path), renewed
    return None


def _install_package(
    package: ProviderPackage,
    recorded: Sequence[str],
    constraints: ProviderConstraints,
    places: Places,
    asked: Sequence[Requirement],
    diags: Diagnostics,
) -> tuple[Outcome, ProviderLock] | None:
    provider, version = package.provider, package.version
    try:
        known = checksums.understood(recorded)
        if package.path.is_dir():
            # A checksum of packed bytes says nothing about files that are unpacked already.
            checkable = [checksum for checksum in known if not checksum.startswith("zh:")]
        else:
            checkable = known
        if checkable and not checksums.matching(package.path, checkable):
            _report_checksum(package, asked, diags)
            return None
        path = _trusted(package, known, places) or (places.cache or places.store).install(package)
        if places.cache is not None:
            platform = places.store.platform
            path = places.store.install(ProviderPackage(provider, version, platform, path))
        actual = checksums.directory_checksum(path)
    except StoreError as error:
        _report_store(provider, version, error, diags)
        return None
    except OSError as error:
        _report_store(provider, version, StoreError(str(error)), diags)
        return None
    hashes = tuple(sorted({*known, actual}))
    lock = ProviderLock(provider, version, constraints, hashes)
    return Outcome(provider, version, Step.INSTALLED, path), lock


def _trusted(package: ProviderPackage, known: Sequence[str], places: Places) -> Path | None:
    if known or places.cache is None or not places.trust_cache:
        return None
    program = places.cache.program(package.provider, package.version)
    return None if program is None else program.parent


def _for_platform(
    version: Version,
    packages: Sequence[ProviderPackage],
    platform: str,
    asked: Sequence[Requirement],
    diags: Diagnostics,
) -> ProviderPackage | None:
    same_version = [package for package in packages if package.version == version]
    for package in same_version:
        if package.platform == platform:
            return package
    others = ", ".join(sorted(package.platform for package in same_version))
    diags.error(
        "Provider not available for this platform",
        f"Version {version} of {asked[0].provider.display} is available for {others}, but not "
        f"for {platform}.",
        first_subject(asked),
    )
    return None


def _builtin_is_sound(provider: Provider, asked: Sequence[Requirement], diags: Diagnostics) -> bool:
    if provider.type != "terraform":
        diags.error(
            "Unknown built-in provider",
            f"There is no built-in provider named {provider.type}; the only one is terraform.",
            first_subject(asked),
        )
        return False
    for requirement in asked:
        if requirement.constraints:
            diags.error(
                "Version of a built-in provider",
                f"{provider.display} is part of this program and has no version of its own."
                " Remove the version constraint.",
                requirement.subject,
            )
            return False
    return True


def _some(versions: Sequence[Version]) -> str:
    newest = [str(version) for version in sorted(versions, reverse=True)]
    return ", ".join(newest[:5]) + (", …" if len(newest) > 5 else "")


def _report_source(error: SourceError, asked: Sequence[Requirement], diags: Diagnostics) -> None:
    diags.error("Provider not found", f"{error}.", first_subject(asked))


def _report_not_found(
    provider: Provider, where: str, asked: Sequence[Requirement], diags: Diagnostics
) -> None:
    diags.error(
        "Provider not found",
        f"None of the configured installation sources ({where}) has a package of "
        f"{provider.display}. Check the provider's source in required_providers ({_askers(asked)}"
        ").",
        first_subject(asked),
    )


def _askers(asked: Sequence[Requirement]) -> str:
    names = dict.fromkeys(r.module or "the root module" for r in asked)
    return "asked for by " + ", ".join(names)


def _report_gone(
    provider: Provider,
    version: Version,
    available: Sequence[Version],
    asked: Sequence[Requirement],
    diags: Diagnostics,
) -> None:
    diags.error(
        "Locked provider version not available",
        f"Version {version} of {provider.display}, which the dependency lock file selects, is no "
        f'longer available; the available versions are {_some(available)}. Run "nigari init '
        '-upgrade" to select another.',
        first_subject(asked),
    )


def _report_no_match(
    provider: Provider,
    available: Sequence[Version],
    asked: Sequence[Requirement],
    diags: Diagnostics,
) -> None:
    diags.error(
        "No suitable provider version",
        f"No version of {provider.display} meets all requirements:\n{demands(asked)}\nThese "
        f"versions are available: {_some(available)}.",
        first_subject(asked),
    )


def _report_checksum(
    package: ProviderPackage, asked: Sequence[Requirement], diags: Diagnostics
) -> None:
    diags.error(
        "Wrong checksum of a provider package",
        f"The package of {package.provider.display} {package.version} in {package.path} matches "
        "none of the checksums in the dependency lock file, so it was not installed. Either the "
        "package was changed, or the lock file only has checksums for other platforms: in that "
        f'case add those of {package.platform} with "nigari providers lock".',
        first_subject(asked),
    )


def _report_store(
    provider: Provider, version: Version, error: StoreError, diags: Diagnostics
) -> None:
    diags.error(
        "Cannot install a provider",
        f"{provider.display} {version} cannot be installed: {error}.",
    )
