"""Workers of a Dask cluster: the same tasks on other machines.

A run whose tasks can be repeated is handed to Dask as a whole: units are tasks, edges are dependencies,
and outputs travel from worker to worker. Whatever is lost with a worker Dask makes again elsewhere. An
apply must not be repeated, so that units are handed over one by one when their turn has come, each with
a token: who finds it taken does nothing.

What a unit reads is sent as packages that Dask knows by their content. Credentials do not travel:
workers have their own environment, with the variables in it that are passed by name. States and
locks stay with their backends.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import uuid
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Final

from nigari.backends.known_backends import our_backend
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.fleet.units.graph_loader import Survey
from nigari.fleet.units.unit_values import UnitValues
from nigari.fleet.work.dask_worker import (
    TOPIC,
    Assignment,
    Returned,
    package,
    packed_values,
    pass_on,
    read_file,
    work,
    write_file,
)
from nigari.fleet.work.shipping import FilePackage, Packer, Shipment
from nigari.fleet.work.steps import (
    Passed,
    Step,
    StepKey,
    Steps,
    Watch,
    passed,
    skipped_task,
)
from nigari.fleet.work.tasks import Kind, Task, TaskOutcome, TaskStatus, not_stored
from nigari.fleet.work.unsaved_states import keep_rescued, read_rescued, with_state_kept
from nigari.fleet.work.workers import MakeTask, lost_worker
from nigari.record import replace
from nigari.workspace.session.failure import SessionError

if TYPE_CHECKING:
    from distributed import Client, Future
    from distributed.deploy.cluster import Cluster

_RETRIES: Final = 2
"""The number of attempts of Dask on other workers if one cannot even begin a task."""


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
        self._packer = Packer(found.root, [unit.path for unit in found.units.values()])
        self._client: Client | None = None
        self._connecting = asyncio.Lock()
        self._sent: dict[str, Future] = {}
        self._runs: dict[str, _Run] = {}

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
                self._client.subscribe_topic(TOPIC, self._hear)
            return self._client

    # -- handing over ---------------------------------------------------------------------------

    async def run(self, make: MakeTask) -> TaskOutcome:
        client = await self._connected()
        task = make()
        if task is None:
            return TaskOutcome(TaskStatus.INTERRUPTED)
        refused = self._refusal(task)
        if refused is not None:
            return refused
        return await self._outcome(task, self._submit(client, Step(task), task.variables))

    async def run_all(self, steps: Steps, values: UnitValues, watch: Watch) -> None:
        client = await self._connected()
        run = _Run(uuid.uuid4().hex, watch)
        self._runs[run.id] = run
        data = packed_values(values)
        expressions = self._package(client, hashlib.sha256(data).hexdigest(), data)
        try:
            for step in steps.values():
                self._hand_over(client, step, values, expressions, run)
                # What has come back by now is heard between two steps.
                await asyncio.sleep(0)
            await asyncio.gather(*run.collecting.values())
        finally:
            del self._runs[run.id]

    def _hand_over(
        self, client: Client, step: Step, values: UnitValues, expressions: Future, run: _Run
    ) -> None:
        """Hand over a step with what those before it will pass on."""
        task = step.task
        outcome = skipped_task() if run.watch.is_stopped else self._refusal(task)
        if outcome is not None:
            run.passed[step.key] = passed(task.kind, task.unit, outcome)
            run.end(step.key, outcome)
            return
        known = task.variables
        if step.needs is not None:
            known = values.variables(task.unit.name, {}, Diagnostics()).values
        before = [run.passed[key] for key in step.after]
        future = self._submit(client, step, known, run.id, expressions, before)
        run.waiting[step.key] = future
        run.passed[step.key] = client.submit(pass_on, task.kind, task.unit, future, pure=False)
        run.collecting[step.key] = asyncio.ensure_future(self._collect(step, future, run))

    def _submit(
        self,
        client: Client,
        step: Step,
        known: Mapping[str, Value],
        run: str = "",
        expressions: Future | None = None,
        before: Sequence[Passed | Future] = (),
    ) -> Future:
        task = step.task
        shipment, packages = self._shipment(client, task, known)
        assignment = Assignment(
            step,
            shipment,
            self._passed,
            run,
            plan=read_file(task.plan) if task.kind is Kind.APPLY and not task.agreed else b"",
            agreed=read_file(task.agreed) if task.agreed else b"",
            rescued=None if self._shares_files else read_rescued(task.unit),
            token="" if task.is_repeatable else uuid.uuid4().hex,
        )
        return client.submit(
            work,
            assignment,
            packages,
            expressions,
            list(before),
            key=f"nigari-{task.kind.value}-{task.unit.name}-{uuid.uuid4().hex[:8]}",
            pure=False,
            retries=_RETRIES if task.is_repeatable else 0,
        )

    def _shipment(
        self, client: Client, task: Task, known: Mapping[str, Value]
    ) -> tuple[Shipment | None, list[Future]]:
        """The files of a unit: their path, and their data as a Dask object."""
        if self._shares_files:
            return None, []
        values = {name: value for name, value in known.items() if value.is_wholly_known}
        shipment = self._packer.pack(task.unit, self._environ, values)
        packages = [self._package(client, each.digest, each.data) for each in shipment.packages]
        return Shipment(shipment.unit, tuple(map(_without_data, shipment.packages))), packages

    def _package(self, client: Client, digest: str, data: bytes) -> Future:
        """A package, sent once, under a name that is its content's. It is a task, too, so that Dask
        can make it again when the worker that had it is lost.
        """
        if digest not in self._sent:
            self._sent[digest] = client.submit(package, data, key=f"nigari-package-{digest}")
        return self._sent[digest]

    # -- what comes back ------------------------------------------------------------------------

    def _hear(self, event: tuple[float, Mapping[str, str]]) -> None:
        """A worker has begun with a step, of one of our runs or of another program's."""
        _, details = event
        run = self._runs.get(details["run"])
        if run is not None:
            run.begin((Kind(details["kind"]), details["unit"]))

    async def _collect(self, step: Step, future: Future, run: _Run) -> None:
        outcome = await self._outcome(step.task, future)
        if outcome.status is TaskStatus.LOST:
            outcome = await run.reason(step, outcome)
        run.end(step.key, outcome)

    async def _outcome(self, task: Task, future: Future) -> TaskOutcome:
        """The outcome of a task, once all its files are here."""
        from distributed import CancelledError, KilledWorker
        from distributed.comm.core import CommClosedError

        try:
            returned = await future
        except (CancelledError, KilledWorker, CommClosedError, OSError, TimeoutError):
            return TaskOutcome(TaskStatus.LOST, (lost_worker(task),))
        except Exception as error:  # noqa: BLE001 - whatever the worker lacks to begin with a task
            return TaskOutcome(TaskStatus.FAILED, (_not_begun(error),))
        assert isinstance(returned, Returned)
        return self._taken_over(task, returned)

    def _taken_over(self, task: Task, returned: Returned) -> TaskOutcome:
        """The outcome of a task whose worker is elsewhere, with what it has left behind."""
        outcome = with_state_kept(task, returned.outcome)
        if not self._shares_files and outcome.unsaved is None:
            keep_rescued(task.unit, None)
        if task.log and returned.log:
            with contextlib.suppress(OSError):
                write_file(task.log, returned.log)
        is_wanted = task.kind is Kind.PLAN or outcome.status is TaskStatus.UNAPPROVED
        if task.plan and returned.plan and is_wanted:
            try:
                write_file(task.plan, returned.plan)
            except OSError as error:
                return replace(outcome, status=TaskStatus.FAILED, diagnostics=(not_stored(error),))
        return outcome

    def _refusal(self, task: Task) -> TaskOutcome | None:
        """The outcome for a unit that cannot be worked with elsewhere; None where it can."""
        state = self._found.graph.states.get(task.unit.name)
        if self._shares_files or state is None or _is_shared(state.backend):
            return None
        if task.kind in (Kind.INIT, Kind.VALIDATE, Kind.TEST):
            return None
        return TaskOutcome(TaskStatus.FAILED, (_out_of_reach(task),))

    async def interrupt(self) -> None:
        """Begin nothing more. Running steps come to their end: a worker cannot be interrupted."""
        for run in self._runs.values():
            if self._client is not None and run.waiting:
                await self._client.cancel(list(run.waiting.values()))

    async def close(self) -> None:
        self._sent.clear()
        if self._client is not None:
            await self._client.close()
            self._client = None
        if self._closes_cluster and not isinstance(self._cluster, str):
            await asyncio.to_thread(self._cluster.close)


