"""The providers of a working directory: where their programs are, started, asked, ended.

A provider is the built-in one, a plugin that runs already (`TF_REATTACH_PROVIDERS`), one under
development (`dev_overrides`), or one that `init` has installed and locked.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cached_property

from nigari.addrs.provider import Provider, parse_provider
from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.diagnostics.advice import advice
from nigari.workspace.context.working_directory import WorkingDirectory

TYPE_CHECKING = False
# The built-in provider needs nothing of what the others do.
if TYPE_CHECKING:
    from typing import Final

    from nigari.packages.hosts.cli_config import CliConfig
    from nigari.packages.providers.installed_program import ProviderProgram
    from nigari.packages.providers.lockfile import Locks, ProviderLock
    from nigari.packages.providers.provider_store import ProviderStore
    from nigari.packages.providers.requirement import Requirement
    from nigari.providers import api
    from nigari.schema.provider import ProviderSchema
    from nigari.workspace.plugins.provider_start import ProgramSearch, ProviderStart, Purpose
    from nigari.workspace.plugins.schema_cache import SchemaCache

_STORE: Final = "providers"
_REATTACH_VARIABLE: Final = "TF_REATTACH_PROVIDERS"


class InstalledProviders:
    """Knows where the program of each provider is, and starts it."""

    def __init__(self, where: WorkingDirectory) -> None:
        self._where = where
        self._environ = where.environ
        self._store = os.path.normpath(where.data(_STORE))
        self._searches: dict[Provider, ProgramSearch] = {}
        self._begun: dict[Provider, ProviderStart] = {}
        self._problems = Diagnostics()
        self._developed: set[Provider] = set()
        self.has_store: bool = True
        """Whether `terraform_data` has a block `store`."""

    @property
    def problems(self) -> Diagnostics:
        """Return problems of the lock file and the CLI configuration, and a note about started
        providers under development.
        """
        found = Diagnostics()
        found.extend(self._problems)
        if self._developed:
            found.append(self.under_development(self._developed))
        return found

    def under_development(self, providers: Iterable[Provider]) -> Diagnostic:
        """A warning that these providers are development overrides."""
        names = "\n".join(f"  - {e.display} in {self.overrides[e]}" for e in sorted(providers))
        return Diagnostic(
            Severity.WARNING,
            "Providers under development",
            f"The CLI configuration overrides these providers with development versions:\n{names}"
            "\n\nReleased versions may behave differently, and may not be able to read a state "
            "that a development version has written.",
        )

    @cached_property
    def cache(self) -> SchemaCache:
        """The schemas that are known from earlier runs."""
        from nigari.packages.content.user_cache import cache_directory
        from nigari.workspace.plugins.schema_cache import DIRECTORY, SchemaCache

        shared = cache_directory(self._environ, "schemas")
        return SchemaCache(shared or self._where.data(DIRECTORY), self._environ)

    @cached_property
    def store(self) -> ProviderStore:
        """Return the package store, for callers that change it."""
        from nigari.packages.content.platforms import current_platform
        from nigari.packages.providers.provider_store import ProviderStore

        return ProviderStore(self._where.data_directory / _STORE, current_platform())

    @cached_property
    def locks(self) -> Locks:
        """Return the contents of the lock file."""
        from nigari.packages.providers.lockfile import FILE_NAME, load_locks

        return load_locks(
            os.path.normpath(self._where.at(self._where.name, FILE_NAME)), self._problems
        )

    @cached_property
    def cli_config(self) -> CliConfig:
        """Return the user's settings for all working directories."""
        from nigari.packages.hosts.cli_config_files import load_cli_config

        return load_cli_config(self._environ, self._problems)

    @cached_property
    def overrides(self) -> Mapping[Provider, str]:
        """Providers under development, with their directories."""
        installation = self.cli_config.installation
        return {} if installation is None else installation.dev_overrides

    def is_elsewhere(self, provider: Provider) -> bool:
        """Return whether the provider is under development or already running, and so never
        installed.
        """
        return provider in self.overrides or self.is_attached(provider)

    def are_there(self, providers: Iterable[Provider], diags: Diagnostics) -> bool:
        """Return whether each provider has a package, regardless of its content, and report those
        without.
        """
        asked = sorted(each for each in providers if self._is_to_be_locked(each))
        is_complete = True
        for provider in asked:
            lock = self.locks.providers.get(provider)
            if lock is None:
                diags.append(not_installed(provider))
            elif self._is_there(lock, diags):
                continue
            is_complete = False
        return is_complete

    def _is_there(self, lock: ProviderLock, diags: Diagnostics) -> bool:
        """Return whether a locked provider has a package, and report it otherwise."""
        from nigari.packages.content.platforms import current_platform
        from nigari.packages.providers.installed_program import is_installed, report_not_installed

        if is_installed(lock, self._store, current_platform()):
            return True
        report_not_installed(lock, diags)
        return False

    def versions_fit(self, requirements: Iterable[Requirement], diags: Diagnostics) -> bool:
        """Return whether all required providers are locked in accepted versions and installed, and
        report it otherwise.
        """
        asked = [each for each in requirements if self._is_to_be_locked(each.provider)]
        needed = {each.provider for each in asked}.union(self.locks.providers)
        are_there = self.are_there(needed, diags)
        if not self.locks.providers:
            return are_there
        from nigari.packages.providers.locked_versions import locked_versions_fit

        return locked_versions_fit(asked, self.locks, diags) and are_there

    def _is_to_be_locked(self, provider: Provider) -> bool:
        return not provider.is_builtin and not self.is_elsewhere(provider)

    def look_ahead(self) -> None:
        """Check the packages of all locked providers while other things are done.

        Most likely all of them are needed; a problem with one is reported when it is.
        """
        if not self.locks.providers:
            return
        from nigari.workspace.plugins.provider_start import ProgramSearch

        for provider in self.locks.providers:
            if not self.is_elsewhere(provider):
                self._searches[provider] = ProgramSearch(provider, self._find)

    def start_ahead(self, providers: Iterable[Provider]) -> None:
        """Start the programs of installed providers that are asked for next, while what talks to
        them is imported.
        """
        from nigari.workspace.plugins.provider_start import Purpose

        for provider in providers:
            if self._is_to_be_locked(provider):
                self._begun[provider] = self.begin(provider, Purpose.PROCESS)

    async def start(
        self,
        provider: Provider,
        known_schema: ProviderSchema | None,
        diags: Diagnostics,
    ) -> api.Provider | None:
        """A new process of a provider, or `None` after reporting why there is none."""
        if provider.is_builtin:
            from nigari.providers.builtin.terraform import TerraformProvider
            from nigari.workspace.states.remote_state import remote_state_checker

            checker = remote_state_checker(self._environ)
            return TerraformProvider(checker=checker, has_store=self.has_store)
        if self.is_attached(provider):
            return await self._attach(provider, diags)
        if provider in self.overrides:
            self._developed.add(provider)
        from nigari.workspace.plugins.provider_start import Purpose

        begun = self._begun.pop(provider, None)
        if begun is None:
            begun = self.begin(provider, Purpose.PROCESS, known_schema)
        return await begun.running(diags)

    def begin(
        self, provider: Provider, wanted: Purpose, known_schema: ProviderSchema | None = None
    ) -> ProviderStart:
        """Start the program of a provider, which goes on while other things are done."""
        from nigari.workspace.plugins.provider_start import ProviderStart

        # Both are read here, and not by several threads at once.
        _ = self.locks, self.overrides
        return ProviderStart(provider, wanted, self._program, self.cache, self._where, known_schema)

    async def _attach(self, provider: Provider, diags: Diagnostics) -> api.Provider | None:
        from nigari.providers.client import PluginProvider
        from nigari.providers.launch import attach, parse_reattach

        try:
            entries = parse_reattach(self._environ[_REATTACH_VARIABLE])
            running = next(entry for name, entry in entries.items() if _means(name, provider))
        except ValueError as error:
            diags.append(_invalid_reattach(error))
            return None
        return PluginProvider(await attach(running, provider.display, self._environ))

    def is_attached(self, provider: Provider) -> bool:
        """Return whether a plugin of that provider is already running."""
        text = self._environ.get(_REATTACH_VARIABLE, "")
        if not text:
            return False
        from nigari.providers.launch import parse_reattach

        try:
            return any(_means(name, provider) for name in parse_reattach(text))
        except ValueError:
            # An invalid text is reported where it is used.
            return f'{provider.type}"' in text

    def _program(self, provider: Provider, diags: Diagnostics) -> ProviderProgram | None:
        # One who starts a second process wants to know again.
        search = self._searches.pop(provider, None)
        return self._find(provider, diags) if search is None else search.found(diags)

    def _find(self, provider: Provider, diags: Diagnostics) -> ProviderProgram | None:
        from nigari.packages.content.platforms import current_platform
        from nigari.packages.providers.installed_program import ProviderProgram, installed_program
        from nigari.packages.providers.provider_package import executable

        override = self.overrides.get(provider)
        if override is not None:
            program = executable(override, provider.type)
            if program is None:
                diags.append(_empty_override(provider, override))
            return None if program is None else ProviderProgram(program)
        lock = self.locks.providers.get(provider)
        if lock is None:
            diags.append(not_installed(provider))
            return None
        return installed_program(lock, self._store, current_platform(), diags)


def not_installed(provider: Provider) -> Diagnostic:
    """A provider that nothing is known of in this working directory."""
    return Diagnostic(
        Severity.ERROR,
        "Provider not installed",
        f"{provider.display} is not installed in this working directory. Run {advice().init()} to "
        "install the required providers.",
    )


def _empty_override(provider: Provider, directory: str) -> Diagnostic:
    return Diagnostic(
        Severity.ERROR,
        "Provider under development not found",
        f"The CLI configuration says that {provider.display} is in {directory}, but there is no "
        f"program named terraform-provider-{provider.type} there.",
    )


def _means(name: str, provider: Provider) -> bool:
    """Return whether a name means a provider; the default host and namespace may be omitted."""
    return parse_provider(name, Diagnostics()) == provider


def _invalid_reattach(error: ValueError) -> Diagnostic:
    return Diagnostic(
        Severity.ERROR,
        "Invalid environment variable",
        f"{_REATTACH_VARIABLE} cannot be used: {error}.",
    )
