"""Applying with a state on a server behind a proxy that spoils what passes; nothing is lost."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

from tests.backends.world import moto, postgres
from tests.backends.world.slow_apply import SlowApply, ended
from tests.backends.world.state_server import StateServer
from tests.net_world.faults import ANSWERS, FAULTS, FaultyProxy

pytestmark = pytest.mark.real


class Work(SlowApply):
    """A directory whose state is on a server behind the proxy."""

    def __init__(
        self, path: Path, proxy: FaultyProxy, block: str, environ: Mapping[str, str]
    ) -> None:
        super().__init__(path, block, environ)
        self.proxy = proxy

    def unlock(self) -> None:
        """Remove the lock of a process that has ended, if its end has not done that."""
        code, output = self.run("plan")
        if code == 0:
            return
        assert "no longer runs on this machine" in output
        found = re.search("nigari force-unlock ([0-9a-f-]+)", output)
        assert found is not None, output
        self.done("force-unlock", "-force", found[1])

    def check(self) -> None:
        """Everything is stored, and nobody holds the lock."""
        assert self.done("state", "list").split() == ["terraform_data.quick", "terraform_data.slow"]
        assert "No changes" in self.done("plan")


@contextlib.contextmanager
def http(path: Path) -> Iterator[Work]:
    with StateServer(has_tags=True) as server, FaultyProxy(server.server.port, True) as proxy:
        url = f"http://127.0.0.1:{proxy.port}/state"
        settings = {"retry_wait_min": "0", "retry_max": "3"}
        addresses = {"address": url, "lock_address": url, "unlock_address": url}
        yield Work(path, proxy, server.block(**addresses, **settings), {})


@contextlib.contextmanager
def s3(path: Path) -> Iterator[Work]:
    with moto.running() as server, FaultyProxy(server.port, True) as proxy:
        block = moto.Moto(proxy.port).block(server.bucket(), use_lockfile=True)
        yield Work(path, proxy, block, moto.KEYS)


@contextlib.contextmanager
def pg(path: Path) -> Iterator[Work]:
    with postgres.running() as server, FaultyProxy(server.port, False) as proxy:
        yield Work(path, proxy, postgres.Postgres(proxy.port).block("states"), {})


KINDS: Final[Mapping[str, Callable[[Path], contextlib.AbstractContextManager[Work]]]] = {
    "http": http,
    "pg": pg,
    "s3": s3,
}
PAIRS: Final = [
    (kind, fault) for kind in KINDS for fault in FAULTS if kind != "pg" or fault not in ANSWERS
]


@pytest.mark.parametrize(("kind", "fault"), PAIRS)
def test_a_fault_at_the_end(kind: str, fault: str, tmp_path: Path) -> None:
    """Storing what was made fails once, and then does not."""
    with KINDS[kind](tmp_path) as work:
        with work.applying() as process:
            work.proxy.spoil(fault, 1)
            work.go()
            output = ended(process)
        assert process.returncode == 0, output
        assert work.proxy.spoiled == 1
        work.check()


@pytest.mark.parametrize(("kind", "fault"), PAIRS)
def test_faults_at_the_beginning(kind: str, fault: str, tmp_path: Path) -> None:
    """Locking and reading fail at first."""
    with KINDS[kind](tmp_path) as work:
        work.go()
        work.proxy.spoil(fault, 1)
        work.done("apply", "-auto-approve")
        assert work.proxy.spoiled == 1
        work.check()


@pytest.mark.parametrize(
    ("kind", "fault"), [pair for pair in PAIRS if pair[1] in ("reset", "cut", "broken")]
)
def test_the_server_is_gone(kind: str, fault: str, tmp_path: Path) -> None:
    """What cannot be stored is in a file, and can be stored later."""
    with KINDS[kind](tmp_path) as work:
        with work.applying() as process:
            work.proxy.spoil(fault)
            work.go()
            output = ended(process)
        assert process.returncode == 1
        assert "errored.tfstate" in output
        kept = json.loads((work.path / "errored.tfstate").read_text())
        assert [each["name"] for each in kept["resources"]] == ["quick", "slow"]
        work.proxy.heal()
        work.unlock()
        work.done("state", "push", "errored.tfstate")
        work.check()


@pytest.mark.parametrize("kind", KINDS)
def test_killed(kind: str, tmp_path: Path) -> None:
    """The next apply makes what was not stored, once the lock is removed that was left behind."""
    with KINDS[kind](tmp_path) as work:
        with work.applying() as process:
            os.killpg(process.pid, signal.SIGKILL)
        work.unlock()
        work.go()
        work.done("apply", "-auto-approve")
        work.check()
