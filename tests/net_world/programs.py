"""Servers that are programs: started for a while, and used once they answer."""

import contextlib
import random
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

_PORTS: Final = range(20_000, 32_000)
"""Those that no system gives to whoever asks for any port, or connects to another one."""


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on, nor is given one until a server does."""
    for port in random.SystemRandom().sample(_PORTS, 100):
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise AssertionError("no port is free")


@contextlib.contextmanager
def serving(
    command: Sequence[str], port: int, environ: Mapping[str, str] | None = None
) -> Iterator[None]:
    """Run a server that listens on a port until the context ends."""
    with subprocess.Popen(
        command,
        env=environ,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            _wait_for(port, process)
            yield
        finally:
            process.terminate()


def _wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            assert process.poll() is None, "the server has ended, and another one answers"
            return
        except OSError:
            assert process.poll() is None, "the server has ended"
            assert time.monotonic() < deadline, "the server does not answer"
            time.sleep(0.05)
