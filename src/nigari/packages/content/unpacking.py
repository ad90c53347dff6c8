"""Safe unpacking of untrusted archives.

Regardless of the archive's content, nothing is written outside the target directory, and no more
than the limits allow. Symbolic links are created last, when no file can be written through them any
more, and only if all of them lead inside. A faulty archive raises `ArchiveError`; the caller then
discards the files unpacked so far.
"""

from __future__ import annotations

import errno
import io
import os
import stat
import struct
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from nigari.hcl.quoting import quoted
from nigari.record import record
from nigari.typed import cast

TYPE_CHECKING = False
if TYPE_CHECKING:
    import hashlib
    import tarfile
    import zipfile
    from typing import IO, Final

    from nigari.packages.content.zip_content import EntryContent

_CHUNK: Final = 1 << 20
_READ_AT_ONCE: Final = 1 << 19
_WRITTEN_AT_ONCE: Final = 1 << 17
"""Bytes per write. For larger pieces the kernel looks for larger stretches of free memory, which
may take longer than the write itself.
"""
_MEBIBYTE: Final = 1 << 20
_LONGEST_HEADER: Final = 1 << 20
"""Tar archives have names and metadata of files in headers that are read as a whole."""
_LONGEST_LINK: Final = 4096
_LONGEST_SHOWN: Final = 120
"""Characters of an entry's name in a message."""
_ENTRY: Final = b"PK\x01\x02"
_SHORTEST_ENTRY: Final = 46
_LARGE_END: Final = 76
"""Bytes between the end of a large zip file's index and its last record."""
_LONGEST_END: Final = _LARGE_END + 22 + (1 << 16)
"""Maximum distance of the last record, and of the records before it, from the end of a zip file."""
# go-getter: the extensions of archives; "archive=" in an address takes the same names.
_FORMS: Final = {
    "zip": "zip",
    "tar": "tar",
    "tar.gz": "tar.gz",
    "tgz": "tar.gz",
    "tar.bz2": "tar.bz2",
    "tar.tbz2": "tar.bz2",
    "tbz2": "tar.bz2",
    "tar.xz": "tar.xz",
    "txz": "tar.xz",
}
# go-getter unpacks these to one file, which cannot be a module.
_SINGLE_FILES: Final = ("gz", "bz2", "xz")
_MAGIC: Final = (
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
    (b"\x1f\x8b", "tar.gz"),
    (b"BZh", "tar.bz2"),
    (b"\xfd7zXZ\x00", "tar.xz"),
)


class ArchiveError(OSError):
    """A faulty archive; the text describes the fault, without a full stop."""


@record
class Limits:
    """Maximum content of an archive."""

    entries: int = 200_000
    size: int = 4096 * _MEBIBYTE
    """Bytes of all files together."""
    ratio: int = 250
    """Maximum expansion of a byte of the archive, once the content exceeds `small`."""
    small: int = 32 * _MEBIBYTE
    index: int = 32 * _MEBIBYTE
    """Bytes of a zip archive's index, which is read as a whole."""


def form_of_name(path: str) -> str:
    """Return the archive format by file extension; empty if it is not an archive."""
    name = path.rpartition("/")[2]
    ending = max((each for each in _FORMS if name.endswith(f".{each}")), key=len, default="")
    return _FORMS.get(ending, "")


def is_single_file(path: str) -> bool:
    """Check for a single compressed file, which is not a package."""
    return not form_of_name(path) and path.endswith(tuple(f".{each}" for each in _SINGLE_FILES))


def form_called(name: str) -> str:
    """Return the archive format of that name; empty if there is none."""
    return _FORMS.get(name, "")


def form_of_content(path: Path) -> str:
    """Detect the archive format of a file by its first bytes; empty if it is not an archive."""
    with path.open("rb") as file:
        beginning = file.read(8)
    return next((form for magic, form in _MAGIC if beginning.startswith(magic)), "")


def unpack_archive(
    archive: Path,
    form: str,
    directory: Path,
    limits: Limits | None = None,
    is_strict: bool = False,
    given_up: Callable[[], bool] | None = None,
    digests: dict[str, str] | None = None,
) -> None:
    """Unpack into an empty directory. `is_strict` rejects symbolic links and names with a leading
    slash. `given_up` is polled for cancellation. `digests` receives the SHA-256 of each file,
    hexadecimal, by its name in the directory.
    """
    target = _Target(directory, archive.stat().st_size, limits or Limits(), is_strict, given_up)
    target.digests = digests
    with _as_archive_errors():
        if form == "zip":
            _unpack_zip(archive, target)
        else:
            _unpack_tar(archive, form, target)
    target.finish()


