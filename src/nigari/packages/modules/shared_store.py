"""Shared store of module packages for all working directories of a user.

`packages/ID/` has the files of a package and the list of them whose hash is its name;
`sources/HASH.json` maps each revision of an address to a package. A package appears atomically, by
one rename, and is verified against its list on every use; so a process may be killed at any moment,
and several may work concurrently. Unfinished packages are below `new/`, locked by their process.

Everything in the store can be fetched again. Working directories have their own copies, so that a
module that writes below its own directory changes no other project.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path

from nigari.file_lock import FileLock, lock_file, take_lock
from nigari.packages.content.package_tree import (
    Found,
    Package,
    PackageOrigin,
    content_hash,
    encoded,
    is_exactly,
    list_files,
    origin_document,
    package_id,
    read_list,
    read_origin,
    source_id,
)
from nigari.packages.content.user_cache import cache_directory
from nigari.packages.content.whole_file import write_whole
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO, Final


_TAG: Final = (
    b"Signature: 8a477f597d28d172789f06886806bc55\n# Packages that nigari has downloaded.\n"
)
_PATIENCE: Final = 0.05
_LIST: Final = "list.json"
_FILES: Final = "files"


def shared_directory(environ: Mapping[str, str]) -> Path | None:
    """Return the path of the user's store; None if it is disabled."""
    found = cache_directory(environ, "modules")
    return None if found is None else Path(found)


@record
class StoredPackage:
    """Information about a package in the store, for display."""

    id: str
    sources: tuple[str, ...]
    """Its addresses with revisions, without secrets."""
    files: int
    size: int
    used: float
    """Time of the last use, in epoch seconds."""
    is_intact: bool = True


