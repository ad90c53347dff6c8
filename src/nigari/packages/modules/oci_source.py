"""Module packages in OCI registries: `oci://DOMAIN/REPOSITORY?tag=TAG`."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from nigari.lazy import lazy_pattern
from nigari.packages.content.module_fetch import FetchError, Progress, TaggedGetter
from nigari.packages.hosts.oci_registry import (
    MANIFEST,
    Descriptor,
    OciError,
    OciRepository,
    descriptors,
)
from nigari.packages.hosts.oci_settings import parse_repository
from nigari.packages.modules.fetching import unpack_package
from nigari.packages.modules.package_address import take_arguments
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.net.client import Client
    from nigari.packages.hosts.oci_credentials import OciCredentialsStore

_PACKAGE: Final = "application/vnd.opentofu.modulepkg"
_ARCHIVE: Final = "archive/zip"
# The grammars of the OCI Distribution Specification.
_TAG: Final = lazy_pattern(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_DIGEST: Final = lazy_pattern(r"sha(?:256:[0-9a-f]{64}|512:[0-9a-f]{128})")
_NEWEST: Final = "latest"


@record
class OciAddress:
    """Parsed source address of a package."""

    domain: str
    repository: str
    reference: str = _NEWEST
    """A tag or a digest."""


def oci_address(url: str) -> OciAddress:
    """Parse an address, or raise `FetchError` if it is invalid."""
    parts = urlsplit(url)
    try:
        if parts.scheme != "oci":
            raise ValueError
        domain, repository = parse_repository(f"{parts.netloc}{parts.path}")
    except ValueError:
        raise FetchError(
            "The address is not that of a repository in an OCI registry. Write it as "
            "oci://DOMAIN/REPOSITORY, in lower case."
        ) from None
    arguments = parse_qsl(parts.query, keep_blank_values=True)
    given = dict(arguments)
    unknown = sorted(given.keys() - {"tag", "digest"})
    if unknown:
        raise FetchError(f'The address of an OCI package has no argument "{unknown[0]}".')
    if len(arguments) > 1:
        raise FetchError("The address of an OCI package has one tag or one digest.")
    tag, digest = given.get("tag", _NEWEST), given.get("digest")
    if digest is not None and not _DIGEST.fullmatch(digest):
        raise FetchError(f'"{digest}" is not a digest, which is written as sha256:DIGITS.')
    if not _TAG.fullmatch(tag):
        raise FetchError(f'"{tag}" is not the name of a tag in an OCI registry.')
    return OciAddress(domain, repository, digest or tag)


class OciGetter(TaggedGetter):
    """Fetches packages from OCI registries."""

    def __init__(self, client: Client, credentials: OciCredentialsStore) -> None:
        self._client = client
        self._credentials = credentials

    async def revision(self, url: str, is_file: bool) -> str:
        """Return the digest of the address's current manifest."""
        address = oci_address(url)
        if _DIGEST.fullmatch(address.reference):
            return address.reference
        try:
            return (await self._repository(address).resolve(address.reference)).digest
        except OciError as error:
            raise FetchError(str(error)) from error

    async def tags(self, url: str) -> Mapping[str, str]:
        """List the tags of the repository, each with its address."""
        try:
            tags = await self._repository(oci_address(url)).tags()
        except OciError as error:
            raise FetchError(str(error)) from error
        base = take_arguments(url, ("tag", "digest"))[0]
        return {tag: f"{base}?tag={tag}" for tag in tags if _TAG.fullmatch(tag)}

    def pinned(self, url: str, revision: str) -> str:
        """Return the address of a manifest."""
        url = take_arguments(url, ("tag", "digest"))[0]
        return f"{url}?digest={revision}"

    async def get_directory(self, url: str, directory: Path, progress: Progress) -> str:
        """Download the archive of a package, and unpack it."""
        try:
            return await self._get(oci_address(url), directory, progress)
        except OciError as error:
            raise FetchError(str(error)) from error

    async def _get(self, address: OciAddress, directory: Path, progress: Progress) -> str:
        repository = self._repository(address)
        found = await repository.resolve(address.reference)
        # OpenTofu accepts image manifests only; an index would need a choice between platforms.
        if found.media_type != MANIFEST:
            raise FetchError("It is not an OCI image manifest, as module packages are.")
        manifest = await repository.manifest(found)
        # OpenTofu: artifacts of other kinds, such as container images, also have layers.
        if manifest.get("artifactType") != _PACKAGE:
            raise FetchError(
                f'The artifact is of the type "{manifest.get("artifactType") or ""}", and not a '
                f"module package ({_PACKAGE})."
            )
        archive = _archive(descriptors(manifest, "layers"))
        with tempfile.TemporaryDirectory(prefix=".archive-", dir=directory.parent) as temporary:
            path = Path(temporary, "archive")
            await repository.download(archive, path, progress)
            await unpack_package(path, "zip", directory)
        return found.digest

    async def get_file(self, url: str, path: Path, progress: Progress) -> str:
        """Reject the request: the manifest determines the archive format."""
        raise FetchError(
            "The address of an OCI package has no form of archive: its manifest says it. Leave the "
            "argument archive out."
        )

    def _repository(self, address: OciAddress) -> OciRepository:
        return OciRepository(self._client, address.domain, address.repository, self._credentials)


def _archive(layers: Sequence[Descriptor]) -> Descriptor:
    found = [each for each in layers if each.media_type == _ARCHIVE]
    if len(found) != 1:
        many = "several archives" if found else "no archive"
        raise FetchError(f"The package has {many} of the type {_ARCHIVE}; it must have one.")
    return found[0]
