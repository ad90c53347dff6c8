"""Starting a program that never outlives us.

Each plugin runs under a guard, a one-line shell that waits for a pipe only we hold. If we end in
any way, `kill -9` included, the pipe closes and the guard kills everything in its process group.
Compared with Linux's parent-death signal this works on every Unix, needs no code between fork and
exec, and does not depend on which of our threads started the plugin. The group is a session of its
own, so Ctrl-C in a terminal reaches us and not the plugin: we decide when it ends.

Nothing here needs an event loop, so that a program starts while the modules that will talk to it
are still being imported.
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
"""Socket paths end at about 100 bytes on every system; the plugin adds a name of its own."""


class PluginProgram(Protocol):
    """A running program that never outlives us."""

    @property
    def directory(self) -> str:
        """The directory for its socket."""
        ...

    @property
    def outputs(self) -> tuple[IO[bytes], IO[bytes]]:
        """What the program prints, and what it complains of."""
        ...

    def wait(self) -> int:
        """Wait until the program has ended, and give its exit status."""
        ...

    def kill(self) -> None:
        """End the program and all it has started, now; forget its directory."""
        ...


class GuardedProgram:
    """A running program with its guard, and the directory for its socket."""

    def __init__(self, guard: subprocess.Popen[bytes], directory: str) -> None:
        self._guard = guard
        self.directory: str = directory

    @property
    def outputs(self) -> tuple[IO[bytes], IO[bytes]]:
        """What the program prints, and what it complains of."""
        guard = self._guard
        assert guard.stdout is not None
        assert guard.stderr is not None
        return guard.stdout, guard.stderr

    def wait(self) -> int:
        """Wait until the program has ended, and give its exit status.

        Asks the guard, which from then on no longer ends with us: only for a program that has
        closed its outputs.
        """
        pipe = self._guard.stdin
        assert pipe is not None
        with contextlib.suppress(OSError, ValueError):
            pipe.write(b"\n")
            pipe.flush()
        return self._guard.wait()

    def kill(self) -> None:
        """End the program and all it has started, now; forget its directory."""
        if self._guard.poll() is None:
            # The guard leads the group and is not reaped yet, so the number is still its own.
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
    """Start a program; an `OSError` says why it cannot be."""
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
    """A new directory that only this user can enter."""
    parent = tempfile.gettempdir()
    if len(parent) > _LONGEST_SOCKET_DIRECTORY:
        parent = "/tmp"
    return tempfile.mkdtemp(prefix="nigari-", dir=parent)
