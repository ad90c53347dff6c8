"""`local-exec`: a command on the machine where this program runs."""

from __future__ import annotations

import asyncio
import signal

from nigari.apply.provisioners.provisioner import (
    Arguments,
    Machine,
    ProvisionerFailure,
    Say,
    text_of,
    texts_of,
)
from nigari.cty.values import Value
from nigari.programs import started

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_SHELL: Final = ("/bin/sh", "-c")
_MOST_LINES: Final = 20
_LONGEST_LINE: Final = 1 << 20


async def run_local(arguments: Arguments, machine: Machine, say: Say) -> None:
    """Run the command, and tell what it prints line by line."""
    command = text_of(arguments["command"])
    if not command:
        raise ProvisionerFailure("The command is empty.")
    words = [*(tuple(texts_of(arguments["interpreter"])) or _SHELL), command]
    if arguments["quiet"].data is True:
        say("Executing a command (not shown, because of quiet = true)")
    else:
        say(f"Executing: {' '.join(_quoted(word) for word in words)}")
    # It shares this process's group, so that an interrupt of the group ends both.
    program = started(
        words,
        grace=0.0,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        cwd=machine.at(text_of(arguments["working_dir"])) or None,
        env={**machine.environ, **_environment(arguments["environment"])},
        limit=_LONGEST_LINE,
    )
    try:
        async with program as process:
            tail = await _listen(process, say)
            status = await process.wait()
    except OSError as error:
        where = error.filename if isinstance(error.filename, str) else words[0]
        raise ProvisionerFailure(f"Cannot start the command: {where}: {error.strerror}.") from None
    if status:
        printed = "\n".join(tail)
        end = f"The command exited with status {status}."
        if status < 0:
            end = f"The command was killed by {signal.Signals(-status).name}."
        raise ProvisionerFailure(f"{end} Output:\n{printed}" if printed else end)


async def _listen(process: asyncio.subprocess.Process, say: Say) -> list[str]:
    """Tell every line of output; the last ones are the result."""
    assert process.stdout is not None
    tail: list[str] = []
    while True:
        try:
            line = await process.stdout.readline()
        except ValueError:
            # A line that is longer than anybody reads.
            continue
        if not line:
            return tail
        text = line.decode(errors="replace").rstrip("\r\n")
        tail = [*tail[1 - _MOST_LINES :], text]
        say(text)


def _environment(value: Value) -> dict[str, str]:
    if value.is_null:
        return {}
    return {key: each.data for key, each in value.mapping().items() if isinstance(each.data, str)}


def _quoted(word: str) -> str:
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
