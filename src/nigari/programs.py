"""External programs: run to completion, and terminated with the caller.

A program whose caller is cancelled, by Ctrl-C, a time limit or a failure elsewhere, receives
SIGTERM, then SIGKILL, and is waited for: it neither continues nor becomes a zombie. If it has its
own process group, this includes its children. At a terminal it has none, as it could not prompt the
user otherwise; there Ctrl-C reaches all programs of the terminal anyway.

The purpose of a program, and the meaning of its failure, are left to the caller.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from math import inf

from nigari.record import record
from nigari.system_calls import KILL, NO_TERMINAL, NOT_INHERITED, signal_group

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from typing import Final

_GRACE: Final = 2.0
"""Seconds that a program has to terminate after SIGTERM."""
POLL_INTERVAL: Final = 0.2
"""Seconds between two checks for cancellation while waiting (`stop_if_cancelled`)."""


@record
class ProgramResult:
    """Exit status and output of a program."""

    status: int
    output: bytes
    errors: bytes

    @property
    def error_text(self) -> str:
        """The program's error output, without its final full stop."""
        return self.errors.decode(errors="replace").strip().rstrip(".")


async def run_program(
    command: Sequence[str] | str,
    environ: Mapping[str, str],
    *,
    directory: str | None = None,
    given: bytes = b"",
    within: float | None = None,
    may_prompt: bool = False,
) -> ProgramResult:
    """Run a program, or a line of shell code.

    It reads `given`; a program that may prompt has this process's standard input and standard error
    instead. Raises `OSError` if it cannot be started, `TimeoutError` if it exceeds the limit.
    """
    import asyncio
    from subprocess import PIPE

    words = ("/bin/sh", "-c", command) if isinstance(command, str) else command
    own = None if may_prompt else PIPE
    program = started(
        words,
        group=_group(),
        cwd=directory,
        env=dict(environ),
        stdin=own,
        stdout=PIPE,
        stderr=own,
    )
    async with program as running, asyncio.timeout(within):
        output, errors = await running.communicate(None if may_prompt else given)
    assert running.returncode is not None
    return ProgramResult(running.returncode, output, errors or b"")


def wait_for_program(
    command: Sequence[str], given: bytes = b"", within: float = inf
) -> ProgramResult:
    """Run a program synchronously, in the environment of this process."""
    import subprocess
    from subprocess import PIPE

    group, deadline = _group(), time.monotonic() + within
    with subprocess.Popen(
        command, stdin=PIPE, stdout=PIPE, stderr=PIPE, process_group=group
    ) as program:
        rest: bytes | None = given
        try:
            while True:
                try:
                    output, errors = program.communicate(rest, POLL_INTERVAL)
                    return ProgramResult(program.returncode, output, errors)
                except subprocess.TimeoutExpired:
                    rest = None  # already sent
                    stop_if_cancelled()
                    if time.monotonic() >= deadline:
                        raise TimeoutError from None
        except BaseException:
            _send(program.pid, KILL, group is not None)
            raise


def stop_if_cancelled() -> None:
    """Raise `CancelledError` if the current task, which blocks its event loop, is cancelled."""
    import asyncio

    try:
        task = asyncio.current_task()
    except RuntimeError:
        return
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


@asynccontextmanager
async def started(
    words: Sequence[str], *, group: int | None = None, grace: float = _GRACE, **settings: object
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Start a program that is terminated if the block is left with an exception.

    The settings are those of `subprocess.Popen`.
    """
    import asyncio

    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(*words, process_group=group, **settings)  # type: ignore[arg-type]  # of many types
    )
    try:
        # A start that is cancelled half-way would leave a program that nothing terminates.
        yield await asyncio.shield(starting)
    except BaseException:
        while not starting.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait((starting,))
        if starting.exception() is None:
            await _end(starting.result(), group is not None, grace)
        raise


async def _end(program: asyncio.subprocess.Process, has_group: bool, grace: float) -> None:
    import asyncio

    try:
        if grace and program.returncode is None:
            _send(program.pid, signal.SIGTERM, has_group)
            async with asyncio.timeout(grace):
                await program.wait()
    except TimeoutError:
        pass
    finally:
        if program.returncode is None or has_group:
            _send(program.pid, KILL, has_group)
        # A child of the program may still have its output open, which nothing reads any more.
        program._transport.close()  # type: ignore[attr-defined]  # noqa: SLF001 - no other way
        # Unless it is waited for before the event loop ends, it stays as a zombie.
        await program.wait()


def _send(pid: int, number: int, has_group: bool) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if has_group:
            signal_group(pid, number)
        else:
            os.kill(pid, number)


def _group() -> int | None:
    """Choose the process group of a new program: its own, or that of this process at a terminal."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | NO_TERMINAL | NOT_INHERITED))
    except OSError:
        return 0
    return None
