"""The providers of a working directory: where their programs are, started, asked, ended.

A provider is the built-in one, a plugin that runs already (`TF_REATTACH_PROVIDERS`), one under
development (`dev_overrides`), or one that `init` has installed and locked.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from nigari.addrs.provider import Provider
from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.packages.cli_config import CliConfig, load_cli_config
from nigari.packages.lockfile import FILE_NAME, Locks, load_locks
from nigari.packages.provider_package import current_platform, executable
from nigari.packages.provider_selection import installed_program
from nigari.packages.provider_store import ProviderStore
from nigari.providers import api
from nigari.providers.builtin.terraform import TerraformProvider
from nigari.providers.diagnostics import located
from nigari.schema.provider import ProviderSchema
from nigari.workspace.data_directory import data_directory

if TYPE_CHECKING:
    from nigari.providers.launch import Plugin

_STORE: Final = "providers"
_REATTACH_VARIABLE: Final = "TF_REATTACH_PROVIDERS"


class InstalledProviders:
    """Knows where the program of each provider is, and starts it."""

    def __init__(self, directory: str, environ: Mapping[str, str]) -> None:
        self._directory = Path(directory)
        self._environ = environ
        self.store = ProviderStore(data_directory(directory, environ) / _STORE, current_platform())
        self.problems = Diagnostics()
        """What is wrong with the lock file and the CLI configuration."""

    @cached_property
    def locks(self) -> Locks:
        """What the lock file says."""
        return load_locks(self._directory / FILE_NAME, self.problems)

    @cached_property
    def cli_config(self) -> CliConfig:
        """What the user has set for all working directories."""
        return load_cli_config(self._environ, self.problems)

    @cached_property
    def overrides(self) -> Mapping[Provider, Path]:
        """Providers under development, with their directories."""
        installation = self.cli_config.installation
        return {} if installation is None else installation.dev_overrides

    def is_elsewhere(self, provider: Provider) -> bool:
        """Whether the provider is under development or runs already, and is never installed."""
        return provider in self.overrides or self._is_attached(provider)

    async def start(
        self,
        provider: Provider,
        known_schema: ProviderSchema | None,
        diags: Diagnostics,
    ) -> api.Provider | None:
        """A new process of a provider, or `None` after reporting why there is none."""
        if provider.is_builtin:
            return TerraformProvider()
        plugin = await self._plugin(provider, diags)
        if plugin is None:
            return None
        from nigari.providers.client import PluginProvider

        return PluginProvider(plugin, known_schema)

    async def _plugin(self, provider: Provider, diags: Diagnostics) -> Plugin | None:
        import asyncio

        from nigari.providers.launch import (
            LaunchError,
            attach,
            launch,
            parse_reattach,
            prepare_to_talk,
        )

        name = provider.display
        try:
            if self._is_attached(provider):
                running = parse_reattach(self._environ[_REATTACH_VARIABLE])[str(provider)]
                return await attach(running, name, self._environ)
            loop = asyncio.get_running_loop()
            finding = loop.run_in_executor(None, self._program, provider, diags)
            # The checksum takes its time, in a thread; what talks to plugins is imported meanwhile.
            await asyncio.sleep(0)
            prepare_to_talk()
            import nigari.providers.client  # noqa: F401 - see above

            program = await finding
            return None if program is None else await launch([str(program)], name, self._environ)
        except ValueError as error:
            diags.append(_invalid_reattach(error))
        except LaunchError as error:
            diags.extend(located([error.diagnostic]))
        return None

    def _is_attached(self, provider: Provider) -> bool:
        # Whether the text makes sense is found out where it is used.
        return f'"{provider}"' in self._environ.get(_REATTACH_VARIABLE, "")

    def _program(self, provider: Provider, diags: Diagnostics) -> Path | None:
        override = self.overrides.get(provider)
        if override is not None:
            program = executable(override, provider.type)
            if program is None:
                diags.append(_empty_override(provider, override))
            return program
        lock = self.locks.providers.get(provider)
        if lock is None:
            diags.append(not_installed(provider))
            return None
        return installed_program(lock, self.store, diags)


def not_installed(provider: Provider) -> Diagnostic:
    """A provider that nothing is known of in this working directory."""
    return Diagnostic(
        Severity.ERROR,
        "Provider not installed",
        f"{provider.display} is not installed in this working directory. Run "
        '"nigari init" to install the providers that are needed.',
    )


def _empty_override(provider: Provider, directory: Path) -> Diagnostic:
    return Diagnostic(
        Severity.ERROR,
        "Provider under development not found",
        f"The CLI configuration says that {provider.display} is in {directory}, and there is no "
        f"program named terraform-provider-{provider.type} there.",
    )


def _invalid_reattach(error: ValueError) -> Diagnostic:
    return Diagnostic(
        Severity.ERROR,
        "Invalid environment variable",
        f"{_REATTACH_VARIABLE} cannot be used: {error}.",
    )
