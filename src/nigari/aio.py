"""Sessions as coroutines: the same names as `nigari.open` and its session, to be awaited.

    async with nigari.aio.open("infra", {"env": "prod"}) as session:
        plan = await session.plan()
        await session.apply(plan)

Cancelling a task that applies is what Ctrl-C is on the command line: what is under way comes to its
end, the state is stored, and only then the task is cancelled. Cancelled twice, it ends at once, and
the state is stored all the same.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Mapping, Sequence
from functools import partial
from os import PathLike, fspath
from types import TracebackType

from nigari.addrs.parse import parse_action, parse_given, parse_resource_instance, parse_target
from nigari.addrs.resource import MANAGED
from nigari.addrs.targets import Target
from nigari.arguments import (
    check_count,
    check_kind,
    check_path,
    check_paths,
    check_text,
    check_texts,
)
from nigari.backends.lock_options import LockOptions
from nigari.config.blocks.variable import Variable
from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.eval.core.inputs import InputKind, InputValue
from nigari.events import Event, FoundObject, Listen
from nigari.plan.model.changes import PlanMode
from nigari.plan.model.plan_options import PlanOptions, ReadObjects
from nigari.plan.nodes.imports import ImportTarget
from nigari.record import ReadOnly, record, replace
from nigari.state.model import StateFile
from nigari.workspace.context.interruptions import Interruptions
from nigari.workspace.context.options import GivenVariables, SessionOptions, StateFiles
from nigari.workspace.context.prompts import NO_PROMPTER, Prompter
from nigari.workspace.context.working_directory import WorkingDirectory
from nigari.workspace.session.apply_result import Saved, Unsaved
from nigari.workspace.session.apply_rounds import ApplyRounds
from nigari.workspace.session.environment_result import EnvironmentInfo, list_environments
from nigari.workspace.session.failure import SessionError
from nigari.workspace.session.locked_session import LockedSession, locked
from nigari.workspace.session.made_plan import MadePlan, load_plan
from nigari.workspace.session.open_session import (
    absolute,
    check_directory,
    chosen_environment,
    given_variables,
    inside,
    working_directory,
)
from nigari.workspace.session.plan_result import Plan, made_plan
from nigari.workspace.session.progress import Announcer
from nigari.workspace.session.refresh_choice import RefreshChoice, refresh_choice
from nigari.workspace.session.session import Edit
from nigari.workspace.session.session import Session as Work
from nigari.workspace.session.state_result import Output, StoredState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from nigari.addrs.absolute import AbsResourceInstance
    from nigari.state.edit import MoveOutcome
    from nigari.state.model import State

    T = TypeVar("T")


Ask = Callable[[str, str], str | None]
"""Answers a question: the name of what is asked for and its description; None for no answer."""
_APPLYING = "OperationTypeApply"
_WORKSPACE = "the name of a workspace"

__all__ = ["Applied", "Ask", "Initialized", "Round", "Session", "open", "read_plan"]


def __dir__() -> list[str]:
    return __all__


@record
class Applied:
    """Result of an apply."""

    state: StoredState
    """As it was stored."""
    warnings: tuple[Diagnostic, ...]

    @property
    def outputs(self) -> Mapping[str, Output]:
        """The root outputs."""
        return self.state.outputs


class Round:
    """One round of an apply: its plan and result."""

    def __init__(
        self,
        number: int,
        plan: Plan,
        carry_out: Callable[[], Coroutine[object, object, Applied]],
    ) -> None:
        self.number = number
        """The first one is 1."""
        self.plan = plan
        """Plan of the round, with what it defers."""
        self.applied: Applied | None = None
        """Result of the round, once it is applied."""
        self._carry_out = carry_out

    async def apply(self) -> Applied:
        """Carry it out, if that has not been done."""
        if self.applied is None:
            self.applied = await Interruptions().run(self._carry_out())
        return self.applied

    def __repr__(self) -> str:
        return f"<round {self.number}: {self.plan.summary}>"


@record
class Initialized:
    """Result of `init`: the modules, providers and backend that are ready."""

    modules: Mapping[str, str]
    """The directories of modules that were installed, by the keys of their calls."""
    providers: Mapping[str, str]
    """The versions of providers, by name."""
    warnings: tuple[Diagnostic, ...]


def open(  # noqa: A001 - people write `nigari.open`
    path: str | PathLike[str] = ".",
    variables: Mapping[str, object] | None = None,
    var_files: Sequence[str | PathLike[str]] = (),
    *,
    workspace: str | None = None,
    environment: str | None = None,
    environ: Mapping[str, str] | None = None,
    state: str | PathLike[str] | None = None,
    lock: bool = True,
    lock_timeout: float = 0.0,
    ask: Ask | None = None,
    on_output: Callable[[str], object] | None = None,
) -> Session:
    """A session in a directory: plan, apply, and work with its state. Nothing is read yet.

    `variables` are plain Python or `cty` values for root variables, stronger than all others;
    `var_files` are read as `-var-file` is. `workspace` works in another workspace than the selected
    one, `environment` in one of those that `environments.hcl` declares. `environ` takes the place
    of the process's environment, also for plugins. `state` is the file of a local state.
    `ask(name, description)` is called for values that are missing; without it there are no prompts.
    `on_output` is called with a line for whatever happens meanwhile, as in `on_output=print`. Raises
    `FileNotFoundError` if there is no such directory, and `SessionError` if something cannot be done.
    """
    files = StateFiles("" if state is None else fspath(state))
    options = SessionOptions(files, LockOptions(lock, lock_timeout))
    prompter = NO_PROMPTER if ask is None else _Asked(ask)
    where = working_directory(path, environ, workspace)
    check_directory(where.root)
    name = chosen_environment(where, environment)
    given = given_variables(variables, var_files)
    return Session(where, given, options, prompter, name, on_output)


async def read_plan(
    path: str | PathLike[str],
    directory: str | PathLike[str] = ".",
    variables: Mapping[str, object] | None = None,
) -> Plan:
    """A plan that was saved. The directory is the one that it was made for; of `variables`, only
    those that are ephemeral have to be given again.
    """
    async with open(directory, variables) as session:
        return await session.read_plan(absolute(path))


class Session:
    """A working directory with its configuration and state, and the operations on them.

    Every operation looks at the directory as it is then. What cannot be done raises a
    `SessionError`; nothing is printed.
    """

    def __init__(
        self,
        where: WorkingDirectory,
        variables: GivenVariables,
        options: SessionOptions,
        prompter: Prompter,
        environment: str = "",
        on_output: Callable[[str], object] | None = None,
    ) -> None:
        self._where = where
        self._on_output = on_output
        self._environment = environment
        self._variables = variables
        self._options = options
        self._prompter = prompter

    async def __aenter__(self) -> Session:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Nothing is left open between operations."""

    def __repr__(self) -> str:
        return f"<session in {self._where.path}>"

    @property
    def path(self) -> str:
        """The directory."""
        return os.path.normpath(self._where.path)

    def _open(self) -> Work:
        where = inside(self._where, self._environment)
        return Work(where, self._variables, self._options, self._prompter)

    def _hearing(self, listen: Listen | None) -> Listen:
        """Return a listener that passes events to the operation's listener and to the session's
        lines.
        """
        on_output = self._on_output
        if on_output is None:
            return listen or _ignore

        def hear(event: Event) -> None:
            if listen is not None:
                listen(event)
            on_output(str(event))

        return hear

    @property
    def environment(self) -> str | None:
        """The name of the selected environment; None if there is none."""
        return self._environment or None

    @property
    def environments(self) -> Mapping[str, EnvironmentInfo]:
        """The environments that `environments.hcl` declares, by name, with the last apply of each."""
        diags = Diagnostics()
        found, sources = list_environments(self._where, diags)
        if diags.has_errors:
            raise SessionError(diags.in_order(), sources)
        return found

    # -- before anything is planned ---------------------------------------------------------------

    async def init(
        self,
        *,
        upgrade: bool = False,
        backend: bool = True,
        backend_config: Sequence[str] = (),
        reconfigure: bool = False,
        migrate_state: bool = False,
        force_copy: bool = False,
        plugin_dirs: Sequence[str] = (),
        lockfile_readonly: bool = False,
    ) -> Initialized:
        """Install modules and providers and set up the backend, as `nigari init` does."""
        check_texts("backend_config", backend_config)
        check_paths("plugin_dirs", plugin_dirs)
        import asyncio

        from nigari.workspace.setup.init_observer import QuietInit
        from nigari.workspace.setup.init_options import (
            BackendOptions,
            InitOptions,
            ProviderOptions,
        )

        options = InitOptions(
            upgrade,
            backend=BackendOptions(
                backend,
                backend_config,
                reconfigure,
                migrate_state or force_copy,
                force_copy,
                self._options.lock,
            ),
            providers=ProviderOptions(upgrade, plugin_dirs, lockfile_readonly),
        )
        work, view = self._open(), QuietInit(self._on_output)
        done = await asyncio.to_thread(work.initialize, options, view)
        warnings = _finished(work, done)
        return Initialized(ReadOnly(view.modules), ReadOnly(view.providers), warnings)

    async def validate(self) -> tuple[Diagnostic, ...]:
        """Everything that is wrong with the configuration, whatever its variables."""
        import asyncio

        from nigari.workspace.configuration.check_directory import validate

        work = self._open()
        files, inputs = work.workspace, work.inputs
        found = await asyncio.to_thread(validate, files, inputs, True, work.selected)
        return (*work.diags, *found.in_order())

    async def write_plain(
        self, out: str | PathLike[str], *, target: str = "opentofu", partial: bool = False
    ) -> tuple[Diagnostic, ...]:
        """Write the configuration into a new or empty directory as one that OpenTofu or Terraform
        runs with the same result; the result are warnings.

        `target` is a program, perhaps with a version, such as `"terraform-1.9"`. What it cannot
        express is an error; with `partial` that is a warning, and stays as it is.
        """
        import asyncio

        from nigari.plain import target as targets
        from nigari.workspace.session.plain_copy import PlainOptions, write_plain

        check_path("out", out)
        check_text("target", target)
        program = targets.parse_target(target)
        if program is None:
            raise ValueError(f"there is no plain configuration for {target!r}")
        work = self._open()
        options = PlainOptions(program, partial)
        return _finished(work, await asyncio.to_thread(write_plain, work, fspath(out), options))

    # -- planning and applying --------------------------------------------------------------------

    async def plan(
        self,
        *,
        destroy: bool = False,
        refresh_only: bool = False,
        refresh: bool | str = True,
        minimal_refresh: bool = False,
        targets: Sequence[str] = (),
        excludes: Sequence[str] = (),
        replace: Sequence[str] = (),
        invoke: str = "",
        allow_deferral: bool = False,
        generate_config_out: str | PathLike[str] | None = None,
        parallelism: int = 10,
        listen: Listen | None = None,
    ) -> Plan:
        """Compare the configuration with the state and with the real objects.

        The state is locked while the plan is made, and not afterwards: a plan that is applied
        after another run has changed the state is refused. `minimal_refresh` reads only the objects
        that would change, and what they depend on; `refresh` takes the words of `-refresh`, too, such as
        `"stale:1h"`. With `allow_deferral`, what is known
        only after apply is left for a later plan. With `invoke`, the address of an action, nothing
        but that action is planned. `generate_config_out` names a new file, to which
        resource blocks are written for imported objects that have none; the plan has them.
        """
        work = self._open()
        options = _plan_options(
            work,
            destroy,
            refresh_only,
            refresh,
            targets,
            excludes,
            replace,
            parallelism,
            allow_deferral,
            minimal_refresh,
        )
        if invoke:
            options = _invoking(work, options, invoke)
        if generate_config_out is not None and options.mode is not PlanMode.NORMAL:
            raise ValueError("generate_config_out cannot be used with destroy or refresh_only")
        announcer = Announcer(self._hearing(listen))
        generated = "" if generate_config_out is None else fspath(generate_config_out)
        return await _gently(self._plan(work, options, announcer, generated), announcer)

    async def _plan(
        self, work: Work, options: PlanOptions, announcer: Announcer, generated: str
    ) -> Plan:
        work.ask_variables()
        async with locked(work, "OperationTypePlan", announcer) as held:
            if held is None or not held.has_configuration(options.mode):
                raise _failure(work)
            if generated:
                await held.generate(generated, options.parallelism)
            made = _sound(work, None if work.diags.has_errors else await held.plan(options))
        return Plan(made, _finished(work))

    async def apply(
        self, plan: Plan | None = None, *, parallelism: int = 10, listen: Listen | None = None
    ) -> Applied:
        """Carry out a plan; without one, make one and carry it out while the state is locked."""
        check_count("parallelism", parallelism)
        if plan is not None:
            announcer = Announcer(self._hearing(listen))
            return await _gently(self._apply(plan, parallelism, announcer), announcer)
        options = PlanOptions(PlanMode.NORMAL, parallelism=parallelism)
        return await self._plan_and_apply(options, listen)

    async def destroy(
        self,
        *,
        targets: Sequence[str] = (),
        excludes: Sequence[str] = (),
        parallelism: int = 10,
        listen: Listen | None = None,
    ) -> Applied:
        """Destroy everything that is managed here, or what `targets` name."""
        work = self._open()
        options = _plan_options(work, True, False, True, targets, excludes, (), parallelism)
        return await self._plan_and_apply(options, listen)

    async def refresh(self, *, parallelism: int = 10, listen: Listen | None = None) -> Applied:
        """Update the state to match the real objects, like `nigari refresh`. Use `plan(refresh_only=True)` to review the changes first."""
        check_count("parallelism", parallelism)
        options = PlanOptions(PlanMode.NORMAL, is_for_apply=False, parallelism=parallelism)
        announcer = Announcer(self._hearing(listen))

        async def store(held: LockedSession, made: MadePlan) -> Applied:
            return _stored(held, await held.store_found(made))

        work = self._in_one_turn("OperationTypeRefresh", options, announcer, store)
        return await _gently(work, announcer)

    async def _plan_and_apply(self, options: PlanOptions, listen: Listen | None) -> Applied:
        announcer = Announcer(self._hearing(listen))

        async def carry_out(held: LockedSession, made: MadePlan) -> Applied:
            return await _carry_out(held, made, announcer, options.parallelism)

        work = self._in_one_turn(_APPLYING, options, announcer, carry_out)
        return await _gently(work, announcer)

    async def _in_one_turn(
        self,
        operation: str,
        options: PlanOptions,
        announcer: Announcer,
        finish: Callable[[LockedSession, MadePlan], Awaitable[Applied]],
    ) -> Applied:
        """Make a plan and do something with it while the state stays locked."""
        work = self._open()
        work.ask_variables()
        async with locked(work, operation, announcer) as held:
            if held is None or not held.has_configuration(options.mode):
                raise _failure(work)
            return await finish(held, _sound(work, await held.plan(options)))

    async def rounds(
        self,
        *,
        most: int = 0,
        refresh: bool = True,
        targets: Sequence[str] = (),
        excludes: Sequence[str] = (),
        replace: Sequence[str] = (),
        parallelism: int = 10,
        listen: Listen | None = None,
    ) -> AsyncGenerator[Round, None]:
        """Plan what can be known, apply it, and plan again with what is known then, until nothing
        is left, one round after the other. There are at most so many rounds.

        Each round can be inspected before it is applied: by its `apply`, or when the loop continues.
        A round during which the loop is left is not applied. The state is locked until the loop
        ends.
        """
        check_count("most", most)
        work, announcer = self._open(), Announcer(self._hearing(listen))
        options = _plan_options(
            work, False, False, refresh, targets, excludes, replace, parallelism, defers=True
        )
        work.ask_variables()
        async with locked(work, _APPLYING, announcer) as held:
            if held is None or not held.has_configuration(options.mode):
                raise _failure(work)
            rounds = ApplyRounds(held, options, most)
            goes_on = True
            while goes_on:
                made = _sound(work, await rounds.plan())
                if rounds.is_stuck(made.plan):
                    raise _failure(work)
                carry_out = partial(_carry_out, held, made, announcer, parallelism)
                round_ = Round(rounds.number, Plan(made, _finished(work)), carry_out)
                yield round_
                await round_.apply()
                announcer.close()
                work.diags.take()
                goes_on = rounds.goes_on(made.plan)

    async def _apply(self, plan: Plan, parallelism: int, announcer: Announcer) -> Applied:
        made = made_plan(plan)
        work = made.session
        work.diags.take()
        async with locked(work, _APPLYING, announcer) as held:
            if held is None or not held.can_apply(made):
                raise _failure(work)
            return await _carry_out(held, made, announcer, parallelism)

    async def read_plan(self, path: str | PathLike[str]) -> Plan:
        """A plan that was saved for this directory."""
        check_path("a saved plan", path)
        work = self._open()
        made = await load_plan(work, fspath(path))
        if made is None:
            raise _failure(work)
        return Plan(made, _finished(work))

    async def import_(self, address: str, id: str, *, listen: Listen | None = None) -> None:
        """Adopt an existing object; only the state changes."""
        check_text("the id of an object", id)
        work, announcer = self._open(), Announcer(self._hearing(listen))
        target = ImportTarget(_managed(work, address, "imported"), id)

        async def whole() -> None:
            work.ask_variables()
            async with locked(work, "import", announcer) as held:
                if held is None or not await held.import_object(target):
                    raise _failure(work)

        await _gently(whole(), announcer)

    async def query(
        self, *, generate: bool = False, parallelism: int = 10
    ) -> Mapping[str, tuple[FoundObject, ...]]:
        """Search for existing objects with the list blocks in the directory's query files.

        Returns what each instance of a block found, by its address. With `generate` the objects
        have the blocks that import them.
        """
        check_count("parallelism", parallelism)
        work, announcer = self._open(), Announcer(_ignore)

        async def whole() -> Mapping[str, tuple[FoundObject, ...]]:
            work.use_queries()
            work.ask_variables()
            async with locked(work, "OperationTypePlan", announcer) as held:
                found = None if held is None else await held.query(generate, parallelism)
                if found is None:
                    raise _failure(work)
            return {str(each.address): tuple(each.found) for each in found}

        return await _gently(whole(), announcer)

    # -- the state --------------------------------------------------------------------------------

    @property
    def state(self) -> Coroutine[object, object, StoredState]:
        """The stored state: `await session.state`."""
        return self._state()

    @property
    def outputs(self) -> Coroutine[object, object, Mapping[str, Output]]:
        """The root outputs in the stored state: `await session.outputs`."""
        return self._outputs()

    async def _state(self) -> StoredState:
        work = self._open()
        snapshots = await work.read()
        if snapshots is None:
            raise _failure(work)
        return StoredState(snapshots.file)

    async def _outputs(self) -> Mapping[str, Output]:
        return (await self._state()).outputs

    async def state_pull(self) -> bytes:
        """The stored state as the bytes of a state file, decrypted; empty if there is none."""
        from nigari.state.files import format_state

        work = self._open()
        snapshots = await work.read()
        if snapshots is None:
            raise _failure(work)
        return b"" if snapshots.file is None else format_state(snapshots.file, is_for_people=True)

    async def state_push(self, data: bytes, *, force: bool = False) -> None:
        """Store a state file, unless it is older than the stored state or has another lineage."""
        check_kind("the content of a state file", data, bytes)
        from nigari.workspace.states.state import parse_given_state

        work = self._open()
        file: StateFile | None = parse_given_state(
            data, "the given state", work.encryption, work.diags
        )
        _finished(work, file is not None and await work.push(file, force))

    async def state_move(self, source: str, destination: str) -> tuple[tuple[str, str], ...]:
        """Move a module, a resource or an instance to another address in the state; what has moved,
        as pairs of old and new addresses.
        """
        from nigari.state.edit import move

        work = self._open()
        old, new = (_subject(work, each) for each in (source, destination))
        moved: list[tuple[str, str]] = []

        def change(state: State, _: State | None) -> MoveOutcome | None:
            outcome = move(state, None, old, new, work.diags)
            moved.extend([] if outcome is None else outcome.moved)
            return outcome

        _finished(work, await work.move(change))
        return tuple(moved)

    async def state_remove(self, *addresses: str) -> tuple[str, ...]:
        """Remove objects from the state without destroying them; return their addresses."""
        from nigari.state.edit import remove
        from nigari.state.selection import select

        work = self._open()
        targets = [_subject(work, each) for each in addresses]
        found: list[AbsResourceInstance] = []

        def forget(state: State) -> State | None:
            found.extend(select(state, targets, work.diags))
            return remove(state, found) if found else None

        _finished(work, await work.edit("state-rm", forget, has_own_backup=True))
        return tuple(str(each) for each in found)

    async def taint(self, address: str) -> None:
        """Mark an object as damaged, so that the next plan replaces it."""
        from nigari.state.edit import taint

        work = self._open()
        named = _instance(work, address)
        await self._edit(work, "taint", lambda state: taint(state, named, work.diags))

    async def untaint(self, address: str) -> None:
        """Remove the mark that an object is to be replaced."""
        from nigari.state.edit import untaint

        work = self._open()
        named = _instance(work, address)
        await self._edit(work, "untaint", lambda state: untaint(state, named, work.diags))

    async def _edit(self, work: Work, operation: str, edit: Edit) -> None:
        _finished(work, await work.edit(operation, edit))

    # -- workspaces -------------------------------------------------------------------------------

    @property
    def workspace(self) -> str:
        """The name of the selected workspace."""
        work = self._open()
        name = work.selected
        _finished(work)
        return name

    async def workspaces(self) -> tuple[str, ...]:
        """The names of all workspaces, the default one first."""
        work = self._open()
        found = work.workspaces()
        names = () if found is None else await found.names(work.diags)
        _finished(work, found is not None)
        return tuple(names)

    async def select_workspace(self, name: str, *, create: bool = False) -> None:
        """Work in another workspace from now on, also on the command line."""
        check_text(_WORKSPACE, name)
        work = self._open()
        found, lock = work.workspaces(), work.options.lock
        done = found is not None and await found.select(name, create, lock, work.diags)
        _finished(work, done)

    async def new_workspace(self, name: str) -> None:
        """Create a workspace and select it."""
        check_text(_WORKSPACE, name)
        work = self._open()
        found, lock = work.workspaces(), work.options.lock
        done = found is not None and await found.create(name, lock, work.diags)
        _finished(work, done)

    async def delete_workspace(self, name: str, *, force: bool = False) -> None:
        """Delete a workspace; one that still has objects only by force, which leaves them behind."""
        check_text(_WORKSPACE, name)
        work = self._open()
        found, lock = work.workspaces(), work.options.lock
        done = found is not None and await found.delete(name, lock, force, work.diags)
        _finished(work, done)

    async def force_unlock(self, lock_id: str) -> None:
        """Remove an abandoned lock on the state."""
        check_text("the id of a lock", lock_id)
        work = self._open()
        _finished(work, await work.force_unlock(lock_id))


