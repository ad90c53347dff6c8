"""The CLI configuration: what a user sets for all working directories.

Owns which files are read; what is in them is read by `cli_config_settings`, where there are any. The
environment and the file system are those given; nothing here looks at the process's own environment.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import MappingProxyType

from nigari.diagnostics import Diagnostics
from nigari.hcl.source import Source
from nigari.packages.hosts.oci_settings import OciCredentials, OciDefaults
from nigari.record import record, replace

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


def load_cli_config(environment: Mapping[str, str], diags: Diagnostics) -> CliConfig:
    """Read every file that counts, then what the environment says."""
    config = CliConfig()
    for path in _files(environment, diags):
        try:
            with open(path, "rb") as file:
                content = file.read()
        except OSError as error:
            _report_unreadable(path, error.strerror or str(error), diags)
            continue
        if content:
            from nigari.packages.hosts.cli_config_settings import merged, parse_cli_config

            source = Source.from_bytes(path, content)
            config = merged(config, parse_cli_config(source, environment, diags), path, diags)
    cache = environment.get("TF_PLUGIN_CACHE_DIR", "") or config.plugin_cache_dir
    if cache and not os.path.isdir(cache):
        diags.warning(
            "Plugin cache directory not found",
            f"The plugin cache directory {cache} does not exist, so no cache is used. Create it, "
            "or remove the setting.",
        )
        cache = ""
    breaking = environment.get("TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE", "")
    return replace(
        config,
        plugin_cache_dir=cache,
        plugin_cache_may_break_lock_file=config.plugin_cache_may_break_lock_file
        or breaking not in ("", "0"),
        registry_protocols=RegistryProtocols(
            _positive(environment.get("TF_REGISTRY_DISCOVERY_RETRY", "")),
            _positive(environment.get("TF_REGISTRY_CLIENT_TIMEOUT", "")),
        ).over(config.registry_protocols),
    )


def config_directory(environment: Mapping[str, str]) -> str:
    """The directory of a user's further files; empty if the environment names no home."""
    home = environment.get("HOME", "")
    directory = os.path.join(home, ".terraform.d") if home else ""
    config_home = environment.get("XDG_CONFIG_HOME", "")
    if config_home and not os.path.exists(directory):
        return os.path.join(config_home, "opentofu")
    return directory


def possible_files(environment: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Files that count if they are there, and directories of which every file may count."""
    chosen = environment.get("TF_CLI_CONFIG_FILE") or environment.get("TERRAFORM_CONFIG")
    if chosen:
        return [chosen], []
    home, config_home = environment.get("HOME", ""), environment.get("XDG_CONFIG_HOME", "")
    files = [os.path.join(home, name) for name in (".tofurc", ".terraformrc")] if home else []
    directories = [os.path.join(home, ".terraform.d")] if home else []
    if config_home:
        files.append(os.path.join(config_home, "opentofu", "tofurc"))
        directories.append(os.path.join(config_home, "opentofu"))
    return files + _files(environment, Diagnostics()), directories


def _files(environment: Mapping[str, str], diags: Diagnostics) -> list[str]:
    chosen = environment.get("TF_CLI_CONFIG_FILE") or environment.get("TERRAFORM_CONFIG")
    if chosen:
        if os.path.exists(chosen):
            return [chosen]
        diags.warning(
            "CLI configuration file not found",
            f"The environment names {chosen} as the CLI configuration file, but it does not exist.",
        )
        return []
    home = environment.get("HOME", "")
    config_home = environment.get("XDG_CONFIG_HOME", "")
    found: list[str] = []
    names = (".tofurc", ".terraformrc") if home else ()
    candidates = [os.path.join(home, name) for name in names]
    existing = [path for path in candidates if os.path.isfile(path)]
    further = os.path.join(config_home, "opentofu") if config_home else ""
    if existing:
        found.append(existing[0])
    elif further and os.path.isfile(path := os.path.join(further, "tofurc")):
        found.append(path)
    directory = config_directory(environment)
    if os.path.isdir(directory):
        found += _files_in(directory, diags)
    return found


def _files_in(directory: str, diags: Diagnostics) -> list[str]:
    try:
        names = os.listdir(directory)
    except OSError as error:
        _report_unreadable(directory, error.strerror or str(error), diags)
        return []
    more = sorted(name for name in names if name.endswith((".tfrc", ".tfrc.json")))
    paths = [os.path.join(directory, name) for name in more]
    return [path for path in paths if os.path.isfile(path)]


def _positive(text: str) -> int | None:
    is_number = text.isascii() and text.isdigit()
    return int(text) if is_number and int(text) > 0 else None


def _report_unreadable(path: str, reason: str, diags: Diagnostics) -> None:
    diags.error("Cannot read the CLI configuration file", f"{path} cannot be read: {reason}.")
