"""Provider installation results, and the listener for its progress.

Shared by the installer and its output, and light, because even an init without work has results.
Deliberately unknown here: the installation itself.
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
    """The way in which a provider was installed."""

    BUILT_IN = "built in"
    REUSED = "already installed"
    CACHED = "from the shared cache"
    INSTALLED = "installed"


@record
class InstalledProvider:
    """A provider that is ready to use."""

    provider: Provider
    version: Version | None
    step: InstallStep
    path: Path | None = None
    verified: Verified | None = None
    """Verification of a downloaded package."""
    has_one_platform: bool = False
    """True if the lock file only gets checksums of this machine's package."""


@record
class Installation:
    """Installed providers, and the locks to write."""

    locks: Locks
    outcomes: tuple[InstalledProvider, ...] = ()


class InstallListener(Protocol):
    """Receives the progress of the installation."""

    def finding(self, provider: Provider, constraints: str, locked: Version | None) -> None:
        """Versions of a provider are being looked up, or only the locked one."""
        ...

    def fetching(self, provider: Provider, version: Version, location: str) -> None:
        """A package is about to be downloaded."""
        ...

    def received(self, provider: Provider, size: int, total: int | None) -> None:
        """More of a package has arrived."""
        ...

    def installed(self, outcome: InstalledProvider) -> None:
        """A package has been installed."""
        ...

    def waiting(self, provider: Provider, store: Path) -> None:
        """Another process has been installing the same package for some time."""
        ...

    def finished(self) -> None:
        """All work has ended."""
        ...


class Silence:
    """Ignores all progress."""

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
