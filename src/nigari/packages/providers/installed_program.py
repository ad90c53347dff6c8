"""Programs of installed providers, verified against the lock file.

`provider_installer` installs them, and `nigari.providers` starts them.
"""

from __future__ import annotations

import os

from nigari.diagnostics import Diagnostics
from nigari.diagnostics.advice import advice
from nigari.packages.providers import checksums
from nigari.packages.providers.lockfile import ProviderLock
from nigari.packages.providers.provider_package import executable, unpacked_place
from nigari.record import record


@record
class ProviderProgram:
    """The program of an installed provider."""

    path: str
    checksum: str = ""
    """Checksum of its package; empty if the lock file has none to compare with."""
    version: str = ""
    """The locked version."""


def installed_program(
    lock: ProviderLock, store: str, platform: str, diags: Diagnostics
) -> ProviderProgram | None:
    """Return the program of a locked provider, after verifying its package.

    `store` is the directory of a `ProviderStore`.
    """
    directory = os.path.join(store, unpacked_place(lock.provider, lock.version, platform))
    program = executable(directory, lock.provider.type)
    if program is None:
        report_not_installed(lock, diags)
        return None
    # A zh: checksum is that of an archive, which an unpacked package no longer has.
    known = [text for text in checksums.understood(lock.hashes) if not text.startswith("zh:")]
    if not known:
        return ProviderProgram(program, version=str(lock.version))
    found = checksums.recorded(directory, known)
    if not found:
        _report_changed(lock, directory, diags)
        return None
    return ProviderProgram(program, found[0], str(lock.version))


def is_installed(lock: ProviderLock, store: str, platform: str) -> bool:
    """Check for a locked provider's package, without verifying it."""
    return os.path.isdir(os.path.join(store, unpacked_place(lock.provider, lock.version, platform)))


def report_not_installed(lock: ProviderLock, diags: Diagnostics) -> None:
    """Report a locked provider without a package."""
    diags.error(
        "Provider not installed",
        f"{lock.provider.display} {lock.version} is not installed in this working directory. Run "
        f"{advice().init()}.",
    )


def _report_changed(lock: ProviderLock, directory: str, diags: Diagnostics) -> None:
    diags.error(
        "Installed provider with a wrong checksum",
        f"{lock.provider.display} {lock.version} in {directory} matches none of the checksums in "
        f"the dependency lock file, so it was not started. Run {advice().init()} to install it "
        "again.",
    )
