"""Network access of one run, opened on the first request, so that offline runs pay nothing."""

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
    """Discovered services and tokens, shared by all parts of a run."""

    def __init__(self) -> None:
        self.hosts: dict[str, Host] = {}
        self.tokens: dict[str, str | None] = {}
        """Answers of the credentials helper."""


class Network:
    """Shared resources of sources: a client, service discovery, and a limit on concurrent
    downloads.
    """

    def __init__(
        self,
        config: CliConfig,
        environment: Mapping[str, str],
        known: KnownHosts | None = None,
    ) -> None:
        """Use `known` for the hosts that another part of the run has discovered."""
        self._config = config
        self._known = known
        self.environment = environment
        self._client: Client | None = None
        self._hosts: Hosts | None = None
        self._downloads: asyncio.Semaphore | None = None
        self._oci: OciCredentialsStore | None = None

    async def hosts(self) -> Hosts:
        """Return the hosts with their credentials and the client (`Hosts.client`)."""
        if self._hosts is None:
            import asyncio

            from nigari.net.client import Client
            from nigari.net.settings import read_settings
            from nigari.packages.hosts.host_credentials import HostCredentials
            from nigari.packages.hosts.hosts import Hosts

            # Without an event loop, this yields so that the caller notices that one is needed.
            await asyncio.sleep(0)
            if self._hosts is None:
                self._client = Client(read_settings(self.environment))
                known = self._known or KnownHosts()
                credentials = HostCredentials(self._config, self.environment, known.tokens)
                self._hosts = Hosts(self._client, self._config, credentials, known.hosts)
        return self._hosts

    def oci_credentials(self) -> OciCredentialsStore:
        """Return the credentials for OCI registries."""
        if self._oci is None:
            from nigari.packages.hosts.oci_credentials import OciCredentialsStore

            config = self._config
            self._oci = OciCredentialsStore(
                config.oci_credentials, config.oci_defaults, self.environment
            )
        return self._oci

    def downloading(self) -> asyncio.Semaphore:
        """Semaphore held during a download: more concurrent ones would not be faster."""
        if self._downloads is None:
            import asyncio

            self._downloads = asyncio.Semaphore(_DOWNLOADS)
        return self._downloads

    async def close(self) -> None:
        """Close all connections."""
        if self._client is not None:
            await self._client.close()
            self._client = self._hosts = self._downloads = None