async def _carry_out(
    held: LockedSession, made: MadePlan, announcer: Announcer, parallelism: int
) -> Applied:
    return _stored(held, await held.apply(made, announcer, parallelism))


def _stored(held: LockedSession, result: Saved | Unsaved) -> Applied:
    """Return the stored state; an exception after any error, with a state that is in no file."""
    work = held.session
    if isinstance(result, Unsaved):
        raise _failure(work, None if result.path else result.data or None)
    if work.diags.has_errors:
        raise _failure(work)
    return Applied(StoredState(held.snapshots.file), _finished(work))


def _sound(work: Work, made: MadePlan | None) -> MadePlan:
    """Return a plan without errors."""
    if made is None or made.plan.is_incomplete:
        raise _failure(work)
    return made


def _finished(work: Work, done: bool = True) -> tuple[Diagnostic, ...]:
    """The warnings that there are; an exception where anything is wrong."""
    if not done or work.diags.has_errors:
        raise _failure(work)
    return tuple(each for each in work.diags.in_order() if each.severity is Severity.WARNING)


def _failure(work: Work, unsaved_state: bytes | None = None) -> SessionError:
    return SessionError(work.diags.in_order(), dict(work.sources), unsaved_state)


async def _gently(work: Coroutine[object, object, T], announcer: Announcer) -> T:
    """Do some work that must not just end when it is cancelled."""
    result = await Interruptions().run(work)
    announcer.close()
    return result


