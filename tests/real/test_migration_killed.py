"""An init that is killed at any request while it moves states from one server to another place:
each state is whole in the old or in the new backend, and the next init goes on.

`tests/cli/test_migration_killed.py` has the states of local files, and what is written to files.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from nigari.backends.open_backend import open_backend
from nigari.backends.protocol import Around, Backend
from nigari.diagnostics import Diagnostics
from tests.backends.world import moto, postgres
from tests.cli.process import command, environment, inside
from tests.net_world.faults import FaultyProxy

pytestmark = pytest.mark.real

NAMES: Final = ("default", "v", "w")


class Moment:
    """Counts the requests to all servers, and kills a process before one of them is done."""

    def __init__(self) -> None:
        self.passed = 0
        self.at = 0
        self.process = 0
        self._guard = threading.Lock()

    def fault(self) -> str:
        with self._guard:
            self.passed += 1
            if self.passed != self.at:
                return ""
        os.kill(self.process, signal.SIGKILL)
        return "reset"

    def wait_for(self, number: int) -> None:
        self.passed, self.at = 0, number


class WatchedProxy(FaultyProxy):
    """A proxy whose requests are counted."""

    def __init__(self, target: int, is_http: bool, moment: Moment) -> None:
        self._moment = moment
        super().__init__(target, is_http)

    def _next(self) -> str:
        return self._moment.fault()


@dataclass(frozen=True)
class Place:
    """Where states are; the block leads past the watch, and the other arguments do not."""

    kind: str
    block: str
    config: dict[str, object]

    def open(self) -> Backend:
        found = open_backend(self.kind, self.config, Around(".", moto.KEYS), Diagnostics())
        assert found is not None
        return found

    def fill(self) -> None:
        async def work() -> None:
            backend = self.open()
            for name in NAMES:
                diags = Diagnostics()
                assert await backend.create_workspace(name, diags), list(diags)
                assert await backend.storage(name).write(state(name), diags), list(diags)

        asyncio.run(work())

    def contents(self) -> dict[str, bytes]:
        async def work() -> dict[str, bytes]:
            backend, diags = self.open(), Diagnostics()
            found = {name: await backend.storage(name).read(diags) or b"" for name in NAMES}
            assert not list(diags), list(diags)
            return found

        return asyncio.run(work())


def state(name: str) -> bytes:
    output = {"a": {"value": name, "type": "string"}}
    document = {"version": 4, "serial": 3, "lineage": name, "outputs": output, "resources": []}
    return json.dumps(document).encode()


class World:
    """Servers behind proxies, and a directory whose states move."""

    def __init__(self, stack: ExitStack) -> None:
        self.moment = Moment()
        self._stack = stack
        self._places: dict[str, Callable[[], Place]] = {"local": lambda: Place("local", "", {})}

    def place(self, kind: str) -> Place:
        if kind not in self._places:
            self._places[kind] = self._s3() if kind == "s3" else self._pg()
        return self._places[kind]()

    def _watched(self, port: int, is_http: bool) -> int:
        return self._stack.enter_context(WatchedProxy(port, is_http, self.moment)).port

    def _s3(self) -> Callable[[], Place]:
        server = self._stack.enter_context(moto.running())
        watched = moto.Moto(self._watched(server.port, True))

        def make() -> Place:
            config: dict[str, object] = {"bucket": server.bucket(), "key": "a/state"}
            block = watched.block(str(config["bucket"]), use_lockfile=True)
            config |= {"endpoints": {"s3": server.url}, "use_path_style": True}
            return Place("s3", block, {**config, "use_lockfile": True})

        return make

    def _pg(self) -> Callable[[], Place]:
        server = self._stack.enter_context(postgres.running())
        watched = postgres.Postgres(self._watched(server.port, False))

        def make() -> Place:
            schema = server.schema()
            config: dict[str, object] = {"conn_str": server.conn_str, "schema_name": schema}
            return Place("pg", watched.block(schema), config)

        return make

    def prepare(self, source: Place, target: Place) -> None:
        """A directory whose states are in the source, and whose block names the target."""
        for entry in Path().iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        source.fill()
        output = 'output "a" {\n  value = terraform.workspace\n}\n'
        Path("main.tf").write_text(source.block + output)
        assert inside("init", settings=moto.KEYS).code == 0
        Path("main.tf").write_text(target.block + output)

    def init(self) -> int:
        """Run init in a process that may be killed; its status."""
        with subprocess.Popen(
            command("init", "-force-copy", "-input=false"),
            env=environment(**moto.KEYS),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:
            self.moment.process = process.pid
            return process.wait(120)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.chdir(tmp_path)
    with ExitStack() as stack:
        yield World(stack)


@pytest.mark.parametrize(
    ("source_kind", "target_kind"), [("local", "s3"), ("s3", "pg"), ("pg", "local")]
)
def test_every_request(world: World, source_kind: str, target_kind: str) -> None:
    number = 0
    while True:
        number += 1
        source, target = world.place(source_kind), world.place(target_kind)
        world.prepare(source, target)
        world.moment.wait_for(number)
        status = world.init()
        world.moment.wait_for(0)
        if status == 0:
            break
        assert status == -signal.SIGKILL, number
        before, after = source.contents(), target.contents()
        for name in NAMES:
            assert state(name) in (before[name], after[name]), (number, name, before, after)
        done = inside("init", "-force-copy", "-input=false", settings=moto.KEYS)
        assert done.code == 0, (number, done.err)
        check_moved(source, target)
    assert number > 10
    check_moved(source, target)


def check_moved(source: Place, target: Place) -> None:
    assert target.contents() == {name: state(name) for name in NAMES}
    left = {name: b"" if source.kind == "local" else state(name) for name in NAMES}
    assert source.contents() == left
    shown = inside("output", "-raw", "a", settings={**moto.KEYS, "TF_WORKSPACE": "w"})
    assert shown.out == "w", shown.err
