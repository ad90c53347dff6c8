"""Applying with a state on a server: the network fails, the process is killed, nothing is lost."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.backends.world.state_server import StateServer
from tests.net_world.server import Answer, Asked, Script

CONFIGURATION = """
resource "terraform_data" "quick" { input = "made" }
resource "terraform_data" "slow" {
  depends_on = [terraform_data.quick]
  provisioner "local-exec" {
    command = "touch started; while [ ! -e go ] && [ -e main.tf ]; do sleep 0.05; done"
  }
}
"""


class Work:
    """A directory whose state is on a server."""

    def __init__(self, path: Path, server: StateServer) -> None:
        self.path = path
        self.server = server
        block = server.block(retry_wait_min="0", retry_max="1")
        (path / "main.tf").write_text(block + CONFIGURATION)
        (path / "cli.tofurc").write_text("")
        assert self.run("init")[0] == 0

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", "nigari", *arguments],
            cwd=self.path,
            env={**os.environ, "TF_CLI_CONFIG_FILE": str(self.path / "cli.tofurc")},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *arguments: str) -> tuple[int, str]:
        with self.start(*arguments) as process:
            output, _ = process.communicate(timeout=60)
        return process.returncode, " ".join(output.split())

    def go(self) -> None:
        (self.path / "go").touch()

    def wait_until_started(self, process: "subprocess.Popen[str]") -> None:
        deadline = time.monotonic() + 30
        while not (self.path / "started").exists():
            assert process.poll() is None, process.communicate()[0]
            assert time.monotonic() < deadline
            time.sleep(0.02)


@pytest.fixture
def work(tmp_path: Path) -> Iterator[Work]:
    with StateServer(has_tags=True) as server:
        yield Work(tmp_path, server)


def test_the_server_is_gone_in_the_end(work: Work) -> None:
    def gone(asked: Asked) -> Answer | Script | None:
        return (lambda _: None) if asked.method in ("POST", "UNLOCK") else None

    with work.start("apply", "-auto-approve") as process:
        work.wait_until_started(process)
        work.server.interfere = gone
        work.go()
        output, _ = process.communicate(timeout=60)
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


def test_somebody_else_has_written_meanwhile(work: Work) -> None:
    """A lock that was removed by force does not end in an overwritten state."""
    with work.start("apply", "-auto-approve") as process:
        work.wait_until_started(process)
        work.server.locks.clear()
        other = b'{"version":4,"serial":9,"lineage":"x","outputs":{},"resources":[]}'
        work.server.states["/state"] = other
        work.go()
        process.communicate(timeout=60)
    assert process.returncode == 1
    assert work.server.states["/state"] == other
    assert (work.path / "errored.tfstate").exists()


def test_killed(work: Work) -> None:
    with work.start("apply", "-auto-approve") as process:
        work.wait_until_started(process)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
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
    with work.start("apply", "-auto-approve") as process:
        work.wait_until_started(process)
        assert "/state" not in work.server.states
        process.send_signal(signal.SIGINT)
        deadline = time.monotonic() + 20
        while "/state" not in work.server.states:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert "quick" in work.server.states["/state"].decode()
        work.go()
        process.communicate(timeout=60)
    assert not work.server.locks
