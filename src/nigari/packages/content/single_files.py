"""Packages that are a single file in a directory, such as an archive in a repository."""

from __future__ import annotations

import os
import posixpath
import shutil
import tempfile
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from nigari.packages.content.module_fetch import FetchError, Getter, Progress


def split_file(url: str) -> tuple[str, str]:
    """Split the URL of a file into that of its directory and the file name."""
    parts = urlsplit(url)
    directory, name = posixpath.split(parts.path)
    return urlunsplit(parts._replace(path=directory)), unquote(name)


async def get_file_of(getter: Getter, url: str, name: str, path: Path, progress: Progress) -> str:
    """Fetch a directory, and retain only one file of it."""
    with tempfile.TemporaryDirectory(prefix=".files-", dir=path.parent) as temporary:
        revision = await getter.get_directory(url, Path(temporary), progress)
        _copy_file(Path(temporary), name, path)
    return revision


def _copy_file(directory: Path, name: str, path: Path) -> None:
    real, root = os.path.realpath(directory / name), os.path.realpath(directory)
    if not os.path.isfile(real) or not real.startswith(root + os.sep):
        raise FetchError(f'There is no file "{name}" in it.')
    shutil.copyfile(real, path)
