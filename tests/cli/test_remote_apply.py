"""Applying with a state on a server: the network fails, the process is killed, nothing is lost."""

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.backends.world.slow_apply import SlowApply, ended
from tests.backends.world.state_server import StateServer
from tests.net_world.server import Answer, Asked, Script


class Work(SlowApply):
    """A directory whose state is on a server."""

    def __init__(self, path: Path, server: StateServer) -> None:
        super().__init__(path, server.block(retry_wait_min="0", retry_max="1"))
        self.server = server


@pytest.fixture
def work(tmp_path: Path) -> Iterator[Work]:
    with StateServer(has_tags=True) as server:
        yield Work(tmp_path, server)


def test_the_server_is_gone_in_the_end(work: Work) -> None:
    def gone(asked: Asked) -> Answer | Script | None:
        return (lambda _: None) if asked.method in ("POST", "UNLOCK") else None

    with work.applying() as process:
        work.server.interfere = gone
        work.go()
        output = ended(process)
    assert process.returncode == 1
    assert "errored.tfstate" in output
    assert "State not saved" in output
    kept = json.loads((work.path / "errored.tfstate").read_text())
    assert len(kept["resources"]) == 2
    work.server.interfere = lambda _: None
    lock_id = json.loads(work.server.locks["/state"])["ID"]
    code, output = work.run("state", "push", "errored.tfstate")
    assert code == 1
    assert "no longer runs on this machine" in output
    assert work.run("force-unlock", "-force", lock_id)[0] == 0
    code, output = work.run("state", "push", "errored.tfstate")
    assert code == 0, output
    assert work.server.state["serial"] == kept["serial"]
    code, output = work.run("plan")
    assert "No changes" in output


@pytest.mark.parametrize(
    "answer",
    [Answer(503, b"", {"retry-after": "1"}), Answer(500), lambda _: None],
    ids=["busy", "broken", "reset"],
)
def test_the_server_fails_now_and_then(work: Work, answer: Answer | Script) -> None:
    seen: set[str] = set()

    def once(asked: Asked) -> Answer | Script | None:
        if asked.method in seen:
            return None
        seen.add(asked.method)
        return answer

    work.server.interfere = once
    work.go()
    code, output = work.run("apply", "-auto-approve")
    assert code == 0, output
    assert seen == {"LOCK", "GET", "POST", "UNLOCK"}
    assert not work.server.locks
    assert work.server.state["serial"] == 1


def stored(serial: int) -> bytes:
    return b'{"version":4,"serial":%d,"lineage":"x","outputs":{},"resources":[]}' % serial


def test_the_lock_is_removed_by_force(work: Work) -> None:
    with work.applying() as process:
        work.server.locks.clear()
        work.server.states["/state"] = stored(9)
        work.go()
        output = ended(process)
    assert process.returncode == 1
    assert work.server.states["/state"] == stored(9)
    assert (work.path / "errored.tfstate").exists()
    assert output.count("the lock of this run is gone") == 2


def test_somebody_else_has_written_meanwhile(work: Work) -> None:
    """Nothing is overwritten, and what to do instead works."""
    work.server.states["/state"] = stored(1)
    with work.applying() as process:
        work.server.states["/state"] = stored(9)
        work.go()
        output = ended(process)
    assert process.returncode == 1
    assert work.server.states["/state"] == stored(9)
    for step in ("state pull >", "state mv -state=errored.tfstate", "state push stored.tfstate"):
        assert f"nigari {step}" in output
    (work.path / "stored.tfstate").write_text(work.done("state", "pull"))
    files = ("-state=errored.tfstate", "-state-out=stored.tfstate")
    for name in ("terraform_data.quick", "terraform_data.slow"):
        work.done("state", "mv", *files, name, name)
    work.done("state", "push", "stored.tfstate")
    assert work.server.state["lineage"] == "x"
    assert "No changes" in work.done("plan")


def test_killed(work: Work) -> None:
    with work.applying() as process:
        os.killpg(process.pid, signal.SIGKILL)
    held = json.loads(work.server.locks["/state"])
    code, output = work.run("plan")
    assert code == 1
    assert f"nigari force-unlock {held['ID']}" in output
    assert work.run("force-unlock", "-force", held["ID"])[0] == 0
    work.go()
    code, output = work.run("apply", "-auto-approve")
    assert code == 0, output
    assert work.server.state["serial"] == 1


def test_interrupted(work: Work) -> None:
    """After Ctrl-C, what is done is stored at once, before what still runs has ended."""
    with work.applying() as process:
        assert "/state" not in work.server.states
        process.send_signal(signal.SIGINT)
        deadline = time.monotonic() + 20
        while "/state" not in work.server.states:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert "quick" in work.server.states["/state"].decode()
        work.go()
    assert not work.server.locks
