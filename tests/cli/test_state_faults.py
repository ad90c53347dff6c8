"""State commands as processes, where things go wrong: killed, two at once, no room, no rights."""

import json
import os
import random
import resource as limits
import signal
import subprocess
import time
from pathlib import Path

import pytest

from nigari.backends.state_path import StatePath
from tests.cli.process import command, environment, nigari
from tests.cli.states import resource, write_state
from tests.plugins import overriding

STATE = "terraform.tfstate"
LOCK = f".{STATE}.lock.info"
MANY = 3000
"""Enough resources for writing them to take a while."""


@pytest.fixture
def work(tmp_path: Path) -> Path:
    write_state(tmp_path / STATE, *(resource(f"r{index}") for index in range(MANY)))
    return tmp_path


def names(path: Path) -> set[str]:
    return {each["name"] for each in json.loads(path.read_bytes())["resources"]}


def seconds_of_writing(work: Path) -> float:
    """How long a command holds the lock, on this machine and now."""
    move = command("state", "mv", "terraform_data.r0", "terraform_data.x")
    with subprocess.Popen(move, cwd=work, env=environment(), stdout=subprocess.DEVNULL) as mover:
        while not (work / LOCK).exists() and mover.poll() is None:
            time.sleep(0.001)
        begun = time.monotonic()
        assert mover.wait(60) == 0
        taken = time.monotonic() - begun
    assert nigari("state", "mv", "terraform_data.x", "terraform_data.r0", cwd=work).code == 0
    return taken


def test_killed_at_fifty_moments_of_writing(work: Path) -> None:
    """The next command sees the old or the new state, whole."""
    chance = random.Random(50)
    path = work / STATE
    longest = 1.2 * seconds_of_writing(work)
    usual = {f"r{index}" for index in range(MANY)}
    seen = {"old": 0, "new": 0}
    here = "r0"
    for turn in range(50):
        there = f"new{turn}"
        move = command("state", "mv", f"terraform_data.{here}", f"terraform_data.{there}")
        with subprocess.Popen(
            move, cwd=work, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as mover:
            while not (work / LOCK).exists() and mover.poll() is None:
                time.sleep(0.001)
            time.sleep(chance.random() * longest)
            mover.kill()
        (work / LOCK).unlink(missing_ok=True)
        content = json.loads(StatePath(path).read())
        found = {each["name"] for each in content["resources"]}
        assert found in ((usual - {"r0"}) | {here}, (usual - {"r0"}) | {there})
        is_new = there in found
        seen["new" if is_new else "old"] += 1
        here = there if is_new else here
        longest *= 0.9 if is_new else 1.1  # the machine may have less to do now, or more
    assert min(seen.values()) > 3
    listed = nigari("state", "list", f"terraform_data.{here}", cwd=work)
    assert (listed.code, listed.out) == (0, f"terraform_data.{here}\n")
    assert nigari("state", "rm", f"terraform_data.{here}", cwd=work).code == 0
    assert names(path) == usual - {"r0"}
    assert not [each for each in os.listdir(work) if "pending" in each]


def test_of_two_writers_the_second_waits_or_is_refused(work: Path) -> None:
    state = StatePath(work / STATE)
    state.lock()
    refused = nigari("state", "rm", "terraform_data.r1", cwd=work)
    assert refused.code == 1
    assert "Error acquiring the state lock" in refused.err
    rm = command("state", "rm", "-lock-timeout=60s", "terraform_data.r1")
    with subprocess.Popen(rm, cwd=work, env=environment(), stdout=subprocess.DEVNULL) as waiting:
        time.sleep(1)
        assert waiting.poll() is None
        content = json.loads(state.read())
        content["resources"] = [e for e in content["resources"] if e["name"] != "r2"]
        state.write(json.dumps(content).encode())
        state.unlock()
        assert waiting.wait(60) == 0
    assert names(work / STATE) == {f"r{index}" for index in range(MANY)} - {"r1", "r2"}


def test_many_writers_lose_nothing(tmp_path: Path) -> None:
    write_state(tmp_path / STATE, *(resource(f"r{index}") for index in range(8)))
    writers = [
        subprocess.Popen(
            command("state", "rm", "-lock-timeout=120s", f"terraform_data.r{index}"),
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.DEVNULL,
        )
        for index in range(5)
    ]
    assert [each.wait(120) for each in writers] == [0] * 5
    assert names(tmp_path / STATE) == {"r5", "r6", "r7"}


def test_a_file_that_may_not_grow(work: Path) -> None:
    """A quota, which unlike a small disk anyone can have."""
    path = work / STATE
    before = path.read_bytes()
    grown = command("state", "mv", "terraform_data.r1", f"terraform_data.{'long' * 50}")
    size = len(before) // 2
    done = subprocess.run(
        grown,
        cwd=work,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: limits.setrlimit(limits.RLIMIT_FSIZE, (size, size)),
    )
    assert done.returncode == 1
    assert "File too large" in done.stderr
    assert path.read_bytes() == before
    assert nigari("state", "rm", "terraform_data.r1", cwd=work).code == 0


def test_a_full_disk(small_disk: Path) -> None:
    path = small_disk / STATE
    write_state(path, *(resource(f"r{index}") for index in range(1000)))
    before = path.read_bytes()
    (small_disk / "other").write_bytes(b"x" * (2_000_000 - len(before)))
    done = nigari("state", "rm", "terraform_data.r1", cwd=small_disk)
    assert done.code == 1
    assert "No space left" in done.err
    assert path.read_bytes() == before
    (small_disk / "other").unlink()
    assert nigari("state", "rm", "terraform_data.r1", cwd=small_disk).code == 0


def test_a_disk_that_is_read_only(small_disk: Path) -> None:
    path = small_disk / STATE
    write_state(path, resource("a"), resource("b"))
    before = path.read_bytes()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    assert nigari("state", "list", cwd=small_disk).out == "terraform_data.a\nterraform_data.b\n"
    done = nigari("state", "rm", "terraform_data.a", cwd=small_disk)
    assert done.code == 1
    assert "Read-only" in done.err
    assert path.read_bytes() == before


def test_a_directory_that_is_read_only(work: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    before = (work / STATE).read_bytes()
    work.chmod(0o555)
    try:
        done = nigari("state", "rm", "terraform_data.r1", cwd=work)
    finally:
        work.chmod(0o755)
    assert done.code == 1
    assert "Permission denied" in done.err
    assert (work / STATE).read_bytes() == before


GOOD = '{"version": 4, "serial": 1, "lineage": "x", "outputs": {}, "resources": []}'


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(GOOD[:40], id="truncated"),
        pytest.param("   \n", id="blank"),
        pytest.param("PK\x03\x04 something", id="foreign"),
        pytest.param('{"hello": "world"}', id="foreign JSON"),
        pytest.param(GOOD.replace("4", "5"), id="future"),
        pytest.param(GOOD.replace('"x"', "7"), id="wrong types"),
    ],
)
@pytest.mark.parametrize(
    "arguments",
    [
        ["state", "list"],
        ["state", "rm", "terraform_data.a"],
        ["output"],
        ["apply", "-auto-approve"],
    ],
    ids=lambda each: each[1] if each[0] == "state" else each[0],
)
def test_a_state_that_is_not_understood_is_left_alone(
    tmp_path: Path, content: str, arguments: list[str]
) -> None:
    (tmp_path / "main.tf").write_text('resource "terraform_data" "a" {}\n')
    (tmp_path / STATE).write_text(content)
    done = nigari(*arguments, cwd=tmp_path)
    assert done.code == 1
    assert "Error" in done.err
    assert (tmp_path / STATE).read_text() == content