def _ignore(_: object) -> None:
    """Ignores all events."""


def _plan_options(
    work: Work,
    destroy: bool,
    refresh_only: bool,
    refresh: bool | str,
    targets: Sequence[str],
    excludes: Sequence[str],
    replaced: Sequence[str],
    parallelism: int,
    defers: bool = False,
    reads_minimum: bool = False,
) -> PlanOptions:
    check_texts("targets", targets)
    check_texts("excludes", excludes)
    check_texts("replace", replaced)
    check_count("parallelism", parallelism)
    if destroy and refresh_only:
        raise ValueError("destroy and refresh_only cannot be used together")
    if targets and excludes:
        raise ValueError("targets and excludes cannot be used together")
    choice = refresh_choice(refresh if isinstance(refresh, str) else str(refresh).lower())
    if refresh_only and not choice.refreshes:
        raise ValueError("with refresh_only and without refresh there is nothing to do")
    if reads_minimum and (refresh_only or refresh is not True):
        raise ValueError("minimal_refresh cannot be used with refresh_only or another refresh")
    if replaced and (destroy or refresh_only):
        raise ValueError("replace cannot be used with destroy or refresh_only")
    mode = PlanMode.DESTROY if destroy else PlanMode.NORMAL
    if refresh_only:
        mode = PlanMode.REFRESH_ONLY
    return PlanOptions(
        mode,
        choice.refreshes,
        only_reads=None if destroy else _only_reads(work, choice, reads_minimum),
        replaced=tuple(_managed(work, each, "replaced") for each in replaced),
        targets=tuple(_address(work, each, parse_target) for each in targets),
        excluded=tuple(_address(work, each, parse_target) for each in excludes),
        parallelism=parallelism,
        defers=defers,
    )