class SharedStore:
    """A store in a directory, which is created on first use."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._packages = directory / "packages"
        self._sources = directory / "sources"
        self._new = directory / "new"
        self._locks = directory / "locks"
        self._user: IO[str] | None = None
        self._own: Path | None = None
        """Directory in which this process fetches packages; others leave it alone while `_own_lock`
        is held.
        """
        self._own_lock: IO[str] | None = None
        self._fetched = 0
        self._is_usable: bool | None = None

    # -- opening --------------------------------------------------------------------------------

    def is_usable(self) -> bool:
        """Check that packages can be stored here. From now on other processes remove nothing."""
        if self._is_usable is None:
            try:
                self._prepare()
                self._is_usable = True
            except OSError:
                self._is_usable = False
        return self._is_usable

    def close(self) -> None:
        """Allow other processes to remove packages again, and discard unfinished ones."""
        if self._own is not None and self._own_lock is not None:
            shutil.rmtree(self._own, ignore_errors=True)
            self._own_lock.close()
            self._own = self._own_lock = None
        if self._user is not None:
            self._user.close()
            self._user = None
        self._is_usable = None

    def _prepare(self) -> None:
        self.directory.mkdir(0o700, parents=True, exist_ok=True)
        for each in (self._packages, self._sources, self._new, self._locks):
            each.mkdir(exist_ok=True)
        tag = self.directory / "CACHEDIR.TAG"
        if not tag.exists():
            write_whole(tag, _TAG)
        self._user = (self.directory / ".lock").open("a")
        take_lock(self._user.fileno(), shared=True, waits=True)
        self._remove_unfinished()

    def _remove_unfinished(self) -> None:
        """Remove the leftovers of killed processes."""
        for path in self._new.iterdir():
            with contextlib.suppress(OSError), (path / ".lock").open("a") as file:
                if take_lock(file.fileno()) is FileLock.HELD:
                    shutil.rmtree(path, ignore_errors=True)

    # -- finding and adding packages ------------------------------------------------------------

    def knows(self, source: str) -> bool:
        """Check whether any revision of an address has ever been fetched."""
        return bool(self._revisions(source))

    def find(self, source: str, revision: str) -> Found | None:
        """Return the package of an address at a revision if all its files are unchanged."""
        entry = self._revisions(source).get(revision)
        if entry is None:
            return None
        identity, origin = entry
        package = self.find_package(identity)
        return None if package is None else Found(package, origin)

    def find_only(self, source: str) -> Found | None:
        """Return the package of an address whose content never changes."""
        return next((self.find(source, each) for each in self._revisions(source)), None)

    def find_package(self, identity: str) -> Package | None:
        """Return the package of this name if all its files are unchanged."""
        place = self._packages / identity
        try:
            files = read_list(json.loads((place / _LIST).read_bytes()))
        except (OSError, ValueError, TypeError):
            return None
        if package_id(content_hash(files)) != identity or not is_exactly(place / _FILES, files):
            return None
        with contextlib.suppress(OSError):
            os.utime(place / _LIST)
        return Package(identity, place / _FILES, files, is_shared=True)

    def staging(self) -> Path:
        """Create an empty directory to fetch a package into. Its parent is discarded with it."""
        self._fetched += 1
        files = self._own_directory() / str(self._fetched) / _FILES
        files.parent.mkdir()
        files.mkdir()
        return files

    def _own_directory(self) -> Path:
        while self._own is None:
            directory = Path(tempfile.mkdtemp(dir=self._new))
            lock = directory / ".lock"
            # Before it is locked, another process may remove it as a leftover.
            with contextlib.suppress(FileNotFoundError), contextlib.ExitStack() as stack:
                file = stack.enter_context(lock.open("a"))
                take_lock(file.fileno(), waits=True)
                if os.path.samestat(os.fstat(file.fileno()), lock.stat()):
                    stack.pop_all()
                    self._own, self._own_lock = directory, file
        return self._own

    def discard(self, fetched: Path) -> None:
        """Discard a staging directory."""
        shutil.rmtree(fetched.parent, ignore_errors=True)

    def add(self, fetched: Path) -> Package:
        """Add a fetched package; raise `FetchError` if its content is not acceptable."""
        files = list_files(fetched)
        identity = package_id(content_hash(files))
        place = self._packages / identity
        ready = fetched.parent
        # A torn list is detected, so it need not be synced to disk.
        (ready / _LIST).write_bytes(encoded(files))
        if self.find_package(identity) is None:
            self._put(ready, place)
        self.discard(fetched)
        return Package(identity, place / _FILES, files, is_shared=True)

    def _put(self, ready: Path, place: Path) -> None:
        for _ in range(3):
            try:
                ready.rename(place)
            except OSError:
                if not place.exists():
                    raise
            else:
                return
            # Another process was faster, or the existing package is damaged.
            if self.find_package(place.name) is not None:
                return
            with contextlib.suppress(FileNotFoundError):
                place.rename(ready.with_name(f"damaged-{os.urandom(4).hex()}"))
        raise OSError(f"cannot replace {place}")

    def remember(self, source: str, shown: str, found: Found, is_only: bool = False) -> None:
        """Record the package of an address at a revision, or of an address that never changes;
        `shown` is the address for display.
        """
        revisions = {
            revision: {"package": identity, **origin_document(origin)}
            for revision, (identity, origin) in self._revisions(source).items()
            if not is_only
        }
        origin = found.origin
        revisions[origin.revision] = {"package": found.package.id, **origin_document(origin)}
        document = {"revisions": revisions, "source": shown}
        write_whole(self._sources / f"{source_id(source)}.json", encoded(document), sync=False)

    def _revisions(self, source: str) -> dict[str, tuple[str, PackageOrigin]]:
        return _read_revisions(self._sources / f"{source_id(source)}.json")[1]

    @contextlib.asynccontextmanager
    async def locked(self, source: str) -> AsyncIterator[None]:
        """Prevent other processes from fetching the same address concurrently."""
        import asyncio

        while True:
            with lock_file(self._locks / source_id(source), waits=False) as found:
                if found is not FileLock.TAKEN:
                    yield
                    return
            await asyncio.sleep(_PATIENCE)

    # -- looking after it -----------------------------------------------------------------------

    def packages(self, check: bool = False) -> list[StoredPackage]:
        """List the content of the store, the most recently used first; `check` verifies all files."""
        sources: dict[str, list[str]] = {}
        for path in _entries(self._sources):
            shown, revisions = _read_revisions(path)
            for revision, (identity, _) in revisions.items():
                sources.setdefault(identity, []).append(f"{shown} {revision}".rstrip())
        found = [self._describe(path, sources, check) for path in _entries(self._packages)]
        return sorted(found, key=lambda package: (-package.used, package.id))

    def _describe(
        self, place: Path, sources: Mapping[str, list[str]], check: bool
    ) -> StoredPackage:
        count = size = 0
        for folder, _, names in os.walk(place / _FILES):
            count += len(names)
            with contextlib.suppress(OSError):
                size += sum(os.lstat(os.path.join(folder, name)).st_size for name in names)
        try:
            used = (place / _LIST).stat().st_mtime
        except OSError:
            used = 0.0
        known = tuple(sorted(sources.get(place.name, ())))
        is_intact = not check or self._check(place)
        return StoredPackage(place.name, known, count, size, used, is_intact)

    def _check(self, place: Path) -> bool:
        try:
            files = read_list(json.loads((place / _LIST).read_bytes()))
        except (OSError, ValueError, TypeError):
            return False
        is_named_so = package_id(content_hash(files)) == place.name
        return is_named_so and is_exactly(place / _FILES, files)

    @contextlib.contextmanager
    def alone(self) -> Iterator[bool]:
        """Try to lock the store exclusively; yield whether it succeeded. Packages may be removed
        only then.
        """
        if not self.directory.is_dir():
            yield True
            return
        with (self.directory / ".lock").open("a") as file:
            yield take_lock(file.fileno()) is not FileLock.TAKEN

    def remove(self, identities: set[str]) -> None:
        """Remove packages, and the records of their addresses. Requires the exclusive lock."""
        for identity in identities:
            shutil.rmtree(self._packages / identity, ignore_errors=True)
        for path in _entries(self._sources):
            shown, revisions = _read_revisions(path)
            kept = {
                revision: {"package": identity, **origin_document(origin)}
                for revision, (identity, origin) in revisions.items()
                if identity not in identities
            }
            if not kept:
                path.unlink(missing_ok=True)
            elif len(kept) < len(revisions):
                write_whole(path, encoded({"revisions": kept, "source": shown}), sync=False)
        for path in (*_entries(self._new), *_entries(self._locks)):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def older_than(packages: list[StoredPackage], days: float) -> set[str]:
    """Select the packages that were not used for that many days."""
    limit = time.time() - days * 86400
    return {package.id for package in packages if package.used <= limit}


def _read_revisions(path: Path) -> tuple[str, dict[str, tuple[str, PackageOrigin]]]:
    try:
        document = json.loads(path.read_bytes())
        revisions = {
            str(revision): (str(each["package"]), read_origin(each))
            for revision, each in document["revisions"].items()
        }
        return str(document["source"]), revisions
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return "", {}


def _entries(directory: Path) -> list[Path]:
    try:
        return [path for path in sorted(directory.iterdir()) if not path.name.startswith(".")]
    except (FileNotFoundError, NotADirectoryError):
        return []
