"""Checksums for several platforms, and mirrors: what `providers lock` and `providers mirror` do.

Both take packages from a source for platforms that need not be this machine's, so nothing is
installed. A mirror holds packed packages and the indexes that make it usable over the network.
"""

import json
import shutil
import stat
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from nigari.addrs.provider import Provider
from nigari.diagnostics import Diagnostics
from nigari.packages.checksums import package_checksum
from nigari.packages.lockfile import Locks, ProviderLock
from nigari.packages.provider_package import ProviderPackage, packages_of, packed_path
from nigari.packages.provider_selection import choose_packages
from nigari.packages.provider_sources import ProviderSource
from nigari.packages.requirement import Requirement, by_provider, combined_constraints
from nigari.record import replace

_PACKED_DATE: Final = (1980, 1, 1, 0, 0, 0)
"""Packing the same files twice must give the same bytes."""


async def lock_platforms(
    requirements: Iterable[Requirement],
    locks: Locks,
    source: ProviderSource,
    platforms: Sequence[str],
    diags: Diagnostics,
) -> Locks:
    """The locks with checksums of the packages for these platforms added."""
    result = dict(locks.providers)
    for provider, asked in sorted(_lockable(requirements)):
        old = locks.providers.get(provider)
        chosen = await choose_packages(asked, old, source, platforms, diags)
        if chosen is None:
            continue
        try:
            found = {package_checksum(package.path) for package in chosen}
        except OSError as error:
            _report_unreadable(provider, str(error), diags)
            continue
        version, constraints = chosen[0].version, combined_constraints(asked)
        if old is None:
            result[provider] = ProviderLock(provider, version, constraints, tuple(sorted(found)))
        else:
            hashes = tuple(sorted(found.union(old.hashes)))
            result[provider] = replace(old, constraints=constraints, hashes=hashes)
    return replace(locks, providers=result)


async def mirror_providers(
    requirements: Iterable[Requirement],
    locks: Locks,
    source: ProviderSource,
    target: Path,
    platforms: Sequence[str],
    diags: Diagnostics,
) -> list[Path]:
    """Put the packages a configuration needs into a mirror directory; gives what was written."""
    written: list[Path] = []
    for provider, asked in sorted(_lockable(requirements)):
        lock = locks.providers.get(provider)
        chosen = await choose_packages(asked, lock, source, platforms, diags)
        if chosen is None:
            continue
        try:
            written += [_pack(package, target) for package in chosen]
            _write_indexes(provider, target)
        except OSError as error:
            _report_unreadable(provider, str(error), diags)
    return written


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


def _write_indexes(provider: Provider, target: Path) -> None:
    """One file that lists the versions, and one per version that lists its packages."""
    archives: dict[str, dict[str, object]] = {}
    directory = target / provider.hostname / provider.namespace / provider.type
    for package in packages_of(target, provider):
        if package.path.is_file():
            archives.setdefault(str(package.version), {})[package.platform] = {
                "hashes": [package_checksum(package.path)],
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
