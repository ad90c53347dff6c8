"""The module packages of a working directory: one copy of each, named by its content.

`.store/HASH/` holds the files of a package and `.store/HASH.json` lists them with their digests;
the hash is of that list, so either can be checked with the other. A module's own directory is a
link to a package (a copy where the system has no links).

Nothing is changed before `commit`: until then new packages wait in a directory of their own. The
order of the steps there is such that after an interruption at any moment, the next run finds
either a package that is whole, or one that it recognises as not being so.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Final

from nigari.packages.module_fetch import FetchError
from nigari.packages.module_manifest import FILE_NAME as MANIFEST
from nigari.packages.module_manifest import ModuleRecord, save_manifest
from nigari.packages.whole_file import make_directories, write_whole
from nigari.record import record

STORE: Final = ".store"
_NEW: Final = ".new-"
_OLD: Final = ".old-"
_LOCK: Final = ".lock"

FileList = Mapping[str, tuple[str, str]]
"""What is in a package: path to kind (`file`, `program`, `link`) and digest or target."""


@record
class Package:
    """A package whose files are at hand, in the store or still waiting to be put there, or in a
    directory of somebody else's, which is used where it is.
    """

    id: str
    """The hash of its content; empty for a directory of somebody else's."""
    path: Path
    """Where its files are now."""
    files: FileList
    is_new: bool = False


class ModuleStore:
    """The packages below the modules directory of a working directory."""

    def __init__(self, modules: Path) -> None:
        self.modules = modules
        self.directory = modules / STORE
        self._known: dict[str, str] | None = None
        self._found: dict[str, Package | None] = {}
        self._staging: Path | None = None
        self._made: list[Path] = []

    @contextlib.contextmanager
    def locked(self, tell_waiting: Callable[[], None] | None = None) -> Iterator[None]:
        """Keep other runs away, and leave nothing behind that was not committed."""
        try:
            with self._lock_file(tell_waiting):
                yield
        finally:
            self._clean_up()

    # -- finding and adding packages ------------------------------------------------------------

    def find(self, source: str) -> Package | None:
        """The package that was fetched from a source, if all its files are still as they were."""
        if source not in self._found:
            self._found[source] = self._find(source)
        return self._found[source]

    def staging(self) -> Path:
        """A new empty directory to fetch a package into."""
        if self._staging is None:
            _make_directories(self.directory, self._made)
            self._staging = Path(tempfile.mkdtemp(prefix=_NEW, dir=self.directory))
        return Path(tempfile.mkdtemp(dir=self._staging))

    def add(self, source: str, fetched: Path) -> Package:
        """Take a package that has been fetched; `FetchError` where it cannot be trusted."""
        files = list_files(fetched)
        package = Package(_hash(files), fetched, files, is_new=True)
        self._found[source] = package
        return package

    def _find(self, source: str) -> Package | None:
        if self._known is None:
            self._known = self._read_sources()
        identity = self._known.get(_source_id(source))
        if identity is None:
            return None
        path = self.directory / identity
        listed = self._read_list(identity)
        if listed is None or not _is_intact(path, listed[0]):
            return None
        return Package(identity, path, listed[0])

    def _read_sources(self) -> dict[str, str]:
        """Which package each source was fetched as; of two, the later one."""
        known: dict[str, str] = {}
        for path in sorted(self._lists(), key=lambda path: path.stat().st_mtime_ns):
            listed = self._read_list(path.stem)
            for source in listed[1] if listed else ():
                known[source] = path.stem
        return known

    def _lists(self) -> list[Path]:
        return [path for path in _entries(self.directory) if path.suffix == ".json"]

    def _read_list(self, identity: str) -> tuple[FileList, list[str]] | None:
        try:
            document = json.loads((self.directory / f"{identity}.json").read_bytes())
            files = {name: (kind, digest) for name, (kind, digest) in document["files"].items()}
            sources = [str(source) for source in document["sources"]]
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        return (files, sources) if _hash(files) == identity else None

    # -- making it so ---------------------------------------------------------------------------

    def commit(
        self,
        records: Iterable[ModuleRecord],
        sources: Mapping[str, Package],
        links: Mapping[str, Package],
        kept: Iterable[str] = (),
    ) -> None:
        """Install: `sources` says what each source was fetched as, `links` which package is below
        which name of the modules directory. `kept` are names there that stay as they are. An
        `OSError` says why it cannot be done; what was there before is then not usable any more.
        """
        _make_directories(self.modules, [])
        own = {package.id: package for package in sources.values() if package.id}
        for package in own.values():
            ids = [
                _source_id(source) for source, other in sources.items() if other.id == package.id
            ]
            self._put(package, ids)
        wanted = {name: self._target(package) for name, package in links.items()}
        names = {*wanted, *kept, STORE, MANIFEST}
        stale = [path for path in _entries(self.modules) if path.name not in names]
        changed = [name for name in wanted if not _is_linked(self.modules / name, wanted[name])]
        if changed:
            # Commands must not take new packages for those that an old list describes.
            (self.modules / MANIFEST).unlink(missing_ok=True)
        made: dict[str, Path] = {}
        for name in changed:
            self._link(self.modules / name, links[name], made)
        save_manifest(self.modules, records)
        for path in stale:
            _remove(path)
        self._remove_unused({package.id for package in links.values() if package.id})

    def _put(self, package: Package, sources: list[str]) -> None:
        """Make a package part of the store; its list is there before it is."""
        target = self.directory / package.id
        document = {"files": package.files, "sources": sorted(sources)}
        _write_if_new(target.with_suffix(".json"), _encoded(document))
        if not package.is_new or not package.path.exists():
            return
        if target.exists():
            if _is_intact(target, package.files):
                return
            target.rename(tempfile.mkdtemp(prefix=_OLD, dir=self.directory) + "/package")
        package.path.chmod(0o755)
        package.path.rename(target)

    def _target(self, package: Package) -> str:
        return f"{STORE}/{package.id}" if package.id else str(package.path)

    def _copy(self, package: Package, path: Path) -> None:
        source = self.directory / package.id if package.id else package.path
        shutil.copytree(source, path, symlinks=True)

    def _link(self, path: Path, package: Package, made: dict[str, Path]) -> None:
        """Make a path lead to a package, whatever is there now."""
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
            # Only a link can take the place of a link in one step.
            _remove(path)
        new.replace(path)

    def _remove_unused(self, used: set[str]) -> None:
        for path in _entries(self.directory):
            if path.name != _LOCK and path.stem not in used and path != self._staging:
                _remove(path)
        if not used:
            shutil.rmtree(self.directory, ignore_errors=True)

    # -- leaving no trace -----------------------------------------------------------------------

    @contextlib.contextmanager
    def _lock_file(self, tell_waiting: Callable[[], None] | None) -> Iterator[None]:
        path = self.directory / _LOCK
        while True:
            _make_directories(self.directory, self._made)
            with path.open("a") as file:
                _lock(file, tell_waiting)
                if not path.exists() or not os.path.samestat(os.fstat(file.fileno()), path.stat()):
                    # Whoever held the lock has removed the file, and a lock on that keeps nobody
                    # away.
                    continue
                yield
                return

    def _clean_up(self) -> None:
        for path in _entries(self.directory):
            if path.name.startswith((_NEW, _OLD)):
                _remove(path)
        if [path.name for path in _entries(self.directory)] == [_LOCK]:
            (self.directory / _LOCK).unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            for directory in reversed(self._made):
                directory.rmdir()


