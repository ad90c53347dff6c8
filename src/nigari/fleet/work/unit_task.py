"""Performing tasks: what a worker does with a unit, through the session of its directory.

A task is init, validate, plan, apply, output or test of one unit; its outcome is data that another
process or machine can read. Which tasks there are, and in which order, is not known here.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Mapping, Sequence

from nigari import aio
from nigari.backends.lock_options import LockOptions
from nigari.diagnostics import Diagnostic, Severity, to_text
from nigari.diagnostics.advice import advising
from nigari.events import Event
from nigari.fleet.units.advice import FLEET_ADVICE
from nigari.fleet.units.inspection import unit_variables, working_directory
from nigari.fleet.work.plan_equivalence import is_covered
from nigari.fleet.work.tasks import (
    ChangeLine,
    Changes,
    Kind,
    Outputs,
    Task,
    TaskOutcome,
    TaskStatus,
    marked_output,
    not_stored,
)
from nigari.fleet.work.unsaved_states import (
    keep_rescued,
    not_stored_yet,
    read_rescued,
)
from nigari.plan.model.changes import Action, PlanMode
from nigari.record import replace
from nigari.workspace.context.options import GivenVariables, SessionOptions
from nigari.workspace.context.prompts import NO_PROMPTER
from nigari.workspace.context.shown_sources import ShownSources
from nigari.workspace.session.failure import SessionError
from nigari.workspace.session.plan_result import Plan, PlannedChange, made_plan
from nigari.workspace.session.state_result import Output


async def perform(task: Task, environ: Mapping[str, str]) -> TaskOutcome:
    """Do what a task says; whatever goes wrong is in the outcome."""
    begun = time.monotonic()
    work = {
        Kind.INIT: _initialize,
        Kind.VALIDATE: _validate,
        Kind.PLAN: _plan,
        Kind.APPLY: _apply,
        Kind.OUTPUT: _output,
        Kind.TEST: _test,
        Kind.WORKSPACES: _workspaces,
    }[task.kind]
    try:
        with advising(FLEET_ADVICE):
            outcome = await work(task, environ)
    except SessionError as error:
        outcome = TaskOutcome(TaskStatus.FAILED, *_told(error), unsaved=error.unsaved_state)
    except asyncio.CancelledError:
        outcome = TaskOutcome(TaskStatus.INTERRUPTED)
    _log_outcome(task, outcome)
    return replace(outcome, seconds=time.monotonic() - begun)


def _session(task: Task, environ: Mapping[str, str]) -> aio.Session:
    return aio.Session(
        working_directory(task.unit, environ),
        unit_variables(task.unit, task.variables),
        _options(task),
        NO_PROMPTER,
        task.unit.environment_name,
    )


def _options(task: Task) -> SessionOptions:
    return SessionOptions(
        lock=LockOptions(task.options.lock, task.options.lock_timeout),
        planned=task.planned,
        rescued=task.unit.rescued_states,
    )


async def _initialize(task: Task, environ: Mapping[str, str]) -> TaskOutcome:
    options = task.options
    done = await _session(task, environ).init(
        upgrade=options.upgrade,
        reconfigure=options.reconfigure,
        lockfile_readonly=options.lockfile_readonly,
        backend=options.backend,
        backend_config=options.backend_config,
    )
    providers = {str(name): version for name, version in done.providers.items()}
    return TaskOutcome(TaskStatus.DONE, done.warnings, report={"providers": providers})


async def _validate(task: Task, environ: Mapping[str, str]) -> TaskOutcome:
    found = await _session(task, environ).validate()
    is_wrong = any(each.severity is Severity.ERROR for each in found)
    sources = _sources(task, found)
    return TaskOutcome(TaskStatus.FAILED if is_wrong else TaskStatus.DONE, tuple(found), sources)


async def _plan(task: Task, environ: Mapping[str, str]) -> TaskOutcome:
    if read_rescued(task.unit) is not None:
        raise SessionError([not_stored_yet(task.unit)])
    plan = await _made(task, environ)
    if task.plan:
        _save(plan, task.plan)
    return _planned(plan)


async def _made(task: Task, environ: Mapping[str, str]) -> Plan:
    options = task.options
    return await _session(task, environ).plan(
        destroy=options.mode is PlanMode.DESTROY,
        refresh_only=options.mode is PlanMode.REFRESH_ONLY,
        refresh=options.refresh,
        parallelism=options.parallelism,
        listen=_Log(task.log),
    )


def _save(plan: Plan, path: str) -> None:
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    except OSError as error:
        raise SessionError([not_stored(error)]) from None
    plan.save(path)


def _planned(plan: Plan, status: TaskStatus = TaskStatus.DONE) -> TaskOutcome:
    found = made_plan(plan).plan
    outputs = {
        name: marked_output(each.after, each.sensitive)
        for name, each in found.outputs.items()
        if each.action is not Action.DELETE and not (each.after.is_known and each.after.is_null)
    }
    changed = sum(1 for each in found.outputs.values() if each.action is not Action.NO_OP)
    summary = plan.summary
    changes = Changes(
        add=summary.add,
        change=summary.change,
        destroy=summary.destroy,
        import_=summary.import_,
        forget=summary.forget,
        outputs=changed,
        lines=tuple(ChangeLine(each.address, each.action, _why(each)) for each in plan.changes),
        drift=plan.drift,
        is_empty=plan.is_empty,
        is_news=found.refreshed_state.resources != found.previous_state.resources,
        invoke=summary.invoke,
    )
    return TaskOutcome(status, plan.warnings, changes=changes, outputs=outputs)


def _why(change: PlannedChange) -> str:
    return f"deposed object {change.deposed}" if change.deposed else change.why


async def _apply(task: Task, environ: Mapping[str, str]) -> TaskOutcome:
    """Carry out a plan. Where another one has to be made, because it is known now what it depends
    on, it is carried out if it does nothing but what was agreed to.
    """
    await _store_rescued(task, environ)
    if not task.agreed:
        plan = await _saved(task, environ, task.plan)
    else:
        plan = await _made(task, environ)
        agreed = await _saved(task, environ, task.agreed)
        _save(plan, task.plan)
        if not is_covered(made_plan(plan).plan, made_plan(agreed).plan):
            return _planned(plan, TaskStatus.UNAPPROVED)
    changes = _planned(plan).changes
    applied = await _session(task, environ).apply(
        plan, parallelism=task.options.parallelism, listen=_Log(task.log)
    )
    outputs = _stored_outputs(applied.outputs)
    return TaskOutcome(TaskStatus.DONE, applied.warnings, changes=changes, outputs=outputs)


async def _store_rescued(task: Task, environ: Mapping[str, str]) -> None:
    """Store the state that an earlier apply could not: without it, objects would be made twice."""
    data = read_rescued(task.unit)
    if data is None:
        return
    try:
        await _session(task, environ).state_push(data)
    except SessionError as error:
        reported = (*error.diagnostics, not_stored_yet(task.unit))
        raise SessionError(reported, error.sources) from None
    keep_rescued(task.unit, None)


async def _saved(task: Task, environ: Mapping[str, str], path: str) -> Plan:
    """A plan that was saved. It has the values of variables, whatever has become of files since;
    only where it has ephemeral ones, these are given again.
    """
    where, name = working_directory(task.unit, environ), task.unit.environment_name
    options = _options(task)
    try:
        alone = aio.Session(where, GivenVariables(is_all=True), options, NO_PROMPTER, name)
        return await alone.read_plan(path)
    except SessionError:
        known = {key: value for key, value in task.variables.items() if value.is_wholly_known}
        plain = {key: value.unmark_deep()[0] for key, value in known.items()}
        given = unit_variables(task.unit, plain)
        return await aio.Session(where, given, options, NO_PROMPTER, name).read_plan(path)


async def _output(task: Task, environ: Mapping[str, str]) -> TaskOutcome:
    state = await _session(task, environ).state
    if not state.lineage:
        return TaskOutcome(TaskStatus.DONE)
    objects = sum(each.mode == "resource" for each in state.resources.values())
    outputs = _stored_outputs(state.outputs)
    return TaskOutcome(TaskStatus.DONE, outputs=outputs, report={"objects": objects})


async def _workspaces(task: Task, environ: Mapping[str, str]) -> TaskOutcome:
    names = await _session(task, environ).workspaces()
    return TaskOutcome(TaskStatus.DONE, report={"workspaces": names})


def _stored_outputs(outputs: Mapping[str, Output]) -> Outputs:
    return {name: marked_output(each.value, each.is_sensitive) for name, each in outputs.items()}


async def _test(task: Task, environ: Mapping[str, str]) -> TaskOutcome:
    from nigari.testing.outcome import Status
    from nigari.testing.suite import Suite, TestOptions, TestView

    where = working_directory(task.unit, environ)
    given = unit_variables(task.unit, task.variables)
    selected = task.unit.workspace or "default"
    suite = Suite(where, given, TestOptions("tests", (), False, 1), selected)
    if not suite.load():
        found = tuple(suite.diags.in_order())
        return TaskOutcome(TaskStatus.FAILED, found, _sources(task, found))
    outcome = await suite.run(TestView())
    reported = [each for file in outcome.files for run in file.runs for each in run.diags]
    reported += [each for file in outcome.files for end in file.cleanups for each in end.diags]
    passed = outcome.count(Status.PASS)
    runs = sum(len(file.runs) for file in outcome.files)
    status = TaskStatus.FAILED if outcome.has_failed else TaskStatus.DONE
    errors = tuple(each for each in reported if each.severity is Severity.ERROR)
    return TaskOutcome(
        status, errors, _sources(task, errors), report={"passed": passed, "runs": runs}
    )


# -- reports -------------------------------------------------------------------------------------


def _told(error: SessionError) -> tuple[tuple[Diagnostic, ...], Mapping[str, bytes]]:
    wanted = _files_of(error.diagnostics)
    return error.diagnostics, {k: v for k, v in error.sources.items() if k in wanted}


def _sources(task: Task, found: Sequence[Diagnostic]) -> Mapping[str, bytes]:
    """The files that diagnostics are about, as far as they can still be read."""
    sources: dict[str, bytes] = {}
    for name in _files_of(found):
        try:
            with open(os.path.join(task.unit.path, name), "rb") as file:
                sources[name] = file.read()
        except OSError:
            continue
    return sources


def _files_of(found: Sequence[Diagnostic]) -> set[str]:
    places = [each.subject for each in found]
    places += [cause.subject for each in found for cause in each.causes]
    return {place.filename for place in places if place is not None}


class _Log:
    """Writes what happens to the log of a unit."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __call__(self, event: Event) -> None:
        _log(self._path, f"{event}\n")


def _log(path: str, text: str) -> None:
    """Add to a log; where that cannot be done, the unit is worked with all the same."""
    if path:
        with (
            contextlib.suppress(OSError),
            open(path, "a", encoding="utf-8", errors="replace") as file,
        ):
            file.write(text)


def _log_outcome(task: Task, outcome: TaskOutcome) -> None:
    if not task.log:
        return
    said = to_text(outcome.diagnostics, ShownSources(outcome.sources))
    changes = "" if outcome.changes is None else f": {outcome.changes.summary}"
    _log(task.log, f"{said}{task.kind.value} {outcome.status.value}{changes}\n")
