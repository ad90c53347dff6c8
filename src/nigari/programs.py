"""Other programs: run to their end, and ended with whoever waits for them.

A program that nobody waits for any more, because of Ctrl-C, a time limit or a failure elsewhere, is
asked to end, then killed, and waited for: it neither runs on nor stays as a zombie. Where it has a
process group of its own, that holds for what it has started, too. It has none at a terminal, as it
could not ask anybody anything there; Ctrl-C reaches all programs of a terminal in any case.

What a program is for, and what its failure means, is the caller's affair.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from math import inf

from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from typing import Final

_GRACE: Final = 2.0
"""Seconds that a program has to end when it is asked to."""
WAIT_BETWEEN_LOOKS: Final = 0.2
"""Seconds until somebody who waits looks whether that is still wanted (`stop_if_cancelled`)."""


@record
class Ended:
    """How a program ended, and what it said."""

    status: int
    output: bytes
    errors: bytes

    @property
    def complaint(self) -> str:
        """What it has to say about its failure, without the end of the sentence."""
        return self.errors.decode(errors="replace").strip().rstrip(".")


async def run_program(
    command: Sequence[str] | str,
    environ: Mapping[str, str],
    *,
    directory: str | None = None,
    given: bytes = b"",
    within: float | None = None,
    asks_people: bool = False,
) -> Ended:
    """Run a program, or what a shell makes of a line.

    It reads what is `given`; one that may ask people has the input of this process instead, and
    complains to them. Raises `OSError` where it cannot be started, `TimeoutError` where it is late.
    """
    import asyncio
    from subprocess import PIPE

    words = ("/bin/sh", "-c", command) if isinstance(command, str) else command
    own = None if asks_people else PIPE
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
        output, errors = await running.communicate(None if asks_people else given)
    assert running.returncode is not None
    return Ended(running.returncode, output, errors or b"")


def wait_for_program(command: Sequence[str], given: bytes = b"", within: float = inf) -> Ended:
    """The same for those who are not asynchronous, in the environment of this process."""
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
                    output, errors = program.communicate(rest, WAIT_BETWEEN_LOOKS)
                    return Ended(program.returncode, output, errors)
                except subprocess.TimeoutExpired:
                    rest = None  # it is on its way
                    stop_if_cancelled()
                    if time.monotonic() >= deadline:
                        raise TimeoutError from None
        except BaseException:
            _send(program.pid, signal.SIGKILL, group is not None)
            raise


def stop_if_cancelled() -> None:
    """Raise where the task that waits, without letting its event loop have a turn, is cancelled."""
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
    """A program that is ended where the block is left with an exception.

    The settings are those of `subprocess.Popen`.
    """
    import asyncio

    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(*words, process_group=group, **settings)  # type: ignore[arg-type]  # of many types
    )
    try:
        # Who is cancelled in the middle of a start does not know of what was started.
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
            _send(program.pid, signal.SIGKILL, has_group)
        # What it has started may still have its output open, and nobody reads that.
        program._transport.close()  # type: ignore[attr-defined]  # noqa: SLF001 - no other way
        # Where the event loop ends before anybody has seen its end, it stays as a zombie.
        await program.wait()


def _send(pid: int, number: int, has_group: bool) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if has_group:
            os.killpg(pid, number)
        else:
            os.kill(pid, number)


def _group() -> int | None:
    """The process group of a new program: one of its own, or that of this process at a terminal."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC))
    except OSError:
        return 0
    return None
