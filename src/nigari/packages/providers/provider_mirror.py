"""Checksums for several platforms, and mirrors: `providers lock` and `providers mirror`.

Both fetch packages for platforms other than this machine's, so nothing is installed. A mirror holds
packed packages and the indexes for its use over the network.
"""

from __future__ import annotations

import json
import shutil
import stat
import tempfile
import zipfile
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path

from nigari.addrs.provider import Provider
from nigari.diagnostics import Diagnostics
from nigari.lang.versions import Version
from nigari.packages.providers.checksums import package_checksum
from nigari.packages.providers.lockfile import Locks, ProviderLock
from nigari.packages.providers.provider_installer import vouched
from nigari.packages.providers.provider_package import (
    ProviderPackage,
    find_packages,
    packages_of,
    packed_path,
)
from nigari.packages.providers.provider_selection import choose_offer, choose_version, report_source
from nigari.packages.providers.provider_sources import ProviderSource, ProviderSourceError, Verified
from nigari.packages.providers.requirement import Requirement, by_provider, combined_constraints
from nigari.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, TypeVar

    T = TypeVar("T")


_PACKED_DATE: Final = (1980, 1, 1, 0, 0, 0)
"""Fixed date of packed files, so that packing is reproducible."""


async def lock_platforms(
    requirements: Iterable[Requirement],
    locks: Locks,
    source: ProviderSource,
    platforms: Sequence[str],
    environment: Mapping[str, str],
    diags: Diagnostics,
    checked: Callable[[Provider, str, Verified], None] = lambda provider, platform, verified: None,
) -> Locks:
    """Add checksums of the packages for these platforms to the locks; `checked` receives the
    verification of each package.
    """
    wanted = sorted(_lockable(requirements))

    async def lock_one(
        provider: Provider, asked: Sequence[Requirement], found: Diagnostics
    ) -> ProviderLock | None:
        # "providers lock" keeps to the locked versions, and only adds checksums.
        old = locks.providers.get(provider)
        version = await choose_version(asked, old, source, found)
        if version is None:
            return None
        hashes = set(old.hashes) if old is not None else set()
        for platform in platforms:
            fetched = await _fetch(version, platform, asked, source, found, _checksums)
            if fetched is None:
                return None
            verified, own = fetched
            checked(provider, platform, verified)
            hashes |= {*own, *vouched(provider, verified, environment)}
        constraints, sums = combined_constraints(asked), tuple(sorted(hashes))
        if old is None:
            return ProviderLock(provider, version, constraints, sums)
        return replace(old, constraints=constraints, hashes=sums)

    done = await _each(wanted, source, lock_one, diags)
    new = {lock.provider: lock for lock in done if lock is not None}
    return replace(locks, providers={**locks.providers, **new})


async def mirror_providers(
    requirements: Iterable[Requirement],
    locks: Locks,
    source: ProviderSource,
    target: Path,
    platforms: Sequence[str],
    diags: Diagnostics,
    wrote: Callable[[Path, Verified], None] = lambda path, verified: None,
) -> None:
    """Copy the required packages into a mirror directory; `wrote` receives each."""
    trusted: dict[Path, frozenset[str]] = {}

    def pack(package: ProviderPackage, verified: Verified) -> None:
        path = _pack(package, target)
        trusted[path] = verified.of_platform
        wrote(path, verified)

    async def mirror_one(
        provider: Provider, asked: Sequence[Requirement], found: Diagnostics
    ) -> None:
        lock = locks.providers.get(provider)
        # A mirror of other versions than the locked ones would be useless.
        if lock is None and locks.providers:
            _report_unlocked(provider, found)
            return
        version = await choose_version(asked, lock, source, found)
        if version is not None:
            for platform in platforms:
                await _fetch(version, platform, asked, source, found, pack)

    await _each(sorted(_lockable(requirements)), source, mirror_one, diags)
    try:
        packages = find_packages(target) if trusted else []
        for provider in sorted({package.provider for package in packages}):
            _write_indexes(provider, target, trusted)
    except OSError as error:
        diags.error(
            "Cannot write the mirror",
            f"The indexes in {target} cannot be written: {error.strerror or error}.",
        )


