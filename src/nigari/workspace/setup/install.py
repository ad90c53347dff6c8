"""Installing the modules that calls ask for.

While the static phase finds out what is needed, packages are fetched into a waiting place, several
at a time, and are read from there as if they were installed already. Only when everything is well
is the working directory changed, all at once (`InstallingPackages.commit`).
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from nigari.addrs.module import ModuleAddr
from nigari.addrs.module_source import RegistrySource, RemoteSource
from nigari.diagnostics import Diagnostics
from nigari.lang.files import DiskFiles, Entry
from nigari.packages.content.module_fetch import FetchError
from nigari.packages.content.package_tree import Found, Package
from nigari.packages.content.subdirectories import find_subdir
from nigari.packages.modules.module_manifest import Manifest, ModuleRecord, load_manifest
from nigari.packages.modules.module_store import ModuleStore
from nigari.packages.modules.package_address import package_address
from nigari.record import record
from nigari.typed import Protocol
from nigari.workspace.configuration.modules import (
    PackageRequest,
    Place,
    directory_name,
    matches,
    module_key,
    root_record,
)
from nigari.workspace.setup.last_init import NotedFiles
from nigari.workspace.setup.module_locking import ModuleLocking, changed_text
from nigari.workspace.setup.module_sources import ModuleSources
from nigari.workspace.setup.requested_packages import made_from, only_version, package_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.packages.modules.module_download import ModuleDownloads, Pin
    from nigari.packages.modules.module_locks import ModuleLock

_AT_A_TIME = 8


class InstallView(Protocol):
    """Observer of the module installation. Until a package has arrived it is called from another
    thread, while this one waits.
    """

    def downloading(self, source: str, key: str, others: int) -> None:
        """A package is about to be fetched, for a call and so many others."""
        ...

    def progress(self, source: str, done: int, total: int | None) -> None:
        """So many bytes of a package have arrived, of so many if that is known; called often."""
        ...

    def arrived(self, source: str) -> None:
        """Nothing more of a package will arrive, for better or worse."""
        ...

    def reused(self, source: str, key: str, others: int) -> None:
        """A package for a call and so many others is kept on this machine already."""
        ...

    def installed(self, key: str, version: str, directory: str) -> None:
        """A module is where it was not before."""
        ...


@record
class _Wanted:
    """A call, and which package it is to get."""

    request: PackageRequest
    key: str
    """The package's key in stores."""
    version: str = ""
    lock: ModuleLock | None = None
    """The package's entry in the lock file."""

    @property
    def pin(self) -> Pin:
        from nigari.packages.modules.module_download import Pin

        return Pin() if self.lock is None else Pin(self.lock.revision, self.lock.digest)

    @property
    def shown(self) -> str:
        text = package_text(self.request.source)
        return f"{text} {self.version}" if self.version else text


class _PackageListener:
    """Passes on how fetching the package of a call, and of others, goes."""

    def __init__(self, wanted: _Wanted, others: int, view: InstallView) -> None:
        self._wanted = wanted
        self._others = others
        self._view = view
        self._has_begun = False

    def begins(self) -> None:
        """The package is not at hand, so it is fetched now."""
        self._has_begun = True
        wanted = self._wanted
        self._view.downloading(wanted.shown, wanted.request.key, self._others)

    def received(self, done: int, total: int | None) -> None:
        """So many bytes are there."""
        self._view.progress(self._wanted.shown, done, total)

    def ends(self, is_found: bool) -> None:
        """Nothing more will arrive."""
        wanted = self._wanted
        if self._has_begun:
            self._view.arrived(wanted.shown)
        elif is_found:
            self._view.reused(wanted.shown, wanted.request.key, self._others)