def _lock(file: IO[str], tell_waiting: Callable[[], None] | None) -> None:
    if sys.platform != "win32":
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if tell_waiting is not None:
                tell_waiting()
            fcntl.flock(file, fcntl.LOCK_EX)


def list_files(directory: Path) -> FileList:
    """What is in a package; `FetchError` where it has something that leads out of it."""
    root = os.path.realpath(directory)
    files: dict[str, tuple[str, str]] = {}
    for folder, subfolders, names in os.walk(root):
        for name in names + [n for n in subfolders if os.path.islink(os.path.join(folder, n))]:
            path = os.path.join(folder, name)
            relative = os.path.relpath(path, root).replace(os.sep, "/")
            files[relative] = _describe(path)
            if files[relative][0] == "link":
                _check_link(path, relative, root)
    return files


def _describe(path: str) -> tuple[str, str]:
    mode = os.lstat(path).st_mode
    if stat.S_ISLNK(mode):
        return "link", os.readlink(path)
    if not stat.S_ISREG(mode):
        raise FetchError(
            f"The package contains {os.path.basename(path)}, which is neither a file nor a "
            "directory."
        )
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return ("program" if mode & stat.S_IXUSR else "file"), digest


def _check_link(path: str, name: str, root: str) -> None:
    target = os.path.realpath(path)
    if os.path.isabs(os.readlink(path)) or not (target == root or target.startswith(root + os.sep)):
        raise FetchError(
            f"The package contains a symbolic link to a path outside it: {name} links to "
            f"{os.readlink(path)}."
        )


def _is_intact(directory: Path, files: FileList) -> bool:
    """Whether all files of a package are there, unchanged. Others may have come to them, since
    modules do write below their own directory.
    """
    try:
        return all(_describe(str(directory / name)) == entry for name, entry in files.items())
    except (OSError, FetchError):
        return False


def _link_again(link: Path, path: Path) -> bool:
    """Give a link another name, which costs a hundredth of another link where many files come and
    go; False where the system cannot do that.
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


def _encoded(document: object) -> bytes:
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()


def _hash(files: FileList) -> str:
    """The name of a package; short enough for a link to it to need no block of its own."""
    return hashlib.sha256(_encoded(files)).hexdigest()[:40]


def _write_if_new(path: Path, content: bytes) -> None:
    try:
        if path.read_bytes() == content:
            return
    except FileNotFoundError:
        pass
    write_whole(path, content)


def _source_id(source: str) -> str:
    """A source in a form that gives none of its secrets away."""
    return hashlib.sha256(source.encode()).hexdigest()


def _entries(directory: Path) -> list[Path]:
    try:
        return sorted(directory.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []


def _make_directories(path: Path, made: list[Path]) -> None:
    """Make a directory and those above it, noting which were not there before."""
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
        shutil.rmtree(path, ignore_errors=True)
