"""The CLI configuration: what a user sets for all working directories.

Here is what can be set; `cli_config_files` reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.addrs.provider import Provider
    from nigari.packages.hosts.provider_pattern import ProviderPattern


@record
class InstallMethod:
    """One way to get providers: `direct`, `filesystem_mirror`, `network_mirror`, `oci_mirror`."""

    kind: str
    location: str = ""
    include: tuple[ProviderPattern, ...] = ()
    exclude: tuple[ProviderPattern, ...] = ()
    download_retries: int | None = None
    trust_all_hashes: bool = False
    """Whether a network mirror's word counts for the packages of other platforms, too."""


@record
class HostToken:
    """What a `credentials` block says, and which file has it. The token is never shown."""

    token: str
    file: str

    def __repr__(self) -> str:
        return f"<token in {self.file}>"


@record
class RegistryProtocols:
    """How patient registries are asked; `None` where a file says nothing."""

    retries: int | None = None
    timeout: float | None = None
    """Seconds."""

    def over(self, other: RegistryProtocols) -> RegistryProtocols:
        """The same, with what others say where this says nothing."""
        return RegistryProtocols(
            other.retries if self.retries is None else self.retries,
            other.timeout if self.timeout is None else self.timeout,
        )


@record
class OciSecret:
    """What proves to an OCI registry who asks. Never shown."""

    username: str = ""
    password: str = ""
    access_token: str = ""
    refresh_token: str = ""

    def __repr__(self) -> str:
        return "<OciSecret>"


@record
class OciCredentials:
    """Credentials for a registry, or for some of its repositories."""

    domain: str
    """Empty for all registries."""
    path: str = ""
    """The beginning of names of repositories; empty for all."""
    secret: OciSecret | None = None
    helper: str = ""
    """The name of a program `docker-credential-NAME`, if there is no secret."""


@record
class OciDefaults:
    """An `oci_default_credentials` block."""

    discovers: bool = True
    """Whether the files that other programs keep are looked at."""
    files: tuple[str, ...] | None = None
    helper: str = ""


@record
class ProviderInstallation:
    """A `provider_installation` block."""

    methods: tuple[InstallMethod, ...] = ()
    dev_overrides: Mapping[Provider, str] = MappingProxyType({})
    """Providers under development, with their directories."""


@record
class CliConfig:
    """All settings of all files together."""

    plugin_cache_dir: str = ""
    plugin_cache_may_break_lock_file: bool = False
    installation: ProviderInstallation | None = None
    hosts: Mapping[str, Mapping[str, object]] = MappingProxyType({})
    """Services by host, in place of what the host itself would say."""
    credentials: Mapping[str, HostToken] = MappingProxyType({})
    """Tokens by host."""
    credentials_helper: tuple[str, ...] = ()
    """The name of a helper program and its arguments."""
    registry_protocols: RegistryProtocols = RegistryProtocols()
    oci_credentials: tuple[OciCredentials, ...] = ()
    oci_defaults: OciDefaults = OciDefaults()
    aliases: Mapping[str, str] = MappingProxyType({})
    """Names that stand for other hosts in this run; no file says this."""

    def __repr__(self) -> str:
        # Tokens are never shown.
        return f"<CliConfig with credentials for {', '.join(self.credentials) or 'no host'}>"
