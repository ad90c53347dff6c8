"""A PostgreSQL of our own: `initdb` and `postgres` on a port of this machine."""

import contextlib
import glob
import itertools
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.net_world.programs import free_port

_NUMBERS = itertools.count(1)
_NOBODY = "postgres"


class Postgres:
    """A running server."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.conn_str = f"postgres://{_NOBODY}@127.0.0.1:{port}/postgres?sslmode=disable"

    def schema(self) -> str:
        """A name that no other test uses."""
        return f"states {next(_NUMBERS)}%"

    def block(self, schema: str) -> str:
        """A configuration with this backend."""
        body = f'    conn_str = "{self.conn_str}"\n    schema_name = "{schema}"\n'
        return f'terraform {{\n  backend "pg" {{\n{body}  }}\n}}\n'


@contextlib.contextmanager
def running() -> Iterator[Postgres]:
    """A server of its own, without anything in it."""
    programs = _programs()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as data:
        user = []
        if os.geteuid() == 0:
            # It refuses to run for root.
            shutil.chown(data, _NOBODY)
            user = ["setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups"]
        subprocess.run(
            [*user, programs / "initdb", "-D", data, "-U", _NOBODY, "-A", "trust", "-N"],
            check=True,
            capture_output=True,
            cwd="/",
        )
        port = free_port()
        options = ["-h", "127.0.0.1", "-k", "", "-p", str(port), "-F"]
        with subprocess.Popen(
            [*user, programs / "postgres", "-D", data, *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
        ) as process:
            try:
                _wait_for(port, process)
                yield Postgres(port)
            finally:
                # A fast shutdown: SIGTERM waits for clients, and a failed test may have left one connected.
                process.send_signal(signal.SIGINT)


def _programs() -> Path:
    """Where the programs of the newest version are, or skip the test."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"))
    path = found[-1] if found else shutil.which("postgres")
    if path is None:
        pytest.skip("PostgreSQL is not on this machine")
    return Path(path).parent


def _wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    import psycopg

    deadline = time.monotonic() + 60
    while True:
        try:
            psycopg.connect(Postgres(port).conn_str, connect_timeout=2).close()
            return
        except psycopg.OperationalError:
            assert process.poll() is None, "the server has ended"
            assert time.monotonic() < deadline, "the server does not answer"
            time.sleep(0.05)
