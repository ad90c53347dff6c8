"""The CLI configuration: a user's settings for all working directories.

Defines the settings; `cli_config_files` reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from nigari.addrs.hostname import normalize_hostname, readable_hostname
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.addrs.module_source import RegistrySource
    from nigari.addrs.provider import Provider
    from nigari.packages.hosts.address_patterns import ModulePattern, ProviderPattern


@record
class InstallMethod:
    """An installation method for providers: `direct`, `filesystem_mirror`, `network_mirror`,
    `oci_mirror`.
    """

    kind: str
    location: str = ""
    include: tuple[ProviderPattern, ...] = ()
    exclude: tuple[ProviderPattern, ...] = ()
    download_retries: int | None = None
    trust_all_hashes: bool = False
    """True to trust a network mirror's checksums for other platforms too."""
    cooldown: int = 0
    """Seconds for which new versions of registries are not selected."""


@record
class ModuleMethod:
    """A `direct` block of `module_installation`."""

    cooldown: int = 0
    """Seconds for which new versions are not selected."""
    include: tuple[ModulePattern, ...] = ()
    exclude: tuple[ModulePattern, ...] = ()

    def is_for(self, source: RegistrySource) -> bool:
        """Check whether the block applies to a module; `exclude` takes precedence."""
        if any(pattern.matches(source) for pattern in self.exclude):
            return False
        return not self.include or any(pattern.matches(source) for pattern in self.include)


@record
class HostToken:
    """The token of a `credentials` block, and the file it is in. The token is never shown."""

    token: str
    file: str

    def __repr__(self) -> str:
        return f"<token in {self.file}>"


@record
class RegistryProtocols:
    """Retries and timeout for registries; `None` if a file does not set them."""

    retries: int | None = None
    timeout: float | None = None
    """Seconds."""

    def over(self, other: RegistryProtocols) -> RegistryProtocols:
        """Fill unset fields from other settings."""
        return RegistryProtocols(
            other.retries if self.retries is None else self.retries,
            other.timeout if self.timeout is None else self.timeout,
        )


@record
class OciSecret:
    """Credentials for an OCI registry. Never shown."""

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
    """Prefix of repository names; empty for all."""
    secret: OciSecret | None = None
    helper: str = ""
    """Name of a program `docker-credential-NAME`, if there is no secret."""


@record
class OciDefaults:
    """An `oci_default_credentials` block."""

    discovers: bool = True
    """True to search the credential files of other programs."""
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
    """The merged settings of all files."""

    plugin_cache_dir: str = ""
    plugin_cache_may_break_lock_file: bool = False
    installation: ProviderInstallation | None = None
    module_methods: tuple[ModuleMethod, ...] | None = None
    """The `module_installation` block, if there is one."""
    hosts: Mapping[str, Mapping[str, object]] = MappingProxyType({})
    """Services by host, which replace service discovery."""
    credentials: Mapping[str, HostToken] = MappingProxyType({})
    """Tokens by host."""
    credentials_helper: tuple[str, ...] = ()
    """Name of a helper program and its arguments."""
    registry_protocols: RegistryProtocols = RegistryProtocols()
    oci_credentials: tuple[OciCredentials, ...] = ()
    oci_defaults: OciDefaults = OciDefaults()
    aliases: Mapping[str, str] = MappingProxyType({})
    """Host aliases for this run, which no file can set."""

    def __repr__(self) -> str:
        # Tokens are never shown.
        return f"<CliConfig with credentials for {', '.join(self.credentials) or 'no host'}>"


def mirror_host(url: str) -> str | None:
    """Return the host of a network mirror; None if nothing may be asked there."""
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    host = normalize_hostname(readable_hostname(parts.netloc.rpartition("@")[2]))
    # Network mirror protocol: https only, as checksums in a mirror are not signed.
    return host if parts.scheme == "https" else None