def read_zip(data: bytes) -> dict[str, bytes]:
    """Read the entries of a zip archive into memory. Nothing is unpacked if it announces more than
    the usual limits allow.
    """
    import zipfile

    budget = _Budget(len(data), Limits())
    with _as_archive_errors(), zipfile.ZipFile(io.BytesIO(data)) as package:
        for entry in package.infolist():
            budget.count()
            budget.spend(entry.file_size)
        return {entry.filename: package.read(entry) for entry in package.infolist()}


def path_inside(directory: Path, name: str) -> Path:
    """Join a file name from an untrusted package to a directory, rejecting names that lead outside."""
    return directory / _inside(name)


def _inside(name: str) -> str:
    parts = [part for part in name.split("/") if part not in ("", ".")]
    # On Windows a backslash separates too, so such names are rejected everywhere.
    if ".." in parts or ".." in name.split("\\") or "\0" in name:
        raise _outside(name)
    return "/".join(parts)


def _outside(name: str) -> ArchiveError:
    return ArchiveError(f"it has an entry outside its own directory, {quoted(name)}")


class _Budget:
    """Amount of an archive that has been read, checked against its limits."""

    def __init__(self, packed: int, limits: Limits) -> None:
        self.limits = limits
        self._packed = max(packed, 1)
        self._entries = 0
        self._size = 0

    def count(self) -> None:
        """Count an entry, or a block that is not an entry."""
        self._entries += 1
        if self._entries > self.limits.entries:
            raise _too_many(self.limits)

    def spend(self, size: int) -> None:
        """Count bytes of unpacked content."""
        self._size += size
        limits = self.limits
        if self._size > limits.size:
            raise ArchiveError(f"its files have more than {limits.size // _MEBIBYTE} MiB")
        # Text rarely shrinks to less than a hundredth; zip bombs grow a thousandfold.
        if self._size > limits.small and self._size > self._packed * limits.ratio:
            raise ArchiveError(
                f"it grows to more than {limits.ratio} times its size when it is "
                "unpacked, as only harmful archives do"
            )


class _Target:
    """The target directory of an archive, and its content so far."""

    def __init__(
        self,
        directory: Path,
        packed: int,
        limits: Limits,
        is_strict: bool,
        given_up: Callable[[], bool] | None,
    ) -> None:
        self._root = os.path.realpath(directory)
        self.limits = limits
        self._budget = _Budget(packed, limits)
        self._given_up = given_up
        self._is_strict = is_strict
        self._directories = {self._root}
        self._has_files = False
        self._links: dict[str, str] = {}
        self.digests: dict[str, str] | None = None

    def count(self) -> None:
        """Count an entry or a block, and check for cancellation."""
        if self._given_up is not None and self._given_up():
            raise ArchiveError("unpacking was interrupted")
        self._budget.count()

    def path(self, name: str) -> str:
        """Return the path of an entry."""
        if self._is_strict and name.startswith(("/", "\\")):
            raise _outside(name)
        return os.path.join(self._root, _inside(name)).rstrip("/")

    def make_directory(self, name: str) -> None:
        path = self.path(name)
        # A later entry of the same name replaces a link.
        self._links.pop(path, None)
        with _named(name):
            self._make_directories(path)

    def write(self, name: str, content: EntryContent, mode: int) -> None:
        path = self._make_room(name)
        digest = None if self.digests is None else _sha256()
        with _named(name), open(path, "wb", buffering=0) as file:
            while chunk := content.read(_READ_AT_ONCE):
                self._budget.spend(len(chunk))
                left = memoryview(chunk)
                while left:
                    left = left[file.write(left[:_WRITTEN_AT_ONCE]) :]
                if digest is not None:
                    digest.update(chunk)
        self._has_files = True
        if self.digests is not None and digest is not None:
            self.digests[self._name(path)] = digest.hexdigest()
        # The owner can always read and write, or a directory could not be replaced later.
        os.chmod(path, (stat.S_IMODE(mode) & 0o755 or 0o644) | 0o600)

    def link(self, name: str, target: str) -> None:
        if self._is_strict:
            raise ArchiveError(f"it contains a symbolic link, {quoted(name)}")
        path = self._make_room(name)
        if not target or len(target) > _LONGEST_LINK or "\0" in target:
            raise ArchiveError(f"the symbolic link {quoted(name)} does not have a valid target")
        self._links[path] = target

    def write_again(self, name: str, other: str) -> None:
        """Write the content of an earlier entry again, for a hard link."""
        source = self.path(other)
        # tar: a hard link refers to an entry before it in the archive.
        if source in self._links or not os.path.isfile(source):
            raise ArchiveError(f"{quoted(name)} is a link to {quoted(other)}, which is no file")
        if source != self.path(name):
            with open(source, "rb") as content:
                self.write(name, content, os.stat(source).st_mode)

    def finish(self) -> None:
        """Create the symbolic links, after checking that they stay inside."""
        for path, target in self._links.items():
            # An entry below the name of a link would have been written through it.
            if os.path.lexists(path):
                raise ArchiveError(
                    f"it has entries below {quoted(self._name(path))}, which is a symbolic link"
                )
            with _named(self._name(path)):
                os.symlink(target, path)
        for path, target in self._links.items():
            real = os.path.realpath(path)
            inside = real == self._root or real.startswith(self._root + os.sep)
            if os.path.isabs(target) or not inside:
                raise ArchiveError(
                    f"it contains a symbolic link to a path outside it: "
                    f"{quoted(self._name(path))} links to {quoted(target)}"
                )
        if not self._has_files and not self._links:
            raise ArchiveError("it is empty")

    def _make_room(self, name: str) -> str:
        """Prepare the path of an entry; of two entries with one name, the later one wins."""
        path = self.path(name)
        if path == self._root:
            raise ArchiveError("it has a file without a name")
        self._links.pop(path, None)
        with _named(name):
            self._make_directories(os.path.dirname(path))
        return path

    def _make_directories(self, path: str) -> None:
        """Create a directory and its parents, each only once, as there may be very many entries."""
        if path in self._directories:
            return
        os.makedirs(path, exist_ok=True)
        while path not in self._directories:
            self._directories.add(path)
            path = os.path.dirname(path)

    def _name(self, path: str) -> str:
        return os.path.relpath(path, self._root).replace(os.sep, "/")


