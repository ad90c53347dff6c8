"""Keeping to the lock file of modules, and writing what is new into it."""

from __future__ import annotations

from collections.abc import Mapping

from nigari.addrs.module_source import RegistrySource, RemoteSource
from nigari.diagnostics import Diagnostics
from nigari.diagnostics.advice import advice
from nigari.packages.content.package_tree import Found, content_hash, package_id
from nigari.packages.modules.module_locks import (
    FILE_NAME,
    NO_LOCKS,
    ModuleLock,
    ModuleLocks,
    load_module_locks,
    save_module_locks,
)


def open_module_locking(directory: str, wanted: bool, diags: Diagnostics) -> ModuleLocking:
    """Open the module locks of a working directory.

    Without a lock file, nothing is locked unless requested.
    """
    locks = load_module_locks(directory, diags)
    return ModuleLocking(NO_LOCKS if locks is None and wanted else locks, is_first=locks is None)


class ModuleLocking:
    """The locks of one run: those that were there, and those that it leaves."""

    def __init__(self, locks: ModuleLocks | None, is_first: bool = False) -> None:
        self._locks = locks
        self.is_first = is_first
        self._used: dict[tuple[str, str], ModuleLock] = {}

    @property
    def is_on(self) -> bool:
        return self._locks is not None

    def find(self, source: RegistrySource | RemoteSource, version: str | None) -> ModuleLock | None:
        """Return the lock of a source with a version constraint."""
        if self._locks is None:
            return None
        return self._locks.get((_locked_source(source), version or ""))

    def use(
        self,
        source: RegistrySource | RemoteSource,
        constraints: str | None,
        version: str,
        found: Found,
    ) -> None:
        """Note that a package is used. Directories of this machine are not locked: they are meant
        to change.
        """
        if self._locks is None or not found.package.id:
            return
        origin = found.origin
        location = origin.location
        if location and origin.subdir:
            location = str(RemoteSource(location, origin.subdir))
        lock = ModuleLock(
            _locked_source(source),
            content_hash(found.package.files),
            constraints or "",
            version,
            location,
            origin.revision,
        )
        self._used[lock.key] = lock

    def finish(self, readonly: bool, upgrade: bool, diags: Diagnostics) -> ModuleLocks | None:
        """Return the new contents of the lock file; None if they stay the same.

        Entries that this run did not use stay, as other variable values may need them; an upgrade
        starts afresh.
        """
        if self._locks is None:
            return None
        after = self._used if upgrade else {**self._locks, **self._kept()}
        if after == self._locks and not self.is_first:
            return None
        if readonly:
            new = sorted({key[0] for key in after if key not in self._locks})
            _report_readonly(new, diags)
            return None
        return after

    def _kept(self) -> Mapping[tuple[str, str], ModuleLock]:
        """Return the used locks, in the lock file's spelling where it has them."""
        locks = self._locks or {}
        return {
            key: locks[key] if key in locks and locks[key].digest == lock.digest else lock
            for key, lock in self._used.items()
        }


def save_locking(directory: str, locks: ModuleLocks) -> None:
    """Write the lock file. An `OSError` says why that is not possible."""
    save_module_locks(directory, locks)


def changed_text(found: Found, lock: ModuleLock | None) -> str:
    """Describe how a package differs from its lock; empty if it matches."""
    if lock is None or found.package.id == package_id(lock.digest):
        return ""
    digest = content_hash(found.package.files)
    return (
        f"Its content has changed since it was locked: the files have the hash sha256:{digest}, but "
        f"{FILE_NAME} has sha256:{lock.digest}. Find out why it changed; to accept the new content, "
        f"run {advice().init('-upgrade')}."
    )


def _locked_source(source: RegistrySource | RemoteSource) -> str:
    return (
        source.package
        if isinstance(source, RegistrySource)
        else RemoteSource(source.package).display
    )


def _report_readonly(new: list[str], diags: Diagnostics) -> None:
    which = f": {', '.join(new)}" if new else ""
    diags.error(
        "Lock file out of date",
        f"The configuration needs module packages that {FILE_NAME} does not have{which}, and the "
        f"lock file is read-only. Run init without {advice().option('-lockfile=readonly')}.",
    )
