"""Providers to select among: a demonstration provider, constraints and versions."""

import zipfile
from pathlib import Path

from nigari.addrs.provider import Provider
from nigari.diagnostics import Diagnostics
from nigari.lang.versions import ProviderConstraints, Version, parse_provider_constraints
from nigari.packages.providers.provider_package import packed_path, unpacked_path

DEMO = Provider("example.com", "team", "demo")


PLATFORM = "linux_amd64"


def version(text: str) -> Version:
    return Version(tuple(int(part) for part in text.split(".")))


def constraints(text: str) -> ProviderConstraints:
    result = parse_provider_constraints(text, Diagnostics()) if text else ProviderConstraints()
    assert result is not None
    return result


def add(base: Path, number: str, packed: bool = False, platform: str = PLATFORM) -> Path:
    """Put a package into the mirror; its program differs by version."""
    name = "terraform-provider-demo"
    if packed:
        path = packed_path(base, DEMO, version(number), platform)
        path.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(path, "w") as package:
            entry = zipfile.ZipInfo(name)
            entry.external_attr = 0o100755 << 16
            package.writestr(entry, number)
        return path
    path = unpacked_path(base, DEMO, version(number), platform)
    path.mkdir(parents=True)
    (path / name).write_text(number)
    return path