class _Run:
    """A run that a cluster works on."""

    def __init__(self, id_: str, watch: Watch) -> None:
        self.id: str = id_
        self.watch: Watch = watch
        self.waiting: dict[StepKey, Future] = {}
        """The steps that no worker has begun."""
        self.passed: dict[StepKey, Passed | Future] = {}
        """The present or future outputs of each step."""
        self.collecting: dict[StepKey, asyncio.Task[None]] = {}
        self._ended: dict[StepKey, TaskOutcome] = {}

    def begin(self, key: StepKey) -> None:
        """A worker has begun with a step, or has begun again."""
        if self.waiting.pop(key, None) is not None:
            self.watch.begun(key)

    def end(self, key: StepKey, outcome: TaskOutcome) -> None:
        """Something has come of a step."""
        self.waiting.pop(key, None)
        self._ended[key] = outcome
        self.watch.ended(key, outcome)

    async def reason(self, step: Step, lost: TaskOutcome) -> TaskOutcome:
        """The reason for which a step has no outcome: Dask gives up whatever comes after a lost one
        as well.
        """
        if step.key in self.waiting and self.watch.is_stopped:
            return skipped_task()
        for key in step.after:
            if key in self.collecting:
                await self.collecting[key]
            before = self._ended[key]
            if before.status is not TaskStatus.DONE:
                return skipped_task(before.because_of or key[1])
        return lost


def _without_data(each: FilePackage) -> FilePackage:
    return replace(each, data=b"")


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
        "Cannot create the cluster",
        f"{text} must name a module that Python finds and a class in it that creates a cluster without "
        f"arguments. {type(error).__name__}: {error}.",
    )


def _unreachable(address: str, error: Exception) -> Diagnostic:
    return Diagnostic(
        Severity.ERROR,
        "Cannot reach the cluster",
        f"The scheduler of the cluster at {address} cannot be reached: {str(error) or 'no answer'}. Check "
        "the address, and whether the scheduler is running.",
    )


def _out_of_reach(task: Task) -> Diagnostic:
    return Diagnostic(
        Severity.ERROR,
        "State that other machines cannot reach",
        f"The state of {task.unit.name} is in a local file, which workers on other machines do "
        "not see. Store it in a remote backend, or, if all workers share the file system, use "
        "-cluster-shares-files.",
    )


def _not_begun(error: Exception) -> Diagnostic:
    return Diagnostic(
        Severity.ERROR,
        "A worker of the cluster cannot do this",
        f"{type(error).__name__}: {error}. Check that all workers have Nigari installed, in the same "
        "version and with the same extras as here.",
    )


def _is_shared(backend: str) -> bool:
    """Return whether workers on other machines reach a backend's states."""
    spec = our_backend(backend)
    return spec is None or spec.is_shared