def test_an_empty_file_is_no_state_yet(tmp_path: Path) -> None:
    (tmp_path / STATE).touch()
    done = nigari("state", "list", cwd=tmp_path)
    assert done.code == 1
    assert "There is no state yet" in done.err
    assert (tmp_path / STATE).read_bytes() == b""


HANGING = """\
#!/bin/sh
echo $$ > "{pids}"
sleep 600 &
echo $! >> "{pids}"
wait
"""


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_no_plugin_outlives_the_program(tmp_path: Path, sent: signal.Signals) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    plugin, pids = programs / "terraform-provider-demo", tmp_path / "pids"
    plugin.write_text(HANGING.format(pids=pids))
    plugin.chmod(0o755)
    settings = overriding(tmp_path / "tofurc", "hashicorp/demo", programs)
    (tmp_path / "main.tf").write_text('resource "demo_thing" "a" {}\n')
    with subprocess.Popen(
        command("providers", "schema", "-json"),
        cwd=tmp_path,
        env=environment(**settings),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as program:
        numbers: list[str] = []
        until = time.monotonic() + 30
        while len(numbers) < 2 and time.monotonic() < until:
            numbers = pids.read_text().split() if pids.exists() else []
            time.sleep(0.02)
        assert len(numbers) == 2
        program.send_signal(sent)
        program.wait(30)
    until = time.monotonic() + 10
    while any(Path("/proc", each).exists() for each in numbers) and time.monotonic() < until:
        time.sleep(0.05)
    assert not [each for each in numbers if Path("/proc", each).exists()]


@pytest.mark.parametrize("text", [b'"\\ud800"', b'"\xff"', b'"\\udc80 \xfe"'])
@pytest.mark.parametrize("command", [("apply", "-auto-approve"), ("destroy", "-auto-approve")])
def test_texts_of_a_state_that_are_not_utf_8(
    tmp_path: Path, command: tuple[str, ...], text: bytes
) -> None:
    """A damaged text is read as OpenTofu reads it, and is no reason to fail."""
    (tmp_path / "main.tf").write_text(
        'resource "terraform_data" "x" {\n  input = "plain"\n}\n'
        'output "x" {\n  value = terraform_data.x.output\n}\n'
    )
    assert nigari("apply", "-auto-approve", cwd=tmp_path).code == 0
    state = tmp_path / "terraform.tfstate"
    state.write_bytes(state.read_bytes().replace(b'"plain"', text))
    done = nigari(*command, cwd=tmp_path)
    assert done.code == 0, done.err
