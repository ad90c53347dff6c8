"""File access through a small protocol: on disk, in memory, or from a saved plan.

The core reads all files through an object that the caller passes, so that a configuration can be
evaluated without a directory, and the files it read can be recorded. Paths are as users write them,
relative to the working directory.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Mapping
from operator import attrgetter

from nigari.record import record
from nigari.system_calls import NO_TERMINAL, NO_WAIT
from nigari.typed import Protocol, cast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")


@record
class Entry:
    """An entry of a directory."""

    name: str
    is_directory: bool


by_name: Callable[[Entry], str] = attrgetter("name")
"""Sort key of entries."""


class Files(Protocol):
    """A source of files. Failures are `OSError`s, as for real files."""

    def read(self, path: str, limit: int | None = None) -> bytes:
        """Read a file; with a limit, at most that many bytes and one more."""
        ...

    def entries(self, path: str) -> list[Entry]:
        """List a directory, sorted by name."""
        ...

    def is_file(self, path: str) -> bool:
        """Check for a regular file; raise `OSError` for any other kind of file."""
        ...

    def is_directory(self, path: str) -> bool: ...


class DiskFiles:
    """The files of this machine.

    Only regular files are read, and with a limit also devices, such as `/dev/null`: a pipe might
    block, and provides its content only once.
    """

    __slots__ = ("_root",)

    def __init__(self, root: str = "") -> None:
        """Resolve relative paths against `root`, an absolute path; by default against the current
        directory.
        """
        self._root = root

    def at(self, path: str) -> str:
        """Return the path by which this process finds a file."""
        return os.path.join(self._root, path) if self._root else path

    def read(self, path: str, limit: int | None = None) -> bytes:
        with open(self.at(path), "rb", opener=_open_at_once) as file:
            mode = os.fstat(file.fileno()).st_mode
            if not stat.S_ISREG(mode) and (limit is None or not stat.S_ISCHR(mode)):
                raise OSError(errno.EINVAL, f"it is {_kind(mode)}, not a regular file", path)
            # A non-blocking read returns None from a device without data.
            return (file.read() if limit is None else file.read(limit + 1)) or b""

    def entries(self, path: str) -> list[Entry]:
        with os.scandir(self.at(path) or ".") as found:
            entries = [Entry(entry.name, _is_directory(entry)) for entry in found]
        return sorted(entries, key=by_name)

    def is_file(self, path: str) -> bool:
        try:
            mode = os.stat(self.at(path)).st_mode
        except (FileNotFoundError, NotADirectoryError):
            return False
        if not stat.S_ISREG(mode):
            raise OSError(f"{path} is not a regular file")
        return True

    def is_directory(self, path: str) -> bool:
        return os.path.isdir(self.at(path) or ".")


class CachedFiles(DiskFiles):
    """The files of this machine, cached on first access so that they cannot change during a run.
    The cache is pickled too.
    """

    __slots__ = ("_cached",)

    def __init__(self, root: str = "") -> None:
        super().__init__(root)
        self._cached: dict[tuple[str, str, int | None], object] = {}

    def read(self, path: str, limit: int | None = None) -> bytes:
        return self._once(
            ("content", path, limit), lambda: super(CachedFiles, self).read(path, limit)
        )

    def entries(self, path: str) -> list[Entry]:
        return self._once(("entries", path, None), lambda: super(CachedFiles, self).entries(path))

    def is_file(self, path: str) -> bool:
        return self._once(("file", path, None), lambda: super(CachedFiles, self).is_file(path))

    def is_directory(self, path: str) -> bool:
        return self._once(
            ("directory", path, None), lambda: super(CachedFiles, self).is_directory(path)
        )

    def _once(self, question: tuple[str, str, int | None], answer: Callable[[], T]) -> T:
        if question not in self._cached:
            try:
                self._cached[question] = answer()
            except OSError as error:
                self._cached[question] = error
        found = self._cached[question]
        if isinstance(found, OSError):
            raise found.with_traceback(None)
        return cast("T", found)


def _open_at_once(path: str, flags: int) -> int:
    """Open a file without waiting for the writer of a pipe."""
    return os.open(path, flags | NO_WAIT | NO_TERMINAL)


def _kind(mode: int) -> str:
    if stat.S_ISFIFO(mode):
        return "a pipe"
    return "a device" if stat.S_ISCHR(mode) or stat.S_ISBLK(mode) else "something else"


def _is_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


class MemoryFiles:
    """Files in a mapping of paths to contents."""

    __slots__ = ("_contents",)

    def __init__(self, contents: Mapping[str, bytes | str]) -> None:
        self._contents = {
            os.path.normpath(path): content.encode() if isinstance(content, str) else content
            for path, content in contents.items()
        }

    def read(self, path: str, limit: int | None = None) -> bytes:
        content = self._contents.get(os.path.normpath(path))
        if content is None:
            raise FileNotFoundError(2, "No such file", path)
        return content if limit is None else content[: limit + 1]

    def entries(self, path: str) -> list[Entry]:
        prefix = os.path.normpath(path or ".")
        start = "" if prefix == "." else f"{prefix}/"
        found: dict[str, bool] = {}
        for name in self._contents:
            if name.startswith(start) and (start or not name.startswith("/")):
                head, slash, _ = name[len(start) :].partition("/")
                found[head] = bool(slash)
        if not found:
            raise FileNotFoundError(2, "No such directory", path)
        return [Entry(name, found[name]) for name in sorted(found)]

    def is_file(self, path: str) -> bool:
        if os.path.normpath(path) in self._contents:
            return True
        if self.is_directory(path):
            raise IsADirectoryError(21, "Is a directory", path)
        return False

    def is_directory(self, path: str) -> bool:
        prefix = os.path.normpath(path or ".")
        return prefix == "." or any(name.startswith(f"{prefix}/") for name in self._contents)
