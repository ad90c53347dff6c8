"""How much memory and time `nigari init` spends on servers that mean no good: processes are measured.

A fine init takes about 60 MB.
"""

from __future__ import annotations

import contextlib
import functools
import gzip
import os
import struct
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from io import BufferedIOBase
from pathlib import Path

import pytest

from tests.cli.initializing import call, write
from tests.cli.leftovers import nothing_is_left
from tests.cli.process import command
from tests.net_world.server import Answer, Asked, Script, head, json_answer
from tests.packages.module_world import ModuleWorld

MOST_MEBIBYTES = 320
MOST_SECONDS = 60
"""On a machine that is busy with other tests, too."""
JSON = {"content-type": "application/json"}
PROVIDERS = "/v1/providers/ns/name"

MEASURE = """
import os, subprocess, sys, threading
process = subprocess.Popen(sys.argv[2:])
threading.Timer(float(sys.argv[1]), process.kill).start()
_, status, usage = os.wait4(process.pid, 0)
print("\\n", os.waitstatus_to_exitcode(status), usage.ru_maxrss, flush=True)
os._exit(0)
"""
"""A process is said to have needed what the one that started it has: so a small one starts it."""

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="what a process has needed is counted otherwise elsewhere"
)


def measured(world: ModuleWorld, work: Path) -> tuple[int, str, float, float]:
    """The exit status, what was said, the most memory in MiB, and how many seconds it took."""
    environ = world.environ(NIGARI_CACHE_DIR=str(world.directory / "cache"))
    environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    environ["TF_REGISTRY_CLIENT_TIMEOUT"] = "3"
    environ["TMPDIR"] = str(work.parent / "temporary")
    Path(environ["TMPDIR"]).mkdir(exist_ok=True)
    begin = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-S", "-c", MEASURE, str(2 * MOST_SECONDS), *command("init", "-no-color")],
        cwd=work,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    seconds = time.monotonic() - begin
    *said, last = done.stdout.splitlines()
    code, most = map(int, last.split())
    assert os.listdir(environ["TMPDIR"]) == []
    return code, " ".join(" ".join(said).split()), most / 1024, seconds


# -- what servers answer --------------------------------------------------------------------------


def packed_document() -> Answer:
    """256 megabytes of JSON in a quarter of one."""
    return Answer(200, bomb(), {**JSON, "content-encoding": "gzip"})


@functools.cache
def bomb() -> bytes:
    squeeze = zlib.compressobj(9, wbits=31)
    return b"".join([*(squeeze.compress(b" " * (1 << 20)) for _ in range(256)), squeeze.flush()])