class InstallingPackages:
    """Packages that are fetched when they are asked for."""

    def __init__(
        self,
        files: StagedFiles,
        store: ModuleStore,
        sources: ModuleSources,
        view: InstallView,
        upgrade: bool = False,
        locking: ModuleLocking | None = None,
    ) -> None:
        self._files = files
        self._store = store
        self._sources = sources
        self._view = view
        self._upgrade = upgrade
        self._locking = locking or ModuleLocking(None)
        self._modules = files.modules
        self._manifest: Manifest = load_manifest(files, self._modules, Diagnostics())
        self._packages: dict[str, Found] = {}
        """By what stores know them by."""
        self._keeps: dict[str, bool] = {}
        """True if packages were on this machine before this run."""
        self._failed: set[str] = set()
        self._links: dict[str, str] = {}
        """Names below the modules directory, and the package that each is."""

    def locate(
        self, wanted: Sequence[PackageRequest], diags: Diagnostics
    ) -> Sequence[Place | None]:
        """Return the present or future directory of each module."""
        kept = [self._kept(each, diags) for each in wanted]
        others = [each for each, place in zip(wanted, kept, strict=True) if place is None]
        # A problem that many calls share is reported at the first of them.
        others.sort(key=lambda each: each.addr)
        chosen = {each.request.addr: each for each in self._choose(others, diags)}
        self._provide(list(chosen.values()), diags)
        return [
            place or (self._place(chosen[each.addr], diags) if each.addr in chosen else None)
            for each, place in zip(wanted, kept, strict=True)
        ]

    def same_as(self, directory: str) -> str:
        """The real directory, where that is a package's."""
        return self._files.real(directory)

    def _kept(self, wanted: PackageRequest, diags: Diagnostics) -> Place | None:
        """Return another program's installation for the same call, which stays unless the lock file
        disagrees.
        """
        record = self._manifest.get(wanted.key)
        name = directory_name(wanted.key)
        path = f"{self._modules}/{name}"
        if self._upgrade or self._locking.is_on or record is None:
            return None
        real = self._files.at(path)
        if os.path.islink(real) or not os.path.isdir(real):
            return None
        if not self._files.is_directory(record.directory) or not matches(record, wanted, diags):
            return None
        return Place(record.directory, path, record.source, record.version)

    # -- which package --------------------------------------------------------------------------

    def _choose(self, wanted: Sequence[PackageRequest], diags: Diagnostics) -> list[_Wanted]:
        """Which package each call gets; those that cannot get any are left out and reported."""
        chosen: list[_Wanted] = []
        open_requests: list[PackageRequest] = []
        for each in wanted:
            lock = None if self._upgrade else self._locking.find(each.source, each.version)
            if isinstance(each.source, RemoteSource) and each.version is None:
                chosen.append(_Wanted(each, each.source.package, "", lock))
                continue
            version = lock.version if lock is not None else self._known_version(each, diags)
            if version:
                chosen.append(_Wanted(each, f"{each.source.package}@{version}", version, lock))
            else:
                open_requests.append(each)
        if open_requests:
            chosen += self._ask_versions(open_requests, diags)
        return chosen

    def _known_version(self, wanted: PackageRequest, diags: Diagnostics) -> str:
        """The version of a call that needs no request to a registry: the one that is installed, if the
        call may have it, or the only one that it may have, if that is kept on this machine.
        """
        record = self._manifest.get(wanted.key)
        if self._upgrade:
            return ""
        if record is not None and record.version and matches(record, wanted, diags):
            return record.version
        only = only_version(wanted.version)
        source = wanted.source
        if not only or not isinstance(source, RegistrySource):
            return ""
        key = f"{source.package}@{only}"
        if key not in self._keeps:
            self._keeps[key] = self._sources.downloads().keeps(source, only)
        return only if self._keeps[key] else ""

    def _ask_versions(self, wanted: Sequence[PackageRequest], diags: Diagnostics) -> list[_Wanted]:
        from nigari.workspace.setup.module_versions import ask_versions

        found = ask_versions(self._sources, wanted, diags)
        return [
            _Wanted(each, f"{each.source.package}@{version}", str(version))
            for each, version in zip(wanted, found, strict=True)
            if version is not None
        ]

    # -- getting it -----------------------------------------------------------------------------

    def _provide(self, wanted: Sequence[_Wanted], diags: Diagnostics) -> None:
        """Get all packages that are not at hand yet, several at a time."""
        missing: dict[str, list[_Wanted]] = {}
        for each in wanted:
            if each.key in self._packages or each.key in self._failed:
                continue
            found = directory_package(each.request.source)
            if found is None and not self._upgrade:
                found = self._at_hand(each)
            if found is None:
                missing.setdefault(each.key, []).append(each)
            else:
                self._packages[each.key] = found
        if not missing:
            return
        downloads = self._sources.downloads()
        results = self._sources.run(self._fetch_all(downloads, list(missing.values())))
        for (key, callers), result in zip(missing.items(), results, strict=True):
            problem = result if isinstance(result, str) else changed_text(result, callers[0].lock)
            if problem or isinstance(result, str):
                self._failed.add(key)
                _report_fetch(callers, problem, diags)
            else:
                self._packages[key] = result

    def _at_hand(self, wanted: _Wanted) -> Found | None:
        """Return this directory's copy of a package, if the lock file accepts it."""
        found = self._store.find(wanted.key)
        return None if found is None or changed_text(found, wanted.lock) else found

    async def _fetch_all(
        self, downloads: ModuleDownloads, wanted: Sequence[Sequence[_Wanted]]
    ) -> list[Found | str]:
        """Get packages for all callers of each, several at a time."""
        import asyncio

        limit = asyncio.Semaphore(_AT_A_TIME)

        async def fetch(callers: Sequence[_Wanted]) -> Found | str:
            listener = _PackageListener(callers[0], len(callers) - 1, self._view)
            async with limit:
                result = await self._fetch(downloads, callers[0], listener)
            listener.ends(is_found=not isinstance(result, str))
            return result

        return await asyncio.gather(*map(fetch, wanted))

    async def _fetch(
        self, downloads: ModuleDownloads, wanted: _Wanted, listener: _PackageListener
    ) -> Found | str:
        """Get a package; a text says why that is not possible."""
        source = wanted.request.source
        try:
            if isinstance(source, RemoteSource) and wanted.version:
                return await downloads.tagged(source, wanted.version, wanted.pin, listener)
            if isinstance(source, RemoteSource):
                return await downloads.remote(source, wanted.pin, listener)
            origin = None if wanted.lock is None else wanted.lock.origin
            return await downloads.registry(
                source, wanted.version, wanted.pin, origin, self._upgrade, listener
            )
        except FetchError as error:
            return str(error)
        except OSError as error:
            return f"{error.strerror or error}."

    def _place(self, wanted: _Wanted, diags: Diagnostics) -> Place | None:
        found = self._packages.get(wanted.key)
        if found is None:
            return None
        request = wanted.request
        name = directory_name(request.key)
        root = f"{self._modules}/{name}"
        try:
            inner = found.origin.subdir and find_subdir(found.package.path, found.origin.subdir)
            subdir = self._subdir(found.package.path / inner, request.source)
        except FetchError as error:
            _report_no_subdir(request, str(error), diags)
            return None
        self._links[name] = wanted.key
        self._files.stage(name, found.package.path)
        self._locking.use(request.source, request.version, wanted.version, found)
        directory = posixpath.normpath(posixpath.join(root, inner, subdir))
        return Place(directory, root, str(request.source), wanted.version)

    def _subdir(self, package: Path, source: RegistrySource | RemoteSource) -> str:
        return find_subdir(package, source.subdir) if source.subdir else ""

    # -- making it so ---------------------------------------------------------------------------

    def tell(self, places: Mapping[ModuleAddr, Place]) -> None:
        """Say which modules are, or will be, where they were not before."""
        for addr, place in places.items():
            record = _record(addr, place)
            if self._upgrade or self._manifest.get(record.key) != record:
                self._view.installed(record.key, record.version, record.directory)

    def files_at_hand(self) -> list[str] | None:
        """The files of the packages that are used; None where one of those had to be fetched."""
        packages = [found.package for found in self._packages.values()]
        if any(each.is_new or each.is_shared for each in packages):
            return None
        return [str(each.path / name) for each in packages for name in each.files]

    def commit(self, places: Mapping[ModuleAddr, Place], root: str) -> list[str]:
        """Make the working directory have exactly these modules, and give the paths of edited files
        that were restored. An `OSError` says why it cannot.
        """
        records = [_record(addr, place) for addr, place in places.items()]
        if not records and not self._manifest:
            return []
        names = {
            directory_name(module_key(addr)) for addr, place in places.items() if place.package
        }
        found = {name: self._packages[self._links[name]] for name in names if name in self._links}
        sources = {self._links[name]: each for name, each in found.items()}
        links = {name: each.package for name, each in found.items()}
        wanted = [root_record(root), *records]
        restored = self._store.commit(wanted, sources, links, names - links.keys())
        return [f"{self._modules}/{path}" for path in restored]


