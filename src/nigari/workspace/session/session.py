"""The session: one working directory with its configuration and state, and the operations on them.

Commands and Python programs share it. It prints nothing and never prompts by itself: `diags` collects
diagnostics, and `prompter` answers questions. Everything is computed on demand and only once: the
configuration is read once, and its static phase runs once.

What happens under the lock of the state is in `nigari.workspace.session.locked_session`.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from functools import partial

from nigari.diagnostics import Diagnostic, Diagnostics, Range, Severity
from nigari.record import replace
from nigari.workspace.context.options import (
    NO_OPTIONS,
    NO_VARIABLES,
    GivenVariables,
    SessionOptions,
    StateFiles,
)
from nigari.workspace.context.prompts import NO_PROMPTER, Prompter
from nigari.workspace.context.quick_scan import may_ask_for_version, may_be_encrypted, mentions
from nigari.workspace.context.working_directory import WorkingDirectory

TYPE_CHECKING = False
# What only some commands, or only some directories need, is imported when it is.
if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from nigari.addrs.provider import Provider
    from nigari.backends.protocol import Backend
    from nigari.backends.snapshots import Snapshots
    from nigari.backends.workspaces import Workspaces, WorkspaceStates
    from nigari.config.blocks.variable import Variable
    from nigari.eval.core.inputs import Inputs
    from nigari.eval.static.run import StaticRun
    from nigari.lang.files import Files
    from nigari.packages.providers.requirement import Requirement
    from nigari.plan.model.plan_file import SavedPlan
    from nigari.schema.provider import ProviderSchema
    from nigari.state.edit import MoveOutcome
    from nigari.state.encryption import Encryption, StateLayer
    from nigari.state.model import State, StateFile
    from nigari.workspace.configuration.directory import Workspace
    from nigari.workspace.plans.saved_plan import Reopened
    from nigari.workspace.plugins.providers import InstalledProviders
    from nigari.workspace.setup.init_options import InitOptions
    from nigari.workspace.setup.initialize import InitView
    from nigari.workspace.states.backend import SavedBackend
    from nigari.workspace.states.backend_check import CheckedBackend
    from nigari.workspace.states.locations import Location, Locations
    from nigari.workspace.states.state import WorkingState

MoveEdit = Callable[["State", "State | None"], "MoveOutcome | None"]
"""Moves something within a state, or to another one; None to leave both as they are."""
Edit = Callable[["State"], "State | None"]
"""Gives a state that is to be stored for the stored one; None to leave that as it is."""


def _ignore(_: object) -> None:
    """Ignore an event."""


class Session:
    """One working directory, opened."""

    def __init__(
        self,
        where: WorkingDirectory,
        variables: GivenVariables = NO_VARIABLES,
        options: SessionOptions = NO_OPTIONS,
        prompter: Prompter = NO_PROMPTER,
        diags: Diagnostics | None = None,
    ) -> None:
        """`diags` is a collector to share, with another session of the same directory."""
        self.where: WorkingDirectory = where
        self.options = options
        self.prompter = prompter
        self.diags: Diagnostics = Diagnostics() if diags is None else diags
        """Diagnostics collected so far."""
        self.on_remembered: Callable[[Sequence[str]], object] = _ignore
        """Called with the variables whose values `init` has remembered, once they are used."""
        self.on_elsewhere: Callable[[str], object] = _ignore
        """Called with a line where the state is in another location than that of the last init."""
        self.variables: GivenVariables = variables
        """The caller's variables, beside those of the directory and the environment."""
        self._workspace: Workspace | None = None
        self._inputs: Inputs = {}
        self._static: tuple[StaticRun | None, Diagnostics] | None = None
        self._is_reported = False
        self._states: WorkingState | None = None
        self._is_checked = False
        self._has_locations = self._has_asked = False
        self._encryption: Encryption | None = None
        self.installed: InstalledProviders | None = None
        """The providers of the directory, once they were requested."""
        self.shown: Workspace | None = None
        """The workspace whose files diagnostics point into, if that is another one."""

    # -- the configuration ----------------------------------------------------------------------

    @property
    def workspace(self) -> Workspace:
        """The configuration's files, read with the variables once they are asked for."""
        if self._workspace is None:
            self._open()
        assert self._workspace is not None
        return self._workspace

    @property
    def inputs(self) -> Inputs:
        """The values of variables, as they were given."""
        _ = self.workspace
        return self._inputs

    @inputs.setter
    def inputs(self, inputs: Inputs) -> None:
        self._inputs, self._static, self._is_reported = inputs, None, False

    def _open(self) -> None:
        from nigari.workspace.configuration.directory import Workspace

        self._workspace = Workspace(self.where, self.options.directory)
        self._inputs = self._read_variables(self._workspace)

    def _read_variables(self, workspace: Workspace) -> Inputs:
        from nigari.workspace.context.variable_values import read_variables

        reader = read_variables(self.where, self.selected, self.variables, self.diags)
        workspace.sources.update(reader.sources)
        if reader.remembered:
            self.on_remembered(reader.remembered)
        return reader.inputs

    @property
    def selected(self) -> str:
        """The name of the selected workspace."""
        return "default" if self.where.selects_default else self.where.selected(self.diags).name

    @property
    def has_configuration(self) -> bool:
        """Return whether there are any configuration files."""
        from nigari.config.file_names import has_module

        directory = self.where.name if self.options.directory is None else self.options.directory
        return has_module(self.where.files, os.path.normpath(directory))

    @property
    def sources(self) -> Mapping[str, bytes]:
        """The files that have been read, for showing diagnostics."""
        own = {} if self._workspace is None else self._workspace.sources
        return own if self.shown is None else {**own, **self.shown.sources}

    def context_of(self, place: Range) -> str:
        """The name of the block around a place."""
        shown = self.shown or self._workspace
        return "" if shown is None else shown.context_of(place)

    def use_queries(self) -> None:
        """Read the query files of the directory, too."""
        self.workspace.loader.query_directory = self.workspace.directory

    def use_files(self, files: Files) -> None:
        """Take the configuration from other files from now on, with the same variables."""
        from nigari.workspace.configuration.directory import Workspace

        self._workspace = Workspace(self.where, self.options.directory, files)
        self.inputs = self._inputs

    def use_plan(self, plan: Reopened) -> bool:
        """Work from now on with the state and the variables that a saved plan was made with; False
        after reporting that no init has set up the location of the state.
        """
        from nigari.workspace.states.backend_check import check_plan

        self.inputs = {**self.inputs, **plan.inputs}
        found = check_plan(plan.backend, self.where, plan.saved.workspace, self.diags)
        states = self._found_states().elsewhere(plan.backend).existing(found.missing)
        self._states, self._is_checked = states, True
        self._encryption = None
        return not self.diags.has_errors

    def use_environment(self, plan: SavedPlan) -> bool:
        """Work in the environment that a saved plan was made in; False after reporting that it is
        another one than the session's.
        """
        name = plan.environment
        own = self.where.environment
        if own is not None and own.name != name:
            made = f'in the environment "{name}"' if name else "outside of environments"
            self.diags.error(
                "Cannot apply the plan",
                f"The plan cannot be applied in {own.title}: it was made {made}.",
            )
            return False
        if own is None and name:
            from nigari.workspace.context.environment import Environment
            from nigari.workspace.context.environments import in_environment

            where, _ = in_environment(self.where, name, Diagnostics())
            # What it declares is in the plan, so that it need not be declared any more.
            environment = where.environment or Environment(name, workspace=plan.workspace)
            self.where = replace(self.where, environment=environment)
            self._states = self._workspace = self._static = self._encryption = None
            self.installed = None
        return True

    def static(self) -> StaticRun | None:
        """The static phase; None where the configuration cannot be read at all."""
        run, found = self._run()
        if not self._is_reported:
            self._is_reported = True
            self.diags.extend(found)
        return run

    def _run(self) -> tuple[StaticRun | None, Diagnostics]:
        if self._static is None:
            self._static = self.workspace.static(self.inputs, self.selected)
        return self._static

    def root(self) -> StaticRun | None:
        """The static phase for what only the root module has.

        What is wrong with other modules, or with values that are not asked for, does not matter.
        """
        workspace = self.workspace
        declared = Diagnostics()
        workspace.modules.compiled(workspace.directory, declared)
        if declared.has_errors:
            self.diags.extend(declared)
            return None
        return self._run()[0]

    def _check_version(self) -> None:
        """Report that the root module asks for another version of the program, or that the version
        it asks for is not known.
        """
        run = self.root()
        if run is None or self._is_reported:
            return
        asked = [each.expr.range for each in run.root.module.required_versions if each.counts]
        self.diags.extend(
            each
            for each in self._run()[1]
            if each.severity is Severity.ERROR and any(_is_inside(each.subject, at) for at in asked)
        )

    def requirements(self) -> list[Requirement] | None:
        """Return the configuration's provider requirements; None if it cannot be read."""
        run = self.static()
        if run is None or self.diags.has_errors:
            return None
        from nigari.workspace.configuration.requirements import find_requirements

        requirements, found = run.noting(partial(find_requirements, run))
        self.diags.extend(found)
        return requirements

    def has_providers(self) -> bool:
        """Return whether the providers that planning needs are installed, and report obstacles
        otherwise, as planning would. Other mistakes are left to planning.
        """
        if not self.has_configuration:
            return True
        from nigari.workspace.plugins.providers import InstalledProviders

        run = self.static()
        if run is None or self.diags.has_errors:
            return False
        from nigari.workspace.configuration.requirements import providers_fit

        installed, found = InstalledProviders(self.where), Diagnostics()
        if not providers_fit(run, installed, found):
            return self._lacks_providers(run.root.module.variables, found)
        # The packages are checked while planning is imported.
        self.installed = installed
        installed.look_ahead()
        return True

    def _lacks_providers(self, declared: Mapping[str, Variable], found: Diagnostics) -> bool:
        """Report which providers are missing, unless planning would not get that far."""
        from nigari.eval.core.inputs import check_complete, check_undeclared

        check_undeclared(self.inputs, declared, self.diags)
        check_complete(self.inputs, declared, self.diags)
        if not self.diags.has_errors:
            self.diags.extend(found)
        return False

    def ask_variables(self) -> None:
        """Have all variables known before anything is worked out, were it only the backend."""
        self._has_asked = True
        workspace = self.workspace
        root = workspace.modules.compiled(workspace.directory, Diagnostics())
        if root is not None:
            variables = root.module.variables
            self.inputs = self.complete(variables[name] for name in sorted(variables))

    def complete(self, wanted: Iterable[Variable]) -> Inputs:
        """The values that are given, with those of wanted variables that had to be asked for."""
        inputs = dict(self.inputs)
        for variable in wanted if self.prompter.can_prompt else ():
            if (
                variable.name not in inputs
                and variable.default is None
                and not variable.is_reserved
            ):
                answer = self.prompter.value_of(variable)
                if answer is not None:
                    inputs[variable.name] = answer
        return inputs

    def initialize(self, options: InitOptions, view: InitView) -> bool:
        """Make the directory ready for everything else; whether all is well."""
        from nigari.workspace.setup.init_options import PARTS
        from nigari.workspace.setup.last_init import LastInit, is_usual

        last = None
        if self.options.directory is None and is_usual(self.where, options, self.variables):
            last = LastInit(self.where)
            found = last.recall()
            if found is not None:
                for part in PARTS:
                    view.beginning(part)
                view.providers_installed(found)
                return True
        from nigari.workspace.setup.initialize import Initialization

        work = Initialization(self.where, options, self.prompter, view, last)
        selected = self.selected
        inputs = self._read_variables(work.workspace)
        self.shown = work.workspace
        if self.diags.has_errors:
            return False
        try:
            return work.begin(inputs, selected)
        finally:
            self.shown = work.workspace
            self.diags.extend(work.diags)
            # An init may have changed everything that was read before.
            self._workspace = self._static = self._encryption = self.installed = None
            self._is_reported = self._is_checked = False

    # -- the state ------------------------------------------------------------------------------

    def _found_states(self) -> WorkingState:
        if self._states is None:
            from nigari.workspace.states.state import WorkingState

            self._states = WorkingState(self.where)
        return self._states

    @property
    def states(self) -> WorkingState:
        """The states of the directory, if its backend is the one that init has set up, be it in
        another location.
        """
        states = self._found_states()
        if not self._is_checked:
            self._is_checked = True
            if states.remembers_backend or mentions(self.where, b"backend", b"cloud"):
                self._check_backend()
        return self._found_states()

    def _check_backend(self) -> None:
        """Find the backend, and whether its location was set up.

        What init remembers belongs to the location that it was remembered in, and not to others.
        """
        diags, unused = Diagnostics(), ""
        found = self._checked_backend(diags)
        if diags.has_errors or (found is not None and found.text):
            remembered = self._forget_remembered()
            if remembered:
                unused = f" Remembered values are not used there: {', '.join(remembered)}."
                diags = Diagnostics()
                found = self._checked_backend(diags)
        self.diags.extend(diags)
        if found is None or self.diags.has_errors:
            return
        self._has_locations = found.uses_workspace
        states = self._found_states()
        if found.other is not None:
            states = states.elsewhere(found.other)
        self._states = states.existing(found.missing)
        if found.text:
            self.on_elsewhere(f"{found.text}{unused}")

    def _checked_backend(self, diags: Diagnostics) -> CheckedBackend | None:
        from nigari.workspace.states.backend_check import check_backend

        run = self.root()
        if run is None:
            return None
        return check_backend(run, self.where, self.selected, self._root_in, diags)

    def _root_in(self, workspace: str) -> StaticRun | None:
        """The static phase of the root module with another workspace selected."""
        where = self.where.in_workspace(workspace)
        return Session(where, self.variables, self.options, diags=Diagnostics()).root()

    def _forget_remembered(self) -> list[str]:
        """Do without the values that init remembers; the variables that they are for."""
        from nigari.eval.core.inputs import InputKind

        others = {k: v for k, v in self.inputs.items() if v.kind is not InputKind.REMEMBERED}
        names = [f"var.{name}" for name in self.inputs if name not in others]
        if names:
            self.inputs = others
            if self._has_asked:
                self.ask_variables()
        return names

    @property
    def locations(self) -> Sequence[Location]:
        """The locations of states that init has set up."""
        return self._known_locations().all

    def _known_locations(self) -> Locations:
        from nigari.workspace.states.backend import BackendMemory
        from nigari.workspace.states.locations import load_locations

        data = self.where.data_directory
        return load_locations(data, BackendMemory(data).load(Diagnostics()))

    def workspaces(self) -> Workspaces | None:
        """The workspaces of the directory; None after reporting why they cannot be used."""
        from nigari.backends.workspaces import Workspaces

        backend = self.states.backend(self.diags)
        if backend is None or self.diags.has_errors:
            return None
        return Workspaces(
            backend=backend,
            data_directory=self.where.data(),
            selected=self.where.selected,
            open=partial(self._states_of, backend),
            are_apart=self._has_locations,
            set_up=self._set_up,
            take_down=self._take_down,
        )

    def _set_up(self, workspace: str) -> None:
        """Remember the location of a workspace that was created or selected here. An `OSError` says
        why that cannot be.
        """
        self._change_locations(workspace, lambda known, used: known.adding(used, workspace))

    def _take_down(self, workspace: str) -> None:
        """Forget the location of a workspace that was deleted. An `OSError` says why that cannot be."""
        self._change_locations(
            workspace, lambda known, used: known.without_workspace(used, workspace)
        )

    def _change_locations(
        self, workspace: str, change: Callable[[Locations, SavedBackend], Locations]
    ) -> None:
        from nigari.workspace.states.locations import save_locations

        session = self if workspace == self.selected else self.in_workspace(workspace)
        session.on_elsewhere = _ignore
        used = session.states.remembered_backend(Diagnostics())
        if used is not None:
            save_locations(self.where.data_directory, change(self._known_locations(), used))

    def _states_of(self, own: Backend, workspace: str) -> WorkspaceStates | None:
        """Return the location and encryption of a workspace's state; None after reporting why they
        cannot be determined.
        """
        from nigari.backends.workspaces import WorkspaceStates

        if workspace == self.selected:
            return WorkspaceStates(own, lambda: self.encryption)
        other = self.in_workspace(workspace)
        backend = other.states.backend(self.diags) if self._has_locations else own
        if backend is None or self.diags.has_errors:
            return None
        return WorkspaceStates(backend, lambda: other.encryption)

    def in_workspace(self, name: str) -> Session:
        """The same directory with another workspace selected."""
        where = self.where.in_workspace(name)
        other = Session(where, self.variables, self.options, self.prompter, self.diags)
        other.on_elsewhere = self.on_elsewhere
        return other

    @property
    def encryption(self) -> StateLayer:
        """Return the encryption of the state."""
        return self.encryptions.state

    @property
    def encryptions(self) -> Encryption:
        """Return the encryption of states and plans."""
        if self._encryption is None:
            from nigari.state.encryption import no_encryption

            chosen = no_encryption()
            if may_be_encrypted(self.where):
                from nigari.workspace.states.encryption import configured_encryption

                run = self.root()
                if run is not None:
                    # Warnings are for those who change what is encrypted, not for who looks at it.
                    found = Diagnostics()
                    chosen = configured_encryption(run, self.where.environ, found) or chosen
                    self.diags.extend(e for e in found if e.severity is Severity.ERROR)
            self._encryption = chosen
        return self._encryption

    async def read(self) -> Snapshots | None:
        """The newest snapshot, or `None` after reporting why it cannot be read."""
        snapshots = self.states.snapshots(self.encryption, self.diags, self.options.files)
        if snapshots is None or self.diags.has_errors or not await snapshots.read(self.diags):
            return None
        return snapshots

    def as_shown(self, state: State) -> State:
        """A state as it is shown: with the providers that the configuration means."""
        from nigari.state.predecessors import adopt_predecessors, has_predecessors

        if not has_predecessors(state, self.where.environ):
            return state
        from nigari.workspace.configuration.requirements import find_requirements

        run = self.root()
        named = [] if run is None else find_requirements(run)
        return adopt_predecessors(state, {each.provider for each in named})

    async def load_schemas(
        self, providers: Iterable[Provider]
    ) -> Mapping[Provider, ProviderSchema]:
        """Return the schemas of these providers; report those that cannot be started."""
        return await self._offered(providers, self.diags)

    async def _offered(
        self, providers: Iterable[Provider], diags: Diagnostics
    ) -> Mapping[Provider, ProviderSchema]:
        from nigari.workspace.plugins.provider_schemas import builtin_schemas, offered_schemas

        wanted = list(providers)
        if all(each.is_builtin for each in wanted):
            return builtin_schemas(wanted)
        from nigari.workspace.plugins.providers import InstalledProviders

        installed = InstalledProviders(self.where)
        found = await offered_schemas(installed, wanted, diags)
        diags.extend(installed.problems)
        return found

    async def _document(self, file: StateFile) -> str | None:
        """Return a snapshot's `show -json` document; None after warning that it is unavailable."""
        from nigari.state.show.show_json import state_to_json
        from nigari.workspace.plugins.provider_schemas import find_in

        shown, problems = self.as_shown(file.state), Diagnostics()
        schemas = await self._offered(shown.providers(), problems)
        if not problems.has_errors:
            document = state_to_json(replace(file, state=shown), find_in(schemas), problems)
            if document is not None:
                return document
        self.diags.append(_no_document(problems))
        return None

    # -- under the lock -------------------------------------------------------------------------

    async def edit(
        self,
        operation: str,
        edit: Edit,
        has_own_backup: bool = False,
        files: StateFiles | None = None,
    ) -> bool:
        """Store what an edit makes of the state; False after reporting why that cannot be done.

        A command that only edits the state keeps a backup of its own at every run. `files` are
        others than those of the session.
        """
        find = self.states.edited_snapshots if has_own_backup else self.states.snapshots
        wanted = find(self.encryption, self.diags, self.options.files if files is None else files)
        async with self.exclusive(wanted, operation) as snapshots:
            if snapshots is None:
                return False
            changed = edit(snapshots.state)
            if changed is None or changed is snapshots.state:
                return not self.diags.has_errors
            return await snapshots.write(changed, self.diags)

    async def move(self, change: MoveEdit, backup_out: str = "") -> bool:
        """Store what a move makes of the state, or of it and the one of `state_out`; False after
        reporting why that cannot be done. What arrives is stored before anything leaves.
        """
        files, diags, find = self.options.files, self.diags, self.states.edited_snapshots
        own = find(self.encryption, diags, StateFiles(files.state, backup=files.backup))
        async with self.exclusive(own, "state-mv") as source:
            if source is None:
                return False
            if not files.state_out:
                outcome = change(source.state, None)
                if outcome is None:
                    return not diags.has_errors
                return await source.write(outcome.target, diags)
            others = StateFiles(files.state_out, backup=backup_out)
            async with self.exclusive(find(self.encryption, diags, others), "state-mv") as target:
                if target is None:
                    return False
                outcome = change(source.state, target.state)
                if outcome is None:
                    return not diags.has_errors
                stored = await target.write(outcome.target, diags)
                return stored and await source.write(outcome.source, diags)

    async def move_to(self, other: Session, change: MoveEdit) -> bool:
        """Store what a move to the state of another session makes of both, or of neither; False
        after reporting why that cannot be done. Both are locked meanwhile.
        """
        diags = self.diags
        own = self.states.edited_snapshots(self.encryption, diags, self.options.files)
        theirs = other.states.edited_snapshots(other.encryption, other.diags)
        try:
            async with (
                self.exclusive(own, "state-mv") as source,
                other.exclusive(theirs, "state-mv") as target,
            ):
                if source is None or target is None:
                    return False
                before = target.state
                outcome = change(source.state, before)
                if outcome is None:
                    return not diags.has_errors
                if not await target.write(outcome.target, diags):
                    return False
                if await source.write(outcome.source, diags):
                    return True
                # Nothing may be in both.
                await target.write(before, diags)
                return False
        finally:
            diags.extend(other.diags)

    async def push(self, file: StateFile, is_forced: bool) -> bool:
        """Store a state that came from elsewhere as it is; False after reporting why not."""
        wanted = self.states.snapshots(self.encryption, self.diags)
        async with self.exclusive(wanted, "state-push") as snapshots:
            return snapshots is not None and await snapshots.put(file, is_forced, self.diags)

    async def force_unlock(self, lock_id: str) -> bool:
        """Remove a lock on the state whose holder is gone; False after reporting why not."""
        backend, selected = self.states.backend(self.diags), self.states.selected(self.diags)
        if backend is None or self.diags.has_errors:
            return False
        missing = self.states.missing
        if missing is not None and not await backend.storage(selected.name).read(self.diags):
            self.diags.append(missing)
            return False
        return await backend.storage(selected.name).force_unlock(lock_id, self.diags)

    def exclusive(
        self, snapshots: Snapshots | None, operation: str
    ) -> AbstractAsyncContextManager[Snapshots | None]:
        """The newest snapshot while no other process can change it; None after reporting why not.

        A configuration that asks for another version of the program must not be worked on.
        """
        from contextlib import asynccontextmanager

        return asynccontextmanager(self._exclusive)(snapshots, operation)

    async def _exclusive(
        self, snapshots: Snapshots | None, operation: str
    ) -> AsyncIterator[Snapshots | None]:
        diags = self.diags
        if may_ask_for_version(self.where):
            self._check_version()
        if (
            snapshots is None
            or diags.has_errors
            or not await snapshots.lock(operation, self.options.lock, diags)
        ):
            yield None
            return
        snapshots.document = self._document
        try:
            yield snapshots if await snapshots.read(diags) else None
        finally:
            await snapshots.unlock(diags)

    # -- saved plans ----------------------------------------------------------------------------

    def read_plan(self, path: str) -> SavedPlan | None:
        """Read a plan file; None after reporting why that failed."""
        from nigari.plan.model.plan_file import read_plan_file, unreadable_plan

        try:
            with open(self.where.at(path), "rb") as file:
                data = file.read()
        except OSError as error:
            self.diags.error("Plan cannot be read", unreadable_plan(path, error))
            return None
        decrypted = self.encryptions.plan.decrypt(data, self.diags)
        return None if decrypted is None else read_plan_file(decrypted.data, self.diags)


def _is_inside(place: Range | None, outer: Range) -> bool:
    return (
        place is not None
        and place.filename == outer.filename
        and outer.start.byte <= place.start.byte
        and place.end.byte <= outer.end.byte
    )


def _no_document(problems: Diagnostics) -> Diagnostic:
    """Return a warning that the service cannot show the state's contents."""
    why = "\n".join(f"{each.summary}: {each.detail}" for each in problems)
    return Diagnostic(
        Severity.WARNING,
        "State stored without its description",
        "The service shows the objects of a state by a description that it gets with it, which "
        f"cannot be made without the schemas of all providers in the state. The next apply sends "
        f"one.\n\n{why}",
    )
