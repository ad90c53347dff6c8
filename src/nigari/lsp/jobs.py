"""Commands that run beside the server, each as a process of its own, with their progress.

The client hears of each line that a command prints, can cancel it, and gets its status and output
as the answer to the request. Which commands there are is in `nigari.lsp.features.commands`.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from subprocess import DEVNULL, PIPE, STDOUT

from nigari.programs import started
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_OURS: Final = (sys.executable, "-P", "-m", "nigari")
"""The program itself. `-P`: a directory that is being edited must not provide Python modules."""
_MOST_OUTPUT: Final = 1 << 20
"""The characters of output that are answered; the last ones count."""
_CANCELLED: Final = -1
"""The status of a command that was cancelled, or could not be started."""
_SECONDS_TO_END: Final = 5.0


@record
class Job:
    """A command to run."""

    title: str
    root: str
    """The directory of the root module."""
    words: tuple[str, ...]
    installs: bool = False
    """True if the command changes what is installed for the root module."""


@record
class JobResult:
    """The exit status and the output of a command."""

    job: Job
    status: int
    output: str


class Jobs:
    """The commands that are under way."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._running: dict[object, _Running] = {}

    @property
    def is_idle(self) -> bool:
        return not self._running

    def start(
        self,
        token: object,
        job: Job,
        report: Callable[[str], None],
        done: Callable[[JobResult], None],
    ) -> None:
        """Start a command. `report` gets each line, on a thread of its own, and then `done` the
        result.
        """
        running = self._running[token] = _Running(job, self._environ, report, done)
        running.start()

    def finish(self, token: object) -> None:
        """Forget a command whose result has been handed over."""
        self._running.pop(token, None)

    def cancel(self, token: object) -> None:
        """Terminate a command."""
        running = self._running.get(token)
        if running is not None:
            running.cancel()

    def end(self) -> None:
        """Terminate all commands, and wait until they have had the time for it."""
        running = [*self._running.values()]
        for each in running:
            each.cancel()
        for each in running:
            each.join(_SECONDS_TO_END)


class _Running(threading.Thread):
    """The thread that follows one command."""

    def __init__(
        self,
        job: Job,
        environ: Mapping[str, str],
        report: Callable[[str], None],
        done: Callable[[JobResult], None],
    ) -> None:
        super().__init__(name="command", daemon=True)
        self._job, self._environ, self._report, self._done = job, environ, report, done
        self._lines: list[str] = []
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[int] | None = None
        self._is_cancelled = False

    def run(self) -> None:
        status = _CANCELLED
        with suppress(asyncio.CancelledError):
            try:
                status = asyncio.run(self._cancellable())
            except OSError as error:
                self._lines.append(f"The command cannot be started: {error.strerror}.\n")
        with self._lock:
            self._loop = None
        self._done(JobResult(self._job, status, "".join(self._lines)[-_MOST_OUTPUT:]))

    def cancel(self) -> None:
        """Terminate the command from another thread."""
        with self._lock:
            self._is_cancelled = True
            if self._loop is not None and self._task is not None:
                self._loop.call_soon_threadsafe(self._task.cancel)

    async def _cancellable(self) -> int:
        with self._lock:
            if self._is_cancelled:
                return _CANCELLED
            self._loop = asyncio.get_running_loop()
            self._task = asyncio.create_task(self._follow((*_OURS, *self._job.words)))
        return await self._task

    async def _follow(self, words: Sequence[str]) -> int:
        program = started(
            words,
            group=0,
            cwd=self._job.root,
            env={**self._environ, "TF_INPUT": "0", "NO_COLOR": "1"},
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=STDOUT,
        )
        async with program as running:
            assert running.stdout is not None
            rest = b""
            while chunk := await running.stdout.read(1 << 16):
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    self._take(line + b"\n")
            self._take(rest)
            return await running.wait()

    def _take(self, line: bytes) -> None:
        text = line.decode("utf-8", "replace").replace(os.linesep, "\n")
        self._lines.append(text)
        if text.strip():
            self._report(text.strip())
