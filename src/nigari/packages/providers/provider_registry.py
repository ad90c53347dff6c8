"""Provider registry protocol: versions, packages, and verification of their origin.

Every check that a registry enables is made here, in the order of the protocol: the registry's
description of the package, the checksum list, the archive itself, and the signature of the list.
The lock file is compared elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from nigari.addrs.provider import DEFAULT_REGISTRY_HOST, Provider
from nigari.lang.versions import Version, parse_exact_version
from nigari.lazy import lazy_pattern
from nigari.net.failures import NetFailure, StatusRefused
from nigari.net.urls import resolved
from nigari.packages.hosts.cooldown import cooling_until
from nigari.packages.hosts.network import Network
from nigari.packages.providers.checksums import understood
from nigari.packages.providers.provider_download import (
    INVALID,
    UNREACHABLE,
    download,
    failed,
    refused,
    text_of,
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
from nigari.record import record
from nigari.version import OPENTOFU_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Final

    from nigari.net.response import Response
    from nigari.packages.hosts.hosts import Hosts

SERVICE: Final = "providers.v1"
_PROTOCOLS: Final = (5, 6)
"""Major versions of the plugin protocol that are supported."""
_DIGEST: Final = lazy_pattern(r"[0-9a-fA-F]{64}")
_VERSION_HEADER: Final = {"x-terraform-version": OPENTOFU_VERSION}


def needs_signature(provider: Provider, environment: Mapping[str, str]) -> bool:
    """Check whether only a signature vouches for checksums, or the registry's word suffices as
    well.
    """
    # OpenTofu does not require signatures of its own registry, where some publishers have
    # registered no key.
    is_enforced = environment.get("OPENTOFU_ENFORCE_GPG_VALIDATION") == "true"
    return provider.hostname != DEFAULT_REGISTRY_HOST or is_enforced


class ProviderRegistrySource:
    """The registries named in provider addresses."""

    def __init__(
        self, network: Network, download_retries: int | None = None, cooldown: int = 0
    ) -> None:
        self._network = network
        self._cooldown = cooldown
        self._retries = download_retries
        self._listed: dict[Provider, tuple[Versions, Mapping[Version, Sequence[str]]]] = {}

    @property
    def name(self) -> str:
        return "the provider's own registry"

    def is_remote(self, provider: Provider) -> bool:
        return True

    async def versions(self, provider: Provider) -> Versions:
        return (await self._list(provider))[0]

    async def offer(self, provider: Provider, version: Version, platform: str) -> Offer | None:
        system, _, machine = platform.partition("_")
        path = f"{provider.namespace}/{provider.type}/{version}/download/{system}/{machine}"
        answer = await self._get(provider, path)
        if answer.status == 404:
            return None
        document = _object(answer.json(), f"The registry {provider.hostname}")
        await self._check_protocols(provider, version, document)
        return _offer(
            document, answer.url, provider, version, platform, self._network, self._retries
        )

    async def _list(self, provider: Provider) -> tuple[Versions, Mapping[Version, Sequence[str]]]:
        if provider not in self._listed:
            answer = await self._get(provider, f"{provider.namespace}/{provider.type}/versions")
            if answer.status == 404:
                raise ProviderUnknown(
                    f"The registry {provider.hostname} does not have a provider named "
                    f"{provider.namespace}/{provider.type}"
                )
            self._listed[provider] = _versions(answer, provider, self._cooldown)
        return self._listed[provider]

    async def _get(self, provider: Provider, path: str) -> Response:
        """Request a document; return a successful response or 404."""
        from nigari.packages.hosts.host_credentials import CredentialsError
        from nigari.packages.hosts.hosts import HostError

        hosts = await self._network.hosts()
        host = provider.hostname
        try:
            base = await hosts.service_url(host, SERVICE)
            credentials = await hosts.headers(host, base)
        except (HostError, CredentialsError) as error:
            raise ProviderSourceError(str(error).rstrip("."), UNREACHABLE) from error
        try:
            answer = await hosts.client.get(
                resolved(base, path),
                headers=_VERSION_HEADER,
                credentials=credentials,
                policy=hosts.policy,
            )
            if answer.status != 404:
                answer.require(200).json()
        except StatusRefused as failure:
            raise refused(failure, f"The registry {host}", hosts.credentials, host) from failure
        except NetFailure as failure:
            raise failed(f"The registry {host} cannot be queried", failure) from failure
        return answer

    async def _check_protocols(
        self, provider: Provider, version: Version, document: Mapping[str, object]
    ) -> None:
        protocols = _texts(document.get("protocols"))
        # Provider registry protocol: protocols are optional. A version without them is tried.
        if not protocols or _speaks(protocols):
            return
        _, listed = await self._list(provider)
        fitting = [each for each, spoken in listed.items() if _speaks(spoken)]
        releases = [each for each in fitting if not each.prerelease]
        advice = (
            f"The newest version that works with this program is {max(releases or fitting)}"
            if fitting
            else "None of its versions works with this program"
        )
        raise ProviderSourceError(
            f"Version {version} of {provider.display} speaks the plugin protocol "
            f"{', '.join(protocols)}, but this program speaks "
            f"{' and '.join(map(str, _PROTOCOLS))}. {advice}",
            "Unsupported plugin protocol",
        )


@record
class RegistryOffer:
    """A package in a registry, with everything needed to verify it."""

    provider: Provider
    version: Version
    platform: str
    filename: str
    url: str
    digest: str
    """SHA-256 of the archive, hexadecimal."""
    sums_url: str
    signature_url: str
    keys: tuple[str, ...]
    hashes: Mapping[str, tuple[str, ...]]
    """Checksums of the packages for all platforms, if the registry provides them."""
    size: int | None
    network: Network
    retries: int | None

    @property
    def package(self) -> ProviderPackage | None:
        return None

    @property
    def location(self) -> str:
        from nigari.diagnostics.secret_urls import hidden_url

        return hidden_url(self.url)

    async def fetch(self, directory: Path, progress: Progress) -> Fetched:
        import asyncio

        hosts = await self.network.hosts()
        what = f"{self.provider.display} {self.version} for {self.platform}"
        self._check_description(what)
        path = directory / "package.zip"
        fetching = asyncio.ensure_future(
            download(self.network, self.url, path, what, self.retries, self.size, progress)
        )
        try:
            sums, signature = await asyncio.gather(
                _file(hosts, self.sums_url, f"The checksums of {what}"),
                _file(hosts, self.signature_url, f"The signature of {what}"),
            )
            listed = self._check_list(sums, what)
            key_id, warnings = self._check_signature(sums, signature, what)
            digest = await fetching
        finally:
            if not fetching.done():
                fetching.cancel()
            await asyncio.gather(fetching, return_exceptions=True)
        # packageHashAuthentication: the archive against the checksum of the registry.
        if digest != self.digest.lower():
            raise ProviderSourceError(
                f"The archive of {what} has the SHA-256 checksum {digest}, but the registry says "
                f"{self.digest.lower()}. It may have been changed or damaged in transit, so it "
                "was not installed",
                INVALID,
            )
        own = {f"zh:{digest}"}
        reported = listed.union(*self.hashes.values()) if self.hashes else listed
        return Fetched(
            path,
            Verified(
                frozenset(own),
                reported=frozenset(reported),
                # Only signed checksums are recorded for other platforms, since those packages were
                # not seen.
                signed=frozenset(listed) if key_id else frozenset(),
                of_platform=frozenset(own.union(self.hashes.get(self.platform, ()))),
                key_id=key_id,
                warnings=warnings,
            ),
        )

    def _check_description(self, what: str) -> None:
        """Check that the registry's description of the package does not contradict itself."""
        if not self.hashes:
            return
        # OpenTofu 1.12: registries may describe the packages of all platforms.
        packed = [text for text in self.hashes.get(self.platform, ()) if text.startswith("zh:")]
        if not self.size or not packed or set(packed) != {f"zh:{self.digest}"}:
            raise ProviderSourceError(
                f"The registry contradicts itself about {what}: the size or the checksums of the "
                "package are missing or differ. Contact the operator of the registry",
                INVALID,
            )

    def _check_list(self, sums: bytes, what: str) -> set[str]:
        """Return the listed checksums, after finding that of this package among them."""
        lines = [line.split() for line in sums.splitlines()]
        # matchingChecksumAuthentication: the list must have the same checksum for the file.
        named = [line[0] for line in lines if len(line) > 1 and line[1] == self.filename.encode()]
        if not named or named[0].lower() != self.digest.lower().encode():
            found = "a different checksum" if named else "no checksum"
            raise ProviderSourceError(
                f"The list of checksums for {what} has {found} for {self.filename}. Contact "
                "the publisher of the provider",
                INVALID,
            )
        filled = [line for line in lines if line]
        # A list with anything else in it contributes no checksums.
        if all(len(line) > 1 and _DIGEST.fullmatch(text_of(line[0])) for line in filled):
            return {f"zh:{text_of(line[0]).lower()}" for line in filled}
        return set()

    def _check_signature(
        self, sums: bytes, signature: bytes, what: str
    ) -> tuple[str, tuple[str, ...]]:
        environment = self.network.environment
        if not self.keys and not needs_signature(self.provider, environment):
            return "", ()
        from nigari.packages.providers.openpgp import SignatureError, check_signature

        try:
            found = check_signature(sums, signature, self.keys)
            # OpenTofu warns of expired keys, since old releases remain signed with them.
            if found.is_expired:
                if environment.get("OPENTOFU_ENFORCE_GPG_EXPIRATION") == "true":
                    raise SignatureError("the key or the signature has expired")
                warning = (
                    f"The key {found.key_id} that {self.provider.display} {self.version} is signed "
                    "with, or the signature itself, has expired."
                )
                return found.key_id, (warning,)
        except SignatureError as error:
            raise ProviderSourceError(
                f"The signature of {what} cannot be trusted: {error}. It was not installed. "
                "Contact the publisher of the provider",
                "Invalid signature of a provider package",
            ) from error
        return found.key_id, ()


