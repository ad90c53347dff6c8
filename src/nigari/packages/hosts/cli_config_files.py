"""Files of the CLI configuration: their selection and merging.

The caller passes the environment; the process's own is never read. The parser is imported only if
there is a file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from nigari.diagnostics import Diagnostics
from nigari.hcl.binary import without_binary
from nigari.hcl.source import Source
from nigari.packages.hosts.cli_config import CliConfig, RegistryProtocols
from nigari.record import replace


def load_cli_config(environment: Mapping[str, str], diags: Diagnostics) -> CliConfig:
    """Read every applicable file, then the environment variables."""
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

            source = without_binary(Source.from_bytes(path, content), diags)
            config = merged(config, parse_cli_config(source, environment, diags), path, diags)
    cache = environment.get("TF_PLUGIN_CACHE_DIR", "") or config.plugin_cache_dir
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
    """Return the directory of a user's additional files; empty without a home directory."""
    home = environment.get("HOME", "")
    directory = os.path.join(home, ".terraform.d") if home else ""
    config_home = environment.get("XDG_CONFIG_HOME", "")
    # OpenTofu: an existing ~/.terraform.d takes precedence over the XDG directories.
    if config_home and not os.path.exists(directory):
        return os.path.join(config_home, "opentofu")
    return directory


def possible_files(environment: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """List the files that apply if they exist, and the directories of which every file may apply."""
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
    # TERRAFORM_CONFIG is the former name of the variable. Either one excludes all other files.
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
    # .tofurc takes precedence; both are never read.
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
    # OpenTofu reads further files in order of their names.
    more = sorted(name for name in names if name.endswith((".tfrc", ".tfrc.json")))
    paths = [os.path.join(directory, name) for name in more]
    return [path for path in paths if os.path.isfile(path)]


def _positive(text: str) -> int | None:
    is_number = text.isascii() and text.isdigit()
    return int(text) if is_number and int(text) > 0 else None


def _report_unreadable(path: str, reason: str, diags: Diagnostics) -> None:
    diags.error("Cannot read the CLI configuration file", f"{path} cannot be read: {reason}.")
