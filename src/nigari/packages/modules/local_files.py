"""Packages that are on this machine. A directory that a module call names is used where it is, and
needs no fetching.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from urllib.parse import unquote, urlsplit

from nigari.packages.base.module_fetch import FetchError, Progress


def local_path(url: str) -> Path:
    """The path that a `file` URL means."""
    return Path(unquote(urlsplit(url).path))


class LocalFileGetter:
    """Takes files of this machine."""

    async def revision(self, url: str, is_file: bool) -> str:
        """Only reading it tells."""
        return ""

    def pinned(self, url: str, revision: str) -> str:
        """The same: a file has no earlier revisions."""
        return url

    async def get_directory(self, url: str, directory: Path, progress: Progress) -> str:
        """Copy a directory, which is what a server may name as a package."""
        path = local_path(url)
        if not path.is_dir():
            what = "is not a directory" if path.exists() else "does not exist"
            raise FetchError(f"{path} {what}.")
        shutil.copytree(path, directory, symlinks=True, dirs_exist_ok=True)
        return ""

    async def get_file(self, url: str, path: Path, progress: Progress) -> str:
        """Copy a file."""
        source = local_path(url)
        try:
            shutil.copyfile(source, path)
        except OSError as error:
            raise FetchError(f"{source} cannot be read: {error.strerror or error}.") from error
        return ""
