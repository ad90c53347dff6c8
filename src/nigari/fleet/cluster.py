"""Workers of a Dask cluster: the same tasks on other machines.

What a unit reads is sent as packages that Dask knows by their content, so that each worker gets each
of them once. Credentials do not travel: workers have their own environment, with the variables in it
that are passed by name. States and locks stay with their backends.

A worker may be lost. What can be repeated is repeated elsewhere by Dask. An apply is not: each has a
token, and who finds it taken does nothing.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import uuid
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Final

from nigari.diagnostics import Diagnostic, Severity
from nigari.fleet.units.survey import Survey
from nigari.fleet.units.unit import Unit
from nigari.fleet.work.performing import perform
from nigari.fleet.work.rescued import keep_rescued, read_rescued
from nigari.fleet.work.shipping import Packer, Shipment, unpack
from nigari.fleet.work.tasks import Kind, Task, TaskOptions, TaskOutcome, TaskStatus
from nigari.fleet.work.workers import MakeTask, lost_worker
from nigari.record import record, replace
from nigari.version import VERSION
from nigari.workspace.session.failure import SessionError

if TYPE_CHECKING:
    from distributed import Client
    from distributed.deploy.cluster import Cluster

_RETRIES: Final = 2
_AT_ONCE: Final = 1000
"""How many tasks the cluster is handed at once: it has its own queues."""


@record
class Assignment:
    """A task for a worker of the cluster, with what it cannot find there."""

    task: Task
    shipment: Shipment | None
    """What the unit reads; None where workers see the same files."""
    environ: Mapping[str, str]
    plan: bytes = b""
    """The plan to be applied."""
    agreed: bytes = b""
    rescued: bytes | None = None
    """A state that an earlier apply could not store."""
    token: str = ""
    """What must not be taken twice; empty for what may be repeated."""
    version: str = VERSION


@record
class Returned:
    """What comes back."""

    outcome: TaskOutcome
    plan: bytes = b""
    log: bytes = b""
    rescued: bytes | None = None
    """The state, if it could not be stored."""


class ClusterWorkers:
    """The workers of a Dask cluster, by its address or as an object of `distributed`.

    With `shares_files` all workers see the files of this machine under the same paths, so that
    nothing is sent; then states may be in local files.
    """

    def __init__(
        self,
        cluster: str | Cluster,
        found: Survey,
        *,
        pass_env: Sequence[str] = (),
        shares_files: bool = False,
        environ: Mapping[str, str] | None = None,
        closes_cluster: bool = False,
    ) -> None:
        """`closes_cluster` ends the cluster with the work, for who made it only for that."""
        self._cluster = cluster
        self._closes_cluster = closes_cluster
        self._found = found
        self._environ = dict(os.environ if environ is None else environ)
        self._passed = {each: self._environ[each] for each in pass_env if each in self._environ}
        self._shares_files = shares_files
        self._packer = Packer([unit.path for unit in found.units.values()])
        self._client: Client | None = None
        self._connecting = asyncio.Lock()
        self._slots = asyncio.Semaphore(_AT_ONCE)
        self._sent: dict[str, object] = {}
        self._sending = asyncio.Lock()

    async def _connected(self) -> Client:
        async with self._connecting:
            if self._client is None:
                from distributed import Client

                cluster = self._cluster
                # A cluster has an event loop of its own, so that only its address is used here.
                is_name = isinstance(cluster, str)
                address = cluster if isinstance(cluster, str) else cluster.scheduler_address
                security = None if is_name else getattr(cluster, "security", None)
                try:
                    self._client = await Client(
                        address, security=security, asynchronous=True, set_as_default=False
                    )
                except (OSError, TimeoutError, ValueError) as error:
                    raise SessionError([_unreachable(address, error)]) from None
            return self._client

    async def run(self, make: MakeTask) -> TaskOutcome:
        async with self._slots:
            await self._connected()
            task = make()
            if task is None:
                return TaskOutcome(TaskStatus.INTERRUPTED)
            refusal = self._refusal(task)
            if refusal is not None:
                return TaskOutcome(TaskStatus.FAILED, (refusal,))
            returned = await self._submitted(task)
            for _ in range(_RETRIES if task.is_repeatable else 0):
                if returned is None:
                    # What was sent may be gone with the worker that had it.
                    self._sent.clear()
                    returned = await self._submitted(task)
        if returned is None:
            return TaskOutcome(TaskStatus.LOST, (lost_worker(task),))
        if task.plan and returned.plan:
            _write(task.plan, returned.plan)
        if task.log and returned.log:
            _write(task.log, returned.log)
        if not self._shares_files:
            keep_rescued(task.unit, returned.rescued)
        return returned.outcome

    def _refusal(self, task: Task) -> Diagnostic | None:
        """Why a unit cannot be worked with elsewhere, if it cannot."""
        state = self._found.graph.states.get(task.unit.name)
        if self._shares_files or state is None or state.backend not in ("local", "inmem"):
            return None
        if task.kind in (Kind.INIT, Kind.VALIDATE, Kind.TEST):
            return None
        return Diagnostic(
            Severity.ERROR,
            "State that other machines cannot reach",
            f"The state of {task.unit.name} is in a local file, which workers on other machines do "
            "not see. Store it in a remote backend, or, if all workers share the file system, use "
            "-cluster-shares-files.",
        )

    async def _submitted(self, task: Task) -> Returned | None:
        from distributed import CancelledError, KilledWorker
        from distributed.comm.core import CommClosedError

        try:
            client = await self._connected()
            assignment, packages = await self._assignment(client, task)
            future = client.submit(
                work,
                assignment,
                *packages,
                key=f"nigari-{task.kind.value}-{task.unit.name}-{uuid.uuid4().hex[:8]}",
                pure=False,
                retries=_RETRIES if task.is_repeatable else 0,
            )
            returned = await future
        except (CancelledError, KilledWorker, CommClosedError, OSError, TimeoutError):
            return None
        assert isinstance(returned, Returned)
        return returned

    async def _assignment(self, client: Client, task: Task) -> tuple[Assignment, list[object]]:
        plan = _read(task.plan) if task.kind is Kind.APPLY and not task.agreed else b""
        agreed = _read(task.agreed) if task.agreed else b""
        token = "" if task.is_repeatable else uuid.uuid4().hex
        if self._shares_files:
            return Assignment(task, None, self._passed, plan, agreed, token=token), []
        known = {name: value for name, value in task.variables.items() if value.is_wholly_known}
        shipment = self._packer.pack(task.unit, self._environ, known)
        packages = [
            await self._package(client, each.digest, each.data) for each in shipment.packages
        ]
        rescued = read_rescued(task.unit)
        empty = tuple(replace(each, data=b"") for each in shipment.packages)
        light = Shipment(shipment.unit, empty)
        return Assignment(task, light, self._passed, plan, agreed, rescued, token), packages

    async def _package(self, client: Client, digest: str, data: bytes) -> object:
        """A package as something that Dask has, under a name that is its content's."""
        async with self._sending:
            if digest not in self._sent:
                name = f"nigari-package-{digest}"
                sent = await client.scatter({name: data}, hash=False)
                self._sent[digest] = sent[name]
            return self._sent[digest]

    async def interrupt(self) -> None:
        """What is under way comes to its end: nobody can reach into a worker of a cluster."""

    async def close(self) -> None:
        self._sent.clear()
        if self._client is not None:
            await self._client.close()
            self._client = None
        if self._closes_cluster and not isinstance(self._cluster, str):
            await asyncio.to_thread(self._cluster.close)