async def _each(
    wanted: Sequence[tuple[Provider, list[Requirement]]],
    source: ProviderSource,
    work: Callable[[Provider, Sequence[Requirement], Diagnostics], Awaitable[T]],
    diags: Diagnostics,
) -> list[T]:
    """Process each provider, concurrently if the network is the bottleneck."""
    found = [Diagnostics() for _ in wanted]
    works = zip(wanted, found, strict=True)
    try:
        if not any(source.is_remote(provider) for provider, _ in wanted):
            return [await work(provider, asked, own) for (provider, asked), own in works]
        import asyncio

        # Without an event loop, this yields so that the caller notices that one is needed.
        await asyncio.sleep(0)
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(_awaited(work(provider, asked, own)))
                for (provider, asked), own in works
            ]
        return [task.result() for task in tasks]
    finally:
        for each in found:
            diags.extend(each)


async def _awaited(work: Awaitable[T]) -> T:
    return await work


async def _fetch(
    version: Version,
    platform: str,
    asked: Sequence[Requirement],
    source: ProviderSource,
    diags: Diagnostics,
    use: Callable[[ProviderPackage, Verified], T],
) -> tuple[Verified, T] | None:
    """Fetch a package and process it while it exists; None after reporting a failure."""
    provider = asked[0].provider
    offer = await choose_offer(version, platform, asked, source, diags)
    if offer is None:
        return None
    try:
        with tempfile.TemporaryDirectory(prefix="nigari-provider-") as directory:
            fetched = await offer.fetch(Path(directory), lambda size, total: None)
            package = ProviderPackage(provider, version, platform, fetched.path)
            return fetched.verified, use(package, fetched.verified)
    except ProviderSourceError as error:
        report_source(error, asked, diags)
    except OSError as error:
        _report_unreadable(provider, str(error), diags)
    return None


def _checksums(package: ProviderPackage, verified: Verified) -> set[str]:
    return {package_checksum(package.path), *verified.checked}


def _lockable(requirements: Iterable[Requirement]) -> list[tuple[Provider, list[Requirement]]]:
    wanted = by_provider(requirements)
    return [(p, asked) for p, asked in wanted.items() if not (p.is_builtin or p.is_legacy)]


def _pack(package: ProviderPackage, target: Path) -> Path:
    path = packed_path(target, package.provider, package.version, package.platform)
    path.parent.mkdir(parents=True, exist_ok=True)
    staging = path.with_name(f".{path.name}")
    if package.path.is_dir():
        root = package.path.resolve()
        with zipfile.ZipFile(staging, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(entry for entry in root.rglob("*") if entry.is_file()):
                entry = zipfile.ZipInfo(file.relative_to(root).as_posix(), _PACKED_DATE)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = (stat.S_IFREG | stat.S_IMODE(file.stat().st_mode)) << 16
                with file.open("rb") as content, archive.open(entry, "w") as packed:
                    shutil.copyfileobj(content, packed, 1 << 20)
    else:
        shutil.copyfile(package.path, staging)
    staging.replace(path)
    return path


def _write_indexes(
    provider: Provider, target: Path, trusted: Mapping[Path, frozenset[str]]
) -> None:
    """Write a file that lists the versions, and one per version that lists its packages."""
    archives: dict[str, dict[str, object]] = {}
    directory = target / provider.hostname / provider.namespace / provider.type
    for package in packages_of(target, provider):
        if package.path.is_file():
            archives.setdefault(str(package.version), {})[package.platform] = {
                "hashes": sorted(trusted.get(package.path) or [package_checksum(package.path)]),
                "url": package.path.name,
            }
    _write_json(directory / "index.json", {"versions": {version: {} for version in archives}})
    for version, platforms in archives.items():
        _write_json(directory / f"{version}.json", {"archives": platforms})


def _write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=2, sort_keys=True), encoding="utf-8")


def _report_unreadable(provider: Provider, reason: str, diags: Diagnostics) -> None:
    diags.error(
        "Unusable provider package",
        f"A package of {provider.display} cannot be used: {reason}.",
    )


def _report_unlocked(provider: Provider, diags: Diagnostics) -> None:
    diags.error(
        "Provider not locked",
        f"The dependency lock file has no entry for {provider.display}, so it is not known which "
        'version to copy. Run "nigari init" first.',
    )
