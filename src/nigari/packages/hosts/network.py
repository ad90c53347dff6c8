"""The network of one run: opened with the first request, so that who needs none pays nothing."""

from __future__ import annotations

from collections.abc import Mapping

from nigari.packages.hosts.cli_config import CliConfig

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from typing import Final

    from nigari.net.client import Client
    from nigari.packages.hosts.hosts import Host, Hosts
    from nigari.packages.hosts.oci_credentials import OciCredentialsStore

_DOWNLOADS: Final = 8


class KnownHosts:
    """What a run has found out about hosts, for all parts of it that talk to them."""

    def __init__(self) -> None:
        self.hosts: dict[str, Host] = {}
        self.tokens: dict[str, str | None] = {}
        """What the credentials helper has said."""


class Network:
    """What sources share: a client, the services of hosts, a bound on downloads at once."""

    def __init__(
        self,
        config: CliConfig,
        environment: Mapping[str, str],
        known: KnownHosts | None = None,
    ) -> None:
        """`known` is what another part of the same run has found out about hosts."""
        self._config = config
        self._known = known
        self.environment = environment
        self._client: Client | None = None
        self._hosts: Hosts | None = None
        self._downloads: asyncio.Semaphore | None = None
        self._oci: OciCredentialsStore | None = None

    async def hosts(self) -> Hosts:
        """Hosts, their credentials, and the client (`Hosts.client`)."""
        if self._hosts is None:
            import asyncio

            from nigari.net.client import Client
            from nigari.net.settings import read_settings
            from nigari.packages.hosts.host_credentials import HostCredentials
            from nigari.packages.hosts.hosts import Hosts

            # Whoever runs this without an event loop notices here that one is needed.
            await asyncio.sleep(0)
            if self._hosts is None:
                self._client = Client(read_settings(self.environment))
                known = self._known or KnownHosts()
                credentials = HostCredentials(self._config, self.environment, known.tokens)
                self._hosts = Hosts(self._client, self._config, credentials, known.hosts)
        return self._hosts

    def oci_credentials(self) -> OciCredentialsStore:
        """The credentials for OCI registries."""
        if self._oci is None:
            from nigari.packages.hosts.oci_credentials import OciCredentialsStore

            config = self._config
            self._oci = OciCredentialsStore(
                config.oci_credentials, config.oci_defaults, self.environment
            )
        return self._oci

    def downloading(self) -> asyncio.Semaphore:
        """Held while a package is downloaded: more at once would not be faster."""
        if self._downloads is None:
            import asyncio

            self._downloads = asyncio.Semaphore(_DOWNLOADS)
        return self._downloads

    async def close(self) -> None:
        """Close all connections."""
        if self._client is not None:
            await self._client.close()
            self._client = self._hosts = self._downloads = None
