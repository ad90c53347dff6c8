"""Where providers are looked for, as the CLI configuration says or, without a word, as usual."""

import os
from collections.abc import Mapping
from pathlib import Path

from nigari.packages.cli_config import CliConfig
from nigari.packages.provider_sources import (
    CombinedSources,
    FilesystemMirror,
    ProviderSource,
    SelectiveSource,
    UnreachableRegistry,
    implied_sources,
)


def provider_source(
    config: CliConfig,
    environment: Mapping[str, str],
    working_directory: Path,
    registry: ProviderSource | None = None,
) -> CombinedSources:
    """Where providers are looked for, as configured or, without configuration, as usual."""
    registry = UnreachableRegistry() if registry is None else registry
    if config.installation is None:
        return implied_sources(_usual_directories(environment, working_directory), registry)
    selective: list[SelectiveSource] = []
    for method in config.installation.methods:
        source: ProviderSource = registry
        if method.kind == "filesystem_mirror":
            source = FilesystemMirror(working_directory / method.location)
        selective.append(SelectiveSource(source, method.include, method.exclude))
    return CombinedSources(selective)


def _usual_directories(environment: Mapping[str, str], working_directory: Path) -> list[Path]:
    directories = [working_directory / "terraform.d" / "plugins"]
    home = environment.get("HOME", "")
    if home:
        directories.append(Path(home, ".terraform.d", "plugins"))
    data_home = environment.get("XDG_DATA_HOME", "")
    if data_home:
        directories.append(Path(data_home, "opentofu", "plugins"))
    shared = environment.get("XDG_DATA_DIRS", "") or "/usr/local/share:/usr/share"
    bases = [data_home or (f"{home}/.local/share" if home else ""), *shared.split(os.pathsep)]
    directories += [Path(base, "terraform", "plugins") for base in bases if base]
    return directories
