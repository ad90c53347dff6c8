"""Moving states between any two backends."""

import asyncio
import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from nigari.backends.local import LocalBackend
from nigari.backends.lock_options import LockOptions
from nigari.backends.open_backend import open_backend
from nigari.backends.protocol import Around, Backend
from nigari.diagnostics import Diagnostics
from nigari.workspace.setup.migrate import Migration, Move
from nigari.workspace.states.backend import SavedBackend
from tests.backends.world import azurite, fake_gcs, moto, postgres
from tests.backends.world.state_server import StateServer
from tests.net_world.server import Answer, Asked, Script


def state(word: str) -> bytes:
    output = {"word": {"value": word, "type": "string"}}
    document = {"version": 4, "serial": 3, "lineage": word, "outputs": output, "resources": []}
    return json.dumps(document).encode()


class World:
    """All servers, started when they are wanted."""

    def __init__(self, path: Path, stack: ExitStack) -> None:
        self.path = path
        self.stack = stack
        self.environ = {**moto.KEYS}
        self._made: dict[str, Callable[[], dict[str, object]]] = {}

    def saved(self, kind: str, side: str) -> SavedBackend:
        """A new backend of a kind, with nothing in it."""
        if kind == "local":
            paths = {"path": f"{side}.tfstate", "workspace_dir": f"{side}.d"}
            return SavedBackend("local", paths, 0)
        if kind not in self._made:
            self._made[kind] = getattr(self, f"_{kind}")()
        return SavedBackend(kind, self._made[kind](), 0)

    def open(self, saved: SavedBackend) -> Backend:
        diags = Diagnostics()
        around = Around(self.path, self.environ)
        found = open_backend(saved.type, saved.config, around, diags)
        assert found is not None, list(diags)
        return found

    def _http(self) -> Callable[[], dict[str, object]]:
        def make() -> dict[str, object]:
            url = self.stack.enter_context(StateServer()).url
            return {"address": url, "lock_address": url, "unlock_address": url}

        return make

    def _s3(self) -> Callable[[], dict[str, object]]:
        server = self.stack.enter_context(moto.running())
        return lambda: {
            "bucket": server.bucket(),
            "key": "k",
            "use_lockfile": True,
            "endpoints": {"s3": server.url},
        }

    def _azurerm(self) -> Callable[[], dict[str, object]]:
        server = self.stack.enter_context(azurite.running(self.path))
        self.environ.update(server.environ)
        return lambda: {
            "storage_account_name": azurite.ACCOUNT,
            "container_name": server.container(),
            "key": "k",
        }

    def _pg(self) -> Callable[[], dict[str, object]]:
        server = self.stack.enter_context(postgres.running())
        return lambda: {"conn_str": server.conn_str, "schema_name": server.schema()}

    def _gcs(self) -> Callable[[], dict[str, object]]:
        server = self.stack.enter_context(fake_gcs.running())
        self.environ.update(server.environ)
        return lambda: {"bucket": server.bucket()}


KINDS = ("local", "http", "s3", "pg", "gcs", "azurerm")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with ExitStack() as stack:
        yield World(tmp_path_factory.mktemp("world"), stack)


def moved(
    world: World,
    source: SavedBackend,
    target: SavedBackend,
    answer: bool | None = True,
    selected: str = "default",
) -> tuple[bool, Diagnostics, Migration]:
    diags = Diagnostics()
    move = Move(source, target, empties_source=False)
    around = Around(world.path, world.environ)
    migration = Migration(move, around, (selected, selected), LockOptions(), lambda _: answer)
    return asyncio.run(migration.run(diags)), diags, migration


def fill(backend: Backend, *names: str) -> None:
    async def work() -> None:
        for name in names:
            diags = Diagnostics()
            assert await backend.create_workspace(name, diags)
            assert await backend.storage(name).write(state(name), diags), list(diags)

    asyncio.run(work())


def contents(backend: Backend) -> dict[str, bytes | None]:
    async def work() -> dict[str, bytes | None]:
        diags = Diagnostics()
        names = await backend.workspaces(diags)
        found = {name: await backend.storage(name).read(diags) for name in names}
        assert not list(diags)
        return {name: data for name, data in found.items() if data}

    return asyncio.run(work())


@pytest.mark.parametrize("target_kind", KINDS)
@pytest.mark.parametrize("source_kind", KINDS)
def test_all_workspaces(world: World, source_kind: str, target_kind: str) -> None:
    if source_kind == target_kind == "local":
        pytest.skip("shown by the tests of init")
    source = world.saved(source_kind, f"from-{target_kind}")
    target = world.saved(target_kind, f"to-{source_kind}")
    has_workspaces = "http" not in (source_kind, target_kind)
    names = ("default", "w") if has_workspaces else ("default",)
    fill(world.open(source), *names)
    succeeded, diags, _ = moved(world, source, target)
    assert succeeded, list(diags)
    expected = {name: state(name) for name in names}
    assert contents(world.open(target)) == expected
    assert contents(world.open(source)) == expected
    # Once more there is nothing to do, and nobody is asked.
    assert moved(world, source, target, answer=None)[0]


