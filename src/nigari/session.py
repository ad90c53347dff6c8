"""Sessions for Python programs: a working directory to be planned, applied and looked at.

    with nigari.open("infra", {"env": "prod"}) as session:
        plan = session.plan()
        print(plan.summary)
        session.apply(plan, listen=print)

Everything waits until it is done, also inside a running event loop, such as a notebook's. The same
names as coroutines are in `nigari.aio`, where each is described; this only runs them.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from os import PathLike
from types import TracebackType

import nigari.aio as aio
from nigari.aio import Applied, Ask, Initialized
from nigari.diagnostics import Diagnostic
from nigari.events import Listen
from nigari.workspace.context.asyncio_bridge import EventLoop, run_to_end
from nigari.workspace.session.environment_result import EnvironmentInfo
from nigari.workspace.session.failure import SessionError
from nigari.workspace.session.plan_result import Plan
from nigari.workspace.session.state_result import Output, StoredState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")

__all__ = ["Round", "Session", "open", "read_plan"]


__tracebackhide__ = True
"""A test that fails with an exception of a session shows the test, not how sessions work."""


def _wait(work: Coroutine[object, object, T]) -> T:
    """The result of a coroutine. What is wrong is in a `SessionError`, not in its traceback."""
    try:
        return run_to_end(work)
    except SessionError as error:
        raise error.with_traceback(None) from None


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
    `on_output` is called with a line for whatever happens meanwhile, as in `on_output=print`. What
    cannot be done raises a `SessionError`.
    """
    return Session(
        aio.open(
            path,
            variables,
            var_files,
            workspace=workspace,
            environment=environment,
            environ=environ,
            state=state,
            lock=lock,
            lock_timeout=lock_timeout,
            ask=ask,
            on_output=on_output,
        )
    )


def read_plan(
    path: str | PathLike[str],
    directory: str | PathLike[str] = ".",
    variables: Mapping[str, object] | None = None,
) -> Plan:
    """A plan that was saved. The directory is the one that it was made for; of `variables`, only
    those that are ephemeral have to be given again.
    """
    return _wait(aio.read_plan(path, directory, variables))


class Round:
    """One round of an apply: a plan, and what comes of it."""

    def __init__(self, inner: aio.Round, loop: EventLoop) -> None:
        self._inner = inner
        self._loop = loop

    @property
    def number(self) -> int:
        """The first one is 1."""
        return self._inner.number

    @property
    def plan(self) -> Plan:
        """What it does, and what it leaves for later."""
        return self._inner.plan

    @property
    def applied(self) -> Applied | None:
        """What has come of it, once it is carried out."""
        return self._inner.applied

    def apply(self) -> Applied:
        """Carry it out, if that has not been done."""
        return self._loop.run(self._inner.apply())

    def __repr__(self) -> str:
        return repr(self._inner)


