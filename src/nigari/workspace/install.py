"""Installing the modules that calls ask for.

While the static phase finds out what is needed, packages are fetched into a waiting place, several
at a time, and are read from there as if they were installed already. Only when everything is well
is the working directory changed, all at once (`InstallingPackages.commit`).
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit

from nigari.addrs.module import ModuleAddr
from nigari.addrs.module_source import RegistrySource, RemoteSource
from nigari.diagnostics import Diagnostics
from nigari.lang.files import DiskFiles, Entry
from nigari.packages.git import GitFetcher
from nigari.packages.module_fetch import FetchError, PackageFetcher, UnsupportedFetcher
from nigari.packages.module_manifest import Manifest, ModuleRecord, load_manifest
from nigari.packages.module_store import ModuleStore, Package
from nigari.record import record
from nigari.workspace.modules import (
    PackageRequest,
    Place,
    directory_name,
    matches,
    module_key,
    root_record,
)

_AT_A_TIME = 8


class InstallView(Protocol):
    """Who shows how installing modules goes."""

    def downloading(self, source: str, key: str, others: int) -> None:
        """A package is about to be fetched, for a call and so many others."""
        ...

    def installed(self, key: str, version: str, directory: str) -> None:
        """A module is where it was not before."""
        ...


@record
class Fetchers:
    """Who fetches what kind of package."""

    by_getter: Mapping[str, PackageFetcher]
    otherwise: PackageFetcher = UnsupportedFetcher()

    def of(self, source: RegistrySource | RemoteSource) -> PackageFetcher:
        if isinstance(source, RegistrySource):
            return self.otherwise
        return self.by_getter.get(source.getter, self.otherwise)

    def can_fetch(self, source: RegistrySource | RemoteSource) -> bool:
        """Whether anybody is asked for such a package."""
        return not isinstance(self.of(source), UnsupportedFetcher)


def usual_fetchers(environ: Mapping[str, str], may_ask: bool) -> Fetchers:
    """The fetchers for the kinds of packages that can be had."""
    return Fetchers({"git": GitFetcher(environ, may_ask)})


class InstallingPackages:
    """Packages that are fetched when they are asked for."""

    def __init__(
        self,
        files: StagedFiles,
        store: ModuleStore,
        fetchers: Fetchers,
        view: InstallView,
        upgrade: bool = False,
    ) -> None:
        self._files = files
        self._store = store
        self._fetchers = fetchers
        self._view = view
        self._upgrade = upgrade
        self._modules = files.modules
        self._manifest: Manifest = load_manifest(files, self._modules, Diagnostics())
        self._packages: dict[str, Package] = {}
        """By the source they were fetched from."""
        self._failed: set[str] = set()
        self._links: dict[str, str] = {}
        """Names below the modules directory, and the source of the package that each is."""

    def locate(
        self, wanted: Sequence[PackageRequest], diags: Diagnostics
    ) -> Sequence[Place | None]:
        """Where each module is, or will be."""
        kept = [self._kept(each, diags) for each in wanted]
        self._provide([each for each, place in zip(wanted, kept, strict=True) if not place], diags)
        return [place or self._place(each, diags) for each, place in zip(wanted, kept, strict=True)]

    def same_as(self, directory: str) -> str:
        """The real directory, where that is a package's."""
        return self._files.real(directory)

    def _kept(self, wanted: PackageRequest, diags: Diagnostics) -> Place | None:
        """What another program has installed for the very same call stays as it is."""
        record = self._manifest.get(wanted.key)
        name = directory_name(wanted.key)
        path = f"{self._modules}/{name}"
        real = self._files.at(path)
        if self._upgrade or record is None or os.path.islink(real) or not os.path.isdir(real):
            return None
        if not self._files.is_directory(record.directory) or not matches(record, wanted, diags):
            return None
        return Place(record.directory, path, record.source, record.version)

    def _place(self, wanted: PackageRequest, diags: Diagnostics) -> Place | None:
        package = self._packages.get(wanted.source.package)
        if package is None:
            return None
        name = directory_name(wanted.key)
        root = f"{self._modules}/{name}"
        subdir = wanted.source.subdir
        if subdir and not os.path.isdir(package.path / subdir):
            _report_no_subdir(wanted, diags)
            return None
        self._links[name] = wanted.source.package
        self._files.stage(name, package.path)
        return Place(posixpath.join(root, subdir) if subdir else root, root, str(wanted.source))

    def _provide(self, wanted: Sequence[PackageRequest], diags: Diagnostics) -> None:
        """Get all packages that are not at hand yet, several at a time."""
        missing: dict[str, list[PackageRequest]] = {}
        for each in wanted:
            source = each.source.package
            if source in self._packages or source in self._failed:
                continue
            found = directory_package(each.source)
            if found is None and not self._upgrade:
                found = self._store.find(source)
            if found is None:
                missing.setdefault(source, []).append(each)
            else:
                self._packages[source] = found
        if not missing:
            return
        with ThreadPoolExecutor(min(_AT_A_TIME, len(missing))) as pool:
            fetches = {}
            for source, callers in missing.items():
                if self._fetchers.can_fetch(callers[0].source):
                    self._view.downloading(
                        _package_text(callers[0].source), callers[0].key, len(callers) - 1
                    )
                directory = self._store.staging()
                fetches[source] = pool.submit(self._fetch, callers[0].source, directory)
            for source, fetch in fetches.items():
                result = fetch.result()
                if isinstance(result, Package):
                    self._packages[source] = result
                else:
                    self._failed.add(source)
                    _report_fetch(missing[source], result, diags)

    def _fetch(self, source: RegistrySource | RemoteSource, directory: Path) -> Package | str:
        """Fetch a package; a text says why that cannot be. Runs in a thread of its own."""
        try:
            self._fetchers.of(source).fetch(source, directory)
            return self._store.add(source.package, directory)
        except FetchError as error:
            return str(error)
        except OSError as error:
            return f"{error.strerror or error}."

    def tell(self, places: Mapping[ModuleAddr, Place]) -> None:
        """Say which modules are, or will be, where they were not before."""
        for addr, place in places.items():
            record = _record(addr, place)
            if self._upgrade or self._manifest.get(record.key) != record:
                self._view.installed(record.key, record.version, record.directory)

    def commit(self, places: Mapping[ModuleAddr, Place], root: str) -> None:
        """Make the working directory have exactly these modules. An `OSError` says why it cannot."""
        records = [_record(addr, place) for addr, place in places.items()]
        if not records and not self._manifest:
            return
        names = {
            directory_name(module_key(addr)) for addr, place in places.items() if place.package
        }
        links = {name: self._packages[self._links[name]] for name in names if name in self._links}
        sources = {self._links[name]: package for name, package in links.items()}
        self._store.commit([root_record(root), *records], sources, links, names - links.keys())


