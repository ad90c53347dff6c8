"""Builds packages of providers written in Python, for mirrors and registries.

A package has a launcher of the name that `tofu` expects, and the provider's code in `lib`. The code
is the same for all platforms, and builds are reproducible. The Python interpreter and its libraries
are provided by the machine that runs it.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import zipfile
from pathlib import Path

from nigari.addrs.provider import Provider
from nigari.lang.versions import Version
from nigari.packages.providers.provider_package import unpacked_path
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


MIRROR: Final = "mirror"
"""The directory of unpacked packages."""

# Byte code beside the code would change the package and invalidate its locked checksum.
_LAUNCHER: Final = """\
#!/bin/sh
here=$(dirname "$0")
PYTHONPATH="$here/lib${{PYTHONPATH:+:$PYTHONPATH}}"
PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE
exec {python} {program} "$@"
"""
_LONG_AGO: Final = (1980, 1, 1, 0, 0, 0)
_MODE: Final = 0o100644
_PROGRAM_MODE: Final = 0o100755
_MANIFEST: Final = {"version": 1, "metadata": {"protocol_versions": ["6.0"]}}


@record
class ProviderCode:
    """A provider in Python: its files by their names in `lib`, and its command."""

    files: dict[str, Path]
    program: str
    """Command-line arguments of the Python interpreter."""


class BuildError(Exception):
    """Code that cannot be built into a package; the text has the reason."""


def find_code(path: Path) -> ProviderCode:
    """Find the code of a script, of a directory with `__main__.py`, or of a Python package with
    one.
    """
    if path.is_file():
        return ProviderCode({path.name: path}, _in_lib(path.name))
    if not path.is_dir():
        raise BuildError(f"There is no file or directory {path}.")
    if not (path / "__main__.py").is_file():
        raise BuildError(
            f"The directory {path} has no __main__.py, so it cannot be started. Add one that calls "
            "provider.serve()."
        )
    files = {
        each.relative_to(path).as_posix(): each
        for each in sorted(path.rglob("*"))
        if each.is_file() and not _is_left_out(each.relative_to(path))
    }
    if not (path / "__init__.py").is_file():
        return ProviderCode(files, '"$here/lib"')
    name = path.resolve().name
    if not name.isidentifier():
        raise BuildError(f'"{name}" is not a name that a Python package can have.')
    return ProviderCode({f"{name}/{each}": file for each, file in files.items()}, f"-m {name}")


def build_packages(
    code: ProviderCode,
    provider: Provider,
    version: Version,
    platforms: list[str],
    target: Path,
    python: str = "python3",
) -> list[Path]:
    """Build all packages below a directory, and return the written files.

    For each platform there is an unpacked package in a filesystem mirror and an archive; for
    registries there are the checksums of the archives and a manifest.
    """
    stem = f"terraform-provider-{provider.type}_{version}"
    launcher = _LAUNCHER.format(python=shlex.quote(python), program=code.program).encode()
    content = {f"terraform-provider-{provider.type}_v{version}": launcher}
    content |= {f"lib/{name}": path.read_bytes() for name, path in code.files.items()}
    target.mkdir(parents=True, exist_ok=True)
    manifest = target / f"{stem}_manifest.json"
    manifest.write_text(json.dumps(_MANIFEST, indent=2) + "\n", encoding="utf-8")
    written: list[Path] = []
    sums = [manifest]
    for platform in platforms:
        directory = unpacked_path(target / MIRROR, provider, version, platform)
        _unpacked(directory, content)
        archive = target / f"{stem}_{platform}.zip"
        _packed(archive, content)
        written += [directory, archive]
        sums.append(archive)
    checksums = target / f"{stem}_SHA256SUMS"
    lines = [f"{_sha256(each)}  {each.name}\n" for each in sorted(sums)]
    checksums.write_text("".join(lines), encoding="utf-8", newline="\n")
    return [*written, manifest, checksums]


def _in_lib(name: str) -> str:
    return f'"$here"/lib/{shlex.quote(name)}'


def _is_left_out(path: Path) -> bool:
    """Exclude byte code and hidden files."""
    return path.suffix == ".pyc" or any(part.startswith(".") for part in path.parts)


def _unpacked(directory: Path, content: dict[str, bytes]) -> None:
    if directory.exists():
        shutil.rmtree(directory)
    for name, data in content.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        os.chmod(path, _mode(name) & 0o777)


def _packed(archive: Path, content: dict[str, bytes]) -> None:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as package:
        for name, data in sorted(content.items()):
            entry = zipfile.ZipInfo(name, _LONG_AGO)
            entry.create_system = 3  # Unix, so that the mode applies
            entry.external_attr = _mode(name) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            package.writestr(entry, data)


def _mode(name: str) -> int:
    return _MODE if "/" in name else _PROGRAM_MODE


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
