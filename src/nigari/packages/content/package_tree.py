"""Files of a module package: listing, comparison and copying.

A package is identified by a hash of its file list, so that packages with the same files are one,
regardless of their source.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from nigari.packages.content.module_fetch import FetchError
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


FileList = Mapping[str, tuple[str, str]]
"""Content of a package: path to kind (`file`, `program`, `link`) and digest or target."""

HASH_SCHEME: Final = "sha256:"
_CLONE: Final = 0x40049409
"""The Linux ioctl that makes a file share the blocks of another."""
_COPIED_AT_ONCE: Final = 1 << 16


@record
class Package:
    """A package whose files are available: in a store, in a staging directory, or in a directory of
    the user that is used in place.
    """

    id: str
    """Hash of its content; empty for a directory of the user."""
    path: Path
    """Current location of its files."""
    files: FileList
    is_new: bool = False
    """True if it still has to be moved from the staging directory."""
    is_shared: bool = False
    """True if other directories use these files, so that they must be copied."""


@record
class PackageOrigin:
    """Origin of a package, in addition to its address."""

    revision: str = ""
    """Identifier of its content among all that the address has had: a commit, a digest."""
    location: str = ""
    """Location from the registry, without secrets."""
    subdir: str = ""
    """Directory in the package that the address refers to, if the address does not name it."""


@record
class Found:
    """A package with its origin."""

    package: Package
    origin: PackageOrigin = PackageOrigin()


def encoded(document: object) -> bytes:
    """Serialize a document in the canonical form for hashing."""
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()


def content_hash(files: FileList) -> str:
    """Hash the file list of a package, in hexadecimal."""
    import hashlib

    return hashlib.sha256(encoded(files)).hexdigest()


def package_id(digest: str) -> str:
    """Shorten a package hash so that a symbolic link to it fits into its inode."""
    return digest[:40]


def source_id(source: str) -> str:
    """Hash an address, as it may contain secrets."""
    import hashlib

    return hashlib.sha256(source.encode()).hexdigest()


def origin_document(origin: PackageOrigin) -> dict[str, str]:
    """Convert an origin to its stored form."""
    fields = {
        "location": origin.location,
        "revision": origin.revision,
        "subdir": origin.subdir,
    }
    return {name: text for name, text in fields.items() if text}


def read_origin(document: object) -> PackageOrigin:
    """Parse a stored origin; raise `ValueError` or similar if it is invalid."""
    if not isinstance(document, dict):
        raise TypeError
    fields = {name: str(document.get(name, "")) for name in ("revision", "location", "subdir")}
    return PackageOrigin(**fields)


def read_list(document: object) -> FileList:
    """Parse a stored file list; raise `ValueError` or similar if it is invalid."""
    if not isinstance(document, dict):
        raise TypeError
    return {str(name): (str(kind), str(digest)) for name, (kind, digest) in document.items()}


def list_files(directory: Path) -> FileList:
    """List the content of a package; raise `FetchError` if any of it leads outside."""
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
    import hashlib

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


def is_exactly(directory: Path, files: FileList) -> bool:
    """Check that a directory has exactly the files of a package, unchanged."""
    try:
        return list_files(directory) == files
    except (OSError, FetchError):
        return False


def is_intact(directory: Path, files: FileList) -> bool:
    """Check that all files of a package exist unchanged. Additional files are allowed, since
    modules may write below their own directory.
    """
    return all(_is_as_listed(directory, name, entry) for name, entry in files.items())


def edited_files(directory: Path, files: FileList) -> list[str]:
    """List the files of a package that were changed or removed, then those that were added, which
    are lost when the others are restored. Added files alone are no edit: see `is_intact`.
    """
    edited = [name for name, entry in files.items() if not _is_as_listed(directory, name, entry)]
    return [*edited, *_added_files(directory, files)] if edited else []


def _added_files(directory: Path, files: FileList) -> Iterator[str]:
    for folder, _, names in os.walk(directory):
        for name in sorted(names):
            relative = os.path.relpath(os.path.join(folder, name), directory).replace(os.sep, "/")
            if relative not in files:
                yield relative


def _is_as_listed(directory: Path, name: str, entry: tuple[str, str]) -> bool:
    try:
        return _describe(str(directory / name)) == entry
    except (OSError, FetchError):
        return False


def copy_files(source: Path, target: Path, files: FileList) -> None:
    """Copy the files of a package, and nothing else, into a new directory. If the file system
    supports it, copies share their blocks with the original until one of them changes.
    """
    target.mkdir()
    made = {""}
    for name in sorted(files):
        folder = os.path.dirname(name)
        if folder not in made:
            (target / folder).mkdir(parents=True, exist_ok=True)
            made.add(folder)
        kind, link = files[name]
        if kind == "link":
            os.symlink(link, target / name)
        else:
            mode = 0o755 if kind == "program" else 0o644
            _copy_file(os.path.join(source, name), os.path.join(target, name), mode)


def _copy_file(source: str, target: str, mode: int) -> None:
    with open(source, "rb", buffering=0) as original, open(target, "wb") as copy:
        if not _is_cloned(original.fileno(), copy.fileno()):
            while piece := original.read(_COPIED_AT_ONCE):
                copy.write(piece)
        os.chmod(copy.fileno() if os.chmod in os.supports_fd else target, mode)


def _is_cloned(original: int, copy: int) -> bool:
    """Make a file share the blocks of another, if the file system supports it."""
    # FICLONE works within one file system that supports it, such as Btrfs or XFS.
    if sys.platform == "linux":
        import fcntl

        try:
            fcntl.ioctl(copy, _CLONE, original)
        except OSError:
            return False
        return True
    else:
        return False