class StagedFiles:
    """The files of the machine, with packages that wait to be installed where they will be."""

    def __init__(self, files: DiskFiles, modules: str) -> None:
        self.modules = modules
        self._files = files
        self._staged: dict[str, Path] = {}
        self._prefixes = (f"{modules}/", f"{os.path.abspath(files.at(modules))}/")

    def at(self, path: str) -> str:
        """The path by which the process finds what is installed already."""
        return self._files.at(path)

    def stage(self, name: str, package: Path) -> None:
        """Show a package as the directory of this name."""
        self._staged[name] = package

    def real(self, path: str) -> str:
        """Where something is at the moment."""
        if not self._staged or self.modules not in path:
            return path
        clean = posixpath.normpath(path)
        for prefix in self._prefixes:
            if clean.startswith(prefix):
                name, slash, rest = clean[len(prefix) :].partition("/")
                package = self._staged.get(name)
                return path if package is None else f"{package}{slash}{rest}"
        return path

    def read(self, path: str, limit: int | None = None) -> bytes:
        return self._files.read(self.real(path), limit)

    def entries(self, path: str) -> list[Entry]:
        return self._files.entries(self.real(path))

    def is_file(self, path: str) -> bool:
        return self._files.is_file(self.real(path))

    def is_directory(self, path: str) -> bool:
        return self._files.is_directory(self.real(path))


def directory_package(source: RegistrySource | RemoteSource) -> Package | None:
    """The package that is a directory of this machine, named by its whole path."""
    if not isinstance(source, RemoteSource) or source.getter != "file":
        return None
    path = Path(unquote(urlsplit(source.url).path))
    return Package("", path, {}) if path.is_dir() else None


def _record(addr: ModuleAddr, place: Place) -> ModuleRecord:
    return ModuleRecord(module_key(addr), place.source, place.directory, place.version)


def _package_text(source: RegistrySource | RemoteSource) -> str:
    """The package as people write it, without the directory in it."""
    return (RemoteSource(source.package) if isinstance(source, RemoteSource) else source).display


def _report_fetch(callers: Sequence[PackageRequest], reason: str, diags: Diagnostics) -> None:
    first = callers[0]
    more = f" and {len(callers) - 1} more" if len(callers) > 1 else ""
    diags.error(
        "Cannot install a module",
        f"{_package_text(first.source)}, for {first.addr}{more}, cannot be fetched. {reason}",
        first.where,
    )


def _report_no_subdir(wanted: PackageRequest, diags: Diagnostics) -> None:
    source = wanted.source
    diags.error(
        "No such directory in a module package",
        f"The source of {wanted.addr} selects the directory {source.subdir} in "
        f"{_package_text(source)}, which does not exist.",
        wanted.where,
    )
