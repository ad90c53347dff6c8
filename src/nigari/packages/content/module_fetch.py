"""Getters of module packages: their common interface, errors and progress.

A getter puts the files of a package, or a single file of it, into an empty directory owned by the
caller; stores take them from there. Each getter can also return the current *revision* of a package
(a commit, a digest, an ETag) without downloading it, so that a cached package is not downloaded
again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path

from nigari.typed import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


Progress = Callable[[int, int | None], None]
"""Receives the number of bytes so far, and the total if it is known."""


class FetchListener(Protocol):
    """Receives the progress of fetching a package."""

    def begins(self) -> None:
        """The package is not cached, so its download starts."""
        ...

    def received(self, done: int, total: int | None) -> None:
        """Bytes have arrived, out of a total if it is known."""
        ...


class FetchError(Exception):
    """A package that is not available; the text is one or more whole sentences."""


class TaggedGetter(ABC):
    """A kind of package source that has tags."""

    @abstractmethod
    async def tags(self, url: str) -> Mapping[str, str]:
        """List the tags of a repository with the addresses of packages, or raise `FetchError`."""


class Getter(Protocol):
    """One kind of package source."""

    async def revision(self, url: str, is_file: bool) -> str:
        """Return an identifier of the package's current content; empty if only its download would
        reveal it.
        """
        ...

    def pinned(self, url: str, revision: str) -> str:
        """Return the address of exactly this revision, if there is one."""
        ...

    async def get_directory(self, url: str, directory: Path, progress: Progress) -> str:
        """Download a package into an empty directory and return its revision, or raise
        `FetchError`.
        """
        ...

    async def get_file(self, url: str, path: Path, progress: Progress) -> str:
        """Download a package that is a single file."""
        ...


def no_progress(_done: int, _total: int | None) -> None:
    """Ignore progress."""


class NoListener:
    """Ignores all progress."""

    def begins(self) -> None: ...

    def received(self, done: int, total: int | None) -> None: ...


NO_LISTENER: Final = NoListener()
