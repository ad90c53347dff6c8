"""Fetching module packages: one method, whatever a package comes from.

A package is fetched whole into an empty directory that the caller owns. What becomes of it there
is `module_store`'s affair.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from nigari.addrs.module_source import RegistrySource, RemoteSource


class FetchError(Exception):
    """A package cannot be had; the text is one or more whole sentences."""


class PackageFetcher(Protocol):
    """Something that fetches packages."""

    def fetch(self, source: RegistrySource | RemoteSource, directory: Path) -> None:
        """Put the files of a package into an empty directory, or raise `FetchError`."""
        ...


class UnsupportedFetcher:
    """Stands where a fetcher for other kinds of packages will be."""

    def fetch(self, source: RegistrySource | RemoteSource, directory: Path) -> None:
        """Say what can be done instead."""
        what = (
            f"The module registry {source.hostname} cannot be asked"
            if isinstance(source, RegistrySource)
            else f'Packages of the kind "{source.getter}" cannot be fetched'
        )
        raise FetchError(
            f"{what} by this program yet. Use a git repository (git::…) or a local directory, or "
            "run tofu init once: what it has installed is used as it is."
        )
