"""The files behind a saved plan: those it holds, and those that must not have changed since.

What a plan holds, it holds once: packages that several calls share stand in it under the name that
their links lead to.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from nigari.lang.files import Entry, Files, MemoryFiles
from nigari.plan.model.plan_file import SavedPlan, checksum


class _Watched:
    """Files that observe each content read; other methods are passed through."""

    def __init__(self, files: Files) -> None:
        self._files = files

    def entries(self, path: str) -> list[Entry]:
        return self._files.entries(path)

    def is_file(self, path: str) -> bool:
        return self._files.is_file(path)

    def is_directory(self, path: str) -> bool:
        return self._files.is_directory(path)


class ReadFiles(_Watched):
    """Files of which it is noted what was read."""

    def __init__(self, files: Files) -> None:
        super().__init__(files)
        self.checksums: dict[str, str] = {}

    def read(self, path: str, limit: int | None = None) -> bytes:
        content = self._files.read(path, limit)
        self.checksums[os.path.normpath(path)] = checksum(content)
        return content


class UnchangedFiles(_Watched):
    """Files that must still have the content that a plan was made with."""

    def __init__(self, files: Files, checksums: Mapping[str, str]) -> None:
        super().__init__(files)
        self._checksums = checksums

    def read(self, path: str, limit: int | None = None) -> bytes:
        content = self._files.read(path, limit)
        known = self._checksums.get(os.path.normpath(path))
        if known is not None and known != checksum(content):
            raise OSError(0, f"{path} has changed since the plan was made", path)
        return content


class LinkedFiles:
    """The configuration files in a plan, which are found through the links of packages, too."""

    def __init__(self, saved: SavedPlan) -> None:
        self._files = MemoryFiles(saved.sources)
        self._modules = saved.modules
        self._links = saved.links
        self._empty = saved.empty

    def read(self, path: str, limit: int | None = None) -> bytes:
        return self._files.read(self._real(path), limit)

    def entries(self, path: str) -> list[Entry]:
        path = self._real(path)
        return [] if path in self._empty else self._files.entries(path)

    def is_file(self, path: str) -> bool:
        return self._files.is_file(self._real(path))

    def is_directory(self, path: str) -> bool:
        path = self._real(path)
        return path in self._empty or self._files.is_directory(path)

    def _real(self, path: str) -> str:
        return real_path(path, self._modules, self._links)


def real_path(path: str, modules: str, links: Mapping[str, str]) -> str:
    """A path below the directory of modules with the link in it followed, if there is one."""
    path = os.path.normpath(path)
    if not path.startswith(f"{modules}/"):
        return path
    name, slash, rest = path[len(modules) + 1 :].partition("/")
    return os.path.normpath(f"{modules}/{links.get(name, name)}{slash}{rest}")
