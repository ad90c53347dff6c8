"""The store of module packages that all working directories of a user share.

`packages/ID/` has the files of a package and the list of them that its name is a hash of;
`sources/HASH.json` says which package each revision of an address is. A package appears all at
once, by one rename, and is compared with its list whenever it is used; so a process may be killed
at any moment, and several may work side by side. What nobody has finished is below `new/`, where
its maker holds a lock on it.

The store holds nothing that could not be fetched again. Working directories have copies of their
own, so that a module that writes below its own directory changes no other project.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path

from nigari.file_lock import FileLock, lock_file, take_lock
from nigari.packages.base.package_tree import (
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
from nigari.packages.base.whole_file import write_whole
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO, Final


DIRECTORY_VARIABLE: Final = "NIGARI_CACHE_DIR"
OFF: Final = "off"
_TAG: Final = (
    b"Signature: 8a477f597d28d172789f06886806bc55\n# Packages that nigari has downloaded.\n"
)
_PATIENCE: Final = 0.05
_LIST: Final = "list.json"
_FILES: Final = "files"


def shared_directory(environ: Mapping[str, str]) -> Path | None:
    """Where a user's store is; None where there is none."""
    given = environ.get(DIRECTORY_VARIABLE, "")
    if given:
        return None if given == OFF else Path(given) / "modules"
    home = environ.get("HOME", "")
    if sys.platform == "win32":
        base = environ.get("LOCALAPPDATA", "")
    elif environ.get("XDG_CACHE_HOME", "") or sys.platform != "darwin":
        base = environ.get("XDG_CACHE_HOME", "") or (home and f"{home}/.cache")
    else:
        base = home and f"{home}/Library/Caches"
    return Path(base) / "nigari" / "modules" if base and os.path.isabs(base) else None


@record
class StoredPackage:
    """What is known of a package in the store, for people."""

    id: str
    sources: tuple[str, ...]
    """The addresses it came from, with their revisions, without secrets."""
    files: int
    size: int
    used: float
    """When it was last used, in seconds since the epoch."""
    is_intact: bool = True


class SharedStore:
    """The store in a directory, which is made when it is first needed."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._packages = directory / "packages"
        self._sources = directory / "sources"
        self._new = directory / "new"
        self._locks = directory / "locks"
        self._user: IO[str] | None = None
        self._own: Path | None = None
        """Where this process fetches packages, which nobody removes while `_own_lock` is held."""
        self._own_lock: IO[str] | None = None
        self._fetched = 0
        self._is_usable: bool | None = None

    # -- opening --------------------------------------------------------------------------------

    def is_usable(self) -> bool:
        """Whether packages can be kept here. From now on nothing is removed by others."""
        if self._is_usable is None:
            try:
                self._prepare()
                self._is_usable = True
            except OSError:
                self._is_usable = False
        return self._is_usable

    def close(self) -> None:
        """Let others remove packages again, and throw away what was not finished."""
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
        """Remove what processes that were killed have left behind."""
        for path in self._new.iterdir():
            with contextlib.suppress(OSError), (path / ".lock").open("a") as file:
                if take_lock(file.fileno()) is FileLock.HELD:
                    shutil.rmtree(path, ignore_errors=True)

    # -- finding and adding packages ------------------------------------------------------------

    def knows(self, source: str) -> bool:
        """Whether any revision of an address has ever been fetched."""
        return bool(self._revisions(source))

    def find(self, source: str, revision: str) -> Found | None:
        """The package that an address is at a revision, if all its files are as they were."""
        entry = self._revisions(source).get(revision)
        if entry is None:
            return None
        identity, origin = entry
        package = self.find_package(identity)
        return None if package is None else Found(package, origin)

    def find_only(self, source: str) -> Found | None:
        """The package of an address that means the same at all times."""
        return next((self.find(source, each) for each in self._revisions(source)), None)

    def find_package(self, identity: str) -> Package | None:
        """The package with this name, if all its files are as they were."""
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
        """A new empty directory to fetch a package into. What is beside it is thrown away, too."""
        self._fetched += 1
        files = self._own_directory() / str(self._fetched) / _FILES
        files.parent.mkdir()
        files.mkdir()
        return files

    def _own_directory(self) -> Path:
        while self._own is None:
            directory = Path(tempfile.mkdtemp(dir=self._new))
            lock = directory / ".lock"
            # Before it is locked, others may take it for one that was left behind.
            with contextlib.suppress(FileNotFoundError), contextlib.ExitStack() as stack:
                file = stack.enter_context(lock.open("a"))
                take_lock(file.fileno(), waits=True)
                if os.path.samestat(os.fstat(file.fileno()), lock.stat()):
                    stack.pop_all()
                    self._own, self._own_lock = directory, file
        return self._own

    def discard(self, fetched: Path) -> None:
        """Throw away a directory that was made for fetching."""
        shutil.rmtree(fetched.parent, ignore_errors=True)

    def add(self, fetched: Path) -> Package:
        """Take a package that has been fetched; `FetchError` where it cannot be trusted."""
        files = list_files(fetched)
        identity = package_id(content_hash(files))
        place = self._packages / identity
        ready = fetched.parent
        # A list that is torn is noticed, so it need not be on the disk at once.
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
            # Somebody else was faster, or what is there is damaged.
            if self.find_package(place.name) is not None:
                return
            with contextlib.suppress(FileNotFoundError):
                place.rename(ready.with_name(f"damaged-{os.urandom(4).hex()}"))
        raise OSError(f"cannot replace {place}")

    def remember(self, source: str, shown: str, found: Found, is_only: bool = False) -> None:
        """Note which package an address is at a revision, or which it is at all; `shown` is the
        address for people.
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
        """Keep other processes from fetching the same address meanwhile."""
        import asyncio

        while True:
            with lock_file(self._locks / source_id(source), waits=False) as found:
                if found is not FileLock.TAKEN:
                    yield
                    return
            await asyncio.sleep(_PATIENCE)

    # -- looking after it -----------------------------------------------------------------------

    def packages(self, check: bool = False) -> list[StoredPackage]:
        """What is in the store, the last used first; with `check`, all files are compared."""
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
        """Keep all others away; gives False where somebody uses the store, so that nothing can be
        removed.
        """
        if not self.directory.is_dir():
            yield True
            return
        with (self.directory / ".lock").open("a") as file:
            yield take_lock(file.fileno()) is not FileLock.TAKEN

    def remove(self, identities: set[str]) -> None:
        """Remove packages, and what is known of addresses that were theirs. Only for who is alone."""
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
    """The packages that nobody has used for so many days."""
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