def test_one_of_several_workspaces(world: World) -> None:
    source, target = world.saved("local", "several"), world.saved("http", "")
    fill(world.open(source), "default", "w")
    succeeded, diags, _ = moved(world, source, target, answer=False, selected="w")
    assert not succeeded
    assert [each.summary for each in diags] == ["Several workspaces"]
    assert not moved(world, source, target, answer=None, selected="w")[0]
    succeeded, diags, migration = moved(world, source, target, selected="w")
    assert succeeded, list(diags)
    assert migration.selection == "default"
    assert contents(world.open(target)) == {"default": state("w")}


def test_a_state_that_is_there_already(world: World) -> None:
    source, target = world.saved("local", "old"), world.saved("pg", "")
    fill(world.open(source), "default")

    async def occupy() -> None:
        assert await world.open(target).storage("default").write(state("other"), Diagnostics())

    asyncio.run(occupy())
    assert moved(world, source, target, answer=False)[0]
    assert contents(world.open(target)) == {"default": state("other")}
    assert not moved(world, source, target, answer=None)[0]
    assert moved(world, source, target)[0]
    assert contents(world.open(target)) == {"default": state("default")}


def test_two_states_can_be_compared(world: World) -> None:
    source, target = world.saved("local", "compared"), world.saved("http", "")
    fill(world.open(source), "default")

    async def occupy() -> None:
        assert await world.open(target).storage("default").write(state("other"), Diagnostics())

    asyncio.run(occupy())
    asked: list[str] = []
    shown: list[tuple[str, bytes, int]] = []

    def confirm(question: str) -> bool:
        asked.append(question)
        for path in re.findall(r"/\S+\.tfstate", question):
            mode = os.stat(os.path.dirname(path)).st_mode & 0o777
            shown.append((os.path.basename(path), Path(path).read_bytes(), mode))
        return True

    move, around = Move(source, target, False), Around(world.path, world.environ)
    migration = Migration(move, around, ("default", "default"), LockOptions(), confirm)
    assert asyncio.run(migration.run(Diagnostics()))
    assert shown == [
        ("1-local.tfstate", state("default"), 0o700),
        ("2-http.tfstate", state("other"), 0o700),
    ]
    assert not any(os.path.exists(path) for path in re.findall(r"/\S+\.tfstate", asked[-1]))


@pytest.mark.parametrize(
    ("change", "is_same"),
    [
        ({}, True),
        ({"serial": 9}, True),
        ({"terraform_version": "1.9.0"}, True),
        ({"lineage": "another"}, False),
        ({"outputs": {}}, False),
        ({"resources": [{}]}, False),
    ],
)
def test_the_same_state_in_other_words(
    change: dict[str, object], is_same: bool, world: World
) -> None:
    """Nobody is asked about a state that has arrived, and it is not written again."""
    source, target = world.saved("local", f"same-{change}"), world.saved("http", "")
    fill(world.open(source), "default")
    other = json.dumps({**json.loads(state("default")), **change}, indent=2).encode()

    async def occupy() -> None:
        assert await world.open(target).storage("default").write(other, Diagnostics())

    asyncio.run(occupy())
    assert moved(world, source, target, answer=None)[0] is is_same
    assert contents(world.open(target)) == {"default": other}


def test_all_workspaces_or_none(world: World) -> None:
    source, target = world.saved("local", "declined"), world.saved("local", "not-declined")
    fill(world.open(source), "default", "w")
    succeeded, diags, _ = moved(world, source, target, answer=False)
    assert not succeeded
    assert [each.summary for each in diags] == ["States not moved"]
    assert contents(world.open(target)) == {}


@pytest.mark.parametrize("method", ["GET", "LOCK", "POST", "UNLOCK"])
def test_interrupted(world: World, method: str) -> None:
    """Whatever fails, the old state is there; the next attempt goes on."""
    server = world.stack.enter_context(StateServer())
    at = {"address": server.url, "lock_address": server.url, "unlock_address": server.url}
    target = SavedBackend("http", {**at, "retry_max": 0}, 0)
    source = world.saved("local", f"interrupted-{method}")
    backend = world.open(source)
    assert isinstance(backend, LocalBackend)
    fill(backend, "default")

    def refuse(asked: Asked) -> Answer | Script | None:
        return Answer(500) if asked.method == method else None

    server.interfere = refuse
    moved(world, source, target)
    assert contents(world.open(source)) == {"default": state("default")}
    server.interfere = lambda _: None
    server.locks.clear()
    assert moved(world, source, target)[0]
    assert contents(world.open(target)) == {"default": state("default")}
