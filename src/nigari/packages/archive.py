"""Packed provider packages: what is in a zip file, and unpacking it whole.

Whatever is wrong with a zip file is an `OSError` that says so.
"""

import contextlib
import hashlib
import shutil
import stat
import zipfile
import zlib
from collections.abc import Iterator
from os import PathLike
from pathlib import Path, PurePosixPath
from typing import Final

from nigari.hcl.quoting import quoted

_CHUNK: Final = 1 << 20

_BROKEN: Final = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,  # a way of packing that nobody uses for providers
    RuntimeError,  # a password
)
"""What reading a zip file may raise, beside `OSError`, if something is wrong with it."""


def content_digests(archive: str | PathLike[str]) -> dict[str, str]:
    """The SHA-256 of each file in a zip file, by name."""
    files: dict[str, str] = {}
    with _opened(archive) as package:
        for entry in package.infolist():
            digest = hashlib.sha256()
            with package.open(entry) as content:
                while chunk := content.read(_CHUNK):
                    digest.update(chunk)
            files[entry.filename] = digest.hexdigest()
    return files


def unpack(archive: Path, target: Path) -> None:
    """Unpack beside the target and move into place, so that no half of a package is ever seen."""
    staging = target.with_name(f".unpacking-{target.name}")
    # Who asks for this keeps others away, so that it can only be there from who was killed.
    remove(staging)
    staging.mkdir(0o700)
    try:
        with _opened(archive) as package:
            for entry in package.infolist():
                _unpack_entry(package, entry, staging)
        staging.chmod(0o755)
        remove(target)
        staging.rename(target)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def remove(path: Path) -> None:
    """Remove a package, whatever it is."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        shutil.rmtree(path)


@contextlib.contextmanager
def _opened(archive: str | PathLike[str]) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(archive) as package:
            yield package
    except _BROKEN as error:
        raise OSError(f"{archive} is not a valid zip file: {error}") from error


def _unpack_entry(package: zipfile.ZipFile, entry: zipfile.ZipInfo, base: Path) -> None:
    name = PurePosixPath(entry.filename.replace("\\", "/"))
    if name.is_absolute() or ".." in name.parts:
        raise OSError(
            f"the archive has an entry outside its own directory, {quoted(entry.filename)}"
        )
    mode = entry.external_attr >> 16
    if stat.S_ISLNK(mode):
        raise OSError(f"the archive contains a symbolic link, {quoted(entry.filename)}")
    path = base / name
    if entry.is_dir():
        path.mkdir(parents=True, exist_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with package.open(entry) as content, path.open("wb") as file:
        shutil.copyfileobj(content, file, _CHUNK)
    path.chmod(stat.S_IMODE(mode) or 0o644)