class Session:
    """A working directory: its configuration, its state, and what is done to them.

    Every operation looks at the directory as it is then. What cannot be done raises a
    `SessionError`; nothing is printed. Sessions do not touch each other, also in threads.
    """

    def __init__(self, inner: aio.Session) -> None:
        self._inner = inner

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Nothing is left open between operations."""

    def __repr__(self) -> str:
        return repr(self._inner)

    @property
    def path(self) -> str:
        """The directory."""
        return self._inner.path

    @property
    def environment(self) -> str | None:
        """The name of the environment that is worked in; None where it is none."""
        return self._inner.environment

    @property
    def environments(self) -> Mapping[str, EnvironmentInfo]:
        """The environments that `environments.hcl` declares, by name, with the last apply of each."""
        return self._inner.environments

    def init(
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
        return _wait(
            self._inner.init(
                upgrade=upgrade,
                backend=backend,
                backend_config=backend_config,
                reconfigure=reconfigure,
                migrate_state=migrate_state,
                force_copy=force_copy,
                plugin_dirs=plugin_dirs,
                lockfile_readonly=lockfile_readonly,
            )
        )

    def validate(self) -> tuple[Diagnostic, ...]:
        """Everything that is wrong with the configuration, whatever its variables."""
        return _wait(self._inner.validate())

    def plan(
        self,
        *,
        destroy: bool = False,
        refresh_only: bool = False,
        refresh: bool = True,
        targets: Sequence[str] = (),
        excludes: Sequence[str] = (),
        replace: Sequence[str] = (),
        allow_deferral: bool = False,
        generate_config_out: str | PathLike[str] | None = None,
        parallelism: int = 10,
        listen: Listen | None = None,
    ) -> Plan:
        """Compare the configuration with the state and with the real objects.

        The state is locked while the plan is made, and not afterwards: a plan that is applied
        after somebody else has changed the state is refused. With `allow_deferral`, what is known
        only after apply is left for a later plan. `generate_config_out` names a new file, to which
        resource blocks are written for imported objects that have none; the plan has them.
        """
        return _wait(
            self._inner.plan(
                destroy=destroy,
                refresh_only=refresh_only,
                refresh=refresh,
                targets=targets,
                excludes=excludes,
                replace=replace,
                allow_deferral=allow_deferral,
                generate_config_out=generate_config_out,
                parallelism=parallelism,
                listen=listen,
            )
        )

    def rounds(
        self,
        *,
        most: int = 0,
        refresh: bool = True,
        targets: Sequence[str] = (),
        excludes: Sequence[str] = (),
        replace: Sequence[str] = (),
        parallelism: int = 10,
        listen: Listen | None = None,
    ) -> Iterator[Round]:
        """Plan what can be known, apply it, and plan again with what is known then, until nothing
        is left, one round after the other. There are at most so many rounds.

        Each round is there to be looked at before it is carried out. That happens when its `apply`
        is called, or else when the loop goes on; who leaves the loop leaves it undone. The state is
        locked until the loop ends.
        """
        rounds = self._inner.rounds(
            most=most,
            refresh=refresh,
            targets=targets,
            excludes=excludes,
            replace=replace,
            parallelism=parallelism,
            listen=listen,
        )

        async def following() -> aio.Round | None:
            return await anext(rounds, None)

        with EventLoop() as loop:
            try:
                while (found := loop.run(following())) is not None:
                    yield Round(found, loop)
            finally:
                loop.run(rounds.aclose())

    def apply(
        self, plan: Plan | None = None, *, parallelism: int = 10, listen: Listen | None = None
    ) -> Applied:
        """Carry out a plan; without one, make one and carry it out while the state is locked."""
        return _wait(self._inner.apply(plan, parallelism=parallelism, listen=listen))

    def destroy(
        self,
        *,
        targets: Sequence[str] = (),
        excludes: Sequence[str] = (),
        parallelism: int = 10,
        listen: Listen | None = None,
    ) -> Applied:
        """Destroy everything that is managed here, or what `targets` name."""
        return _wait(
            self._inner.destroy(
                targets=targets, excludes=excludes, parallelism=parallelism, listen=listen
            )
        )

    def refresh(self, *, parallelism: int = 10, listen: Listen | None = None) -> Applied:
        """Bring the state up to date with what exists, as `nigari refresh` does, and change nothing
        else. With `plan(refresh_only=True)` it can be looked at before.
        """
        return _wait(self._inner.refresh(parallelism=parallelism, listen=listen))

    def read_plan(self, path: str | PathLike[str]) -> Plan:
        """A plan that was saved for this directory."""
        return _wait(self._inner.read_plan(path))

    def import_(self, address: str, id: str, *, listen: Listen | None = None) -> None:
        """Take over an object that exists: only the state is changed."""
        _wait(self._inner.import_(address, id, listen=listen))

    @property
    def state(self) -> StoredState:
        """The stored state, read anew every time."""
        return _wait(self._inner.state)

    @property
    def outputs(self) -> Mapping[str, Output]:
        """The root outputs in the stored state, read anew every time."""
        return _wait(self._inner.outputs)

    def state_pull(self) -> bytes:
        """The stored state as the bytes of a state file, decrypted; nothing where there is none."""
        return _wait(self._inner.state_pull())

    def state_push(self, data: bytes, *, force: bool = False) -> None:
        """Store a state file, unless it is older than the stored state or belongs to another."""
        _wait(self._inner.state_push(data, force=force))

    def state_move(self, source: str, destination: str) -> tuple[tuple[str, str], ...]:
        """Move a module, a resource or an instance to another address in the state; what has moved,
        as pairs of old and new addresses.
        """
        return _wait(self._inner.state_move(source, destination))

    def state_remove(self, *addresses: str) -> tuple[str, ...]:
        """Forget what the addresses name without destroying it; what was forgotten."""
        return _wait(self._inner.state_remove(*addresses))

    def taint(self, address: str) -> None:
        """Mark an object as damaged, so that the next plan replaces it."""
        _wait(self._inner.taint(address))

    def untaint(self, address: str) -> None:
        """Take the mark of an object back."""
        _wait(self._inner.untaint(address))

    @property
    def workspace(self) -> str:
        """The name of the workspace that is worked in."""
        return self._inner.workspace

    def workspaces(self) -> tuple[str, ...]:
        """The names of all workspaces, the default one first."""
        return _wait(self._inner.workspaces())

    def select_workspace(self, name: str, *, create: bool = False) -> None:
        """Work in another workspace from now on, also on the command line."""
        _wait(self._inner.select_workspace(name, create=create))

    def new_workspace(self, name: str) -> None:
        """Make a workspace and select it."""
        _wait(self._inner.new_workspace(name))

    def delete_workspace(self, name: str, *, force: bool = False) -> None:
        """Delete a workspace; one that still has objects only by force, which leaves them behind."""
        _wait(self._inner.delete_workspace(name, force=force))

    def force_unlock(self, lock_id: str) -> None:
        """Remove a lock on the state whose holder is gone."""
        _wait(self._inner.force_unlock(lock_id))
