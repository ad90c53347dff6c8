"""Provider stores: a working directory's own, and the cache shared by several.

Both have the unpacked layout of `provider_package`. Unpacked packages of a mirror are linked,
packed ones are unpacked; a package is complete when its directory appears. `provider_installer`
verifies checksums before.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from nigari.addrs.provider import Provider
from nigari.file_lock import FileLock, take_lock
from nigari.lang.versions import Version
from nigari.packages.content.whole_file import make_directories
from nigari.packages.providers.checksums import archive_checksum, combined, directory_checksum
from nigari.packages.providers.provider_package import (
    ProviderPackage,
    executable,
    packages_of,
    unpacked_path,
)
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO, Final


_REPORTED_AFTER: Final = 5.0
_BETWEEN_ATTEMPTS: Final = 0.05


class StoreError(Exception):
    """A package that cannot be installed; the text completes "… cannot be installed: "."""


@record
class Installed:
    """A package in a store, with its `h1:` checksum if it was computed anyway."""

    path: Path
    checksum: str = ""


class ProviderStore:
    """A directory of unpacked packages for one platform."""

    def __init__(self, directory: Path, platform: str) -> None:
        self.directory = directory
        self.platform = platform

    def installed(self, provider: Provider, version: Version) -> Path | None:
        """Return the directory of that version, if it exists."""
        path = unpacked_path(self.directory, provider, version, self.platform)
        return path if path.is_dir() else None

    def versions(self, provider: Provider) -> list[Version]:
        """List the installed versions of a provider, newest first."""
        return [
            package.version
            for package in packages_of(self.directory, provider)
            if package.platform == self.platform and package.path.is_dir()
        ]

    def program(self, provider: Provider, version: Version) -> Path | None:
        """Return the program of that version of a provider."""
        directory = self.installed(provider, version)
        program = None if directory is None else executable(directory, provider.type)
        return None if program is None else Path(program)

    def install(
        self, package: ProviderPackage, waiting: Callable[[], None] | None = None
    ) -> Installed:
        """Put a package into the store, replacing an existing one.

        `waiting` is called if another process keeps the same package locked for some time.
        """
        checksum = ""
        target = unpacked_path(self.directory, package.provider, package.version, self.platform)
        try:
            make_directories(target.parent)
            with _locked(target.with_name(target.name + ".lock"), waiting):
                if package.path.is_dir():
                    _link(package.path, target)
                else:
                    checksum = _unpack(package.path, target)
        except OSError as error:
            at = f" ({error.filename})" if error.filename else ""
            raise StoreError(f"{error.strerror or error}{at}") from error
        if executable(target, package.provider.type) is None:
            raise StoreError(
                f"its package contains no program named terraform-provider-{package.provider.type}"
            )
        return Installed(target, checksum)


def _link(source: Path, target: Path) -> None:
    from nigari.packages.providers.archive import remove

    source = source.absolute()
    if target.exists() and source.samefile(target):
        if target.is_symlink():
            return
        raise OSError(f"{source} is the installation directory itself")
    remove(target)
    # OpenTofu links unpacked packages: they may be large, and several directories share them.
    target.symlink_to(source, target_is_directory=True)


def _unpack(archive: Path, target: Path) -> str:
    """Unpack, unless it already is: other processes may be using it. Returns the checksum."""
    from nigari.packages.providers.archive import unpack

    if target.is_dir():
        with contextlib.suppress(OSError):
            checksum = directory_checksum(target)
            if checksum == archive_checksum(archive):
                return checksum
    return combined(unpack(archive, target))


@contextlib.contextmanager
def _locked(path: Path, waiting: Callable[[], None] | None) -> Iterator[None]:
    """Hold the lock that `tofu` also takes while it changes a package of a shared cache."""
    with path.open("a") as file:
        _wait_for_lock(file, waiting)
        # As in OpenTofu, the lock file is not deleted: waiting processes have it open. Closing it
        # releases the lock.
        yield


def _wait_for_lock(file: IO[str], waiting: Callable[[], None] | None) -> None:
    told_at = time.monotonic() + _REPORTED_AFTER
    while take_lock(file.fileno(), posix=True) is FileLock.TAKEN:
        if waiting is not None and time.monotonic() >= told_at:
            waiting()
            waiting = None
        time.sleep(_BETWEEN_ATTEMPTS)
