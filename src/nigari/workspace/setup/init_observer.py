"""Notes what `init` does, for programs that want to know it afterwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nigari.packages.providers.installation import InstalledProvider, Silence
from nigari.workspace.states.backend import SavedBackend


class QuietInit:
    """An init that prints nothing; a program may hear of the main things, a line for each."""

    def __init__(self, on_output: Callable[[str], object] | None = None) -> None:
        self._say = on_output or _nothing
        self.modules: dict[str, str] = {}
        """The directories of modules that were installed, by the keys of their calls."""
        self.providers: dict[str, str] = {}
        """The versions of providers, by name; empty for the built-in one."""
        self.provider_listener: Silence = Silence()

    def waiting(self) -> None:
        """Another init is running in the same directory."""

    def beginning(self, part: str) -> None:
        """A part of the work begins."""

    def forgetting(self, names: Sequence[str]) -> None:
        """Remembered values belong to another backend."""

    def downloading(self, source: str, key: str, others: int) -> None:
        """A package is about to be fetched."""
        self._say(f"downloading {source} for {key}")

    def progress(self, source: str, done: int, total: int | None) -> None:
        """More of a package has arrived."""

    def arrived(self, source: str) -> None:
        """Nothing more of a package will arrive."""

    def reused(self, source: str, key: str, others: int) -> None:
        """A package is kept on this machine already."""

    def module_locks_written(self, is_first: bool) -> None:
        """The lock file of modules has been made or changed."""

    def installed(self, key: str, version: str, directory: str) -> None:
        """A module is where it was not before."""
        self.modules[key] = directory
        self._say(f"installed module {key} in {directory}")

    def backend_moved(self, differences: Sequence[str]) -> None:
        """The backend is in another location."""

    def backend_set(self, before: SavedBackend | None, now: SavedBackend | None) -> None:
        """There is another backend now, or none any more."""

    def providers_installed(self, outcomes: Sequence[InstalledProvider]) -> None:
        """All providers are there."""
        for each in outcomes:
            version = "" if each.version is None else str(each.version)
            self.providers[each.provider.display] = version
            if version:
                self._say(f"installed provider {each.provider.display} {version}")

    def locks_written(self, is_first: bool) -> None:
        """The lock file has been made or changed."""


def _nothing(_: str) -> None:
    """Ignore a message."""
