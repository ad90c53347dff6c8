"""The results of installing providers, and the listener that hears of progress.

Shared by those who install and those who show it, and light, because an init with nothing to do
has something to show, too. How providers are installed is unknown here.
"""

from __future__ import annotations

from enum import Enum

from nigari.record import record
from nigari.typed import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from nigari.addrs.provider import Provider
    from nigari.lang.versions import Version
    from nigari.packages.providers.lockfile import Locks
    from nigari.packages.providers.provider_sources import Verified


class InstallStep(Enum):
    """How a provider came to be there."""

    BUILT_IN = "built in"
    REUSED = "already installed"
    CACHED = "from the shared cache"
    INSTALLED = "installed"


@record
class InstalledProvider:
    """One provider that can be used now."""

    provider: Provider
    version: Version | None
    step: InstallStep
    path: Path | None = None
    verified: Verified | None = None
    """What is known about a package that was fetched."""
    has_one_platform: bool = False
    """Whether the lock file gets checksums of this machine's package only."""


@record
class Installation:
    """What is installed, and the locks to be written."""

    locks: Locks
    outcomes: tuple[InstalledProvider, ...] = ()


class InstallListener(Protocol):
    """Hears what happens while providers are installed."""

    def finding(self, provider: Provider, constraints: str, locked: Version | None) -> None:
        """Versions of a provider are looked for; or only the locked one is."""
        ...

    def fetching(self, provider: Provider, version: Version, location: str) -> None:
        """A package is about to be fetched."""
        ...

    def received(self, provider: Provider, size: int, total: int | None) -> None:
        """More of a package has arrived."""
        ...

    def installed(self, outcome: InstalledProvider) -> None:
        """A package is installed."""
        ...

    def waiting(self, provider: Provider, store: Path) -> None:
        """Another process installs the same package, and takes its time."""
        ...

    def finished(self) -> None:
        """Nothing more is under way."""
        ...


class Silence:
    """Nobody listens."""

    def finding(self, provider: Provider, constraints: str, locked: Version | None) -> None:
        pass

    def fetching(self, provider: Provider, version: Version, location: str) -> None:
        pass

    def received(self, provider: Provider, size: int, total: int | None) -> None:
        pass

    def installed(self, outcome: InstalledProvider) -> None:
        pass

    def waiting(self, provider: Provider, store: Path) -> None:
        pass

    def finished(self) -> None:
        pass
