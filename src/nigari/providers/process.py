"""A plugin as a process that never outlives us.

Each plugin runs under a guard, a one-line shell that waits for a pipe only we hold. If we end in
any way, `kill -9` included, the pipe closes and the guard kills everything in its process group.
Compared with Linux's parent-death signal this works on every Unix, needs no code between fork and
exec, and does not depend on which of our threads started the plugin. The group is a session of its
own, so Ctrl-C in a terminal reaches us and not the plugin: we decide when it ends.
"""

import asyncio
import contextlib
import os
import shutil
import signal
import tempfile
from collections.abc import Mapping, Sequence
from typing import Final

from nigari.providers import handshake
from nigari.providers.log import PluginLog

_GUARD: Final = """
"$@" & plugin=$!
exec >&- 2>&-
trap "" INT TERM HUP
if read _; then wait $plugin; exit $?; fi
kill -9 $plugin
rm -rf "$PLUGIN_UNIX_SOCKET_DIR"
kill -9 0
"""

_LONGEST_SOCKET_DIRECTORY: Final = 70
"""Socket paths end at about 100 bytes on every system; the plugin adds a name of its own."""

_CHUNK: Final = 65536


class PluginProcess:
    """One running plugin program, its log, and the directory for its socket."""

    def __init__(self, guard: asyncio.subprocess.Process, directory: str, log: PluginLog) -> None:
        self._guard = guard
        self._directory = directory
        self._log = log
        self._errors = asyncio.create_task(self._pump("stderr", guard.stderr))
        self._output: asyncio.Task[None] | None = None
        self._status: asyncio.Task[int] | None = None

    @staticmethod
    async def start(
        command: Sequence[str], environment: Mapping[str, str], log: PluginLog
    ) -> "PluginProcess":
        """Start the program; an `OSError` says why it cannot be."""
        directory = _socket_directory()
        try:
            guard = await asyncio.create_subprocess_exec(
                "/bin/sh",
                "-c",
                _GUARD,
                "plugin-guard",
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=handshake.environment(environment, directory),
                start_new_session=True,
            )
        except BaseException:
            shutil.rmtree(directory, ignore_errors=True)
            raise
        return PluginProcess(guard, directory, log)

    async def first_line(self) -> str:
        """What the program prints first; empty if it ends without a word."""
        assert self._guard.stdout is not None
        try:
            line = await self._guard.stdout.readline()
        except ValueError:
            line = b"(a line without end)"
        self._output = asyncio.create_task(self._pump("stdout", self._guard.stdout))
        return line.decode("utf-8", "replace")

    async def ended(self, within: float) -> int | None:
        """The exit status, if the program ends by itself in that many seconds."""
        pumps = [task for task in (self._errors, self._output) if task is not None]
        _, running = await asyncio.wait(pumps, timeout=within)
        if running:
            return None
        if self._status is None:
            self._status = asyncio.create_task(self._ask_status())
        done, _ = await asyncio.wait([self._status], timeout=within)
        return self._status.result() if done else None

    async def kill(self) -> None:
        """End the program and all it has started, now; forget its directory."""
        if self._guard.returncode is None:
            # The guard leads the group and is not reaped yet, so the number is still its own.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._guard.pid, signal.SIGKILL)
        await self._guard.wait()
        for task in (self._errors, self._output):
            if task is not None:
                await asyncio.wait([task], timeout=1)
                task.cancel()
        self._log.close()
        shutil.rmtree(self._directory, ignore_errors=True)

    async def _ask_status(self) -> int:
        assert self._guard.stdin is not None
        try:
            self._guard.stdin.write(b"\n")
            await self._guard.stdin.drain()
        except ConnectionError:
            pass
        return await self._guard.wait()

    async def _pump(self, source: str, stream: asyncio.StreamReader | None) -> None:
        assert stream is not None
        while data := await stream.read(_CHUNK):
            self._log.feed(source, data)
        self._log.flush()


def _socket_directory() -> str:
    """A new directory that only this user can enter."""
    parent = tempfile.gettempdir()
    if len(parent) > _LONGEST_SOCKET_DIRECTORY:
        parent = "/tmp"
    return tempfile.mkdtemp(prefix="nigari-", dir=parent)


def status_text(status: int) -> str:
    """How a program ended, in words: "ended with status 2", "was ended by SIGSEGV"."""
    number = status - 128 if status > 128 else -status
    if number > 0:
        try:
            return f"was ended by {signal.Signals(number).name}"
        except ValueError:
            pass
    return f"ended with status {status}"
