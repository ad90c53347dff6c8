"""Types at the program through a terminal of its own, as a person would."""

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from tests.cli.process import command, environment

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x07")
_SECONDS = 60.0
_PATIENCE = 4.0


class Typist:
    """A terminal with the program running in it."""

    def __init__(
        self,
        *args: str,
        cwd: Path,
        settings: Mapping[str, str] | None = None,
        program: Sequence[str] = (),
    ) -> None:
        ours, theirs = pty.openpty()
        self._terminal = ours
        self._process = subprocess.Popen(
            [*program, *args] if program else command(*args),
            cwd=cwd,
            env=environment(TERM="xterm", NO_COLOR="1", **(settings or {})),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            # Shells want to control the terminal.
            preexec_fn=(lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)) if program else None,  # noqa: PLW1509 - no threads
        )
        os.close(theirs)
        self._seen = ""

    def __enter__(self) -> "Typist":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._terminal)

    def type(self, text: str) -> None:
        """Press these keys."""
        os.write(self._terminal, text.encode())

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        self._process.send_signal(signal.SIGINT)

    def interrupt_until(self, text: str) -> None:
        """Press Ctrl-C until this text is on the screen.

        One that arrives before the prompt listens is lost.
        """
        for _ in range(round(_SECONDS / _PATIENCE)):
            self.interrupt()
            end = time.monotonic() + _PATIENCE
            while text not in self._seen and self._read(end):
                pass
            if text in self._seen:
                break
        self.wait_for(text)

    def interrupt_until_it_ends(self) -> int:
        """Press Ctrl-C until the program is gone; the exit code."""
        for _ in range(round(_SECONDS / _PATIENCE)):
            self.interrupt()
            with contextlib.suppress(subprocess.TimeoutExpired):
                return self._process.wait(_PATIENCE)
        return self.code()

    def wait_for(self, text: str) -> str:
        """Everything on the screen up to and with this text."""
        end = time.monotonic() + _SECONDS
        while text not in self._seen:
            if not self._read(end):
                raise AssertionError(f"{text!r} did not appear in {self._seen!r}")
        before, found, self._seen = self._seen.partition(text)
        return before + found

    def rest(self) -> str:
        """Everything that is still to come."""
        end = time.monotonic() + _SECONDS
        while self._read(end):
            pass
        return self._seen

    def echoes(self) -> bool:
        """Whether the terminal shows what is typed."""
        return bool(termios.tcgetattr(self._terminal)[3] & termios.ECHO)

    def code(self) -> int:
        """The exit code, once the program has ended."""
        end = time.monotonic() + _SECONDS
        while self._read(end):
            pass
        return self._process.wait(_SECONDS)

    def _read(self, end: float) -> bool:
        ready, _, _ = select.select([self._terminal], [], [], max(0.0, end - time.monotonic()))
        if not ready:
            return False
        try:
            data = os.read(self._terminal, 65536)
        except OSError:  # what Linux says at the end of a terminal
            return False
        text = data.decode("utf-8", "replace").replace("\r\n", "\n")
        self._seen += _CONTROL.sub("", text)
        return bool(data)
