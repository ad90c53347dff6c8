"""Sessions for Python programs: a working directory to plan, apply and inspect.

    with nigari.open("infra", {"env": "prod"}) as session:
        plan = session.plan()
        print(plan.summary)
        session.apply(plan, listen=print)

Every call blocks until it is done, even inside a running event loop, such as a notebook's. `nigari.aio`
has the same names as coroutines; signatures and docstrings here are theirs.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator, Mapping
from functools import update_wrapper
from types import TracebackType

import nigari.aio as aio
from nigari.aio import Applied
from nigari.workspace.context.asyncio_bridge import EventLoop, run_to_end
from nigari.workspace.session.environment_result import EnvironmentInfo
from nigari.workspace.session.failure import SessionError
from nigari.workspace.session.plan_result import Plan
from nigari.workspace.session.state_result import Output, StoredState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Concatenate, ParamSpec, TypeVar

    A = TypeVar("A")
    T = TypeVar("T")
    P = ParamSpec("P")

__all__ = ["Round", "Session", "open", "read_plan"]


__tracebackhide__ = True
"""A test that fails with an exception of a session shows the test, not how sessions work."""


def _wait(work: Coroutine[object, object, T]) -> T:
    """The result of a coroutine. What is wrong is in a `SessionError`, not in its traceback."""
    try:
        return run_to_end(work)
    except SessionError as error:
        raise error.with_traceback(None) from None


def _dressed(
    derived: Callable[P, T], origin: Callable[..., object], finish: Callable[..., T]
) -> Callable[P, T]:
    """A derived function with the name, docstring and signature of its origin.

    What it returns comes from `finish`: an annotation is only correct where it was written.
    """
    update_wrapper(derived, origin)
    if finish is not _wait:
        from inspect import signature
        from typing import get_type_hints

        written = finish.__annotations__["return"]
        returned = {"return": get_type_hints(finish)["return"]}
        derived.__annotations__ = {**origin.__annotations__, **returned}
        shown = signature(origin).replace(return_annotation=written)
        setattr(derived, "__signature__", shown)  # noqa: B010 - callables do not declare it
    return derived


def _from(origin: Callable[P, A]) -> Callable[[Callable[[A], T]], Callable[P, T]]:
    """Derive a function from one of `nigari.aio`: the decorated one takes that one's result."""

    def derive(finish: Callable[[A], T]) -> Callable[P, T]:
        def derived(*args: P.args, **kwargs: P.kwargs) -> T:
            return finish(origin(*args, **kwargs))

        return _dressed(derived, origin, finish)

    return derive


def _method(
    origin: Callable[Concatenate[aio.Session, P], A], finish: Callable[[A], T]
) -> Callable[[object], Callable[Concatenate[Session, P], T]]:
    """Derive a method from one of `aio.Session`, whose result `finish` takes.

    The decorated stub only declares the name, so that type checkers need not infer an attribute.
    """

    def derive(_stub: object) -> Callable[Concatenate[Session, P], T]:
        def derived(self: Session, /, *args: P.args, **kwargs: P.kwargs) -> T:
            inner = self._inner  # pyright: ignore[reportPrivateUsage] - it is a method of that class
            return finish(origin(inner, *args, **kwargs))

        return _dressed(derived, origin, finish)

    return derive


def _one_by_one(rounds: AsyncGenerator[aio.Round, None]) -> Iterator[Round]:
    async def following() -> aio.Round | None:
        return await anext(rounds, None)

    with EventLoop() as loop:
        try:
            while (found := loop.run(following())) is not None:
                yield Round(found, loop)
        finally:
            loop.run(rounds.aclose())


class Round:
    """One round of an apply: its plan and result."""

    def __init__(self, inner: aio.Round, loop: EventLoop) -> None:
        self._inner = inner
        self._loop = loop

    @property
    def number(self) -> int:
        """The first one is 1."""
        return self._inner.number

    @property
    def plan(self) -> Plan:
        """Plan of the round, with what it defers."""
        return self._inner.plan

    @property
    def applied(self) -> Applied | None:
        """Result of the round, once it is applied."""
        return self._inner.applied

    def apply(self) -> Applied:
        """Carry it out, if that has not been done."""
        return self._loop.run(self._inner.apply())

    def __repr__(self) -> str:
        return repr(self._inner)


class Session:
    """A working directory with its configuration and state, and the operations on them.

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
        """The name of the selected environment; None if there is none."""
        return self._inner.environment

    @property
    def environments(self) -> Mapping[str, EnvironmentInfo]:
        """The environments that `environments.hcl` declares, by name, with the last apply of each."""
        return self._inner.environments

    @_method(aio.Session.init, _wait)
    def init(self) -> None: ...

    @_method(aio.Session.validate, _wait)
    def validate(self) -> None: ...

    @_method(aio.Session.write_plain, _wait)
    def write_plain(self) -> None: ...

    @_method(aio.Session.plan, _wait)
    def plan(self) -> None: ...

    @_method(aio.Session.rounds, _one_by_one)
    def rounds(self) -> None: ...

    @_method(aio.Session.apply, _wait)
    def apply(self) -> None: ...

    @_method(aio.Session.destroy, _wait)
    def destroy(self) -> None: ...

    @_method(aio.Session.refresh, _wait)
    def refresh(self) -> None: ...

    @_method(aio.Session.read_plan, _wait)
    def read_plan(self) -> None: ...

    @_method(aio.Session.import_, _wait)
    def import_(self) -> None: ...

    @_method(aio.Session.query, _wait)
    def query(self) -> None: ...

    @property
    def state(self) -> StoredState:
        """The stored state, read again every time."""
        return _wait(self._inner.state)

    @property
    def outputs(self) -> Mapping[str, Output]:
        """The root outputs in the stored state, read again every time."""
        return _wait(self._inner.outputs)

    @_method(aio.Session.state_pull, _wait)
    def state_pull(self) -> None: ...

    @_method(aio.Session.state_push, _wait)
    def state_push(self) -> None: ...

    @_method(aio.Session.state_move, _wait)
    def state_move(self) -> None: ...

    @_method(aio.Session.state_remove, _wait)
    def state_remove(self) -> None: ...

    @_method(aio.Session.taint, _wait)
    def taint(self) -> None: ...

    @_method(aio.Session.untaint, _wait)
    def untaint(self) -> None: ...

    @property
    def workspace(self) -> str:
        """The name of the selected workspace."""
        return self._inner.workspace

    @_method(aio.Session.workspaces, _wait)
    def workspaces(self) -> None: ...

    @_method(aio.Session.select_workspace, _wait)
    def select_workspace(self) -> None: ...

    @_method(aio.Session.new_workspace, _wait)
    def new_workspace(self) -> None: ...

    @_method(aio.Session.delete_workspace, _wait)
    def delete_workspace(self) -> None: ...

    @_method(aio.Session.force_unlock, _wait)
    def force_unlock(self) -> None: ...


@_from(aio.open)
def open(session: aio.Session) -> Session:  # noqa: A001 - people write `nigari.open`
    return Session(session)


@_from(aio.read_plan)
def read_plan(work: Coroutine[object, object, Plan]) -> Plan:
    return _wait(work)