def small_lists() -> Answer:
    """JSON that takes far more memory once it is read; just as long as an answer may be."""
    return Answer(200, b"[" + b"[]," * ((8 << 20) // 3 - 2) + b"[]]", JSON)


def many_versions() -> Answer:
    listed = [{"version": f"1.{number // 1000}.{number % 1000}"} for number in range(150_000)]
    return json_answer({"modules": [{"versions": listed}], "versions": listed})


def nested() -> Answer:
    return Answer(200, b"[" * (8 << 20), JSON)


def repeated(start: bytes, piece: bytes) -> Script:
    """Something that never ends."""

    def script(stream: BufferedIOBase) -> None:
        with contextlib.suppress(OSError):
            stream.write(start)
            while True:
                stream.write(piece)

    return script


def endless_document() -> Script:
    return repeated(head(content_type="application/json"), b" " * (1 << 20))


def endless_chunks() -> Script:
    piece = b"10000\r\n" + b" " * (1 << 16) + b"\r\n"
    return repeated(head(content_type="application/json", transfer_encoding="chunked"), piece)


def endless_headers() -> Script:
    return repeated(b"HTTP/1.1 200 OK\r\n", b"x-more: " + b"x" * 1000 + b"\r\n")


def endless_header() -> Script:
    return repeated(b"HTTP/1.1 200 OK\r\nx-long: ", b"x" * (1 << 20))


def endless_notices() -> Script:
    """Answers before the answer."""
    return repeated(b"", b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n" * 1000)


REPLIES: list[Callable[[], Answer | Script]] = [
    packed_document,
    small_lists,
    many_versions,
    nested,
    endless_document,
    endless_chunks,
    endless_headers,
    endless_header,
    endless_notices,
]


def required(world: ModuleWorld) -> str:
    source = f'{{ source = "{world.host}/ns/name" }}'
    return f"terraform {{\n  required_providers {{\n    name = {source}\n  }}\n}}\n"


@pytest.mark.parametrize(
    ("who", "reply"),
    [
        *((who, reply) for who in ("host", "modules", "providers") for reply in REPLIES),
        # Web servers have a minute, three times.
        *(("page", reply) for reply in REPLIES if reply is not endless_notices),
    ],
)
def test_answers(
    who: str, reply: Callable[[], Answer | Script], world: ModuleWorld, work: Path
) -> None:
    services = {"modules.v1": "/v1/modules/", "providers.v1": "/v1/providers/"}
    world.replies["/.well-known/terraform.json"] = json_answer(services)
    paths = {
        "host": "/.well-known/terraform.json",
        "modules": "/v1/modules/ns/name/sys/versions",
        "providers": f"{PROVIDERS}/versions",
        "page": "/page",
    }
    answer = reply()
    world.replies[paths[who]] = answer if isinstance(answer, Answer) else lambda _: answer
    wanted = {
        "providers": required(world),
        "page": call("a", f"{world.url}/page"),
    }
    write(work, wanted.get(who) or call("a", f"{world.host}/ns/name/sys"))
    code, said, most, seconds = measured(world, work)
    assert code == 1
    assert "Error:" in said
    assert "Traceback" not in said
    assert most < MOST_MEBIBYTES
    assert seconds < MOST_SECONDS
    nothing_is_left(world, work)


# -- what archives hold ---------------------------------------------------------------------------


def many_entries() -> bytes:
    """A zip file that is hardly more than a list of entries."""
    count = 600_000
    entry = struct.pack("<4s24x3H12x", b"PK\x01\x02", 1, 0, 0)
    size = count * (len(entry) + 1)
    end = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, count, count, size, 0)
    where = struct.pack("<4sLQL", b"PK\x06\x07", 0, size, 1)
    last = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 65535, 65535, 2**32 - 1, 2**32 - 1, 0)
    return (entry + b"a") * count + end + where + last


def tar_header(name: bytes, kind: bytes) -> bytes:
    """The header of something that has a gigabyte, it says."""
    header = bytearray(512)
    header[: len(name)], header[100:108], header[124:136] = name, b"0000644\0", b"10000000000 "
    header[156:157], header[257:265] = kind, b"ustar\x0000"
    header[148:156] = b"%06o\0 " % (sum(header) + 8 * 32)
    return bytes(header)


def zeros() -> bytes:
    """A tar file with a gigabyte of nothing."""
    return gzip.compress(tar_header(b"a", b"0")) + gzip.compress(bytes(32 << 20), 9) * 32


def long_name() -> bytes:
    """A tar file whose first name has a gigabyte."""
    return gzip.compress(tar_header(b"././@LongLink", b"L") + b"x" * (64 << 20), 9)


ARCHIVES: list[tuple[str, Callable[[], bytes]]] = [
    ("zip", many_entries),
    ("tar.gz", zeros),
    ("tar.gz", long_name),
]


@pytest.mark.parametrize(("form", "content"), ARCHIVES)
def test_archives(form: str, content: Callable[[], bytes], world: ModuleWorld, work: Path) -> None:
    world.replies["/a"] = Answer(200, content())
    write(work, call("a", f"{world.url}/a?archive={form}"))
    code, said, most, seconds = measured(world, work)
    assert code == 1
    assert "The archive cannot be unpacked" in said
    assert most < MOST_MEBIBYTES
    assert seconds < MOST_SECONDS
    nothing_is_left(world, work)


@pytest.mark.parametrize("is_announced", [True, False])
def test_an_archive_without_end(is_announced: bool, world: ModuleWorld, work: Path) -> None:
    def reply(asked: Asked) -> Script:
        begin = head(content_length=str(1 << 40)) if is_announced else head()
        return repeated(begin, bytes(1 << 20))

    world.replies["/a.zip"] = reply
    write(work, call("a", f"{world.url}/a.zip"))
    code, said, most, seconds = measured(world, work)
    assert code == 1
    assert "bytes" in said
    assert most < MOST_MEBIBYTES
    assert seconds < MOST_SECONDS
    nothing_is_left(world, work)
