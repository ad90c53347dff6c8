"""Files of this machine under the unsaved changes of an editor."""

from __future__ import annotations

import os
from collections.abc import Mapping

from nigari.lang.files import DiskFiles, Entry, by_name


class EditedFiles(DiskFiles):
    """The files below a directory; documents that are open count in place of what is on disk."""

    __slots__ = ("_directories", "_texts")

    def __init__(self, texts: Mapping[str, bytes], root: str) -> None:
        """Open documents by absolute path. Relative paths start at `root`, an absolute path."""
        super().__init__(root)
        self._texts = texts
        self._directories: dict[str, list[str]] = {}
        for path in texts:
            head, name = os.path.split(path)
            self._directories.setdefault(head, []).append(name)

    def read(self, path: str, limit: int | None = None) -> bytes:
        text = self._texts.get(self._key(path))
        if text is None:
            return super().read(path, limit)
        return text if limit is None else text[: limit + 1]

    def entries(self, path: str) -> list[Entry]:
        opened = self._directories.get(self._key(path), ())
        if not opened:
            return super().entries(path)
        try:
            found = super().entries(path)
        except FileNotFoundError:
            found = []
        names = {each.name for each in found}
        added = [Entry(name, False) for name in opened if name not in names]
        return sorted([*found, *added], key=by_name)

    def is_file(self, path: str) -> bool:
        return self._key(path) in self._texts or super().is_file(path)

    def is_directory(self, path: str) -> bool:
        return self._key(path) in self._directories or super().is_directory(path)

    def _key(self, path: str) -> str:
        return os.path.normpath(self.at(path))
