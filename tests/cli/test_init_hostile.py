"""`nigari init` with servers and archives that mean no good, and with whoever interrupts it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from io import BufferedIOBase
from pathlib import Path

import pytest

from tests.cli.initializing import call, init, installed, write
from tests.cli.leftovers import nothing_is_left
from tests.cli.process import command
from tests.net_world.server import Answer, Asked, head, redirect
from tests.packages.archives import Entry, files, packed
from tests.packages.module_world import MODULE, ModuleWorld


def archive(form: str, *entries: Entry) -> Answer:
    return Answer(200, packed(form, entries))


SLIPS: list[tuple[str, list[Entry]]] = [
    ("zip", [("file", "../../../../../../tmp/nigari-slip", "1")]),
    ("tar.gz", [("file", "a/../../b", "1")]),
    ("tar.gz", [("link", "a", "/etc/passwd")]),
    ("zip", [("link", "a", "../../x"), ("file", "main.tf", "")]),
    ("tar.gz", [("link", "a", "../.."), ("file", "a/x", "1")]),
    ("tar.gz", [("fifo", "a", "")]),
]


@pytest.mark.parametrize(("form", "entries"), SLIPS)
def test_archives_that_mean_no_good(
    form: str, entries: list[Entry], world: ModuleWorld, work: Path
) -> None:
    world.replies["/a"] = archive(form, *entries)
    write(work, call("a", f"{world.url}/a?archive={form}"))
    done = init(world, work)
    assert done.code == 1
    assert "The archive cannot be unpacked" in done.err
    nothing_is_left(world, work)


def test_bombs(world: ModuleWorld, work: Path) -> None:
    world.replies["/a.zip"] = archive("zip", ("file", "a", "\0" * (64 << 20)))
    write(work, call("a", f"{world.url}/a.zip"))
    done = init(world, work)
    assert done.code == 1
    assert "times its size" in done.err
    nothing_is_left(world, work)


def cut(asked: Asked) -> Callable[[BufferedIOBase], None]:
    def script(stream: BufferedIOBase) -> None:
        stream.write(head(content_length="100000") + b"PK\x03\x04" + bytes(1000))

    return script


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (redirect("/a.zip"), "redirects in a loop"),
        (redirect("http://127.0.0.1:1/a.zip"), "not encrypted"),
        (Answer(200, b"<html>Log in", {"content-type": "text/html"}), "log in on a web page"),
        (Answer(200, b"not an archive"), "damaged"),
        (cut, "ended early"),
    ],
)
def test_servers_that_mean_no_good(
    reply: Answer | Callable[[Asked], Callable[[BufferedIOBase], None]],
    said: str,
    world: ModuleWorld,
    work: Path,
) -> None:
    world.replies["/a.zip"] = reply
    write(work, call("a", f"{world.url}/a.zip"))
    done = init(world, work)
    assert done.code == 1
    assert said in done.err
    nothing_is_left(world, work)


def test_one_failure_leaves_what_was_fine(world: ModuleWorld, work: Path) -> None:
    world.publish("ns/fine/sys", "1.0.0")
    write(work, call("a", f"{world.host}/ns/fine/sys"), call("b", f"{world.url}/none.zip"))
    done = init(world, work)
    assert done.code == 1
    assert os.listdir(work) == ["main.tf"]
    write(work, call("a", f"{world.host}/ns/fine/sys", "1.0.0"))
    world.log.clear()
    assert init(world, work).code == 0
    assert not any("/packages/" in each for each in world.asked)


# -- several at once, and interruptions -----------------------------------------------------------


class Slowly:
    """Serves an archive only when it may."""

    def __init__(self) -> None:
        self.asked = threading.Semaphore(0)
        self.may = threading.Event()
        self.body = packed("zip", files({"main.tf": MODULE % "it"}))

    def __call__(self, asked: Asked) -> Callable[[BufferedIOBase], None]:
        def script(stream: BufferedIOBase) -> None:
            stream.write(head(content_length=str(len(self.body))) + self.body[:50])
            stream.flush()
            self.asked.release()
            self.may.wait(30)
            with contextlib.suppress(OSError):
                stream.write(self.body[50:])

        return script


def begin(world: ModuleWorld, work: Path) -> subprocess.Popen[str]:
    environ = world.environ(NIGARI_CACHE_DIR=str(world.directory / "cache"))
    environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    return subprocess.Popen(
        command("init", "-no-color"),
        cwd=work,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_interruptions(number: signal.Signals, world: ModuleWorld, work: Path) -> None:
    slowly = Slowly()
    world.replies["/a.zip"] = slowly
    write(work, call("a", f"{world.url}/a.zip"))
    process = begin(world, work)
    assert slowly.asked.acquire(timeout=60)
    time.sleep(0.2)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    slowly.may.set()
    if number is signal.SIGINT:
        assert process.returncode == 130, out + err
        assert "Interrupted" in err
        nothing_is_left(world, work)
    # Whoever was killed is cleaned up after.
    assert init(world, work).code == 0
    assert installed(work, "a") == MODULE % "it"
    assert os.listdir(world.directory / "cache/modules/new") == []


def test_two_at_once_download_once(world: ModuleWorld, work: Path) -> None:
    slowly = Slowly()
    world.publish("ns/name/sys", "1.0.0")
    world.replies["/packages/ns/name/sys/1.0.0.tar.gz"] = slowly
    slowly.body = packed("tar.gz", files({"main.tf": MODULE % "it"}))
    works = [work, work.with_name("other"), work.with_name("third")]
    processes = []
    for each in works:
        each.mkdir(exist_ok=True)
        write(each, call("a", f"{world.host}/ns/name/sys"))
        processes.append(begin(world, each))
    assert slowly.asked.acquire(timeout=60)
    time.sleep(1.5)
    slowly.may.set()
    for process in processes:
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, out + err
    for each in works:
        assert installed(each, "a") == MODULE % "it"
    assert sum("/packages/" in each for each in world.asked) == 1
