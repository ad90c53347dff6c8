"""Provider packages: one version of a provider for one platform, and its path.

Mirrors, caches and a working directory's store share one directory layout, which is `tofu`'s:
`host/namespace/type/version/os_arch/` unpacked, or
`host/namespace/type/terraform-provider-type_version_os_arch.zip` packed.
"""

from __future__ import annotations

import os

from nigari.addrs.hostname import normalize_hostname
from nigari.addrs.provider import LEGACY_NAMESPACE, Provider, normalize_provider_part
from nigari.lang.versions import Version, parse_exact_version
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path


@record
class ProviderPackage:
    """A package; `path` is a directory (unpacked) or a zip file (packed)."""

    provider: Provider
    version: Version
    platform: str
    path: Path


def unpacked_place(provider: Provider, version: Version, platform: str) -> str:
    """Return the path of a package in the unpacked layout, relative to the base."""
    return f"{provider.hostname}/{provider.namespace}/{provider.type}/{version}/{platform}"


def unpacked_path(base: Path, provider: Provider, version: Version, platform: str) -> Path:
    """Return the path of a package in the unpacked layout."""
    return base / unpacked_place(provider, version, platform)


def packed_path(base: Path, provider: Provider, version: Version, platform: str) -> Path:
    """Return the path of a package in the packed layout."""
    name = f"terraform-provider-{provider.type}_{version}_{platform}.zip"
    return base / provider.hostname / provider.namespace / provider.type / name


def executable(directory: str | os.PathLike[str], type_name: str) -> str | None:
    """Find the program inside an unpacked package: `terraform-provider-NAME`, optionally followed
    by `_…` or `.…`.
    """
    prefix = f"terraform-provider-{type_name}"
    try:
        names = sorted(os.listdir(directory))
    except OSError:
        return None
    for name in names:
        rest = name.removeprefix(prefix)
        # getproviders: names may continue with a version, or with .exe.
        if rest != name and rest[:1] in ("", "_", "."):
            program = os.path.join(directory, name)
            if os.path.isfile(program):
                return program
    return None


def find_packages(base: Path) -> list[ProviderPackage]:
    """List every package under `base`; raise `OSError` if it cannot be searched."""
    root = base.resolve(strict=True)
    return [
        package
        for host in _directories(root)
        for namespace in _directories(host)
        for type_directory in _directories(namespace)
        if (provider := _provider(host.name, namespace.name, type_directory.name)) is not None
        for package in _packages_of(provider, type_directory)
    ]


def packages_of(base: Path, provider: Provider) -> list[ProviderPackage]:
    """List the packages of one provider under `base`, newest first."""
    directory = base / provider.hostname / provider.namespace / provider.type
    found = _packages_of(provider, directory) if directory.is_dir() else []
    return sorted(found, key=lambda package: package.version, reverse=True)


def _packages_of(provider: Provider, directory: Path) -> list[ProviderPackage]:
    found: list[ProviderPackage] = []
    for entry in sorted(directory.iterdir()):
        if not entry.is_dir():
            if (package := _packed(provider, entry)) is not None:
                found.append(package)
            continue
        version = parse_exact_version(entry.name)
        # Links to whole versions are ignored; those to platforms are usual in caches.
        if version is None or entry.is_symlink():
            continue
        found.extend(
            ProviderPackage(provider, version, inner.name, inner)
            for inner in sorted(entry.iterdir())
            if inner.is_dir() and _is_platform(inner.name)
        )
    return found


def _packed(provider: Provider, file: Path) -> ProviderPackage | None:
    prefix = f"terraform-provider-{provider.type}_"
    name = file.name.lower()
    if not (name.startswith(prefix) and name.endswith(".zip")):
        return None
    parts = name.removeprefix(prefix).removesuffix(".zip").split("_")
    if len(parts) < 3:
        return None
    version = parse_exact_version(parts[0])
    target = f"{parts[1]}_{parts[2]}"
    if version is None or not _is_platform(target):
        return None
    return ProviderPackage(provider, version, target, file)


def _provider(hostname: str, namespace: str, type_name: str) -> Provider | None:
    host = normalize_hostname(hostname)
    type_ = normalize_provider_part(type_name)
    # The legacy namespace "-" is no valid name, but mirrors of old configurations have it.
    is_legacy = namespace == LEGACY_NAMESPACE
    owner = namespace if is_legacy else normalize_provider_part(namespace)
    if host is None or owner is None or type_ is None:
        return None
    return Provider(host, owner, type_)


def _is_platform(name: str) -> bool:
    system, _, machine = name.partition("_")
    return bool(system and machine) and "_" not in machine


def _directories(parent: Path) -> list[Path]:
    # Only the base may be a link: a link further inside could lead in a circle.
    return sorted(entry for entry in parent.iterdir() if entry.is_dir() and not entry.is_symlink())
