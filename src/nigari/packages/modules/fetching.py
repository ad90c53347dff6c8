"""Fetching of remote packages: chooses the getter, unpacks archives and verifies checksums.

Deliberately unknown here: where packages are stored, and which version a call asks for.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from nigari.addrs.module_source import RemoteSource
from nigari.packages.content.module_fetch import (
    FetchError,
    Getter,
    Progress,
    TaggedGetter,
    no_progress,
)
from nigari.packages.content.subdirectories import find_subdir
from nigari.packages.content.unpacking import ArchiveError, form_of_content, unpack_archive
from nigari.packages.modules.package_address import (
    PackageAddress,
    check_file,
    listed_checksum,
    package_address,
)
from nigari.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_BEGINNING: Final = 256
_LONGEST_LIST: Final = 1 << 20
_SMALL_ARCHIVE: Final = 1 << 15
"""Size up to which an archive is unpacked without a thread: it usually takes less time than handing
it over, and even a hostile one cannot delay others for long.
"""


class Fetching:
    """All getters, each created on first use."""

    def __init__(self) -> None:
        self._makers: dict[str, Callable[[], Getter]] = {}
        self._getters: dict[str, Getter] = {}

    def add(self, name: str, make: Callable[[], Getter]) -> None:
        """Register a getter for a kind of package."""
        self._makers[name] = make

    @property
    def kinds(self) -> list[str]:
        """The kinds of packages that can be fetched."""
        return sorted(self._makers)

    async def revision(self, source: RemoteSource) -> str:
        """Return an identifier of the package's current content; empty if only its download would
        reveal it.
        """
        address = package_address(source)
        if address.checksum is not None:
            return str(address.checksum)
        return await self._getter(address).revision(address.url, bool(address.form))

    async def tagged(self, source: RemoteSource) -> dict[str, RemoteSource]:
        """List the tags of a repository with their packages, or raise `FetchError`."""
        address = package_address(source)
        getter = self._getter(address)
        tags = await getter.tags(address.url) if isinstance(getter, TaggedGetter) else {}
        forced = f"{address.getter}::" if source.package.startswith(f"{address.getter}::") else ""
        return {tag: RemoteSource(f"{forced}{url}", source.subdir) for tag, url in tags.items()}

    def at_revision(self, source: RemoteSource, revision: str) -> RemoteSource:
        """The package of a revision that is known."""
        address = package_address(source)
        forced = f"{address.getter}::" if source.package.startswith(f"{address.getter}::") else ""
        url = self._getter(address).pinned(address.url, revision)
        return RemoteSource(f"{forced}{url}", source.subdir)

    async def fetch(
        self,
        source: RemoteSource,
        directory: Path,
        progress: Progress = no_progress,
        revision: str = "",
    ) -> str:
        """Download a package into an empty directory and return its revision, or raise
        `FetchError`. A given revision is fetched instead of the current one if the source has
        others.
        """
        address = package_address(source)
        getter = self._getter(address)
        if revision:
            address = replace(address, url=getter.pinned(address.url, revision))
        if not address.form:
            return await getter.get_directory(address.url, directory, progress)
        address = await self._with_checksum(address)
        archive = directory.with_name(f".archive-{directory.name}")
        try:
            revision = await getter.get_file(address.url, archive, progress)
            if address.checksum is not None:
                check_file(archive, address.checksum)
                revision = str(address.checksum)
            await unpack_package(archive, address.form, directory)
        finally:
            archive.unlink(missing_ok=True)
        return revision

    async def fetch_subdir(
        self, source: RemoteSource, subdir: str, directory: Path, progress: Progress
    ) -> str:
        """Fetch only one directory of a package; see `fetch`."""
        with tempfile.TemporaryDirectory(prefix=".whole-", dir=directory.parent) as temporary:
            whole = Path(temporary)
            revision = await self.fetch(source, whole, progress)
            move_files(whole / find_subdir(whole, subdir), directory)
        return revision

    def _getter(self, address: PackageAddress) -> Getter:
        getter = self._getters.get(address.getter)
        make = self._makers.get(address.getter)
        if getter is None and make is not None:
            getter = self._getters[address.getter] = make()
        if getter is None:
            known = ", ".join(self.kinds)
            hint = (
                f" For a git repository, write git::{address.url.partition('?')[0]}."
                if address.getter in ("ssh", "git")
                else ""
            )
            raise FetchError(
                f'Packages cannot be fetched with "{address.getter}". The supported schemes are '
                f"{known}.{hint}"
            )
        return getter

    async def _with_checksum(self, address: PackageAddress) -> PackageAddress:
        """Complete the address with its checksum from a list of checksums."""
        if not address.checksum_list:
            return address
        listed = PackageAddress(RemoteSource(address.checksum_list).getter, address.checksum_list)
        with tempfile.TemporaryDirectory(prefix="nigari-checksums-") as temporary:
            path = Path(temporary, "list")
            await self._getter(listed).get_file(listed.url, path, no_progress)
            text = _beginning(path)
        checksum = listed_checksum(text, address.url, listed.url)
        if checksum is None:
            raise FetchError(f'The list of checksums has none for "{address.name}".')
        return replace(address, checksum=checksum)


def move_files(source: Path, target: Path) -> None:
    """Move everything in a directory into another one."""
    for entry in list(source.iterdir()):
        entry.rename(target / entry.name)


def _beginning(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_LONGEST_LIST).decode(errors="replace")


def _instead(archive: Path, form: str) -> str:
    """Describe a file that is not an archive of the expected format, as far as its beginning
    reveals.
    """
    found = form_of_content(archive)
    if found and found != form:
        return f" The file is a {found} archive, not {form}: add archive={found} to the address."
    with archive.open("rb") as file:
        beginning = file.read(_BEGINNING).lstrip().lower()
    if not beginning:
        return " The file is empty."
    if beginning.startswith((b"<!doctype html", b"<html")):
        return (
            " The file is a web page. If this network asks you to log in on a web page first, do "
            "that and try again; otherwise check the URL."
        )
    return ""


async def unpack_package(archive: Path, form: str, directory: Path) -> None:
    """Unpack an archive without blocking the event loop, or raise `FetchError`."""
    if _is_small(archive):
        with _as_fetch_errors(archive, form):
            unpack_archive(archive, form, directory)
        return
    import asyncio
    import threading

    given_up = threading.Event()
    work = asyncio.ensure_future(
        asyncio.to_thread(unpack_archive, archive, form, directory, given_up=given_up.is_set)
    )
    try:
        with _as_fetch_errors(archive, form):
            await asyncio.shield(work)
    except asyncio.CancelledError:
        # The directory is removed next, so the thread must stop writing there.
        given_up.set()
        await asyncio.wait([work])
        raise


def _is_small(archive: Path) -> bool:
    return archive.stat().st_size <= _SMALL_ARCHIVE


@contextmanager
def _as_fetch_errors(archive: Path, form: str) -> Iterator[None]:
    try:
        yield
    except ArchiveError as error:
        raise FetchError(
            f"The archive cannot be unpacked: {error}.{_instead(archive, form)}"
        ) from error