def _sha256() -> hashlib._Hash:
    import hashlib

    return hashlib.sha256()


# -- zip ------------------------------------------------------------------------------------------


def _unpack_zip(archive: Path, target: _Target) -> None:
    import zipfile

    from nigari.packages.content.zip_content import entry_content

    _check_index(archive, target)
    with zipfile.ZipFile(archive) as package:
        for entry in package.infolist():
            target.count()
            # zip: programs on Unix store the file mode in the upper half of the external
            # attributes.
            mode = entry.external_attr >> 16
            if stat.S_ISLNK(mode):
                target.link(entry.filename, _link_target(package, entry))
            elif entry.is_dir():
                target.make_directory(entry.filename)
            elif stat.S_IFMT(mode) not in (0, stat.S_IFREG):
                raise _special(entry.filename)
            else:
                with entry_content(package, entry) as content:
                    target.write(entry.filename, content, mode)


def _link_target(package: zipfile.ZipFile, entry: zipfile.ZipInfo) -> str:
    with package.open(entry) as content:
        return os.fsdecode(content.read(_LONGEST_LINK + 1))


def _check_index(archive: Path, target: _Target) -> None:
    """Reject an index that is too large, as each entry becomes an object."""
    limits = target.limits
    # A file this small cannot have too many entries.
    if archive.stat().st_size < limits.entries * _SHORTEST_ENTRY:
        return
    with archive.open("rb") as file:
        begin, end = _index_range(file)
        if end - begin > limits.index:
            raise _too_many(limits)
        file.seek(begin)
        if file.read(end - begin).count(_ENTRY) > limits.entries:
            raise _too_many(limits)


def _index_range(file: IO[bytes]) -> tuple[int, int]:
    """Locate the index; faults in it are detected by the zip reader."""
    size = file.seek(0, os.SEEK_END)
    start = file.seek(max(0, size - _LONGEST_END))
    last = file.read()
    found = last.rfind(b"PK\x05\x06")
    if found < 0 or len(last) < found + 16:
        return 0, 0
    (length,) = struct.unpack_from("<L", last, found + 12)
    end = start + found
    # zip64: the records of a large archive precede the last one.
    large = found - _LARGE_END
    if last[max(large, 0) :].startswith(b"PK\x06\x06") and large >= 0:
        (length,) = struct.unpack_from("<Q", last, large + 40)
        end = start + large
    return max(0, end - length), end


