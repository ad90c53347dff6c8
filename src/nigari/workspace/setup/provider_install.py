"""Installing the providers that a configuration asks for.

Connects the requirements of modules with where packages come from (the CLI configuration, the
command line), the working directory's store and its lock file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from nigari.addrs.provider import Provider
from nigari.diagnostics import Diagnostics
from nigari.packages.content.platforms import current_platform
from nigari.packages.content.whole_file import make_directories
from nigari.packages.hosts.network import KnownHosts, Network
from nigari.packages.providers.configured_sources import provider_source
from nigari.packages.providers.installation import Installation, InstallListener
from nigari.packages.providers.lockfile import (
    FILE_NAME,
    Locks,
    adopt_predecessors,
    load_locks,
    may_write,
    save_locks,
)
from nigari.packages.providers.provider_installer import InstallLocations, install_providers
from nigari.packages.providers.provider_sources import (
    CombinedSources,
    FilesystemMirror,
    ProviderSource,
    SelectiveSource,
)
from nigari.packages.providers.provider_store import ProviderStore
from nigari.packages.providers.requirement import Requirement
from nigari.workspace.context.working_directory import WorkingDirectory
from nigari.workspace.plugins.providers import InstalledProviders
from nigari.workspace.setup.init_options import ProviderOptions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.packages.hosts.cli_config import CliConfig

_DIRECTORIES_FILE: Final = "plugin_path"


class ProviderInstall:
    """The work of installing providers into a working directory."""

    def __init__(
        self,
        where: WorkingDirectory,
        options: ProviderOptions,
        config: CliConfig,
        listener: InstallListener | None = None,
        known_hosts: KnownHosts | None = None,
    ) -> None:
        """`known_hosts` were asked already."""
        self._listener = listener
        self._config = config
        self._known_hosts = known_hosts
        self._installed = InstalledProviders(where)
        self._directory = Path(where.path)
        self._environ = where.environ
        self._options = options
        self._lock_path = self._directory / FILE_NAME
        self._before: set[str] | None = None
        """Contents of the store before anything was installed."""
        self._locks = Locks()
        self._result: Installation | None = None
        self._is_new_lock = False

    async def install(
        self, requirements: Iterable[Requirement], diags: Diagnostics
    ) -> Installation | None:
        """Make every provider available; None after reporting what cannot be."""
        self._locks = load_locks(self._lock_path, diags)
        if diags.has_errors:
            return None
        asked = list(requirements)
        overridden = frozenset(
            each.provider for each in asked if self._installed.is_elsewhere(each.provider)
        )
        developed = overridden.intersection(self._installed.overrides)
        if developed:
            diags.append(self._installed.under_development(developed))
        if not _make_cache(self._config.plugin_cache_dir, diags):
            return None
        network = Network(self._config, self._environ, self._known_hosts)
        places = self._locations(network, overridden)
        self._before = _paths(self._installed.store.directory)
        locks = adopt_predecessors(self._locks, diags)
        try:
            self._result = await install_providers(
                asked, locks, places, diags, self._options.upgrade, self._listener
            )
        except BaseException:
            # An interrupted install leaves everything as it was.
            self.undo()
            raise
        finally:
            await network.close()
        self._is_new_lock = may_write(
            self._locks, self._result.locks, self._options.readonly, diags
        )
        return self._result if diags.error_count == 0 else None

    def _locations(self, network: Network, overridden: frozenset[Provider]) -> InstallLocations:
        """Return the locations of packages before and after installation."""
        config = self._config
        cache = None
        if config.plugin_cache_dir:
            cache = ProviderStore(Path(config.plugin_cache_dir), current_platform())
        return InstallLocations(
            self._source(network),
            self._installed.store,
            cache,
            config.plugin_cache_may_break_lock_file,
            overridden,
            self._environ,
        )

    @property
    def writes_locks(self) -> bool:
        """Return whether the lock file changes."""
        return self._result is not None and self._is_new_lock

    @property
    def is_first_lock(self) -> bool:
        """Return whether there was no lock file yet."""
        return not self._locks.providers

    @property
    def incomplete(self) -> list[Provider]:
        """Providers that are newly locked with checksums of this machine's packages alone."""
        if self._result is None or not self._is_new_lock:
            return []
        return [each.provider for each in self._result.outcomes if each.has_one_platform]

    def commit(self) -> None:
        """Write the lock file, if there is something new. An `OSError` says why it cannot be."""
        if self._result is not None and self._is_new_lock:
            save_locks(self._lock_path, self._result.locks)
        self._remember_directories()

    def undo(self) -> None:
        """Remove whatever has been installed."""
        if self._before is None:
            return
        import shutil

        base = self._installed.store.directory
        for text in sorted(_paths(base) - self._before, reverse=True):
            path = Path(text)
            if path.is_symlink() or path.is_file():
                path.unlink(missing_ok=True)
            else:
                shutil.rmtree(path, ignore_errors=True)

    def _source(self, network: Network) -> ProviderSource:
        directories = [each for each in self._options.plugin_directories if each]
        if not directories:
            return provider_source(self._config, self._environ, self._directory, network)
        mirrors = [FilesystemMirror(self._directory / each) for each in directories]
        return CombinedSources([SelectiveSource(each) for each in mirrors])

    def _remember_directories(self) -> None:
        """Keep `-plugin-dir` where `tofu` does, which looks for provisioner plugins there."""
        given = self._options.plugin_directories
        if not given:
            return
        path = self._installed.store.directory.with_name(_DIRECTORIES_FILE)
        if any(given):
            make_directories(path.parent)
            path.write_text(json.dumps(list(given), indent=2), encoding="utf-8")
        else:
            path.unlink(missing_ok=True)


def _make_cache(directory: str, diags: Diagnostics) -> bool:
    """Create the plugin cache directory where it is missing; False after reporting why not."""
    if directory and not os.path.isdir(directory):
        try:
            make_directories(directory)
        except OSError as error:
            diags.error(
                "Cannot create the plugin cache directory",
                f"The CLI configuration names {directory} as the plugin cache directory, which does "
                f"not exist and cannot be created: {error.strerror or error}.",
            )
            return False
    return True


def _paths(directory: Path) -> set[str]:
    """Everything below a directory, and the directory itself."""
    found: set[str] = set()
    for folder, subfolders, files in os.walk(directory):
        found.add(folder)
        found.update(os.path.join(folder, name) for name in (*subfolders, *files))
    return found
