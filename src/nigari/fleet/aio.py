"""Fleets as coroutines: everything that `nigari fleet` does, with results as values.

    async with nigari.fleet.aio.open("live") as fleet:
        plan = await fleet.plan(only=["label:dev"])
        result = await fleet.apply(plan)

What concerns the fleet as a whole and cannot be done raises a `SessionError`; what goes wrong with a
unit is in its result. Cancelling is an interruption: nothing more begins, and what is under way comes
to its end.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import time
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from os import PathLike, fspath
from types import TracebackType
from typing import Final, TypeVar

from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.file_lock import FileLock
from nigari.fleet.runs.apply_fleet import Approve, FleetApplying, agree
from nigari.fleet.runs.each_unit import EachUnit
from nigari.fleet.runs.journal import (
    DONE,
    Journal,
    abandon,
    exclusive,
    make_private,
    unfinished,
)
from nigari.fleet.runs.orphans import FleetOrphans, Orphan
from nigari.fleet.runs.plan_file import (
    extract_plans,
    fingerprint,
    read_fleet_plan,
    write_fleet_plan,
)
from nigari.fleet.runs.plan_fleet import FleetPlan, FleetPlanning
from nigari.fleet.runs.progress import FleetProgress
from nigari.fleet.runs.results import (
    FleetResult,
    ListenFleet,
)
from nigari.fleet.units.graph import Graph
from nigari.fleet.units.graph_loader import Survey, survey
from nigari.fleet.units.known_units import KnownUnit, known_file, read_known, remember_units
from nigari.fleet.units.selection import Choice, chosen_units
from nigari.fleet.units.unit import RESCUED, Unit, fleet_directory
from nigari.fleet.units.working_copy import fetch_source, keep_lock_file
from nigari.fleet.work.tasks import Kind, TaskOptions, not_stored
from nigari.fleet.work.workers import LocalWorkers, Workers
from nigari.plan.model.changes import PlanMode
from nigari.record import record, replace
from nigari.workspace.context.interruptions import on_interrupt
from nigari.workspace.context.locks import without_locks
from nigari.workspace.session.failure import SessionError
from nigari.workspace.session.open_session import check_directory

T = TypeVar("T")

MakeWorkers = Callable[[Survey], Workers]
"""Makes workers for a fleet."""
_KEPT_FOR: Final = 24 * 3600.0
"""Seconds after which plans that were not applied are removed."""
_SUMMARY: Final = "fleet.plan"
_LOGS: Final = "logs"

__all__ = ["Fleet", "open"]


def open(  # noqa: A001 - people write `nigari.fleet.open`
    path: str | PathLike[str] = ".",
    *,
    jobs: int = 0,
    environ: Mapping[str, str] | None = None,
    workers: MakeWorkers | None = None,
) -> Fleet:
    """The fleet below a directory. `jobs` is how many units are worked with at once, as many as
    there are processors without it; `workers` makes others than processes of this machine. Raises
    `FileNotFoundError` if there is no such directory.
    """
    check_directory(fspath(path))
    return Fleet(fspath(path), jobs, environ, workers)


class Fleet:
    """Many root modules, worked with as one."""

    def __init__(
        self,
        path: str,
        jobs: int = 0,
        environ: Mapping[str, str] | None = None,
        workers: MakeWorkers | None = None,
    ) -> None:
        self.path: str = os.path.abspath(path)
        self._environ = dict(os.environ if environ is None else environ)
        self._jobs = jobs or os.cpu_count() or 1
        self._make_workers = workers
        self._workers: Workers | None = None
        self._survey: Survey | None = None

    async def __aenter__(self) -> Fleet:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """End the workers."""
        if self._workers is not None:
            await self._workers.close()
            self._workers = None

    @property
    def workers(self) -> Workers:
        """The workers, once there is work."""
        if self._workers is None:
            make = self._make_workers
            local = LocalWorkers(self._jobs, self._environ)
            self._workers = local if make is None else make(self.survey)
        return self._workers

    def start_ahead(self) -> None:
        """Let workers of this machine start while something else is done."""
        if self._make_workers is None and isinstance(self.workers, LocalWorkers):
            self.workers.start_ahead()

    # -- what there is --------------------------------------------------------------------------

    @property
    def survey(self) -> Survey:
        """The fleet as it was found when it was first asked for."""
        if self._survey is None:
            self._survey = survey(self.path, self._environ)
        return self._survey

    def look_again(self) -> None:
        """Read the files again when they are next needed."""
        self._survey = None

    @property
    def units(self) -> Mapping[str, Unit]:
        """The units by name."""
        return self.survey.units

    @property
    def graph(self) -> Graph:
        """Which units need which others."""
        return self.survey.graph

    def select(
        self, only: Sequence[str] = (), except_: Sequence[str] = (), changed_since: str = ""
    ) -> list[str]:
        """The names of units that are meant, as for `-only`, `-except` and `-changed-since`."""
        found, diags = self.survey, Diagnostics(self.survey.diagnostics)
        names = chosen_units(found, Choice(only, except_, changed_since), self._environ, diags)
        if diags.has_errors:
            raise SessionError(diags.in_order(), found.sources)
        return names

    @property
    def logs(self) -> str:
        """The path of the progress file."""
        return os.path.join(fleet_directory(self.path), _LOGS)

    # -- planning -------------------------------------------------------------------------------

    async def plan(
        self,
        names: Sequence[str] | None = None,
        options: TaskOptions = TaskOptions(),  # noqa: B008 - a record, whose values never change
        *,
        keep: bool = True,
        listen: ListenFleet = lambda _: None,
    ) -> FleetPlan:
        """Plan all units, or these, with the planned outputs of those they need.

        A plan that is to be applied or saved has to be kept.
        """
        chosen = self.select() if names is None else names
        self._check_conflicts(chosen)
        id_ = uuid.uuid4().hex
        plans = ""
        with _storing():
            make_private(self.logs)
            if keep:
                _sweep(fleet_directory(self.path))
                plans = self._journal(id_).plans
                make_private(plans)
        with FleetProgress(self.path, listen).begin("plan", options.mode, chosen) as listener:
            planning = FleetPlanning(
                found=self.survey,
                names=chosen,
                workers=self.workers,
                options=options,
                logs=self.logs,
                plans=plans,
                listen=listener,
                id=id_,
            )
            return await _interruptible(planning.run(), planning.interrupt)

    def save(self, plan: FleetPlan, path: str | PathLike[str]) -> None:
        """Write a plan that was kept to a file, for `nigari fleet apply FILE`."""
        diags = Diagnostics()
        if not write_fleet_plan(plan, self.survey, fspath(path), diags):
            raise SessionError(diags.in_order())

    def discard(self, plan: FleetPlan) -> None:
        """Remove what was kept of a plan."""
        shutil.rmtree(os.path.join(fleet_directory(self.path), plan.id), ignore_errors=True)

    def read_plan(self, path: str | PathLike[str]) -> FleetPlan:
        """A plan that was saved for this fleet, ready to be applied."""
        diags = Diagnostics()
        saved = read_fleet_plan(fspath(path), diags)
        if saved is None:
            raise SessionError(diags.in_order())
        self._check_unchanged(saved.fingerprints)
        journal = self._journal(saved.plan.id)
        if journal.has_ended:
            raise _refusal("Plan already applied", f"The plan in {path} has been applied.")
        with _storing():
            make_private(journal.plans)
            plan = extract_plans(saved.plan, fspath(path), journal.plans, diags)
        if plan is None:
            raise SessionError(diags.in_order())
        return plan

    def _journal(self, id_: str) -> Journal:
        """The journal of an apply, which may not have begun."""
        directory = os.path.join(fleet_directory(self.path), id_)
        with _reading_journals(directory):
            return Journal(directory)

    def _check_conflicts(self, names: Sequence[str]) -> None:
        """Refuse to plan or apply units together that would write one state."""
        found = self.survey.graph.conflicts(names)
        if found:
            raise SessionError(found, self.survey.sources)

    def _check_unchanged(self, prints: Mapping[str, str]) -> None:
        found = self.survey
        for name, was in prints.items():
            if name not in found.units or fingerprint(found, name) != was:
                raise _refusal(
                    "The fleet has changed",
                    f"{name} has changed since the plan was made: it was removed, moved to "
                    "another directory or workspace, or depends on other units. Make a new plan.",
                )

    # -- orphans --------------------------------------------------------------------------------

    def _known(self) -> Mapping[str, KnownUnit]:
        """The units that were applied from here."""
        diags = Diagnostics()
        known = read_known(self.path, diags)
        if known is None:
            raise SessionError(diags.in_order())
        return known

    def _orphans(self) -> FleetOrphans:
        return FleetOrphans(self.survey, self._known(), self._environ)

    def undeclared(self) -> list[Orphan]:
        """Units that were applied from here and are not declared any more. Nothing is connected to, so
        that they may have no objects.
        """
        return self._orphans().candidates

    async def orphans(self, options: TaskOptions = TaskOptions()) -> list[Orphan]:  # noqa: B008
        """Units that are not declared any more and whose states have objects."""
        return await self._orphans().find(self.workers, options)

    def take_orphans(self) -> None:
        """Work with the orphans in place of the units that are declared, to destroy them."""
        self._survey = self._orphans().survey()

    @property
    def known_file(self) -> str:
        """The file with the units that were applied from here."""
        return known_file(self.path)

    # -- applying -------------------------------------------------------------------------------

    def unfinished(self) -> Unfinished | None:
        """An unfinished apply."""
        with _reading_journals(fleet_directory(self.path)):
            journal = unfinished(self.path)
        if journal is None:
            return None
        id_, begun = os.path.basename(journal.directory), journal.entries[0].time
        summary = os.path.join(journal.directory, _SUMMARY)
        diags = Diagnostics()
        saved = read_fleet_plan(summary, diags)
        if saved is None or saved.plan.id != id_:
            return Unfinished(
                id=id_,
                mode="",
                begun=begun,
                done=0,
                units=0,
                summary=summary,
                problems=tuple(diags.in_order()),
            )
        plan = saved.plan
        done = sum(journal.state(name) == DONE for name in plan.units)
        warnings = (_damaged(journal),) if journal.damaged else ()
        return Unfinished(
            id=id_,
            mode=plan.mode.value,
            begun=begun,
            done=done,
            units=len(plan.units),
            summary=summary,
            problems=warnings,
        )

    def abandon(self, one: Unfinished) -> None:
        """Do not go on with an apply; what it has done stays done."""
        abandon(os.path.join(fleet_directory(self.path), one.id))

    async def apply(
        self,
        plan: FleetPlan | None = None,
        options: TaskOptions = TaskOptions(),  # noqa: B008 - a record, whose values never change
        *,
        is_saved: bool = False,
        approve: Approve = agree,
        listen: ListenFleet = lambda _: None,
    ) -> FleetResult:
        """Carry out a plan of the fleet; without one, make one and carry it out.

        `approve` is asked about units whose plans had to be made again and do something else than
        the plan says. A plan `is_saved` in a file, or else is gone on with by `resume`.
        """
        if plan is None:
            plan = await self.plan(None, options, listen=listen)
        journal = self._journal(plan.id)
        if not is_saved and not journal.has_begun:
            self.save(plan, os.path.join(journal.directory, _SUMMARY))
        return await self._carry_out(plan, journal, options, is_saved, approve, listen, False)

    async def resume(
        self,
        one: Unfinished,
        options: TaskOptions = TaskOptions(),  # noqa: B008 - a record, whose values never change
        *,
        approve: Approve = agree,
        listen: ListenFleet = lambda _: None,
    ) -> FleetResult:
        """Go on with an apply: what is not done is planned again, and applied if that does nothing
        but what was agreed to, or is agreed to.
        """
        plan = self.read_plan(one.summary)
        journal = self._journal(plan.id)
        return await self._carry_out(plan, journal, options, False, approve, listen, True)

    async def _carry_out(
        self,
        plan: FleetPlan,
        journal: Journal,
        options: TaskOptions,
        is_saved: bool,
        approve: Approve,
        listen: ListenFleet,
        plans_again: bool,
    ) -> FleetResult:
        self._check_conflicts(list(plan.units))
        with ExitStack() as stack:
            with _storing():
                lock = stack.enter_context(exclusive(self.path))
            if lock is FileLock.TAKEN:
                raise _refusal(
                    "Another apply is running",
                    "Another process is applying a plan of this fleet. Wait until it is done.",
                )
            destroys, known = plan.mode is PlanMode.DESTROY, self._known()
            with _storing():
                make_private(self.logs)
                if not destroys:
                    remember_units(self.survey, known, list(plan.units))
                journal.begin(plan.id, list(plan.units), is_saved)
            settings = _with_mode(options, plan.mode)
            progress = FleetProgress(self.path, listen).begin("apply", plan.mode, list(plan.units))
            listener = stack.enter_context(progress)
            applying = FleetApplying(
                found=self.survey,
                plan=plan,
                journal=journal,
                workers=self.workers,
                options=settings,
                logs=self.logs,
                approve=approve,
                listen=listener,
                plans_again=plans_again,
            )
            try:
                result = await _interruptible(applying.run(), applying.interrupt)
            finally:
                journal.close()
            if destroys:
                gone = [name for name, each in result.units.items() if each.is_done]
                with _storing():
                    remember_units(self.survey, known, (), gone)
            unlocked = (without_locks("applies of this fleet"),)
            return replace(result, warnings=unlocked if lock is FileLock.UNSUPPORTED else ())

    # -- everything else ------------------------------------------------------------------------

    async def each(
        self,
        kind: Kind,
        names: Sequence[str] | None = None,
        options: TaskOptions = TaskOptions(),  # noqa: B008 - a record, whose values never change
        *,
        listen: ListenFleet = lambda _: None,
    ) -> FleetResult:
        """Initialize, validate or test units, or read their outputs, in no particular order."""
        chosen = self.select() if names is None else names
        with _storing():
            make_private(self.logs)
        if kind is Kind.INIT:
            await asyncio.to_thread(self._fetch_sources, chosen, options.upgrade)
        run = EachUnit(
            found=self.survey,
            kind=kind,
            names=chosen,
            workers=self.workers,
            options=options,
            logs=self.logs,
            listen=listen,
        )
        result = await _interruptible(run.run(), run.interrupt)
        if kind is Kind.INIT:
            with _storing():
                for name in chosen:
                    keep_lock_file(self.units[name])
        return result

    def _fetch_sources(self, names: Sequence[str], upgrade: bool) -> None:
        """Download the modules that units run, and look at the units again."""
        diags = Diagnostics()
        wanted = {
            each.copy.package: each for each in map(self.units.__getitem__, names) if each.copy
        }
        with _storing():
            for unit in wanted.values():
                fetch_source(unit, self._environ, diags, upgrade)
        if diags.has_errors:
            raise SessionError(diags.in_order(), self.survey.sources)
        if wanted:
            self.look_again()


@record
class Unfinished:
    """An unfinished apply."""

    id: str
    mode: str
    """`normal` or `destroy`; empty where its plan cannot be read any more."""
    begun: str
    done: int
    units: int
    summary: str
    """The file with its plan."""
    problems: tuple[Diagnostic, ...] = ()
    """The damage of it."""

    @property
    def can_continue(self) -> bool:
        """Return whether the apply's plan can still be read."""
        return bool(self.mode)