def _offer(
    document: Mapping[str, object],
    base: str,
    provider: Provider,
    version: Version,
    platform: str,
    network: Network,
    retries: int | None,
) -> RegistryOffer:
    what = f"The registry's description of {provider.display} {version} for {platform}"
    # Provider registry protocol: the description names its platform, which must be the requested
    # one.
    if f"{document.get('os')}_{document.get('arch')}" != platform:
        raise _unusable(what, "is for another platform")
    digest = document.get("shasum")
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise _unusable(what, "has no valid SHA-256 checksum")
    urls = [_url(document, base, name, what) for name in _URLS]
    hashes, size = _packages(document, platform, what)
    filename = document.get("filename")
    return RegistryOffer(
        provider=provider,
        version=version,
        platform=platform,
        filename=filename if isinstance(filename, str) else "",
        url=urls[0],
        digest=digest,
        sums_url=urls[1],
        signature_url=urls[2],
        keys=_keys(document),
        hashes=hashes,
        size=size,
        network=network,
        retries=retries,
    )


_URLS: Final = ("download_url", "shasums_url", "shasums_signature_url")


def _url(document: Mapping[str, object], base: str, name: str, what: str) -> str:
    from nigari.net.urls import origin_of

    value = document.get(name)
    try:
        url = resolved(base, value if isinstance(value, str) else "")
        origin_of(url)
    except ValueError as error:
        raise _unusable(what, f"has a {name} that cannot be used: {error}") from None
    return url


