"""Messages between the program and its workers: one after the other, each with its length before it.

Both ends are this program, connected by a private socket, so that messages can be
trusted.
"""

from __future__ import annotations

import asyncio
import pickle
import struct
from typing import Final

from nigari.record import record

_LENGTH: Final = struct.Struct("!Q")


@record
class Interrupt:
    """Stop the running tasks: gently at first, at once the second time."""

    times: int = 1


async def read_message(reader: asyncio.StreamReader) -> object | None:
    """The next message; None when there will be no more."""
    try:
        (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        message: object = pickle.loads(await reader.readexactly(length))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    return message


async def write_message(writer: asyncio.StreamWriter, message: object) -> None:
    """Send a message; raises `ConnectionError` if the other end is gone."""
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    writer.write(_LENGTH.pack(len(data)) + data)
    await writer.drain()
