"""Packed provider packages: the content of zip files, and atomic unpacking.

A faulty zip file raises an `OSError` that describes the fault.
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

from nigari.packages.content.unpacking import ArchiveError, unpack_archive
from nigari.packages.content.zip_content import entry_content

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_CHUNK: Final = 1 << 19

_BROKEN: Final = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,  # an unusual compression method
    RuntimeError,  # a password
)
"""Exceptions of a faulty zip file, in addition to `OSError`."""


def content_digests(archive: str | PathLike[str]) -> dict[str, str]:
    """Compute the SHA-256 of each file in a zip file, by name."""
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
    """Unpack beside the target and move into place, so that a partial package is never visible.
    Returns the SHA-256 of each file, by name.
    """
    files: dict[str, str] = {}
    staging = target.with_name(f".unpacking-{target.name}")
    # The caller holds the lock, so an existing one was left behind by a killed process.
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
    """Remove a package of any form."""
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