def _packages(
    document: Mapping[str, object], platform: str, what: str
) -> tuple[dict[str, tuple[str, ...]], int | None]:
    packages = document.get("packages")
    if not isinstance(packages, dict) or not packages:
        return {}, None
    hashes: dict[str, tuple[str, ...]] = {}
    size: int | None = None
    for name, value in packages.items():
        texts = _texts(value.get("hashes")) if isinstance(value, dict) else []
        if any(":" not in text for text in texts):
            raise _unusable(what, "has a checksum that cannot be read")
        hashes[name] = tuple(understood(texts))
        given = value.get("package_size") if isinstance(value, dict) else None
        if name == platform and isinstance(given, int) and given > 0:
            size = given
    return hashes, size


def _keys(document: Mapping[str, object]) -> tuple[str, ...]:
    keys = document.get("signing_keys")
    listed = keys.get("gpg_public_keys") if isinstance(keys, dict) else None
    if not isinstance(listed, list):
        return ()
    armored = [each.get("ascii_armor") for each in listed if isinstance(each, dict)]
    return tuple(text for text in armored if isinstance(text, str))


def _versions(
    answer: Response, provider: Provider, cooldown: int
) -> tuple[Versions, Mapping[Version, Sequence[str]]]:
    document = _object(answer.json(), f"The registry {provider.hostname}")
    platforms: dict[Version, tuple[str, ...]] = {}
    protocols: dict[Version, Sequence[str]] = {}
    cooling: dict[Version, datetime] = {}
    listed = document.get("versions")
    for entry in listed if isinstance(listed, list) else ():
        text = entry.get("version") if isinstance(entry, dict) else None
        version = parse_exact_version(text) if isinstance(text, str) else None
        if version is None:
            raise ProviderSourceError(
                f"The registry {provider.hostname} lists a version of {provider.display} that is "
                f"not a version number: {text}. Contact the publisher of the provider",
                INVALID,
            )
        until = cooling_until(entry.get("discovered"), cooldown)
        if until is not None:
            cooling[version] = until
        found = entry.get("platforms")
        platforms[version] = tuple(
            f"{each.get('os')}_{each.get('arch')}"
            for each in (found if isinstance(found, list) else ())
            if isinstance(each, dict)
        )
        protocols[version] = _texts(entry.get("protocols"))
    warnings = tuple(_texts(document.get("warnings")))
    return Versions(platforms, warnings, cooling), protocols


def _texts(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _speaks(protocols: Sequence[str]) -> bool:
    return any(text.partition(".")[0] in map(str, _PROTOCOLS) for text in protocols)


def _object(document: object, who: str) -> Mapping[str, object]:
    if not isinstance(document, dict):
        raise ProviderSourceError(f"{who} returned something other than a JSON object", UNREACHABLE)
    return document


async def _file(hosts: Hosts, url: str, what: str) -> bytes:
    try:
        return (await hosts.client.get(url, policy=hosts.policy)).require(200).body
    except NetFailure as failure:
        raise failed(f"{what} cannot be downloaded", failure) from failure


def _unusable(what: str, why: str) -> ProviderSourceError:
    return ProviderSourceError(f"{what} {why}. Contact the operator of the registry", INVALID)
