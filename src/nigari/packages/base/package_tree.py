"""The files of a module package: what there is, whether it is still the same, and copying it.

A package is known by a hash of the list of its files, so that two packages with the same files
are one, wherever they came from.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

from nigari.packages.base.module_fetch import FetchError
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


FileList = Mapping[str, tuple[str, str]]
"""What is in a package: path to kind (`file`, `program`, `link`) and digest or target."""

HASH_SCHEME: Final = "sha256:"
_CLONE: Final = 0x40049409
"""The request to make one file share the blocks of another, on Linux."""
_COPIED_AT_ONCE: Final = 1 << 16


@record
class Package:
    """A package whose files are at hand: in a store, waiting to be put there, or in a directory of
    somebody else's, which is used where it is.
    """

    id: str
    """The hash of its content; empty for a directory of somebody else's."""
    path: Path
    """Where its files are now."""
    files: FileList
    is_new: bool = False
    """Whether it waits to be moved to where it will be."""
    is_shared: bool = False
    """Whether other directories use these files, so that they must be copied."""


@record
class PackageOrigin:
    """What is known of where a package came from, beside its address."""

    revision: str = ""
    """What tells its content from any other that the address has had: a commit, a digest."""
    location: str = ""
    """Where the registry said that it is, without secrets."""
    subdir: str = ""
    """The directory in the package that the address means, if the address does not say so."""


@record
class Found:
    """A package, with where it came from."""

    package: Package
    origin: PackageOrigin = PackageOrigin()


def encoded(document: object) -> bytes:
    """A document in the one form that hashes are made of."""
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()


def content_hash(files: FileList) -> str:
    """The hash of a package, in hexadecimal digits."""
    import hashlib

    return hashlib.sha256(encoded(files)).hexdigest()


def package_id(digest: str) -> str:
    """The name of a package with this hash; short enough for a link to it to need no block."""
    return digest[:40]


def source_id(source: str) -> str:
    """An address in a form that gives none of its secrets away."""
    import hashlib

    return hashlib.sha256(source.encode()).hexdigest()


def origin_document(origin: PackageOrigin) -> dict[str, str]:
    """An origin as it is stored."""
    fields = {
        "location": origin.location,
        "revision": origin.revision,
        "subdir": origin.subdir,
    }
    return {name: text for name, text in fields.items() if text}


def read_origin(document: object) -> PackageOrigin:
    """The origin that a stored document has; `ValueError` and its like where it has none."""
    if not isinstance(document, dict):
        raise TypeError
    fields = {name: str(document.get(name, "")) for name in ("revision", "location", "subdir")}
    return PackageOrigin(**fields)


def read_list(document: object) -> FileList:
    """The list of files that a stored document has; `ValueError` and its like where it has none."""
    if not isinstance(document, dict):
        raise TypeError
    return {str(name): (str(kind), str(digest)) for name, (kind, digest) in document.items()}


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
    """Whether a directory has all files of a package, unchanged, and no others."""
    try:
        return list_files(directory) == files
    except (OSError, FetchError):
        return False


def is_intact(directory: Path, files: FileList) -> bool:
    """Whether all files of a package are there, unchanged. Others may have come to them, since
    modules do write below their own directory.
    """
    return all(_is_as_listed(directory, name, entry) for name, entry in files.items())


def edited_files(directory: Path, files: FileList) -> list[str]:
    """The files of a package that somebody has changed or removed."""
    return [name for name, entry in files.items() if not _is_as_listed(directory, name, entry)]


def _is_as_listed(directory: Path, name: str, entry: tuple[str, str]) -> bool:
    try:
        return _describe(str(directory / name)) == entry
    except (OSError, FetchError):
        return False


def copy_files(source: Path, target: Path, files: FileList) -> None:
    """Copy the files of a package, and nothing else, into a new directory. Where the file system
    can do it, copies share their blocks with the original until one of them changes.
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
    """Let a file share the blocks of another, if the file system can do that."""
    if sys.platform != "linux":
        return False
    import fcntl

    try:
        fcntl.ioctl(copy, _CLONE, original)
    except OSError:
        return False
    return True
