"""A guarded plugin program in an event loop: its first line, its log, its exit."""

from __future__ import annotations

import asyncio
import signal

from nigari.providers.guard import PluginProgram
from nigari.providers.log import PluginLog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO, Final


_CHUNK: Final = 65536


class PluginProcess:
    """A running plugin program and its log."""

    def __init__(
        self,
        program: PluginProgram,
        output: _Stream,
        errors: _Stream,
        log: PluginLog,
    ) -> None:
        self._program = program
        self._log = log
        self._transports = (output.transport, errors.transport)
        self._lines = output.reader
        self._errors = asyncio.create_task(self._pump("stderr", errors.reader))
        self._output: asyncio.Task[None] | None = None
        self._status: asyncio.Task[int] | None = None

    @staticmethod
    async def adopt(program: PluginProgram, log: PluginLog) -> PluginProcess:
        """Wrap a program that has been started."""
        output, errors = program.outputs
        return PluginProcess(program, await _Stream.of(output), await _Stream.of(errors), log)

    @property
    def directory(self) -> str:
        """Directory of the program's socket."""
        return self._program.directory

    async def first_line(self) -> str:
        """Read the first line of output; empty if the program ends without any."""
        try:
            line = await self._lines.readline()
        except ValueError:
            line = b"(a line without end)"
        self._output = asyncio.create_task(self._pump("stdout", self._lines))
        return line.decode("utf-8", "replace")

    async def ended(self, within: float) -> int | None:
        """Return the exit status if the program ends within that many seconds."""
        pumps = [task for task in (self._errors, self._output) if task is not None]
        _, running = await asyncio.wait(pumps, timeout=within)
        if running:
            return None
        if self._status is None:
            self._status = asyncio.create_task(asyncio.to_thread(self._program.wait))
        done, _ = await asyncio.wait([self._status], timeout=within)
        return self._status.result() if done else None

    async def kill(self) -> None:
        """Kill the program and its children, and remove its directory."""
        self._program.kill()
        for task in (self._errors, self._output):
            if task is not None:
                await asyncio.wait([task], timeout=1)
                task.cancel()
        for transport in self._transports:
            transport.close()
        self._log.close()

    async def _pump(self, source: str, stream: asyncio.StreamReader) -> None:
        while data := await stream.read(_CHUNK):
            self._log.feed(source, data)
        self._log.flush()


class _Stream:
    """One output pipe of a program."""

    def __init__(self, reader: asyncio.StreamReader, transport: asyncio.BaseTransport) -> None:
        self.reader = reader
        self.transport = transport

    @staticmethod
    async def of(pipe: IO[bytes]) -> _Stream:
        reader = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), pipe
        )
        return _Stream(reader, transport)


def status_text(status: int) -> str:
    """Describe an exit: "exited with status 2", "was killed by SIGSEGV"."""
    number = status - 128 if status > 128 else -status
    if number > 0:
        try:
            return f"was killed by {signal.Signals(number).name}"
        except ValueError:
            pass
    return f"exited with status {status}"
