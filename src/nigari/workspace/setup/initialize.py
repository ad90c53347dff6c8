"""Making a working directory ready: its modules, its backend, its providers.

Everything is found out first, and nothing is written until all of it is well. A working directory
that is left half-written by a crash is one that the next init puts right.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from nigari.addrs.module import ModuleAddr
from nigari.addrs.provider import Provider
from nigari.backends.known_backends import our_backend
from nigari.backends.protocol import Around
from nigari.diagnostics import Diagnostics
from nigari.eval.core.inputs import InputKind, Inputs, check_undeclared
from nigari.eval.static.backend import BackendArguments
from nigari.eval.static.run import StaticRun
from nigari.file_lock import FileLock
from nigari.packages.content.platforms import current_platform
from nigari.packages.hosts.cli_config import CliConfig
from nigari.packages.hosts.cli_config_files import load_cli_config, possible_files
from nigari.packages.modules.module_locks import FILE_NAME as MODULE_LOCKS
from nigari.packages.modules.module_locks import ModuleLocks
from nigari.packages.modules.module_store import ModuleStore
from nigari.packages.providers.installation import Installation, InstalledProvider, InstallListener
from nigari.packages.providers.lockfile import FILE_NAME as LOCKS
from nigari.packages.providers.requirement import Requirement
from nigari.record import replace
from nigari.typed import Protocol
from nigari.workspace import Workspace
from nigari.workspace.configuration.modules import NoModules, Place
from nigari.workspace.configuration.requirements import (
    check_sources,
    find_requirements,
    stored_requirements,
)
from nigari.workspace.context.asyncio_bridge import run_until_it_waits
from nigari.workspace.context.locks import without_locks
from nigari.workspace.context.prompts import Prompter
from nigari.workspace.context.remembered_variables import FILE_NAME as REMEMBERED
from nigari.workspace.context.remembered_variables import (
    belongs_to,
    forget,
    load_remembered,
    save_remembered,
    worth_remembering,
)
from nigari.workspace.context.working_directory import WorkingDirectory
from nigari.workspace.setup.backend_setup import BackendSetup
from nigari.workspace.setup.init_options import InitOptions
from nigari.workspace.setup.install import InstallingPackages, InstallView, StagedFiles
from nigari.workspace.setup.last_init import LastInit, NotedFiles, files_below
from nigari.workspace.setup.module_locking import ModuleLocking, open_module_locking, save_locking
from nigari.workspace.setup.module_sources import ModuleSources
from nigari.workspace.setup.provider_install import ProviderInstall
from nigari.workspace.states.backend import CACHE_NAME as BACKEND
from nigari.workspace.states.backend import (
    BackendMemory,
    ConfiguredBackend,
    SavedBackend,
    environment_settings,
    find_arguments,
    merged,
    read_overrides,
)
from nigari.workspace.states.encryption import check_encryption, state_decryption
from nigari.workspace.states.locations import FILE_NAME as LOCATIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_MOST_NAMED: Final = 10


class InitView(InstallView, Protocol):
    """Displays the progress of init."""

    @property
    def provider_listener(self) -> InstallListener:
        """Return the listener for provider installation."""
        ...

    def waiting(self) -> None:
        """Another init is running in the same directory."""
        ...

    def beginning(self, part: str) -> None:
        """A part of the work begins: `modules`, `backend`, `providers`."""
        ...

    def forgetting(self, names: Sequence[str]) -> None:
        """Values of variables are not used any more that were remembered for another backend."""
        ...

    def backend_moved(self, differences: Sequence[str]) -> None:
        """The backend is in another location, because of variables or the workspace."""
        ...

    def backend_set(self, before: SavedBackend | None, now: SavedBackend | None) -> None:
        """There is another backend now, or none any more."""
        ...

    def providers_installed(self, outcomes: Sequence[InstalledProvider]) -> None:
        """All providers are there."""
        ...

    def module_locks_written(self, is_first: bool) -> None:
        """The lock file of modules has been made or changed."""
        ...

    def locks_written(self, is_first: bool) -> None:
        """The lock file has been made or changed."""
        ...


class Initialization:
    """One run of init."""

    def __init__(
        self,
        where: WorkingDirectory,
        options: InitOptions,
        prompter: Prompter,
        view: InitView,
        last: LastInit | None = None,
    ) -> None:
        """`last` is where an init with nothing to do is remembered, if it may be."""
        self._where = where
        self._environ = where.environ
        self._options = options
        self._prompter = prompter
        self._view = view
        self._data = where.data_directory
        self._store = ModuleStore(Path(where.at(where.modules_name)))
        self._last = last
        self._noted = NotedFiles(where.files)
        self._files = StagedFiles(where.files if last is None else self._noted, where.modules_name)
        self._packages: InstallingPackages | None = None
        self._sources: ModuleSources | None = None
        self._config = CliConfig()
        self._aliases: Mapping[str, str] = {}
        """Names that stand for other hosts."""
        self._locking = ModuleLocking(None)
        self._module_locks: ModuleLocks | None = None
        """New contents of the module lock file, if they differ."""
        self.workspace: Workspace = self._open(None)
        self.selected: str = "default"
        self.diags: Diagnostics = Diagnostics()
        self.run: StaticRun | None = None
        """The static phase at its end."""
        self._arguments: BackendArguments | None = None
        self._requirements: list[Requirement] = []
        self._variable_files: list[str] = []
        self._forgets = False
        """True if the remembered data belongs to another backend."""
        self._tests: list[StaticRun] = []
        """The modules that only tests use, each with those that it calls."""

    def _open(self, packages: InstallingPackages | None) -> Workspace:
        return Workspace(self._where, files=self._files, packages=packages)

    def begin(self, inputs: Inputs, workspace: str = "default") -> bool:
        """Do it all; whether everything is well."""
        self.selected = workspace
        if any(given.kind is InputKind.REMEMBERED for given in inputs.values()):
            self._last = None
        self._config = load_cli_config(self._environ, self.diags)
        if self.diags.has_errors:
            return False
        if self._last is not None:
            self._variable_files = [self._where.at(path) for path in self.workspace.sources]
            self._look_around()
        try:
            with ExitStack() as stack:
                if self._options.get_modules:
                    lock = stack.enter_context(self._store.locked(self._view.waiting))
                    if lock is FileLock.UNSUPPORTED:
                        self.diags.append(without_locks("runs of init in this directory"))
                    stack.callback(self._open_packages().close)
                if not self.diags.error_count:
                    self._find_aliases(inputs)
                    self._work(inputs)
        except BrokenPipeError:
            # The output is closed, which the command line handles.
            raise
        except OSError as error:
            _report_unwritable(error, self.diags)
        self._quote_lock_files()
        return not self.diags.has_errors

    def _quote_lock_files(self) -> None:
        """Let diagnostics show lines of lock files, which are not read as a configuration is."""
        sources = self.workspace.sources
        for problem in self.diags:
            name = "" if problem.subject is None else problem.subject.filename
            if os.path.basename(name) in (LOCKS, MODULE_LOCKS) and name not in sources:
                with suppress(OSError), open(name, "rb") as file:
                    sources[name] = file.read()

    def _work(self, inputs: Inputs) -> None:
        run = self._evaluate(inputs)
        others = {
            name: given for name, given in inputs.items() if given.kind is not InputKind.REMEMBERED
        }
        remembered = load_remembered(self._data, self.selected, Diagnostics())
        if run is not None and remembered and self._is_other_backend(run):
            # What belongs to another environment must not have a say in this one, nor later.
            is_used, self._forgets = len(others) < len(inputs), True
            if is_used or not self._options.remember:
                self._view.forgetting(list(remembered))
            if is_used:
                self.diags.take()
                run = self._evaluate(others)
        if run is None or self.diags.has_errors:
            return
        self._look_at_tests(run)
        if self.diags.error_count:
            return
        self._module_locks = self._locking.finish(
            self._options.readonly, self._options.upgrade, self.diags
        )
        if not self.diags.error_count:
            if self._packages is not None:
                self._packages.tell(self._places(run))
            self._finish(run)

    # -- finding out ----------------------------------------------------------------------------

    def _open_packages(self) -> ModuleSources:
        options = self._options
        origins = ModuleSources(
            self._config, self._environ, self._prompter.is_at_terminal, self._store
        )
        self._locking = open_module_locking(self._where.path, options.lock_modules, self.diags)
        self._packages = InstallingPackages(
            self._files, self._store, origins, self._view, options.upgrade, self._locking
        )
        sources = self.workspace.sources
        self.workspace = self._open(self._packages)
        self.workspace.sources.update(sources)
        self._sources = origins
        return origins

    def _evaluate(self, inputs: Inputs) -> StaticRun | None:
        """The static phase, repeated after each missing value that was entered."""
        root = self.workspace.modules.compiled(self.workspace.directory, Diagnostics())
        if root is not None and (root.module.calls or root.module.symbols):
            self._view.beginning("modules")
        given = dict(inputs)
        can_ask = self._prompter.can_prompt
        while True:
            run, diags = self.workspace.static(
                given, self.selected, can_ask=can_ask, fill_places=self._fill_places
            )
            if run is None or not run.missing.variables:
                break
            for name in run.missing.variables:
                self._last = None
                answer = self._prompter.value_of(run.root.module.variables[name])
                if answer is None:
                    # Whatever needs the value says so in the next round.
                    can_ask = False
                else:
                    given[name] = answer
        self.run = run
        self.diags.extend(diags)
        if run is not None:
            check_undeclared(given, run.root.module.variables, self.diags, is_final=False)
        return run

    def _is_other_backend(self, run: StaticRun) -> bool:
        """Return whether the remembered values belong to another backend."""
        is_wrong = self._arguments is None and run.root.module.backend is not None
        if is_wrong or not self._options.backend.is_wanted:
            return False
        return not belongs_to(self._data, self.selected, self._backend_digest())

    def _backend_digest(self) -> str:
        """Return a digest of the backend's configuration, without secrets."""
        wanted = None if self._arguments is None else self._configured(self._arguments)
        if wanted is None:
            return ""
        import hashlib

        text = json.dumps([wanted.type, wanted.saved.config], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def _configured(self, arguments: BackendArguments) -> ConfiguredBackend | None:
        """The backend with what is given elsewhere; None where that is wrong."""
        settings, sources = self._options.backend.settings, self.workspace.sources
        overrides = read_overrides(settings, sources, Diagnostics())
        given = {**environment_settings(self._where), **overrides}
        return merged(arguments, given, Diagnostics())

    def _find_aliases(self, inputs: Inputs) -> None:
        """Find out which host stands behind the name that hosted backends give to their own. Its
        modules may be asked for before the backend is set up.
        """
        saved: SavedBackend | None = None
        if not self._options.backend.is_wanted:
            saved = BackendMemory(self._data).load(Diagnostics())
        else:
            root = self.workspace.modules.compiled(self.workspace.directory, Diagnostics())
            backend = None if root is None else root.module.backend
            if backend is None or not _has_registry(backend.type):
                return
            found: list[BackendArguments | None] = [None]
            self.workspace.static(
                inputs,
                self.selected,
                modules=NoModules(),
                fill_places=lambda run: found.append(find_arguments(run)),
            )
            arguments = found[-1]
            wanted = None if arguments is None else self._configured(arguments)
            saved = None if wanted is None else wanted.saved
        if saved is not None and _has_registry(saved.type):
            from nigari.backends.stores.hosted.arguments import host_aliases

            self._aliases = host_aliases(saved.config, self._environ)
        if self._sources is not None:
            self._sources.aliases = self._aliases

    def _look_at_tests(self, run: StaticRun) -> None:
        tests, workspace = self._options.tests, self.workspace
        files = workspace.loader.tests(workspace.directory, tests, self.diags)
        if not files or self.diags.has_errors:
            return
        from nigari.workspace.configuration.test_modules import file_requirements, find_test_modules

        self._tests = find_test_modules(workspace, files, run, self.selected, self.diags)
        if self._options.get_providers:
            self._requirements += file_requirements(files, run.root.module)
            for tree in self._tests:
                self._requirements += find_requirements(tree)

    def _fill_places(self, run: StaticRun) -> None:
        options = self._options
        self._arguments = find_arguments(run) if options.backend.is_wanted else None
        self._requirements = find_requirements(run) if options.get_providers else []
        if options.backend.is_wanted:
            # As in OpenTofu, -backend=false needs no keys: a checkout for validate has none.
            check_encryption(run, self._environ)

    def _places(self, run: StaticRun) -> Mapping[ModuleAddr, Place]:
        """Return the directories of the modules and symbol libraries, except those of an
        earlier round.
        """
        places = self.workspace.modules.places
        trees = (run, *self._tests)
        found = [frame.instance.addr for tree in trees for frame in tree.frames()]
        found += [addr for tree in trees for addr in tree.libraries()]
        return {addr: places[addr] for addr in found if not addr.is_root}

    # -- the rest -------------------------------------------------------------------------------

    def _finish(self, run: StaticRun) -> None:
        options, diags = self._options, self.diags
        sources = self.workspace.sources
        decrypt = state_decryption(run, self._environ)
        backend = BackendSetup(
            self._where, options.backend, self._prompter, sources, diags, decrypt
        )
        around = Around(self._where.path, self._environ)
        providers = ProviderInstall(
            self._where,
            options.providers,
            replace(self._config, aliases=self._aliases),
            self._view.provider_listener,
            None if self._sources is None else self._sources.known_hosts,
        )
        installation: Installation | None = None
        stored = self._open_backend(backend, around)
        if options.get_providers and not diags.has_errors:
            self._view.beginning("providers")
            check_sources(run, stored, diags)
            wanted = [*self._requirements, *stored]
            if not diags.has_errors:
                installation = run_until_it_waits(providers.install(wanted, diags))
        if diags.error_count or not run_until_it_waits(backend.migrate(around)):
            providers.undo()
            return
        self._commit(run, backend, providers, installation)
        if installation is not None and not diags:
            self._remember(installation.outcomes, backend.state_file(around))

    def _open_backend(self, backend: BackendSetup, around: Around) -> list[Requirement]:
        """See to the backend; what the providers in its state require, if those are wanted."""
        options, diags, view = self._options, self.diags, self._view
        if options.backend.is_wanted:
            view.beginning("backend")
            backend.decide(self._arguments, self.selected)
        run_until_it_waits(backend.select(around, self.selected))
        stored: list[Requirement] = []
        if options.get_providers and not diags.has_errors:
            addresses = run_until_it_waits(backend.stored_providers(around))
            stored = stored_requirements(addresses, self._requirements, self._where.environ)
        # Only what can be read is news.
        if options.backend.is_wanted and not diags.has_errors:
            if backend.differences:
                view.backend_moved(backend.differences)
            elif backend.is_news:
                view.backend_set(backend.saved, backend.result)
        return stored

    def _commit(
        self,
        run: StaticRun,
        backend: BackendSetup,
        providers: ProviderInstall,
        installation: Installation | None,
    ) -> None:
        if self._packages is not None:
            restored = self._packages.commit(self._places(run), self.workspace.directory)
            if restored:
                _warn_of_restored(restored, self.diags)
        if self._module_locks is not None:
            save_locking(self._where.path, self._module_locks)
            self._view.module_locks_written(self._locking.is_first)
        if self._options.remember:
            values, digest = worth_remembering(run), self._backend_digest()
            save_remembered(self._data, self.selected, values, digest)
        elif self._forgets:
            forget(self._data, self.selected)
        backend.save()
        if installation is not None:
            providers.commit()
            self._view.providers_installed(installation.outcomes)
            incomplete = providers.incomplete
            if incomplete:
                _warn_of_one_platform(incomplete, self.diags)
            if providers.writes_locks:
                self._view.locks_written(providers.is_first_lock)

    # -- for the next time ----------------------------------------------------------------------

    def _look_around(self) -> None:
        """Look at the files that are read by others than the evaluator."""
        where, noted = self._where, self._noted
        beside = (LOCKS, MODULE_LOCKS)
        kept = (BACKEND, LOCATIONS, REMEMBERED)
        noted.look_at(os.path.normpath(os.path.join(where.name, name)) for name in beside)
        noted.look_at(os.path.join(where.data_name, name) for name in kept)
        files, directories = possible_files(self._environ)
        noted.look_at(os.path.abspath(path) for path in files)
        for directory in directories:
            with suppress(OSError):
                noted.entries(os.path.abspath(directory))

    def _remember(self, outcomes: Sequence[InstalledProvider], state: str | None) -> None:
        """Remember the inputs of this init if there was nothing to do and all packages are local."""
        modules = [] if self._packages is None else self._packages.files_at_hand()
        if self._last is None or state is None or modules is None:
            return
        self._look_around()
        providers = [
            path
            for each in outcomes
            if each.path is not None
            for path in files_below(str(each.path))
        ]
        others = [state, *self._variable_files, *modules, *providers]
        self._last.remember(self._noted, others, outcomes)


def _warn_of_one_platform(incomplete: Sequence[Provider], diags: Diagnostics) -> None:
    names = "\n".join(f"  - {each.display}" for each in incomplete)
    platform = current_platform()
    diags.warning(
        "Checksums for one platform only",
        f"The lock file has checksums only for {platform} of these providers:\n{names}\n\n"
        "On other platforms init refuses them with this lock file. To add checksums, run "
        '"nigari providers lock -platform=OS_ARCH" with -platform for each one that is used.',
    )


def _warn_of_restored(paths: Sequence[str], diags: Diagnostics) -> None:
    named = "\n".join(f"  - {path}" for path in paths[:_MOST_NAMED])
    more = f"\n  and {len(paths) - _MOST_NAMED} more" if len(paths) > _MOST_NAMED else ""
    diags.warning(
        "Edited files of modules were restored",
        "These files were not as they had been installed, so init has replaced them, or removed "
        f"those that were added:\n{named}{more}\n\nTo try out changes, copy the module to a "
        "directory of your own, and use that as its source.",
    )


def _report_unwritable(error: OSError, diags: Diagnostics) -> None:
    place = f" {error.filename}" if error.filename else ""
    diags.error(
        "Cannot write to the working directory",
        f"Cannot write{place}: {error.strerror or error}. Run init again to complete what it has "
        "written so far.",
    )


def _has_registry(backend: str) -> bool:
    spec = our_backend(backend)
    return spec is not None and spec.has_registry