async def _interruptible(
    work: Coroutine[object, object, T], interrupt: Callable[[], Awaitable[None]]
) -> T:
    """Do some work that is interrupted and not just ended, by a signal as by cancelling it."""
    task = asyncio.ensure_future(work)
    pending: set[asyncio.Future[None]] = set()

    def react() -> None:
        future = asyncio.ensure_future(interrupt())
        pending.add(future)
        future.add_done_callback(pending.discard)

    with on_interrupt(react):
        while not task.done():
            try:
                await asyncio.wait((task,))
            except asyncio.CancelledError:
                react()
    return task.result()


@contextmanager
def _storing() -> Iterator[None]:
    """Report what cannot be written to where a fleet keeps what it has to remember."""
    try:
        yield
    except OSError as error:
        raise SessionError([not_stored(error)]) from None


@contextmanager
def _reading_journals(directory: str) -> Iterator[None]:
    """Report a journal that cannot be read, and what to do about it."""
    try:
        yield
    except OSError as error:
        raise _refusal(
            "Journal cannot be read",
            f"{error.filename or directory}: {error.strerror}. It says how far an apply has come. Make "
            f"it readable; or remove the directory of that apply below {directory}, after which "
            "all units are planned again.",
        ) from None


def _damaged(journal: Journal) -> Diagnostic:
    count = journal.damaged
    lines = "A line" if count == 1 else f"{count} lines"
    return Diagnostic(
        Severity.WARNING,
        "Damaged journal",
        f"{lines} of {journal.path} cannot be read. Units that it does not list as done are planned "
        "again, and what they have created is in their states. To start over without this journal, use "
        f"-restart, or remove {journal.directory}.",
    )


def _with_mode(options: TaskOptions, mode: PlanMode) -> TaskOptions:
    return replace(options, mode=mode)


def _sweep(directory: str) -> None:
    """Remove old plans that were not applied."""
    try:
        entries = [each for each in os.scandir(directory) if each.is_dir()]
    except FileNotFoundError:
        return
    for entry in entries:
        is_old = time.time() - entry.stat().st_mtime > _KEPT_FOR
        is_plan = entry.name not in (_LOGS, RESCUED)
        with suppress(OSError):
            if is_old and is_plan and not Journal(entry.path).has_begun:
                shutil.rmtree(entry.path, ignore_errors=True)


def _refusal(summary: str, detail: str) -> SessionError:
    return SessionError([Diagnostic(Severity.ERROR, summary, detail)])