class StagedFiles:
    """The files of the machine, with packages that wait to be installed where they will be."""

    def __init__(self, files: DiskFiles | NotedFiles, modules: str) -> None:
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
        """Return the current location of a path."""
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


def directory_package(source: RegistrySource | RemoteSource) -> Found | None:
    """The package that is a directory of this machine, named by its whole path."""
    if not isinstance(source, RemoteSource) or source.getter != "file":
        return None
    try:
        address = package_address(source)
    except FetchError:
        return None  # the fetch reports what is wrong
    path = Path(unquote(urlsplit(address.url).path))
    return Found(Package("", path, {})) if not address.form and path.is_dir() else None


def _record(addr: ModuleAddr, place: Place) -> ModuleRecord:
    return ModuleRecord(module_key(addr), place.source, place.directory, place.version)


def _report_fetch(callers: Sequence[_Wanted], reason: str, diags: Diagnostics) -> None:
    first = callers[0].request
    more = f" and {len(callers) - 1} more" if len(callers) > 1 else ""
    diags.error(
        "Cannot install a module",
        f"Cannot fetch {callers[0].shown} for {first.addr}{more}. {reason}",
        first.where,
        causes=made_from(first),
    )


def _report_no_subdir(wanted: PackageRequest, reason: str, diags: Diagnostics) -> None:
    diags.error(
        "No such directory in a module package",
        f"Cannot find the directory that the source of {wanted.addr} selects in "
        f"{package_text(wanted.source)}. {reason}",
        wanted.where,
        causes=made_from(wanted),
    )
