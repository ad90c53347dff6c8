"""Packages on this machine. Local directories in module calls are used in place instead."""

from __future__ import annotations

import shutil
from pathlib import Path
from urllib.parse import unquote, urlsplit

from nigari.packages.content.module_fetch import FetchError, Progress


def local_path(url: str) -> Path:
    """Return the path of a `file` URL."""
    return Path(unquote(urlsplit(url).path))


class LocalFileGetter:
    """Copies local files."""

    async def revision(self, url: str, is_file: bool) -> str:
        """Return nothing: only reading the files would reveal a revision."""
        return ""

    def pinned(self, url: str, revision: str) -> str:
        """Return the URL unchanged: a file has no earlier revisions."""
        return url

    async def get_directory(self, url: str, directory: Path, progress: Progress) -> str:
        """Copy a directory, which a server may name as a package."""
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
