"""The work of a cluster's worker: a task or a step on another machine, with what was sent for it.

What a unit reads comes as packages that Dask knows by their content. Everything else that a task
takes is in its assignment; what it leaves behind, such as a plan, a log or a state that could not
be stored, goes back with its outcome.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import tempfile
import zlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from nigari.diagnostics import Diagnostic, Severity
from nigari.diagnostics.unexpected import unexpected
from nigari.fleet.units.unit import Unit
from nigari.fleet.units.unit_values import UnitValues
from nigari.fleet.work.shipping import Shipment, unpack
from nigari.fleet.work.steps import Passed, Step, passed, take_step
from nigari.fleet.work.tasks import Kind, Task, TaskOptions, TaskOutcome, TaskStatus
from nigari.fleet.work.unit_task import perform
from nigari.fleet.work.unsaved_states import keep_rescued, read_rescued
from nigari.fleet.work.workers import lost_worker
from nigari.record import record, replace
from nigari.system_calls import NOT_INHERITED
from nigari.version import VERSION

TOPIC: Final = "nigari-fleet"
"""The topic of Dask events in which workers report that they have begun a task."""
_NO_VALUES: Final = UnitValues()


@record
class Assignment:
    """A step for a worker of the cluster, with what it cannot find there."""

    step: Step
    shipment: Shipment | None
    """The files of the unit, without their data; None if workers see the same files."""
    environ: Mapping[str, str]
    run: str = ""
    """The run that wants to hear when the step begins."""
    plan: bytes = b""
    """The plan to be applied."""
    agreed: bytes = b""
    rescued: bytes | None = None
    """A state that an earlier apply could not store."""
    token: str = ""
    """The identity of a task that must not run twice; empty if it may be repeated."""
    version: str = VERSION


@record
class Returned:
    """The answer of a worker."""

    outcome: TaskOutcome
    plan: bytes = b""
    log: bytes = b""


def package(data: bytes) -> bytes:
    """A package, as something that Dask makes again wherever it is lost."""
    return data


def pass_on(kind: Kind, unit: Unit, returned: Returned) -> Passed:
    """The outputs of a step for those after it, without what only the program needs."""
    return passed(kind, unit, returned.outcome)


def packed_values(values: UnitValues) -> bytes:
    """The expressions of a fleet as a package."""
    return zlib.compress(pickle.dumps(values, protocol=5), 1)


@lru_cache(maxsize=4)
def _unpacked_values(data: bytes) -> UnitValues:
    values: UnitValues = pickle.loads(zlib.decompress(data))
    return values


def work(
    assignment: Assignment,
    packages: Sequence[bytes] = (),
    values: bytes | None = None,
    before: Sequence[Passed] = (),
) -> Returned:
    """Take a step on a worker of the cluster."""
    task = assignment.step.task
    if assignment.version != VERSION:
        return Returned(TaskOutcome(TaskStatus.FAILED, (_other_version(assignment.version),)))
    if assignment.token and not _take(assignment.token):
        return Returned(TaskOutcome(TaskStatus.LOST, (lost_worker(task),)))
    try:
        return asyncio.run(_stepped(assignment, packages, values, before))
    except Exception as error:  # noqa: BLE001 - the program is failure, and goes on without this unit
        failure = unexpected(f"The {task.kind.value}", error)
        return Returned(TaskOutcome(TaskStatus.FAILED, (failure,)))


async def _stepped(
    assignment: Assignment,
    packages: Sequence[bytes],
    values: bytes | None,
    before: Sequence[Passed],
) -> Returned:
    left: list[Returned] = []

    async def do(task: Task) -> TaskOutcome:
        _say_begun(assignment)
        left.append(await _done(task, assignment, packages))
        return left[0].outcome

    known = _NO_VALUES if values is None else _unpacked_values(values)
    outcome = await take_step(assignment.step, {each.unit: each for each in before}, known, do)
    return replace(left[0], outcome=outcome) if left else Returned(outcome)


def _say_begun(assignment: Assignment) -> None:
    from distributed import get_worker

    if assignment.run:
        kind, name = assignment.step.key
        get_worker().log_event(TOPIC, {"run": assignment.run, "kind": kind.value, "unit": name})


async def _done(task: Task, assignment: Assignment, packages: Sequence[bytes]) -> Returned:
    environ = {**os.environ, **assignment.environ}
    with tempfile.TemporaryDirectory(prefix="nigari-") as scratch:
        local = _localized(task, assignment, packages, scratch)
        is_shipped = assignment.shipment is not None
        if is_shipped:
            keep_rescued(local.unit, assignment.rescued)
        outcome = await _work(local, environ, is_shipped)
        if is_shipped and outcome.unsaved is None:
            outcome = replace(outcome, unsaved=read_rescued(local.unit))
            keep_rescued(local.unit, None)
        return Returned(outcome, read_file(local.plan), read_file(local.log))


async def _work(task: Task, environ: Mapping[str, str], is_shipped: bool) -> TaskOutcome:
    if is_shipped and task.kind is not Kind.INIT:
        prepared = await _prepared(task, environ)
        if prepared.status is not TaskStatus.DONE:
            return prepared
    return await perform(task, environ)


async def _prepared(task: Task, environ: Mapping[str, str]) -> TaskOutcome:
    """Install what the unit needs on this machine, from its caches and mirrors, once."""
    marker = f".nigari-ready-{task.unit.file_name}"
    if _has(task.unit, marker):
        return TaskOutcome(TaskStatus.DONE)
    is_locked = _has(task.unit, ".terraform.lock.hcl")
    options = TaskOptions(lockfile_readonly=is_locked, reconfigure=True)
    known = {name: value for name, value in task.variables.items() if value.is_wholly_known}
    outcome = await perform(Task(Kind.INIT, task.unit, options, known, log=task.log), environ)
    if outcome.status is TaskStatus.DONE:
        write_file(os.path.join(task.unit.path, marker), b"")
    return outcome


def _has(unit: Unit, name: str) -> bool:
    return os.path.exists(os.path.join(unit.path, name))


def _localized(task: Task, assignment: Assignment, packages: Sequence[bytes], scratch: str) -> Task:
    """The task with the paths that it has on this machine."""
    unit = task.unit
    if assignment.shipment is not None:
        given = assignment.shipment
        filled = zip(given.packages, packages, strict=True)
        whole = Shipment(given.unit, tuple(replace(each, data=data) for each, data in filled))
        unit = unpack(whole, _home())
    plan = os.path.join(scratch, "plan") if task.plan else ""
    agreed = os.path.join(scratch, "agreed") if task.agreed else ""
    if assignment.plan:
        write_file(plan, assignment.plan)
    if assignment.agreed:
        write_file(agreed, assignment.agreed)
    return replace(task, unit=unit, plan=plan, agreed=agreed, log=os.path.join(scratch, "log"))


def _home() -> str:
    """The directory for files that were sent to a worker."""
    from distributed import get_worker

    return os.path.join(get_worker().local_directory, "nigari-fleet")


def _take(token: str) -> bool:
    """Mark an apply as begun; return whether no earlier worker had begun it."""
    from distributed import Event, get_client

    event = Event(f"nigari-{token}", client=get_client())
    if event.is_set():
        return False
    event.set()
    return True


def read_file(path: str) -> bytes:
    """The content of a file; empty if there is none."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def write_file(path: str, data: bytes) -> None:
    """Write a file that only its owner can read."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | NOT_INHERITED, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)


def _other_version(version: str) -> Diagnostic:
    return Diagnostic(
        Severity.ERROR,
        "Another version on the cluster",
        f"This program is Nigari {version}, and the worker has {VERSION}. Install the same version "
        "on all workers.",
    )
