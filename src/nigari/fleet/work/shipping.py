"""Shipping: what a unit reads, as packages that are known by their content.

A package has the files of one directory, or one file. Directories that many units read, such as
modules, are one package for all of them, and wherever a package is already it need not be sent again.
What is hidden does not travel, states and credentials in `.terraform` included; the lock file does.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import shutil
import tempfile
import zlib
from collections.abc import Collection, Iterable, Mapping

from nigari.cty.values import Value
from nigari.fleet.units.files_read import files_read
from nigari.fleet.units.unit import Unit
from nigari.fleet.units.working_copy import own_files
from nigari.record import record, replace


@record
class FilePackage:
    """Files with their content: paths from `base`, whether they can be executed, and bytes; all that
    compressed.
    """

    base: str
    """The directory that the paths begin at, seen from the common root."""
    digest: str
    data: bytes


@record
class Shipment:
    """Everything that a unit reads, and where it is to be put."""

    unit: Unit
    """With paths that are seen from the common root."""
    packages: tuple[FilePackage, ...]

    @property
    def digest(self) -> str:
        """The digest of the whole tree of files."""
        text = "\n".join(sorted(f"{each.base} {each.digest}" for each in self.packages))
        return hashlib.sha256(text.encode()).hexdigest()


class Packer:
    """Packs what units read; a directory that several of them read is packed once."""

    def __init__(self, root: str, owners: Collection[str]) -> None:
        """`root` is the directory of the fleet; `owners` are those of all units, which others do not
        take for their own.
        """
        self._root = os.path.realpath(root)
        self._owners = frozenset(map(os.path.realpath, owners))
        self._packed: dict[tuple[str, frozenset[str]], tuple[str, bytes]] = {}

    def pack(
        self, unit: Unit, environ: Mapping[str, str], variables: Mapping[str, Value]
    ) -> Shipment:
        """The files that a unit reads."""
        read = files_read(unit, environ, variables)
        directories = {os.path.realpath(each) for each in read.directories}
        loose = {
            path
            for path in (*read.files, *self._beginning_with(read.prefixes))
            if os.path.isfile(path) and not any(_is_below(path, each) for each in directories)
        }
        root = os.path.commonpath([*directories, *map(os.path.dirname, loose)])
        packages = []
        for directory in sorted(directories):
            inner = frozenset(
                each for each in self._owners | directories if _is_below(each, directory)
            )
            digest, data = self._directory(directory, inner)
            packages.append(FilePackage(os.path.relpath(directory, root), digest, data))
        for path in sorted(loose):
            digest, data = _packed(os.path.dirname(path), [os.path.basename(path)])
            packages.append(FilePackage(os.path.relpath(os.path.dirname(path), root), digest, data))
        moved = replace(
            unit,
            path=os.path.relpath(os.path.realpath(unit.path), root),
            var_files=tuple(
                os.path.relpath(os.path.realpath(each), root) for each in unit.var_files
            ),
            fleet_data="",
        )
        return Shipment(moved, tuple(packages))

    def _beginning_with(self, prefixes: Iterable[str]) -> Iterable[str]:
        """The files of the fleet whose paths begin so: which of them is read, outputs of others say."""
        for prefix in prefixes:
            if _is_below(prefix, self._root):
                above = os.path.dirname(prefix)
                for name in own_files(above):
                    path = os.path.join(above, name)
                    if path.startswith(prefix):
                        yield path

    def _directory(self, directory: str, inner: frozenset[str]) -> tuple[str, bytes]:
        known = self._packed.get((directory, inner))
        if known is None:
            names = list(own_files(directory, inner))
            known = self._packed[directory, inner] = _packed(directory, names)
        return known


def unpack(shipment: Shipment, home: str) -> Unit:
    """Put what was shipped below a directory, unless it is there already; the unit as it is there."""
    root = os.path.join(home, shipment.digest)
    if not os.path.isdir(root):
        os.makedirs(home, mode=0o700, exist_ok=True)
        made = tempfile.mkdtemp(dir=home)
        for package in shipment.packages:
            _unpack(package, os.path.normpath(os.path.join(made, package.base)))
        try:
            os.rename(made, root)
        except OSError:
            # Another process was faster.
            shutil.rmtree(made, ignore_errors=True)
    unit = shipment.unit
    return replace(
        unit,
        path=os.path.normpath(os.path.join(root, unit.path)),
        var_files=tuple(os.path.normpath(os.path.join(root, each)) for each in unit.var_files),
    )


def _is_below(path: str, directory: str) -> bool:
    return path != directory and path.startswith(os.path.join(directory, ""))


def _packed(directory: str, names: Iterable[str]) -> tuple[str, bytes]:
    files: list[tuple[str, bool, bytes]] = []
    for name in names:
        path = os.path.join(directory, name)
        if os.path.isfile(path):
            with open(path, "rb") as file:
                files.append((name, os.access(path, os.X_OK), file.read()))
    data = zlib.compress(pickle.dumps(files, protocol=5), 1)
    return hashlib.sha256(data).hexdigest(), data


def _unpack(package: FilePackage, target: str) -> None:
    files: list[tuple[str, bool, bytes]] = pickle.loads(zlib.decompress(package.data))
    os.makedirs(target, exist_ok=True)
    for name, is_program, content in files:
        path = os.path.normpath(os.path.join(target, name))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
        if is_program:
            os.chmod(path, 0o755)
