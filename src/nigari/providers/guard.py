"""Guarded plugin programs, which never outlive this process.

Each plugin runs under a guard, a one-line shell script that waits for a pipe held only by this
process. When this process ends in any way, including `kill -9`, the pipe closes and the guard kills
its whole process group. Compared with Linux's parent-death signal this works on every Unix, needs
no code between fork and exec, and does not depend on the thread that started the plugin. The group
is a separate session, so that Ctrl-C in a terminal reaches this process and not the plugin.

No event loop is needed, so that a program can start while the modules that will call it are still
being imported.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence

from nigari.providers import handshake
from nigari.system_calls import KILL, signal_group
from nigari.typed import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO, Final


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
"""Socket paths are limited to about 100 bytes on every system, and the plugin appends a name."""


class PluginProgram(Protocol):
    """A running program that never outlives this process."""

    @property
    def directory(self) -> str:
        """The directory for its socket."""
        ...

    @property
    def outputs(self) -> tuple[IO[bytes], IO[bytes]]:
        """Standard output and standard error of the program."""
        ...

    def wait(self) -> int:
        """Wait for the program to end, and return its exit status."""
        ...

    def kill(self) -> None:
        """Kill the program and its children, and remove its directory."""
        ...


class GuardedProgram:
    """A running program with its guard, and the directory for its socket."""

    def __init__(self, guard: subprocess.Popen[bytes], directory: str) -> None:
        self._guard = guard
        self.directory: str = directory

    @property
    def outputs(self) -> tuple[IO[bytes], IO[bytes]]:
        """Standard output and standard error of the program."""
        guard = self._guard
        assert guard.stdout is not None
        assert guard.stderr is not None
        return guard.stdout, guard.stderr

    def wait(self) -> int:
        """Wait for the program to end, and return its exit status.

        This asks the guard, which afterwards no longer ends with this process: only for a program
        that has closed its outputs.
        """
        pipe = self._guard.stdin
        assert pipe is not None
        with contextlib.suppress(OSError, ValueError):
            pipe.write(b"\n")
            pipe.flush()
        return self._guard.wait()

    def kill(self) -> None:
        """Kill the program and its children, and remove its directory."""
        if self._guard.poll() is None:
            # The guard leads the group and is not reaped yet, so its process id has not been
            # reused.
            with contextlib.suppress(ProcessLookupError):
                signal_group(self._guard.pid, KILL)
        self._guard.wait()
        shutil.rmtree(self.directory, ignore_errors=True)
        with contextlib.suppress(OSError):
            if self._guard.stdin is not None:
                self._guard.stdin.close()


def start_guarded(
    command: Sequence[str], environment: Mapping[str, str], working_directory: str = ""
) -> GuardedProgram:
    """Start a program; raise `OSError` on failure."""
    directory = socket_directory()
    try:
        guard = subprocess.Popen(
            ["/bin/sh", "-c", _GUARD, "plugin-guard", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=working_directory or None,
            env=handshake.environment(environment, directory),
            start_new_session=True,
        )
    except BaseException:
        shutil.rmtree(directory, ignore_errors=True)
        raise
    return GuardedProgram(guard, directory)


def socket_directory() -> str:
    """Create a directory that only this user can access."""
    parent = tempfile.gettempdir()
    if len(parent) > _LONGEST_SOCKET_DIRECTORY:
        parent = "/tmp"
    return tempfile.mkdtemp(prefix="nigari-", dir=parent)