def _too_many(limits: Limits) -> ArchiveError:
    return ArchiveError(f"it has more than {limits.entries} entries")


# -- tar ------------------------------------------------------------------------------------------


def _unpack_tar(archive: Path, form: str, target: _Target) -> None:
    import tarfile

    with _decompressed(archive, form) as stream:
        with tarfile.open(fileobj=stream, mode="r|", tarinfo=_checked_header()) as package:
            while (entry := package.next()) is not None:
                target.count()
                _unpack_tar_entry(package, entry, target)
                # The library remembers all entries, which are many in a hostile archive.
                package.members = []  # type: ignore[attr-defined]
        # Only the end of the stream proves that it is complete.
        while stream.read(_CHUNK):
            target.count()


def _unpack_tar_entry(package: tarfile.TarFile, entry: tarfile.TarInfo, target: _Target) -> None:
    if entry.isdir():
        target.make_directory(entry.name)
    elif entry.issym():
        target.link(entry.name, entry.linkname)
    elif entry.islnk():
        target.write_again(entry.name, entry.linkname)
    elif entry.isfile():
        content = package.extractfile(entry)
        assert content is not None
        target.write(entry.name, content, entry.mode)
    else:
        raise _special(entry.name)


def _checked_header() -> type[tarfile.TarInfo]:
    import tarfile

    read_whole = (
        tarfile.XHDTYPE,
        tarfile.XGLTYPE,
        tarfile.SOLARIS_XHDTYPE,
        tarfile.GNUTYPE_LONGNAME,
        tarfile.GNUTYPE_LONGLINK,
    )

    class CheckedHeader(tarfile.TarInfo):
        """An entry header, rejected if reading the announced data would take much memory."""

        @classmethod
        def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> CheckedHeader:
            header = super().frombuf(buf, encoding, errors)
            if header.type in read_whole and header.size > _LONGEST_HEADER:
                raise ArchiveError("an entry has a header that is too long")
            return header

    return CheckedHeader


def _decompressed(archive: Path, form: str) -> AbstractContextManager[IO[bytes]]:
    match form:
        case "tar.gz":
            import gzip

            return cast("IO[bytes]", gzip.GzipFile(archive))
        case "tar.bz2":
            import bz2

            return bz2.open(archive)
        case "tar.xz":
            import lzma

            return cast("IO[bytes]", lzma.open(archive))
        case _:
            return archive.open("rb")


# -- what goes wrong ------------------------------------------------------------------------------


def _special(name: str) -> ArchiveError:
    return ArchiveError(
        f"it contains {quoted(name)}, which is neither a file, a directory nor a link"
    )


_CLASH: Final = "clashes with another one: a name is that of both a file and a directory"
_OF_NAMES: Final = {
    errno.EISDIR: _CLASH,
    errno.EEXIST: _CLASH,
    errno.ENOTDIR: _CLASH,
    errno.ENAMETOOLONG: "has a name that is too long",
    errno.EILSEQ: "has a name that this file system does not allow",
    errno.EINVAL: "has a name that this file system does not allow",
}
"""Descriptions of an entry's fault, by the error of the file system."""


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Report errors of the file system that an entry's name caused as a fault of the archive."""
    try:
        yield
    except OSError as error:
        reason = _OF_NAMES.get(error.errno or 0)
        if reason is None:
            raise
        raise ArchiveError(f"its entry {quoted(_shortened(name))} {reason}") from error


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST_SHOWN else f"{name[:_LONGEST_SHOWN]}…"


@contextmanager
def _as_archive_errors() -> Iterator[None]:
    """Translate the exceptions that a faulty archive may raise into one error."""
    try:
        yield
    except ArchiveError:
        raise
    except Exception as error:
        if not _is_of_archive(error):
            raise
        raise ArchiveError(f"it is damaged, or not of the expected format ({error})") from error


def _is_of_archive(error: Exception) -> bool:
    """Check whether an error was caused by a faulty archive. Modules are imported only if needed."""
    import lzma
    import tarfile
    import zipfile
    import zlib

    if isinstance(error, OSError):
        return error.errno is None
    broken = (
        zipfile.BadZipFile,
        tarfile.TarError,
        lzma.LZMAError,
        zlib.error,
        EOFError,
        NotImplementedError,  # an unusual compression method
        RuntimeError,  # a password, or headers upon headers
        ValueError,
        UnicodeError,
        struct.error,
    )
    return isinstance(error, broken)
