"""A worker process: it lives on from task to task, so that whatever has been imported or read stays
warm, and does one thing at a time.

Tasks come through a socket whose number is its argument (on Windows, standard input has what
opens it), and outcomes go back the same way.
If its parent is gone, it finishes an apply that is under way, so that nothing is left
half done, gives up anything else, and ends itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import socket
import sys
from typing import Final

from nigari.config.module_cache import caching_modules
from nigari.diagnostics.unexpected import unexpected
from nigari.fleet.work.messages import Interrupt, read_message, write_message
from nigari.fleet.work.tasks import Task, TaskOutcome, TaskStatus
from nigari.fleet.work.unit_task import perform
from nigari.providers.fork_server import use_fork_servers
from nigari.system_calls import NOT_INHERITED

_OBJECTS_BETWEEN_COLLECTIONS: Final = 100_000


def main() -> None:
    """Work until the parent closes the connection."""
    # Who interrupts the program is heard by the program, which passes it on.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    servers = use_fork_servers()
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS, 20, 100)
    with caching_modules():
        asyncio.run(_serve(_channel()))
    servers.close()
    os._exit(0)


def _channel() -> socket.socket:
    if sys.platform == "win32":
        return socket.fromshare(sys.stdin.buffer.read())
    else:
        return socket.socket(fileno=int(sys.argv[1]))


async def _serve(channel: socket.socket) -> None:
    reader, writer = await asyncio.open_connection(sock=channel)
    current: asyncio.Task[None] | None = None
    is_repeatable = True
    while (message := await read_message(reader)) is not None:
        if isinstance(message, Task):
            is_repeatable = message.is_repeatable
            current = asyncio.create_task(_work(message, writer))
            # Let it begin: a task cancelled before that gives no answer, and the parent waits for one.
            await asyncio.sleep(0)
        elif isinstance(message, Interrupt) and current is not None:
            current.cancel()
    if current is not None and is_repeatable:
        current.cancel()
    if current is not None:
        with contextlib.suppress(asyncio.CancelledError, ConnectionError):
            await current
    writer.close()


async def _work(task: Task, writer: asyncio.StreamWriter) -> None:
    if task.log:
        _say_into(task.log)
    try:
        outcome = await perform(task, os.environ)
    except Exception as error:  # noqa: BLE001 - reported to the program, which goes on without this unit
        outcome = TaskOutcome(TaskStatus.FAILED, (unexpected(f"The {task.kind.value}", error),))
    with contextlib.suppress(ConnectionError):
        await write_message(writer, outcome)


def _say_into(log: str) -> None:
    """Let whatever is printed, by providers and provisioners as well, go to the log of the unit; to
    nowhere where that cannot be written.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | NOT_INHERITED
    try:
        os.makedirs(os.path.dirname(log), exist_ok=True)
        file = os.open(log, flags, 0o600)
    except OSError:
        file = os.open(os.devnull, os.O_WRONLY | NOT_INHERITED)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.close(file)