def cluster_of(text: str) -> str | Cluster:
    """The cluster that a text means: an address such as `tcp://host:8786`, or, as `module:Class`, a
    class that makes one with the settings of Dask.
    """
    module, colon, name = text.partition(":")
    if not colon or "/" in text or name.isdecimal():
        return text
    try:
        kind: type[Cluster] = getattr(import_module(module), name)
        return kind()
    except Exception as error:
        raise SessionError([_not_made(text, error)]) from error


def _not_made(text: str, error: Exception) -> Diagnostic:
    return Diagnostic(
        Severity.ERROR,
        "Cannot make a cluster",
        f"{text} must name a module that Python finds and a class in it that makes a cluster without "
        f"arguments. {type(error).__name__}: {error}.",
    )


def _unreachable(address: str, error: Exception) -> Diagnostic:
    return Diagnostic(
        Severity.ERROR,
        "Cannot reach the cluster",
        f"The scheduler of the cluster at {address} cannot be reached: {str(error) or 'no answer'}. Check "
        "the address, and whether the scheduler is running.",
    )


# -- on the worker ------------------------------------------------------------------------------


def work(assignment: Assignment, *packages: bytes) -> Returned:
    """Do a task on a worker of the cluster."""
    task = assignment.task
    if assignment.version != VERSION:
        return Returned(TaskOutcome(TaskStatus.FAILED, (_other_version(assignment.version),)))
    if assignment.token and not _take(assignment.token):
        return Returned(TaskOutcome(TaskStatus.LOST, (lost_worker(task),)))
    environ = {**os.environ, **assignment.environ}
    with tempfile.TemporaryDirectory(prefix="nigari-") as scratch:
        local = _localized(assignment, packages, scratch)
        is_shipped = assignment.shipment is not None
        if is_shipped:
            keep_rescued(local.unit, assignment.rescued)
        outcome = asyncio.run(_work(local, environ, is_shipped))
        rescued = read_rescued(local.unit) if is_shipped else None
        return Returned(outcome, _read(local.plan), _read(local.log), rescued)


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
        _write(os.path.join(task.unit.path, marker), b"")
    return outcome


def _has(unit: Unit, name: str) -> bool:
    return os.path.exists(os.path.join(unit.path, name))


def _localized(assignment: Assignment, packages: Sequence[bytes], scratch: str) -> Task:
    """The task with the paths that it has on this machine."""
    task = assignment.task
    unit = task.unit
    if assignment.shipment is not None:
        given = assignment.shipment
        filled = zip(given.packages, packages, strict=True)
        whole = Shipment(given.unit, tuple(replace(each, data=data) for each, data in filled))
        unit = unpack(whole, _home())
    plan = os.path.join(scratch, "plan") if task.plan else ""
    agreed = os.path.join(scratch, "agreed") if task.agreed else ""
    if assignment.plan:
        _write(plan, assignment.plan)
    if assignment.agreed:
        _write(agreed, assignment.agreed)
    return replace(task, unit=unit, plan=plan, agreed=agreed, log=os.path.join(scratch, "log"))


def _home() -> str:
    """Where a worker keeps what was sent to it."""
    from distributed import get_worker

    return os.path.join(get_worker().local_directory, "nigari-fleet")


def _take(token: str) -> bool:
    """Whether an apply was not begun before, by a worker that is gone."""
    from distributed import Event, get_client

    event = Event(f"nigari-{token}", client=get_client())
    if event.is_set():
        return False
    event.set()
    return True


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _write(path: str, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)


def _other_version(version: str) -> Diagnostic:
    return Diagnostic(
        Severity.ERROR,
        "Another version on the cluster",
        f"This program is Nigari {version}, and the worker has {VERSION}. Install the same version "
        "on all workers.",
    )
