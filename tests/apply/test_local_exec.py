"""`local-exec`: every argument, what is told of it, and how it ends."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from nigari.apply.provisioners.local_exec import run_local
from nigari.apply.provisioners.provisioner import Machine
from nigari.cty.types import DYNAMIC
from nigari.cty.values import FALSE, null, string
from tests.cli.process import command, environment, inside


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _write(arguments: str) -> None:
    Path("main.tf").write_text(
        'resource "terraform_data" "a" {\n  input = "x"\n'
        f'  provisioner "local-exec" {{\n    {arguments}\n  }}\n}}\n'
    )


def _status() -> object:
    state = json.loads(Path("terraform.tfstate").read_text())
    return state["resources"][0]["instances"][0].get("status")


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ('command = "echo one; echo two >&2"', ["one", "two"]),
        ('command = "pwd | sed s,.*/,,"\n    working_dir = "sub"', ["sub"]),
        ('command = "echo $A-$B"\n    environment = { A = "1", B = null }', ["1-"]),
        ('command = "print(6 * 7)"\n    interpreter = ["python3", "-c"]', ["42"]),
        ('command = "echo ${self.output}"', ["x"]),
        ('command = "echo a; exit 0"\n    quiet = false', ["Executing:", "a"]),
    ],
)
def test_output(arguments: str, wanted: list[str]) -> None:
    Path("sub").mkdir()
    _write(arguments)
    done = inside("apply", "-auto-approve", "-no-color")
    assert done.code == 0, done.out + done.err
    for text in wanted:
        assert f"terraform_data.a (local-exec): {text}" in done.out
    assert _status() is None


def test_quiet() -> None:
    _write('command = "echo hidden words | tr a-z A-Z"\n    quiet = true')
    done = inside("apply", "-auto-approve", "-no-color")
    assert "hidden words" not in done.out
    assert "HIDDEN WORDS" in done.out


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ('command = "echo why; exit 9"', "The command exited with status 9. Output: why"),
        ('command = "kill -9 $$"', "killed by SIGKILL"),
        ('command = "true"\n    interpreter = ["/nowhere"]', "/nowhere: No such file"),
        ('command = "true"\n    working_dir = "nowhere"', "nowhere: No such file"),
    ],
)
def test_failures(arguments: str, wanted: str) -> None:
    _write(arguments)
    done = inside("apply", "-auto-approve", "-no-color")
    assert done.code == 1
    assert wanted in " ".join(done.err.split())
    assert _status() == "tainted"


def test_secrets() -> None:
    _write('command = "echo ${sensitive("hush")}; exit 1"')
    done = inside("apply", "-auto-approve", "-no-color")
    assert done.code == 1
    assert "hush" not in done.out + done.err


@pytest.mark.parametrize("more", [[], ["-json"]])
def test_secrets_that_are_asked_for(more: list[str]) -> None:
    _write('command = "echo ${sensitive("hush")}"')
    done = inside("apply", "-auto-approve", "-no-color", *more)
    assert "hush" not in done.out
    assert "The output is not shown" in done.out
    Path("terraform.tfstate").unlink()
    done = inside("apply", "-auto-approve", "-no-color", "-show-sensitive", *more)
    assert "(local-exec): hush" in done.out
    assert "The output is not shown" not in done.out


def test_long_lines() -> None:
    _write("command = \"head -c 3000000 /dev/zero | tr '\\\\0' x; echo; echo end\"")
    done = inside("apply", "-auto-approve", "-no-color")
    assert done.code == 0, done.out + done.err
    assert "(local-exec): end" in done.out


def test_killed() -> None:
    """What a provisioner is at work on is in the state, and is not taken for sound."""
    _write('command = "echo $$ > pid; exec sleep 60"')
    process = subprocess.Popen(
        command("apply", "-auto-approve"),
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while not Path("pid").exists() or not Path("pid").read_text().strip():
        time.sleep(0.02)
        assert process.poll() is None
    process.kill()
    process.wait()
    os.kill(int(Path("pid").read_text()), signal.SIGKILL)
    assert _status() == "tainted"


def test_interrupting() -> None:
    _write('command = "echo $$ > pid; exec sleep 60"')
    process = subprocess.Popen(
        command("apply", "-auto-approve"),
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    while not Path("pid").exists() or not Path("pid").read_text().strip():
        time.sleep(0.02)
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 1
    assert b"interrupted" in said
    assert _status() == "tainted"
    with pytest.raises(ProcessLookupError):
        os.kill(int(Path("pid").read_text()), 0)


def test_nothing_is_left_of_a_command_that_was_cancelled() -> None:
    """Its end is known before the event loop ends, after which nobody would ask for it."""
    started: list[asyncio.subprocess.Process] = []
    original = asyncio.create_subprocess_exec

    async def start(*words: str, **named: Any) -> asyncio.subprocess.Process:  # noqa: ANN401 - whatever it takes
        started.append(await original(*words, **named))
        return started[-1]

    async def whole() -> None:
        given = {"command": string("echo begun; exec sleep 60"), "quiet": FALSE}
        absent = {name: null(DYNAMIC) for name in ("interpreter", "working_dir", "environment")}
        machine = Machine(os.environ, "")
        begun = asyncio.Event()

        def say(text: str) -> None:
            if text == "begun":
                begun.set()

        work = asyncio.create_task(run_local({**given, **absent}, machine, say))
        await begun.wait()
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asyncio, "create_subprocess_exec", start)
        asyncio.run(whole())
    assert [each.returncode for each in started] == [-signal.SIGKILL]
