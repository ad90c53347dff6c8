"""Running the programs that fetch repositories.

A program gets no input and nothing of this process but the environment it is given. If whoever
waits for it gives up, it is ended.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from nigari.lazy import lazy_pattern
from nigari.packages.base.module_fetch import FetchError
from nigari.record import record

if TYPE_CHECKING:
    import asyncio

_GRACE: Final = 2.0
"""Seconds that a program has to end when it is asked to."""
_MOST_LINES: Final = 8
_CREDENTIALS: Final = lazy_pattern(r"(://[^/@\s:]*):[^/@\s]*@")


@record
class Done:
    """How a program ended."""

    status: int
    output: str
    errors: str


def find_program(name: str, environ: Mapping[str, str]) -> str:
    """Where a program is, or `FetchError`."""
    program = shutil.which(name, path=environ.get("PATH"))
    if program is None:
        raise FetchError(
            f'This needs the program "{name}", which is not installed, or not on the PATH.'
        )
    return program


async def run_program(command: Sequence[str], directory: Path, environ: Mapping[str, str]) -> Done:
    """Run a program to its end."""
    import asyncio
    import subprocess

    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=directory,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except OSError as error:
        raise FetchError(f"Cannot run {command[0]}: {error.strerror}.") from error
    try:
        output, errors = await process.communicate()
    except BaseException:
        await _end(process)
        raise
    assert process.returncode is not None
    return Done(
        process.returncode,
        output.decode(errors="replace").strip(),
        errors.decode(errors="replace").strip(),
    )


async def _end(process: asyncio.subprocess.Process) -> None:
    """End a program, which ends those that it has started."""
    import asyncio

    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    try:
        async with asyncio.timeout(_GRACE):
            await process.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def complaint(program: str, text: str) -> str:
    """What a program said, in a few lines and without passwords."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    said = "\n".join(lines[-_MOST_LINES:]) or "nothing"
    return f"{program} said:\n{_CREDENTIALS.sub(chr(92) + '1:redacted@', said)}"
