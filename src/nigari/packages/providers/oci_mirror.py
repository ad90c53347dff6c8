"""Providers in OCI registries: a repository for each provider, a tag for each version."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from nigari.addrs.hostname import hostname_for_network
from nigari.addrs.provider import Provider
from nigari.lang.versions import Version, parse_exact_version
from nigari.packages.hosts.network import Network
from nigari.packages.hosts.oci_registry import (
    INDEX,
    MANIFEST,
    Descriptor,
    OciError,
    OciNotFound,
    OciRepository,
    descriptors,
)
from nigari.packages.hosts.oci_settings import RepositoryTemplate, UriTemplate, parse_repository
from nigari.packages.providers.provider_download import INVALID, UNREACHABLE
from nigari.packages.providers.provider_package import ProviderPackage
from nigari.packages.providers.provider_sources import (
    Fetched,
    Offer,
    Progress,
    ProviderSourceError,
    ProviderUnknown,
    Verified,
    Versions,
)
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_PROVIDER: Final = "application/vnd.opentofu.provider"
_TARGET: Final = "application/vnd.opentofu.provider-target"
_ZIP: Final = "archive/zip"


class OciMirror:
    """A mirror whose repositories are named by a template."""

    def __init__(
        self,
        template: str,
        network: Network,
        parse: Callable[[str], RepositoryTemplate | UriTemplate] = RepositoryTemplate,
    ) -> None:
        """`parse` interprets the template, which is one of the CLI configuration otherwise."""
        self._template = template
        self._parse = parse
        self._network = network
        self._repositories: dict[Provider, OciRepository] = {}
        self._listed: dict[Provider, Versions] = {}

    @property
    def name(self) -> str:
        return f"the OCI mirror {self._template}"

    def is_remote(self, provider: Provider) -> bool:
        return True

    async def versions(self, provider: Provider) -> Versions:
        if provider not in self._listed:
            repository = await self._repository(provider)
            try:
                tags = await repository.tags()
            except OciNotFound as error:
                raise ProviderUnknown(
                    f"There is no OCI repository {repository.address} for {provider.display}"
                ) from error
            except OciError as error:
                raise _failed(error) from error
            # OpenTofu: tags cannot contain "+", so that build metadata follows "_".
            numbers = [parse_exact_version(tag.replace("_", "+")) for tag in tags]
            found = {number: () for number in numbers if number is not None}
            self._listed[provider] = Versions(found)
        return self._listed[provider]

    async def offer(self, provider: Provider, version: Version, platform: str) -> Offer | None:
        repository = await self._repository(provider)
        what = f"{provider.display} {version} in {repository.address}"
        try:
            index = await repository.resolve(str(version).replace("+", "_"))
            if index.media_type != INDEX:
                raise _unusable(what, f"is of type {index.media_type}, not {INDEX}")
            document = await repository.manifest(index)
            if document.get("artifactType") != _PROVIDER:
                raise _unusable(what, f"is of type {document.get('artifactType')}, not a provider")
            chosen = _for_platform(descriptors(document, "manifests"), platform, what)
            if chosen is None:
                return None
            manifest = await repository.manifest(chosen)
        except OciError as error:
            raise _failed(error) from error
        if manifest.get("artifactType") != _TARGET:
            raise _unusable(what, f"has a package of type {manifest.get('artifactType')}")
        layers = [each for each in descriptors(manifest, "layers") if each.media_type == _ZIP]
        # OpenTofu: exactly one layer of this type, so that nothing has to be chosen.
        if len(layers) != 1:
            raise _unusable(what, f"has {len(layers) or 'no'} layers of type {_ZIP}, not one")
        if not layers[0].digest.startswith("sha256:"):
            raise _unusable(what, "has a package without a SHA-256 digest")
        return OciOffer(provider, version, platform, repository, layers[0], self._network)

    async def _repository(self, provider: Provider) -> OciRepository:
        hosts = await self._network.hosts()
        if provider not in self._repositories:
            parts = {
                "hostname": hostname_for_network(provider.hostname),
                "namespace": provider.namespace,
                "type": provider.type,
            }
            try:
                domain, name = parse_repository(self._parse(self._template).text(parts))
            except ValueError as error:
                raise ProviderSourceError(
                    f"{self.name[0].upper()}{self.name[1:]} has no address for "
                    f"{provider.display}: {error}",
                    UNREACHABLE,
                ) from None
            credentials = self._network.oci_credentials()
            repository = OciRepository(hosts.client, domain, name, credentials)
            self._repositories[provider] = repository
        return self._repositories[provider]


@record
class OciOffer:
    """A package in an OCI repository."""

    provider: Provider
    version: Version
    platform: str
    repository: OciRepository
    layer: Descriptor
    network: Network

    @property
    def package(self) -> ProviderPackage | None:
        return None

    @property
    def location(self) -> str:
        return f"https://{self.repository.address}@{self.layer.digest}"

    async def fetch(self, directory: Path, progress: Progress) -> Fetched:
        path = directory / "package.zip"
        try:
            async with self.network.downloading():
                await self.repository.download(self.layer, path, progress)
        except OciError as error:
            raise _failed(error) from error
        # The digest of the layer is the SHA-256 of the archive, which is its zh: checksum.
        own = frozenset((f"zh:{self.layer.digest.partition(':')[2]}",))
        return Fetched(path, Verified(own, of_platform=own))


def _for_platform(listed: list[Descriptor], platform: str, what: str) -> Descriptor | None:
    """Select the package for a platform; `None` if there are only others."""
    targets = [each for each in listed if each.artifact_type == _TARGET]
    if not targets:
        raise _unusable(what, "has no packages of providers; it may be a container image")
    fitting: list[Descriptor] = []
    for each in targets:
        if each.media_type != MANIFEST or each.platform is None:
            raise _unusable(what, "has a package without a platform, or of an unknown type")
        names = f"{each.platform.get('os')}_{each.platform.get('architecture')}"
        # OpenTofu: a package for one version of an operating system is never selected.
        if names == platform and not each.platform.get("os.version"):
            fitting.append(each)
    if len(fitting) > 1:
        raise _unusable(what, f"has several packages for {platform}")
    return fitting[0] if fitting else None


def _failed(error: OciError) -> ProviderSourceError:
    return ProviderSourceError(str(error).rstrip("."), UNREACHABLE)


def _unusable(what: str, why: str) -> ProviderSourceError:
    return ProviderSourceError(f"{what} cannot be used, because it {why}", INVALID)