def _invoking(work: Work, options: PlanOptions, action: str) -> PlanOptions:
    """Turn the options into those of a plan that only invokes an action."""
    is_normal = options.mode is not PlanMode.DESTROY and options.only_reads is None
    if not is_normal or options.excluded or options.replaced:
        raise ValueError("invoke can be used with targets, and with no other kind of plan")
    invoked = (_address(work, action, parse_action),)
    return replace(options, mode=PlanMode.REFRESH_ONLY, invoked=invoked)


def _only_reads(work: Work, choice: RefreshChoice, is_minimal: bool) -> ReadObjects | None:
    """The objects to read where not all are."""
    if is_minimal:
        return ReadObjects()
    from nigari.workspace.configuration.edited_blocks import edited_blocks

    static = work.static() if choice.changed_since else None
    if choice.only_reads is None or static is None:
        return choice.only_reads
    edited = edited_blocks(work.where, static.root.instance, choice.changed_since, work.diags)
    if edited is None:
        raise _failure(work)
    return replace(choice.only_reads, changed=edited)


def _address(work: Work, text: str, parse: Callable[[str, Diagnostics], T | None]) -> T:
    check_text("an address", text)
    found = parse_given(parse, text, work.diags)
    if found is None:
        raise _failure(work)
    return found


def _instance(work: Work, text: str) -> AbsResourceInstance:
    return _address(work, text, parse_resource_instance)


def _managed(work: Work, text: str, what: str) -> AbsResourceInstance:
    """The address of a managed resource instance, for something that is not done to others."""
    found = _instance(work, text)
    if found.item.resource.mode is not MANAGED:
        detail = f"Only managed resources can be {what}, and {found} is not one."
        work.diags.error("Not a managed resource", detail)
        raise _failure(work)
    return found


def _subject(work: Work, text: str) -> Target:
    return Target(_address(work, text, parse_target).subject)


class _Asked:
    """A prompter that calls a function."""

    can_prompt = True
    is_at_terminal = False

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def value_of(self, variable: Variable) -> InputValue | None:
        answer = self._ask(f"var.{variable.name}", variable.description or "")
        return None if answer is None else InputValue(InputKind.ANSWER, "the answer", answer)

    def text(self, name: str, description: str, is_secret: bool) -> str | None:
        return self._ask(name, description)

    def approves(self, question: str) -> bool | None:
        answer = self._ask("", question)
        return {"yes": True, "no": False}.get((answer or "").strip())
