"""Worker processes."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

from nigari.fleet.work.messages import Interrupt, read_message, write_message
from nigari.fleet.work.tasks import Kind, Task, TaskOptions, TaskOutcome, TaskStatus
from nigari.fleet.work.worker import _serve
from tests.fleet.trees import NETWORK, surveyed


def test_an_interruption_that_comes_with_the_task_is_answered(tmp_path: Path) -> None:
    unit = surveyed(tmp_path, {"net/main.tf": NETWORK}).units["net"]

    async def answered() -> object:
        ours, theirs = socket.socketpair()
        reader, writer = await asyncio.open_connection(sock=ours)
        await write_message(writer, Task(Kind.PLAN, unit, TaskOptions()))
        await write_message(writer, Interrupt())
        serving = asyncio.create_task(_serve(theirs))
        answer = await asyncio.wait_for(read_message(reader), 60)
        writer.close()
        await serving
        await writer.wait_closed()
        return answer

    answer = asyncio.run(answered())
    assert isinstance(answer, TaskOutcome)
    assert answer.status is TaskStatus.INTERRUPTED
