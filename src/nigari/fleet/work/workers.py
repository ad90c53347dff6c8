"""Workers: who does tasks. On one machine they are processes that live on, at most so many at once.

A worker that dies takes nothing with it but what it was doing. What can be done again is done again
by another one; an apply is not: what has become of it, its state and its lock tell.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from typing import Final, Protocol

from nigari.diagnostics import Diagnostic, Severity
from nigari.fleet.units.unit_values import UnitValues
from nigari.fleet.work.messages import Interrupt, read_message, write_message
from nigari.fleet.work.steps import (
    Passed,
    StepKey,
    Steps,
    Watch,
    passed,
    skipped_task,
    take_step,
)
from nigari.fleet.work.tasks import Kind, Task, TaskOutcome, TaskStatus
from nigari.fleet.work.unsaved_states import with_state_kept
from nigari.fleet.work.walk import Walk
from nigari.system_calls import KILL, signal_group

MakeTask = Callable[[], Task | None]
"""Makes a task when its turn has come; None if it is no longer wanted."""
_TRIES: Final = 3
_PROGRAM: Final = (
    "import sys; sys.path.insert(0, sys.argv[2]); from nigari.fleet.work.worker import main; main()"
)
_PACKAGES: Final = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
"""The path of this program, at which workers find it, however it was found."""
_END_IN: Final = 5.0
"""Seconds that a worker has to end by itself."""
_LOOK_EVERY: Final = 0.01
_AHEAD: Final = 4
"""The number of workers that start before the number of units is known."""


class Workers(Protocol):
    """The workers."""

    async def run(self, make: MakeTask) -> TaskOutcome:
        """Have a task done as soon as it can be."""
        ...

    async def run_all(self, steps: Steps, values: UnitValues, watch: Watch) -> None:
        """Have all steps of a run done, each after those that it comes after."""
        ...

    async def interrupt(self) -> None:
        """Have what is under way come to an end, gently at first and at once the second time."""
        ...

    async def close(self) -> None:
        """End all workers; nothing must be under way."""
        ...


class LocalWorkers:
    """Processes of this machine, started when they are first needed, or ahead of that."""

    def __init__(self, jobs: int, environ: Mapping[str, str]) -> None:
        self.jobs: int = jobs
        self._environ = environ
        self._idle: list[_Process] = []
        self._busy: set[_Process] = set()
        self._slots = asyncio.Semaphore(jobs)

    def start_ahead(self) -> None:
        """Let some workers begin to import what they need while something else is done."""
        missing = min(self.jobs, _AHEAD) - len(self._idle) - len(self._busy)
        self._idle += [_start(self._environ) for _ in range(missing)]

    async def run(self, make: MakeTask) -> TaskOutcome:
        async with self._slots:
            task = make()
            if task is None:
                return TaskOutcome(TaskStatus.INTERRUPTED)
            for _ in range(_TRIES):
                outcome = await self._try(task)
                if outcome is not None:
                    return with_state_kept(task, outcome)
                if not task.is_repeatable:
                    break
            return TaskOutcome(TaskStatus.LOST, (lost_worker(task),))

    async def run_all(self, steps: Steps, values: UnitValues, watch: Watch) -> None:
        results: dict[StepKey, Passed] = {}

        async def work(key: StepKey) -> bool:
            if watch.is_stopped:
                end(key, skipped_task())
                return True
            step = steps[key]
            before = {name: results[kind, name] for kind, name in step.after}
            end(key, await take_step(step, before, values, lambda task: self.run(begin(key, task))))
            return True

        def begin(key: StepKey, task: Task) -> MakeTask:
            def make() -> Task | None:
                if watch.is_stopped:
                    return None
                watch.begun(key)
                return task

            return make

        def end(key: StepKey, outcome: TaskOutcome) -> None:
            results[key] = passed(key[0], steps[key].task.unit, outcome)
            watch.ended(key, outcome)

        await Walk(steps, {key: step.after for key, step in steps.items()}, work).run()

    async def _try(self, task: Task) -> TaskOutcome | None:
        """The answer of a worker to a task; None if it has died."""
        worker = self._idle.pop() if self._idle else _start(self._environ)
        self._busy.add(worker)
        try:
            outcome = await worker.do(task)
        finally:
            self._busy.discard(worker)
        if outcome is None:
            await worker.end()
            return None
        self._idle.append(worker)
        return outcome

    async def interrupt(self) -> None:
        for worker in list(self._busy):
            await worker.interrupt()

    async def close(self) -> None:
        await asyncio.gather(*(each.end() for each in [*self._idle, *self._busy]))
        self._idle.clear()


class _Process:
    """One worker process."""

    def __init__(self, process: subprocess.Popen[bytes], channel: socket.socket) -> None:
        self._process = process
        self._channel = channel
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def do(self, task: Task) -> TaskOutcome | None:
        if self._streams is None:
            self._streams = await asyncio.open_connection(sock=self._channel)
        reader, writer = self._streams
        try:
            await write_message(writer, task)
        except ConnectionError:
            return None
        message = await read_message(reader)
        return message if isinstance(message, TaskOutcome) else None

    async def interrupt(self) -> None:
        if self._streams is not None:
            with contextlib.suppress(ConnectionError):
                await write_message(self._streams[1], Interrupt())

    async def end(self) -> None:
        """Let the process end by itself, which it does once its connection is closed."""
        if self._streams is None:
            self._channel.close()
        else:
            self._streams[1].close()
        end = time.monotonic() + _END_IN
        while self._process.poll() is None:
            if time.monotonic() > end:
                with contextlib.suppress(ProcessLookupError):
                    signal_group(self._process.pid, KILL)
            await asyncio.sleep(_LOOK_EVERY)


def _start(environ: Mapping[str, str]) -> _Process:
    ours, theirs = socket.socketpair()
    words = (sys.executable, "-c", _PROGRAM, str(theirs.fileno()), _PACKAGES)
    with theirs:
        if sys.platform == "win32":
            process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=dict(environ),
                creationflags=subprocess.CREATE_NEW_PROCESS_GROUP,
            )
            # Descriptors of sockets cannot be inherited there.
            assert process.stdin is not None
            with process.stdin as pipe:
                pipe.write(theirs.share(process.pid))
        else:
            process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                env=dict(environ),
                # An interruption at the terminal is for the program, which passes it on.
                start_new_session=True,
            )
    return _Process(process, ours)


def lost_worker(task: Task) -> Diagnostic:
    """A worker that is gone, with what it was doing."""
    detail = "Its worker process ended unexpectedly, for example because it was killed."
    if task.kind is Kind.APPLY:
        detail += (
            " The state contains what was stored until then, and its lock may still be held. Run "
            "the command again: the unit is planned again, and nothing that was done is done "
            "twice."
        )
    return Diagnostic(Severity.ERROR, f"{task.kind.value.capitalize()} did not finish", detail)
