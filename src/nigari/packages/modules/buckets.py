"""Packages in buckets: an object that is an archive, or all objects with a common prefix.

`s3_source` and `gcs_source` implement the access to buckets.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from nigari.net.failures import NetFailure, StatusRefused
from nigari.packages.content.module_fetch import FetchError, Progress
from nigari.packages.content.unpacking import ArchiveError, path_inside
from nigari.packages.content.whole_file import make_directories
from nigari.record import record
from nigari.typed import Protocol

_AT_A_TIME = 8


@record
class BucketObject:
    """An object in a bucket."""

    name: str
    tag: str
    """Identifier that changes with its content."""
    size: int = 0


class PackageBucket(Protocol):
    """A bucket, opened for one package. Failures are `NetFailure`s."""

    async def listing(self, prefix: str) -> Sequence[BucketObject]:
        """List the objects with a prefix."""
        ...

    async def tag(self, name: str) -> str:
        """Return the identifier of an object's content; empty if there is none."""
        ...

    async def download(self, name: str, path: Path, progress: Progress) -> Mapping[str, str]:
        """Download an object to a file, and return the response headers."""
        ...

    @property
    def used(self) -> str:
        """Describe the credentials that were used, as a sentence."""
        ...


class BucketOpener(Protocol):
    """One kind of bucket storage."""

    async def open(self, url: str) -> tuple[PackageBucket, str]:
        """Open the bucket of a URL, and return it with the object name, or raise `FetchError`."""
        ...


class BucketGetter:
    """Fetches packages from one kind of storage."""

    def __init__(self, storage: BucketOpener) -> None:
        self._storage = storage

    async def revision(self, url: str, is_file: bool) -> str:
        """Return the tag of an object, or of all objects of a package together."""
        bucket, name = await self._storage.open(url)
        try:
            if is_file:
                return await bucket.tag(name)
            return _revision(_below(name, await bucket.listing(_prefix(name))))
        except NetFailure as failure:
            raise FetchError(_refusal(bucket, failure)) from failure

    def pinned(self, url: str, revision: str) -> str:
        """Return the URL unchanged: a bucket only has its current content."""
        return url

    async def get_directory(self, url: str, directory: Path, progress: Progress) -> str:
        """Download all objects of a package."""
        bucket, name = await self._storage.open(url)
        try:
            found = _below(name, await bucket.listing(_prefix(name)))
            if not found:
                raise FetchError(
                    f"There are no objects below {name or 'the bucket'}. If it is an archive, add "
                    "its form to the address, as in ?archive=zip."
                )
            await _download_all(bucket, found, directory, progress)
        except NetFailure as failure:
            raise FetchError(_refusal(bucket, failure)) from failure
        except ArchiveError as error:
            raise FetchError(f"It cannot be used: {error}.") from error
        return _revision(found)

    async def get_file(self, url: str, path: Path, progress: Progress) -> str:
        """Download an object."""
        bucket, name = await self._storage.open(url)
        try:
            headers = await bucket.download(name, path, progress)
        except NetFailure as failure:
            raise FetchError(_refusal(bucket, failure)) from failure
        return headers.get("etag", "")


async def _download_all(
    bucket: PackageBucket, objects: Mapping[str, BucketObject], directory: Path, progress: Progress
) -> None:
    """Download objects concurrently; if one fails, cancel the others."""
    import asyncio

    limit = asyncio.Semaphore(_AT_A_TIME)
    total = sum(each.size for each in objects.values())
    done = 0

    async def get(relative: str, each: BucketObject) -> None:
        nonlocal done
        path = path_inside(directory, relative)
        make_directories(path.parent)
        async with limit:
            await bucket.download(each.name, path, _ignore_progress)
        done += each.size
        progress(done, total)

    tasks = [asyncio.ensure_future(get(*each)) for each in objects.items()]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _ignore_progress(_done: int, _total: int | None) -> None:
    """Ignore progress of single objects, as that of the package is reported as a whole."""


def _prefix(name: str) -> str:
    return f"{name.rstrip('/')}/" if name.strip("/") else ""


def _below(name: str, objects: Sequence[BucketObject]) -> dict[str, BucketObject]:
    """Map the files of a package to their objects."""
    prefix = _prefix(name)
    # Names with a slash at the end are folders of the web console, without content.
    return {each.name.removeprefix(prefix): each for each in objects if not each.name.endswith("/")}


def _revision(objects: Mapping[str, BucketObject]) -> str:
    if not all(each.tag for each in objects.values()):
        return ""
    text = "\n".join(f"{name}\0{objects[name].tag}" for name in sorted(objects))
    return f"objects:{hashlib.sha256(text.encode()).hexdigest()}"


def _refusal(bucket: PackageBucket, failure: NetFailure) -> str:
    if isinstance(failure, StatusRefused) and failure.status in (401, 403, 404):
        return f"{failure.text} {bucket.used}"
    return failure.text
