"""An init that is killed while it moves states: nothing is lost, and the next one goes on."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nigari.backends.open_backend import open_backend
from nigari.backends.protocol import Around
from nigari.diagnostics import Diagnostics
from tests.backends.world import moto
from tests.backends.world.state_server import StateServer
from tests.cli.process import ROOT, command, environment, inside

WRITES = ("write", "pwrite", "send")
KILLER = Path(__file__).parent / "killed"


def state(name: str) -> bytes:
    output = {"a": {"value": name, "type": "string"}}
    document = {"version": 4, "serial": 3, "lineage": name, "outputs": output, "resources": []}
    return json.dumps(document).encode()


class Place:
    """A new backend for the states of a directory, with the workspaces that they are in."""

    def __init__(
        self, block: str, config: dict[str, object], kind: str, names: tuple[str, ...]
    ) -> None:
        self.block = block
        self.config = config
        self.kind = kind
        self.names = names


def stored(kind: str, config: dict[str, object], name: str) -> bytes:
    """What a command would find for a workspace."""
    diags = Diagnostics()
    backend = open_backend(kind, config, Around(".", moto.KEYS), diags)
    assert backend is not None
    data = asyncio.run(backend.storage(name).read(diags))
    assert data is not None, list(diags)
    return data


def prepare(place: Place) -> None:
    """A directory with states that no backend was configured for."""
    for entry in Path().iterdir():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    output = 'output "a" {\n  value = terraform.workspace\n}\n'
    Path("main.tf").write_text(place.block + output)
    for name in place.names:
        path = Path("terraform.tfstate")
        if name != "default":
            path = Path("terraform.tfstate.d", name, "terraform.tfstate")
            path.parent.mkdir(parents=True)
        path.write_bytes(state(name))


def start_init(**settings: str) -> int:
    """Run init in a process that may be killed; its status."""
    paths = os.pathsep.join((str(KILLER), str(ROOT / "src")))
    more = {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1", **moto.KEYS, **settings}
    done = subprocess.run(
        command("init", "-force-copy", "-input=false"),
        env=environment(**more),
        capture_output=True,
        timeout=120,
        check=False,
    )
    return done.returncode


def steps(make: Callable[[], Place]) -> list[str]:
    """What an init does that is not killed."""
    place = make()
    prepare(place)
    assert start_init(KILLED_LOG="../steps") == 0
    found = Path("../steps").read_text().splitlines()
    Path("../steps").unlink()
    return found


def check_killed(make: Callable[[], Place], number: int, is_half: bool) -> None:
    place = make()
    prepare(place)
    status = start_init(KILLED_AT=str(number), KILLED_HALFWAY="1" if is_half else "0")
    assert status == -signal.SIGKILL
    for name in place.names:
        found = (stored("local", {}, name), stored(place.kind, place.config, name))
        assert state(name) in found, (number, name, found)
    done = inside("init", "-force-copy", "-input=false", settings=moto.KEYS)
    assert done.code == 0, (number, done.err)
    for name in place.names:
        assert stored(place.kind, place.config, name) == state(name)
        assert stored("local", {}, name) == b"", (number, name)
        settings = {**moto.KEYS, "TF_WORKSPACE": name}
        assert inside("output", "-raw", "a", settings=settings).out == name
    applied = inside("apply", "-auto-approve", settings=moto.KEYS)
    assert applied.code == 0, (number, applied.err)


@pytest.fixture
def http(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Place]]:
    servers: list[StateServer] = []

    def make() -> Place:
        while servers:
            servers.pop().__exit__()
        server = StateServer()
        servers.append(server)
        at = {"address": server.url, "lock_address": server.url, "unlock_address": server.url}
        return Place(server.block(), dict(at), "http", ("default",))

    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    yield make
    while servers:
        servers.pop().__exit__()


@pytest.fixture
def s3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Place]]:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    with moto.running() as server:

        def make() -> Place:
            bucket = server.bucket()
            config = {
                "bucket": bucket,
                "key": "a/state",
                "region": "eu-west-1",
                "endpoints": {"s3": server.url},
                "use_path_style": True,
            }
            block = server.block(bucket, use_lockfile=True)
            return Place(block, config, "s3", ("default", "w"))

        yield make


def test_some_moments(http: Callable[[], Place]) -> None:
    found = steps(http)
    assert "send" in found
    for number in range(4, len(found), 6):
        check_killed(http, number, is_half=number % 4 == 0)


@pytest.mark.real
@pytest.mark.parametrize("kind", ["http", "s3"])
def test_every_moment(kind: str, request: pytest.FixtureRequest) -> None:
    make: Callable[[], Place] = request.getfixturevalue(kind)
    found = steps(make)
    assert "send" in found
    for number, what in enumerate(found, 1):
        check_killed(make, number, is_half=False)
        # Unlike the real service, moto stores what has arrived of a request that was cut.
        if what in WRITES and (kind, what) != ("s3", "send"):
            check_killed(make, number, is_half=True)
