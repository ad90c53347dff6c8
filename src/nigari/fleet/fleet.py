"""Fleets for Python programs, without coroutines: `nigari.fleet.open`.

Everything waits until it is done, also inside a running event loop. Workers live on between calls,
in an event loop of their own thread. The same names as coroutines are in `nigari.fleet.aio`.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from os import PathLike
from types import TracebackType
from typing import TypeVar

from nigari.fleet import aio
from nigari.fleet.runs.apply_fleet import Approve
from nigari.fleet.runs.orphans import Orphan
from nigari.fleet.runs.plan_fleet import FleetPlan
from nigari.fleet.runs.results import FleetResult, ListenFleet, UnitResult
from nigari.fleet.units.graph import Graph
from nigari.fleet.units.unit import Unit
from nigari.fleet.work.tasks import LOCK_TIMEOUT, Kind, TaskOptions
from nigari.plan.model.changes import PlanMode
from nigari.workspace.context.asyncio_bridge import result_from_thread

T = TypeVar("T")

Agrees = Callable[[UnitResult, str], bool]
"""Says whether a plan that was made again may be applied: what it does, and the file it is in."""


def open(  # noqa: A001 - people write `nigari.fleet.open`
    path: str | PathLike[str] = ".",
    *,
    jobs: int = 0,
    environ: Mapping[str, str] | None = None,
    workers: aio.MakeWorkers | None = None,
) -> Fleet:
    """The fleet below a directory: its units, planned and applied as one. Nothing is read yet.

    `jobs` is how many units are worked with at once, each in a process of its own; as many as there
    are processors without it. `environ` takes the place of the process's environment. `workers`
    makes others than processes of this machine, such as `nigari.fleet.cluster.ClusterWorkers`.
    """
    return Fleet(aio.open(path, jobs=jobs, environ=environ, workers=workers))


class Fleet:
    """Many root modules, worked with as one.

        with nigari.fleet.open("live") as fleet:
            plan = fleet.plan(only=["label:dev"])
            print(plan.totals)
            fleet.apply(plan)

    What concerns the fleet as a whole and cannot be done raises a `SessionError`; what goes wrong
    with a unit is in its result.
    """

    def __init__(self, inner: aio.Fleet) -> None:
        self._inner = inner
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Fleet:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<fleet in {self._inner.path}>"

    def close(self) -> None:
        """End the workers."""
        if self._loop is None or self._thread is None:
            return
        self._run(self._inner.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._loop = self._thread = None

    def _run(self, work: Coroutine[object, object, T]) -> T:
        """The result of a coroutine in the loop of the fleet; Ctrl-C interrupts it."""
        if self._loop is None:
            loop = self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=loop.run_forever, name="fleet", daemon=True)
            self._thread.start()
        tasks: list[asyncio.Task[T]] = []

        async def begin() -> T:
            task = asyncio.create_task(work)
            tasks.append(task)
            return await task

        result = asyncio.run_coroutine_threadsafe(begin(), self._loop)
        while True:
            try:
                return result_from_thread(result)
            except KeyboardInterrupt:
                if result.done() or not tasks:
                    raise
                self._loop.call_soon_threadsafe(tasks[0].cancel)

    @property
    def units(self) -> Mapping[str, Unit]:
        """The units by name."""
        return self._inner.units

    @property
    def graph(self) -> Graph:
        """Which units need which others, and why."""
        return self._inner.graph

    def look_again(self) -> None:
        """Read the files again when they are next needed."""
        self._inner.look_again()

    def select(
        self, only: Sequence[str] = (), except_: Sequence[str] = (), changed_since: str = ""
    ) -> list[str]:
        """The names of units that are meant, as for `-only`, `-except` and `-changed-since`."""
        return self._inner.select(only, except_, changed_since)

    def plan(
        self,
        *,
        only: Sequence[str] = (),
        except_: Sequence[str] = (),
        changed_since: str = "",
        destroy: bool = False,
        refresh_only: bool = False,
        refresh: bool = True,
        parallelism: int = 10,
        lock: bool = True,
        lock_timeout: float = LOCK_TIMEOUT,
        keep: bool = True,
        listen: ListenFleet = lambda _: None,
    ) -> FleetPlan:
        """Plan units with the planned outputs of those they need. A plan that is to be applied or
        saved has to be kept.
        """
        if destroy and refresh_only:
            raise ValueError("destroy and refresh_only cannot be used together")
        mode = PlanMode.DESTROY if destroy else PlanMode.NORMAL
        if refresh_only:
            mode = PlanMode.REFRESH_ONLY
        names = self.select(only, except_, changed_since)
        options = TaskOptions(mode, refresh, parallelism, lock, lock_timeout)
        return self._run(self._inner.plan(names, options, keep=keep, listen=listen))

    def save(self, plan: FleetPlan, path: str | PathLike[str]) -> None:
        """Write a plan to a file, for `nigari fleet apply FILE`."""
        self._inner.save(plan, path)

    def read_plan(self, path: str | PathLike[str]) -> FleetPlan:
        """A plan that was saved for this fleet."""
        return self._inner.read_plan(path)

    def apply(
        self,
        plan: FleetPlan | None = None,
        *,
        parallelism: int = 10,
        lock: bool = True,
        lock_timeout: float = LOCK_TIMEOUT,
        approve: Agrees | None = None,
        listen: ListenFleet = lambda _: None,
    ) -> FleetResult:
        """Carry out a plan; without one, make one and carry it out.

        `approve` is asked about units whose plans had to be made again and do something else than
        the plan says; without it they are applied.
        """
        options = TaskOptions(PlanMode.NORMAL, True, parallelism, lock, lock_timeout)
        return self._run(self._inner.apply(plan, options, approve=_asking(approve), listen=listen))

    def unfinished(self) -> aio.Unfinished | None:
        """An unfinished apply that can be resumed."""
        return self._inner.unfinished()

    def resume(
        self,
        one: aio.Unfinished,
        *,
        approve: Agrees | None = None,
        listen: ListenFleet = lambda _: None,
    ) -> FleetResult:
        """Go on with an apply: what is not done is planned again and applied."""
        return self._run(self._inner.resume(one, approve=_asking(approve), listen=listen))

    def orphans(self) -> list[Orphan]:
        """Units that are not declared any more and whose states still have objects."""
        return self._run(self._inner.orphans())

    def take_orphans(self) -> None:
        """Work with the orphans in place of the units that are declared, to destroy them."""
        self._inner.take_orphans()

    def init(
        self,
        *,
        upgrade: bool = False,
        only: Sequence[str] = (),
        backend: bool = True,
        backend_config: Sequence[str] = (),
    ) -> FleetResult:
        """Install the units' modules and providers and set up their backends; these settings (`name=value`, or files of such lines) override those of the configurations."""
        options = TaskOptions(
            upgrade=upgrade, backend=backend, backend_config=tuple(backend_config)
        )
        return self._run(self._inner.each(Kind.INIT, self.select(only), options))

    def validate(self, *, only: Sequence[str] = ()) -> FleetResult:
        """Check the configurations of units."""
        return self._run(self._inner.each(Kind.VALIDATE, self.select(only)))

    def test(self, *, only: Sequence[str] = ()) -> FleetResult:
        """Run the tests of units."""
        return self._run(self._inner.each(Kind.TEST, self.select(only)))

    def outputs(self, *, only: Sequence[str] = ()) -> FleetResult:
        """Read the outputs in the states of units."""
        return self._run(self._inner.each(Kind.OUTPUT, self.select(only)))


def _asking(agrees: Agrees | None) -> Approve:
    async def ask(result: UnitResult, path: str) -> bool:
        return agrees is None or agrees(result, path)

    return ask
