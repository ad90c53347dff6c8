"""Git: its commands, and the files of a commit."""

from __future__ import annotations

import os
import subprocess

from nigari.diagnostics import Diagnostics
from nigari.lang.files import DiskFiles, Entry, by_name


def git(directory: str, diags: Diagnostics, *arguments: str) -> bytes | None:
    """The output of a git command; None after reporting why it fails."""
    try:
        done = subprocess.run(
            ("git", "-C", directory, *arguments), capture_output=True, check=False
        )
    except OSError as error:
        diags.error("Cannot run git", f"git cannot be started: {error.strerror}.")
        return None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().removeprefix("fatal: ")
        diags.error("Cannot compare with a commit", f"git {arguments[0]} failed: {said}")
        return None
    return done.stdout


def names_in(listed: bytes) -> list[str]:
    """The names that git has listed with -z."""
    return [os.fsdecode(each) for each in listed.split(b"\0") if each]


class CommitFiles(DiskFiles):
    """The files below a directory as they were in a commit; others are as they are."""

    __slots__ = ("_commit", "_directories")

    def __init__(self, root: str, commit: str) -> None:
        super().__init__(root)
        self._commit = commit
        self._directories: dict[str, dict[str, bool]] = {".": {}}
        listed = git(root, Diagnostics(), "ls-tree", "-r", "-z", "--name-only", commit, ".")
        for name in names_in(listed or b""):
            self._add(os.path.normpath(name))

    def _add(self, name: str) -> None:
        is_directory = False
        while True:
            above, slash, last = name.rpartition("/")
            members = self._directories.setdefault(above if slash else ".", {})
            is_known = last in members
            members[last] = is_directory
            if is_known or not slash:
                return
            name, is_directory = above, True

    def _inside(self, path: str) -> str | None:
        """The path seen from the directory; None for one outside of it."""
        name = os.path.relpath(self.at(path), self._root)
        return None if name == ".." or name.startswith("../") else name

    def read(self, path: str, limit: int | None = None) -> bytes:
        name = self._inside(path)
        if name is None:
            return super().read(path, limit)
        data = git(self._root, Diagnostics(), "show", f"{self._commit}:./{name}")
        if data is None or name in self._directories:
            raise FileNotFoundError(2, "No such file", path)
        return data if limit is None else data[: limit + 1]

    def entries(self, path: str) -> list[Entry]:
        name = self._inside(path)
        if name is None:
            return super().entries(path)
        members = self._directories.get(name)
        if members is None:
            raise FileNotFoundError(2, "No such directory", path)
        return sorted((Entry(each, is_one) for each, is_one in members.items()), key=by_name)

    def is_file(self, path: str) -> bool:
        name = self._inside(path)
        if name is None:
            return super().is_file(path)
        above, last = os.path.split(name)
        is_directory = self._directories.get(above or ".", {}).get(last)
        if is_directory:
            raise IsADirectoryError(21, "Is a directory", path)
        return is_directory is not None

    def is_directory(self, path: str) -> bool:
        name = self._inside(path)
        return super().is_directory(path) if name is None else name in self._directories
