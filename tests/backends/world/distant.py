"""Backends on servers that are far away: what a comparison of speed and of requests needs."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol, TypeAlias

from tests.backends.world import azurite, fake_gcs, moto, postgres
from tests.backends.world.buckets import FakeAlibaba, FakeTencent
from tests.backends.world.consul import FakeConsul
from tests.backends.world.kubernetes import FakeCluster
from tests.backends.world.state_server import StateServer
from tests.net_world.latency import Distance
from tests.net_world.programs import free_port


@dataclass(frozen=True)
class Distant:
    """A configuration whose state is far away."""

    block: str
    distance: Distance
    forget: Callable[[], object]
    """Deletes the state, on a short way."""
    environ: Mapping[str, str] = field(default_factory=dict)
    has_workspaces: bool = True

    @property
    def requests(self) -> int:
        """How many there were so far."""
        return self.distance.requests


class Counted(Protocol):
    """A configuration with a state for which requests are counted."""

    @property
    def block(self) -> str: ...
    @property
    def environ(self) -> Mapping[str, str]: ...
    @property
    def has_workspaces(self) -> bool: ...
    @property
    def requests(self) -> int: ...


@dataclass(frozen=True)
class Near:
    """A configuration whose state is on a fake that knows what it was asked."""

    block: str
    environ: Mapping[str, str]
    asked: Callable[[], list[str]]
    has_workspaces: bool = True

    @property
    def requests(self) -> int:
        """How many there were so far, without what depends on how long a lock is held."""
        return sum("index=" not in each and "/renew/" not in each for each in self.asked())


Opener: TypeAlias = Callable[[Path, float], AbstractContextManager[Distant]]
"""Takes a directory to work in, and the seconds of a round trip."""


@contextlib.contextmanager
def _http(path: Path, delay: float) -> Iterator[Distant]:
    with StateServer() as server, Distance(server.server.port, delay) as distance:
        url = f"{distance.url}/state"
        block = server.block(address=url, lock_address=url, unlock_address=url)
        yield Distant(block, distance, server.states.clear, has_workspaces=False)


def _s3(has_file: bool, has_table: bool) -> Opener:
    @contextlib.contextmanager
    def opened(path: Path, delay: float) -> Iterator[Distant]:
        with moto.running() as server, Distance(server.port, delay) as distance:
            bucket = server.bucket()
            locks: dict[str, object] = {"use_lockfile": True} if has_file else {}
            if has_table:
                locks["dynamodb_table"] = server.table()

            def forget() -> None:
                server.ask("DELETE", f"/{bucket}/a/state")
                if has_table:
                    digest = {"LockID": {"S": f"{bucket}/a/state-md5"}}
                    target = {"TableName": locks["dynamodb_table"], "Key": digest}
                    server.call("DynamoDB_20120810.DeleteItem", target)

            block = moto.Moto(distance.port).block(bucket, **locks)
            yield Distant(block, distance, forget, moto.KEYS)

    return opened


@contextlib.contextmanager
def _gcs(path: Path, delay: float) -> Iterator[Distant]:
    port = free_port()
    with Distance(port, delay) as distance, fake_gcs.running(port, distance.port) as server:
        bucket = server.bucket()
        far = fake_gcs.FakeGcs(distance.port)

        def forget() -> None:
            with contextlib.suppress(AssertionError):  # there is none
                server.ask("DELETE", f"/storage/v1/b/{bucket}/o/some%2Fwhere%2Fdefault.tfstate")

        yield Distant(far.block(bucket), distance, forget, far.environ)


@contextlib.contextmanager
def _pg(path: Path, delay: float) -> Iterator[Distant]:
    import psycopg

    with (
        postgres.running() as server,
        Distance(server.port, delay, is_http=False) as distance,
    ):

        def forget() -> None:
            with psycopg.connect(server.conn_str) as database:
                database.execute("DELETE FROM states.states")

        yield Distant(postgres.Postgres(distance.port).block("states"), distance, forget)


@contextlib.contextmanager
def _azurerm(path: Path, delay: float) -> Iterator[Distant]:
    with azurite.running(path, delay) as server:
        container = server.container()
        block, forget = server.block(container), lambda: server.delete(container)
        yield Distant(block, server.distance, forget, server.environ)


@contextlib.contextmanager
def _kubernetes(path: Path, delay: float) -> Iterator[Distant]:
    with FakeCluster() as server, Distance(server.server.port, delay) as distance:
        server.url = distance.url
        yield Distant(server.block("states", path), distance, server.objects.clear)


DISTANT: Final[Mapping[str, Opener]] = {
    "azurerm": _azurerm,
    "gcs": _gcs,
    "http": _http,
    "kubernetes": _kubernetes,
    "pg": _pg,
    "s3": _s3(has_file=True, has_table=False),
    "s3 with a table": _s3(has_file=False, has_table=True),
}


@contextlib.contextmanager
def _consul(path: Path) -> Iterator[Near]:
    with FakeConsul() as server:
        yield Near(server.block("a/state"), {}, lambda: [each.path for each in server.server.log])


@contextlib.contextmanager
def _cos(path: Path) -> Iterator[Near]:
    with FakeTencent(path) as server:
        asked: list[str] = []

        def all_asked() -> list[str]:
            asked.extend(server.world.requests())
            return asked

        yield Near(server.block(), server.environ, all_asked)


@contextlib.contextmanager
def _oss(path: Path) -> Iterator[Near]:
    with FakeAlibaba() as server:
        yield Near(server.block(), server.environ, lambda: [e.path for e in server.server.log])


NEAR: Final[Mapping[str, Callable[[Path], AbstractContextManager[Near]]]] = {
    "consul": _consul,
    "cos": _cos,
    "oss": _oss,
}
