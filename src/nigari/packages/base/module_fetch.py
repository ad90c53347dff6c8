"""Fetching module packages: what every way to get one has in common.

A getter puts the files of a package into an empty directory that the caller owns, or one file of
it. What becomes of them there is the affair of the stores. Each getter can also say which
*revision* a package has now (a commit, a digest, an ETag) without fetching it, so that one that
is at hand already is not fetched again.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from nigari.typed import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


Progress = Callable[[int, int | None], None]
"""Told how many bytes there are so far, of how many if that is known."""


class FetchListener(Protocol):
    """Who wants to know how fetching a package goes."""

    def begins(self) -> None:
        """The package is not at hand, so it is fetched now."""
        ...

    def received(self, done: int, total: int | None) -> None:
        """So many bytes are there, of so many if that is known."""
        ...


class FetchError(Exception):
    """A package is not available; the text is one or more whole sentences."""


class Getter(Protocol):
    """One way to get packages."""

    async def revision(self, url: str, is_file: bool) -> str:
        """What tells the present content of the package from any other; empty where only fetching
        it would show that.
        """
        ...

    def pinned(self, url: str, revision: str) -> str:
        """The address of exactly this revision, where there is such an address."""
        ...

    async def get_directory(self, url: str, directory: Path, progress: Progress) -> str:
        """Put the files of a package into an empty directory and give their revision, or raise
        `FetchError`.
        """
        ...

    async def get_file(self, url: str, path: Path, progress: Progress) -> str:
        """The same for a package that is a single file."""
        ...


def no_progress(_done: int, _total: int | None) -> None:
    """For who does not want to know."""


class NoListener:
    """Who does not want to know."""

    def begins(self) -> None:
        """Do nothing."""

    def received(self, done: int, total: int | None) -> None:
        """Do nothing."""


NO_LISTENER: Final = NoListener()
