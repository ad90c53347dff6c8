"""Network mirror protocol: packages of any registry from a server of static files.

Reads the mirror's lists of versions and packages, and offers the package for a platform. The caller
downloads, verifies, and chooses among sources.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from nigari.addrs.hostname import hostname_for_network
from nigari.addrs.provider import Provider
from nigari.diagnostics.secret_urls import hidden_url
from nigari.lang.versions import Version, parse_exact_version
from nigari.net.failures import NetFailure, StatusRefused
from nigari.net.urls import resolved
from nigari.packages.hosts.network import Network
from nigari.packages.providers.checksums import matching, understood
from nigari.packages.providers.provider_download import (
    INVALID,
    UNREACHABLE,
    download,
    failed,
    refused,
)
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
from nigari.record import record, replace
from nigari.version import OPENTOFU_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.net.response import Response

_REDIRECTS: Final = 5


class NetworkMirror:
    """A mirror at a URL, to which the paths of its files are relative."""

    def __init__(
        self,
        url: str,
        network: Network,
        download_retries: int | None = None,
        trust_all_hashes: bool = False,
    ) -> None:
        self._url = url
        self._network = network
        self._retries = download_retries
        self._trusts_all = trust_all_hashes
        self._listed: dict[Provider, Versions] = {}

    @property
    def name(self) -> str:
        return f"the network mirror {hidden_url(self._url)}"

    def is_remote(self, provider: Provider) -> bool:
        return True

    async def versions(self, provider: Provider) -> Versions:
        if provider not in self._listed:
            # Network mirror protocol: :hostname/:namespace/:type/index.json lists versions.
            answer = await self._get(provider, "index.json")
            if answer.status == 404:
                raise ProviderUnknown(f"{_capital(self.name)} does not have {provider.display}")
            listed = _member(answer.json(), "versions")
            numbers = [parse_exact_version(text) for text in listed]
            found = {number: () for number in numbers if number is not None}
            self._listed[provider] = Versions(found)
        return self._listed[provider]

    async def offer(self, provider: Provider, version: Version, platform: str) -> Offer | None:
        # Network mirror protocol: VERSION.json has an archive for each platform.
        answer = await self._get(provider, f"{version}.json")
        if answer.status == 404:
            raise ProviderSourceError(
                f"{_capital(self.name)} lists version {version} of {provider.display}, but has no "
                f"{version}.json for it. Contact the operator of the mirror",
                INVALID,
            )
        archives = _member(answer.json(), "archives")
        if platform not in archives:
            return None
        reference = _member(archives, platform).get("url")
        # URLs are relative to the document, after redirects.
        url = resolved(answer.url, reference if isinstance(reference, str) else "")
        own = self._hashes(archives, platform, provider)
        others = [
            text
            for other in archives
            if self._trusts_all and other != platform
            for text in self._hashes(archives, other, provider)
        ]
        return MirrorOffer(
            provider=provider,
            version=version,
            platform=platform,
            url=url,
            hashes=tuple(own),
            others=tuple(others),
            is_trusted=self._trusts_all,
            network=self._network,
            retries=self._retries,
        )

    def _hashes(
        self, archives: Mapping[str, object], platform: str, provider: Provider
    ) -> list[str]:
        listed = _member(archives, platform).get("hashes") or []
        if not isinstance(listed, list) or not all(
            isinstance(text, str) and ":" in text[1:] for text in listed
        ):
            raise ProviderSourceError(
                f"{_capital(self.name)} has a checksum of {provider.display} that cannot be read. "
                "Contact the operator of the mirror",
                INVALID,
            )
        return listed

    async def _get(self, provider: Provider, name: str) -> Response:
        """Request a JSON document of the mirror, or 404."""
        from nigari.packages.hosts.cli_config import mirror_host
        from nigari.packages.hosts.host_credentials import CredentialsError

        host = mirror_host(self._url)
        if host is None:
            raise ProviderSourceError(
                f"{_capital(self.name)} cannot be used: its URL must be https, with a host name",
                UNREACHABLE,
            )
        hosts = await self._network.hosts()
        path = f"{hostname_for_network(provider.hostname)}/{provider.namespace}/{provider.type}"
        try:
            answer = await hosts.client.get(
                resolved(self._url, f"{path}/{name}"),
                headers={"x-terraform-version": OPENTOFU_VERSION},
                credentials=await hosts.credentials.headers(host),
                policy=replace(hosts.policy, redirects=_REDIRECTS),
            )
            if answer.status != 404:
                # Network mirror protocol: the media type must be application/json. A login page
                # with status 200 is no answer.
                answer.require(200).json(needs_type=True)
        except CredentialsError as error:
            text = f"{_capital(self.name)} cannot be queried. {error}"
            raise ProviderSourceError(text.rstrip("."), UNREACHABLE) from error
        except StatusRefused as failure:
            raise refused(failure, _capital(self.name), hosts.credentials, host) from failure
        except NetFailure as failure:
            raise failed(f"{_capital(self.name)} cannot be queried", failure) from failure
        return answer


@record
class MirrorOffer:
    """A package on a network mirror."""

    provider: Provider
    version: Version
    platform: str
    url: str
    hashes: tuple[str, ...]
    """Checksums of this package from the mirror."""
    others: tuple[str, ...]
    """Checksums for other platforms, if the mirror is trusted."""
    is_trusted: bool
    network: Network
    retries: int | None

    @property
    def package(self) -> ProviderPackage | None:
        return None

    @property
    def location(self) -> str:
        return hidden_url(self.url)

    async def fetch(self, directory: Path, progress: Progress) -> Fetched:
        import asyncio

        what = f"{self.provider.display} {self.version} for {self.platform}"
        path = directory / "package.zip"
        await download(self.network, self.url, path, what, self.retries, None, progress)
        listed = (*self.hashes, *self.others)
        # Network mirror protocol: hashes are optional; without them, the lock file is the only
        # check.
        if not listed:
            return Fetched(path)
        known = understood(listed)
        if not known:
            raise ProviderSourceError(
                f"The mirror lists only checksums of {what} of kinds that this program does not support",
                INVALID,
            )
        try:
            found = frozenset(await asyncio.to_thread(matching, path, known))
        except OSError as error:
            raise ProviderSourceError(f"{what} was not installed: {error}", INVALID) from error
        if not found:
            raise ProviderSourceError(
                f"The archive of {what} matches none of the checksums that the mirror lists. It may "
                "have been changed or damaged in transit, so it was not installed",
                INVALID,
            )
        trusted = frozenset(known) - found if self.is_trusted else frozenset()
        own = found.union(understood(self.hashes)) if self.is_trusted else found
        return Fetched(path, Verified(found, trusted=trusted, of_platform=own))


def _member(document: object, name: str) -> Mapping[str, object]:
    value = document.get(name) if isinstance(document, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
