"""Module store of a working directory: one copy of each package, named by its content.

`.store/HASH/` holds the files of a package and `.store/HASH.json` lists them with their digests;
the hash is of that list, so that each verifies the other. A module's own directory is a symbolic
link to a package (or a copy where links are not supported).

Nothing changes before `commit`: until then new packages are in a staging directory. The steps of
`commit` are ordered so that after an interruption at any moment, the next run finds either a
complete package, or one that it recognises as incomplete.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from nigari.file_lock import FileLock, lock_file
from nigari.packages.content.package_tree import (
    FileList,
    Found,
    Package,
    PackageOrigin,
    content_hash,
    copy_files,
    edited_files,
    encoded,
    list_files,
    origin_document,
    package_id,
    read_list,
    read_origin,
    source_id,
)
from nigari.packages.content.whole_file import make_directories, write_whole
from nigari.packages.modules.module_manifest import FILE_NAME as MANIFEST
from nigari.packages.modules.module_manifest import ModuleRecord, save_manifest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


STORE: Final = ".store"
_NEW: Final = ".new-"
_OLD: Final = ".old-"
_LOCK: Final = ".lock"


class ModuleStore:
    """The packages below the modules directory of a working directory."""

    def __init__(self, modules: Path) -> None:
        self.modules = modules
        self.directory: Path = modules / STORE
        self._known: dict[str, tuple[str, PackageOrigin]] | None = None
        self._found: dict[str, Found | None] = {}
        self._staging: Path | None = None
        self._made: list[Path] = []
        self._edited: dict[str, list[str]] = {}
        """Files of packages that differ from the fetched ones, by source."""
        self._restored: dict[str, list[str]] = {}
        """The same by the names of the packages that replace them."""

    @contextlib.contextmanager
    def locked(self, report_waiting: Callable[[], None] | None = None) -> Iterator[FileLock]:
        """Lock the store if the file system supports it, and remove uncommitted leftovers."""
        try:
            with lock_file(
                self.directory / _LOCK,
                report_waiting,
                prepare=lambda: _make_directories(self.directory, self._made),
            ) as found:
                try:
                    yield found
                finally:
                    self._clean_up()
        finally:
            for directory in (self.directory, *reversed(self._made)):
                with contextlib.suppress(OSError):
                    directory.rmdir()

    # -- finding and adding packages ------------------------------------------------------------

    def find(self, source: str) -> Found | None:
        """Return the package of a source if all its files are unchanged."""
        if source not in self._found:
            self._found[source] = self._find(source)
        return self._found[source]

    def staging(self) -> Path:
        """Create an empty staging directory for a package."""
        import tempfile

        return Path(tempfile.mkdtemp(dir=self._waiting()))

    def _waiting(self) -> Path:
        """Return the parent of staging directories."""
        import tempfile

        if self._staging is None:
            _make_directories(self.directory, self._made)
            self._staging = Path(tempfile.mkdtemp(prefix=_NEW, dir=self.directory))
        return self._staging

    def add(self, fetched: Path, origin: PackageOrigin) -> Found:
        """Add a fetched package; raise `FetchError` if its content is not acceptable."""
        files = list_files(fetched)
        package = Package(package_id(content_hash(files)), fetched, files, is_new=True)
        return Found(package, origin)

    def _find(self, source: str) -> Found | None:
        if self._known is None:
            self._known = self._read_sources()
        identity, origin = self._known.get(source_id(source), ("", PackageOrigin()))
        listed = self._read_list(identity) if identity else None
        path = self.directory / identity
        if listed is None:
            return None
        edited = edited_files(path, listed[0])
        if edited:
            self._edited[source] = edited
            return None
        return Found(Package(identity, path, listed[0]), origin)

    def _read_sources(self) -> dict[str, tuple[str, PackageOrigin]]:
        """Map each source to its package; the later entry of a source wins."""
        known: dict[str, tuple[str, PackageOrigin]] = {}
        for path in sorted(self._lists(), key=lambda path: path.stat().st_mtime_ns):
            listed = self._read_list(path.stem)
            for source, origin in listed[1].items() if listed else ():
                known[source] = path.stem, origin
        return known

    def _lists(self) -> list[Path]:
        return [path for path in _entries(self.directory) if path.suffix == ".json"]

    def _read_list(self, identity: str) -> tuple[FileList, Mapping[str, PackageOrigin]] | None:
        try:
            document = json.loads((self.directory / f"{identity}.json").read_bytes())
            files = read_list(document["files"])
            sources = {str(name): read_origin(each) for name, each in document["sources"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        return (files, sources) if package_id(content_hash(files)) == identity else None

    # -- making it so ---------------------------------------------------------------------------

    def commit(
        self,
        records: Iterable[ModuleRecord],
        sources: Mapping[str, Found],
        links: Mapping[str, Package],
        kept: Iterable[str] = (),
    ) -> list[str]:
        """Install: `sources` has the package of each source, `links` the package of each name in
        the modules directory. `kept` names there stay unchanged. Returns the files below the
        modules directory that had been edited and are restored. On `OSError`, the previous
        installation is not usable any more.
        """
        _make_directories(self.modules, [])
        own: dict[str, Package] = {}
        origins: dict[str, dict[str, PackageOrigin]] = {}
        for source, found in sources.items():
            if source in self._edited:
                self._restored[found.package.id] = self._edited[source]
            if found.package.id:
                own[found.package.id] = found.package
                origins.setdefault(found.package.id, {})[source_id(source)] = found.origin
        for package in own.values():
            self._put(package, origins[package.id])
        wanted = {name: self._target(package) for name, package in links.items()}
        names = {*wanted, *kept, STORE, MANIFEST}
        stale = [path for path in _entries(self.modules) if path.name not in names]
        changed = [name for name in wanted if not _is_linked(self.modules / name, wanted[name])]
        if changed:
            # Commands must not apply the old manifest to the new packages.
            (self.modules / MANIFEST).unlink(missing_ok=True)
        made: dict[str, Path] = {}
        for name in changed:
            self._link(self.modules / name, links[name], made)
        save_manifest(self.modules, records)
        for path in stale:
            _remove(path)
        self._remove_unused({package.id for package in links.values() if package.id})
        return [
            f"{name}/{file}"
            for name, package in sorted(links.items())
            for file in self._restored.get(package.id, ())
        ]

    def _put(self, package: Package, sources: Mapping[str, PackageOrigin]) -> None:
        """Move a package into the store; its list is written first."""
        import tempfile

        target = self.directory / package.id
        origins = {name: origin_document(origin) for name, origin in sources.items()}
        document = {"files": package.files, "sources": origins}
        _write_if_new(target.with_suffix(".json"), encoded(document))
        if not (package.is_new or package.is_shared) or not package.path.exists():
            return
        if target.exists():
            edited = edited_files(target, package.files)
            if not edited:
                return
            self._restored[package.id] = edited
            target.rename(tempfile.mkdtemp(prefix=_OLD, dir=self.directory) + "/package")
        ready = package.path
        if package.is_shared:
            ready = self._waiting() / package.id
            copy_files(package.path, ready, package.files)
        ready.chmod(0o755)
        ready.rename(target)

    def _target(self, package: Package) -> str:
        return f"{STORE}/{package.id}" if package.id else str(package.path)

    def _copy(self, package: Package, path: Path) -> None:
        import shutil

        source = self.directory / package.id if package.id else package.path
        shutil.copytree(source, path, symlinks=True)

    def _link(self, path: Path, package: Package, made: dict[str, Path]) -> None:
        """Link a path to a package, replacing anything there."""
        target = self._target(package)
        try:
            if target not in made or not _link_again(made[target], path):
                os.symlink(target, path, target_is_directory=True)
                made[target] = path
        except FileExistsError:
            self._replace(path, package)
        except OSError:
            self._copy(package, path)

    def _replace(self, path: Path, package: Package) -> None:
        new = path.with_name(f"{_NEW}{package.id or 'link'}")
        _remove(new)
        try:
            os.symlink(self._target(package), new, target_is_directory=True)
        except OSError:
            self._copy(package, new)
        if not (path.is_symlink() and new.is_symlink()):
            # Only a link can be replaced by a link atomically.
            _remove(path)
        new.replace(path)

    def _remove_unused(self, used: set[str]) -> None:
        for path in _entries(self.directory):
            if not used or (path.stem not in used and path != self._staging and path.name != _LOCK):
                _remove(path)
        if not used:
            with contextlib.suppress(OSError):
                self.directory.rmdir()

    # -- leaving no trace -----------------------------------------------------------------------

    def _clean_up(self) -> None:
        for path in _entries(self.directory):
            if path.name.startswith((_NEW, _OLD)):
                _remove(path)


def _link_again(link: Path, path: Path) -> bool:
    """Rename a link, which costs a hundredth of creating another; False if the system does not
    support it.
    """
    try:
        os.link(link, path, follow_symlinks=False)
    except FileExistsError:
        raise
    except (OSError, NotImplementedError):
        return False
    return path.is_symlink()


def _is_linked(path: Path, target: str) -> bool:
    return path.is_symlink() and os.readlink(path) == target


def _write_if_new(path: Path, content: bytes) -> None:
    try:
        if path.read_bytes() == content:
            return
    except FileNotFoundError:
        pass
    # A torn list is detected, so it need not be synced to disk.
    write_whole(path, content, sync=False)


def _entries(directory: Path) -> list[Path]:
    try:
        return sorted(directory.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []


def _make_directories(path: Path, made: list[Path]) -> None:
    """Create a directory and its parents, recording the new ones."""
    missing = []
    while not path.is_dir():
        missing.append(path)
        path = path.parent
    for directory in reversed(missing):
        make_directories(directory)
        made.append(directory)


def _remove(path: Path) -> None:
    if path.is_symlink() or path.is_file():
        path.unlink(missing_ok=True)
    else:
        import shutil

        shutil.rmtree(path, ignore_errors=True)
