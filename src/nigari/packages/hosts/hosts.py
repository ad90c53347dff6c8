"""Service discovery: the services of each host, requested once.

A host publishes its services in a document (`/.well-known/terraform.json`); a `host` block of the
CLI configuration replaces it. Deliberately unknown here: the protocols of the services.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit, urlunsplit

from nigari.addrs.hostname import hostname_for_network
from nigari.net.client import Policy
from nigari.net.failures import NetFailure
from nigari.net.urls import origin_of, resolved
from nigari.packages.hosts.cli_config import CliConfig, RegistryProtocols
from nigari.packages.hosts.host_credentials import CredentialsError, HostCredentials
from nigari.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from typing import Final

    from nigari.net.client import Client

_DOCUMENT: Final = "/.well-known/terraform.json"
_LIMIT: Final = 1 << 20
_LONGEST_ANSWER: Final = 1 << 23
"""Limit for a registry's version list, which has less than one megabyte; hostile JSON grows
twentyfold in memory.
"""
# OpenTofu: one retry and ten seconds, unless the environment or the CLI configuration say
# otherwise.
_RETRIES: Final = 1
_TIMEOUT: Final = 10.0


class HostError(Exception):
    """A host that cannot be used; the text is full sentences for a diagnostic."""


class ServiceMissing(HostError):
    """A service that the host does not offer."""


class VersionMissing(ServiceMissing):
    """A service that the host offers in other versions only."""


@record
class Host:
    """A host and its services."""

    name: str
    document: str
    """Base URL of references."""
    services: Mapping[str, object]
    is_configured: bool = False
    """True if the user configured the services."""

    def withholds(self, url: str) -> str:
        """Return why the host's credentials must not be sent to a service; empty if they may.

        Credentials are for the host alone. It may name a service elsewhere, but not through a
        redirect to another host, and not over an unencrypted connection.
        """
        if self.is_configured:
            return ""
        if origin_of(self.document) != origin_of(_document_url(self.name)):
            return f"{self.name} redirects service discovery to another host"
        if urlsplit(url).scheme != "https":
            return f"{self.name} names a service that is not encrypted"
        return ""

    def url(self, service: str) -> str:
        """Return the URL of a service, such as `providers.v1`."""
        value = self.services.get(service)
        if not isinstance(value, str):
            raise self._missing(service)
        return self.resolved(service, value)

    def object(self, service: str) -> Mapping[str, object]:
        """Return the description of a service that needs more than a URL."""
        if service not in self.services:
            raise self._missing(service)
        value = self.services[service]
        if not isinstance(value, Mapping):
            raise HostError(f"{self.name} does not describe its service {service} with an object.")
        return value

    def resolved(self, service: str, reference: str) -> str:
        """Resolve an http(s) URL that the document has for a service."""
        try:
            parts = urlsplit(resolved(self.document, reference))
            is_sound = parts.scheme in ("http", "https") and bool(parts.hostname)
        except ValueError:
            raise HostError(f"{self.name} has an invalid URL for {service}.") from None
        # svchost: URLs with user information are invalid, since they would be shown.
        if not is_sound or "@" in parts.netloc:
            raise HostError(
                f"{self.name} has an invalid URL for {service}: it must be http or "
                "https, and without a user name."
            )
        return urlunsplit(parts._replace(fragment=""))

    def _missing(self, service: str) -> ServiceMissing:
        name = service.partition(".")[0]
        others = sorted(each for each in self.services if each.startswith(f"{name}."))
        if others:
            return VersionMissing(
                f"{self.name} offers {', '.join(others)}, but not {service}, which is the version "
                "that this program understands."
            )
        return ServiceMissing(
            f"{self.name} does not offer the service {service}. Check the host name."
        )


class Hosts:
    """All hosts of a run. Each is discovered once, even for concurrent requests.

    `known` has those already discovered, to which others are added.
    """

    def __init__(
        self,
        client: Client,
        config: CliConfig,
        credentials: HostCredentials,
        known: dict[str, Host] | None = None,
    ) -> None:
        self.client = client
        self.credentials = credentials
        self.policy: Policy = registry_policy(config.registry_protocols)
        self._aliases = config.aliases
        self._asked: dict[str, asyncio.Task[Host]] = {}
        self._known: dict[str, Host] = {} if known is None else known
        self._configured = {
            name: Host(name, _document_url(name), services, is_configured=True)
            for name, services in config.hosts.items()
        }

    def real_name(self, name: str) -> str:
        """Resolve a host alias."""
        return self._aliases.get(name, name)

    async def host(self, name: str) -> Host:
        """Discover a host."""
        name = self.real_name(name)
        if name in self._configured:
            return self._configured[name]
        if name in self._known:
            return self._known[name]
        import asyncio

        if name not in self._asked:
            self._asked[name] = asyncio.ensure_future(self._discover(name))
        return await asyncio.shield(self._asked[name])

    async def service_url(self, name: str, service: str) -> str:
        """Return the URL of a host's service."""
        return (await self.host(name)).url(service)

    async def headers(self, name: str, url: str) -> Mapping[str, str]:
        """Build headers with a host's credentials for one of its services."""
        name = self.real_name(name)
        reason = (await self.host(name)).withholds(url)
        if reason:
            self.credentials.withheld[name] = reason
            return {}
        return await self.credentials.headers(name)

    async def _discover(self, name: str) -> Host:
        self._known[name] = found = await self._described(name)
        return found

    async def _described(self, name: str) -> Host:
        try:
            headers = await self.credentials.headers(name)
        except CredentialsError:
            # The request that actually requires the credentials will report the failure.
            headers = {}
        policy = replace(self.policy, limit=_LIMIT)
        try:
            answer = await self.client.get(
                _document_url(name),
                headers={"accept": "application/json"},
                credentials=headers,
                policy=policy,
            )
            # Service discovery protocol: without a document, the host has no services, which is not
            # a failure.
            if answer.status == 404:
                return Host(name, answer.url, {})
            # Service discovery protocol: the media type must be application/json.
            document = answer.require(200).json(needs_type=True)
        except NetFailure as failure:
            raise HostError(f"Service discovery for {name} failed. {failure.text}") from failure
        if not isinstance(document, dict):
            raise HostError(f"The services of {name} are not described by a JSON object.")
        # Service discovery protocol: URLs are relative to the document after redirects.
        return Host(name, answer.url, document)


def registry_policy(settings: RegistryProtocols) -> Policy:
    """Build the retry and timeout policy for registries."""
    return Policy(
        _RETRIES if settings.retries is None else settings.retries,
        _TIMEOUT if settings.timeout is None else settings.timeout or None,
        limit=_LONGEST_ANSWER,
    )


def _document_url(name: str) -> str:
    return f"https://{hostname_for_network(name)}{_DOCUMENT}"
