"""Packed provider packages: what is in a zip file, and unpacking it whole.

Whatever is wrong with a zip file is an `OSError` that says so.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import zipfile
import zlib
from collections.abc import Iterator
from os import PathLike
from pathlib import Path

from nigari.packages.base.unpacking import ArchiveError, unpack_archive
from nigari.packages.base.zip_content import entry_content

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_CHUNK: Final = 1 << 19

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
            with entry_content(package, entry) as content:
                while chunk := content.read(_CHUNK):
                    digest.update(chunk)
            files[entry.filename] = digest.hexdigest()
    return files


def unpack(archive: Path, target: Path) -> dict[str, str]:
    """Unpack beside the target and move into place, so that no half of a package is ever seen.
    Gives the SHA-256 of each file, by name.
    """
    files: dict[str, str] = {}
    staging = target.with_name(f".unpacking-{target.name}")
    # Who asks for this keeps others away, so that it can only be there from who was killed.
    remove(staging)
    staging.mkdir(0o700)
    try:
        unpack_archive(archive, "zip", staging, is_strict=True, digests=files)
        staging.chmod(0o755)
        remove(target)
        staging.rename(target)
    except ArchiveError as error:
        raise ArchiveError(f"its archive cannot be unpacked: {error}") from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return files


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
