"""Many writers on one state, each a client of its own: one at a time, no lost update."""

import asyncio
from collections.abc import Callable

import pytest

from nigari.backends.lock_options import LockOptions
from nigari.backends.open_backend import open_backend
from nigari.backends.protocol import Around
from nigari.backends.snapshots import Snapshots
from nigari.cty import number
from nigari.diagnostics import Diagnostics
from nigari.state.encryption import no_encryption
from nigari.state.model import OutputState, State
from tests.backends.world import moto, postgres


def details(diags: Diagnostics) -> list[str]:
    return [diagnostic.detail for diagnostic in diags]


async def count(make: Callable[[], Snapshots], rounds: int) -> None:
    for _ in range(rounds):
        diags = Diagnostics()
        snapshots = make()
        patient = LockOptions(timeout_seconds=120)
        assert await snapshots.lock("test", patient, diags), details(diags)
        assert await snapshots.read(diags), details(diags)
        known = snapshots.state.outputs.get("count")
        now = 0 if known is None else int(str(known.value.as_number()))
        changed = State(outputs={"count": OutputState(number(now + 1))})
        assert await snapshots.write(changed, diags), details(diags)
        assert await snapshots.unlock(diags), details(diags)


def check(
    type_: str,
    config: dict[str, object],
    environ: dict[str, str],
    writers: int = 20,
    rounds: int = 5,
) -> None:
    def make() -> Snapshots:
        backend = open_backend(type_, config, Around(".", environ), Diagnostics())
        assert backend is not None
        return Snapshots(backend.storage("default"), no_encryption().state)

    async def all_of_them() -> Snapshots:
        await asyncio.gather(*(count(make, rounds) for _ in range(writers)))
        last = make()
        assert await last.read(Diagnostics())
        return last

    last = asyncio.run(all_of_them())
    assert last.file is not None
    assert last.file.serial == writers * rounds
    assert last.state.outputs["count"].value.as_number() == writers * rounds


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """They ask for the lock more often than people would."""
    monkeypatch.setattr("nigari.backends.locking._FIRST_DELAY", 0.01)
    monkeypatch.setattr("nigari.backends.locking._LONGEST_DELAY", 0.05)


def test_pg() -> None:
    pytest.importorskip("psycopg")
    with postgres.running() as server:
        check("pg", {"conn_str": server.conn_str}, {})


def test_the_table_of_pg_is_made_by_many_at_once() -> None:
    psycopg = pytest.importorskip("psycopg")
    with postgres.running() as server:

        async def first_use(schema: str) -> None:
            config = {"conn_str": server.conn_str, "schema_name": schema}
            backend = open_backend("pg", config, Around(".", {}), Diagnostics())
            assert backend is not None
            diags = Diagnostics()
            await backend.workspaces(diags)
            assert not diags.has_errors, details(diags)

        async def many(schema: str) -> None:
            await asyncio.gather(*(first_use(schema) for _ in range(20)))

        for _ in range(20):
            asyncio.run(many(schema := server.schema()))
            with psycopg.connect(server.conn_str) as database:
                database.execute(f'DROP SCHEMA "{schema}" CASCADE')
                database.execute("DROP SEQUENCE public.global_states_id_seq")


def test_s3() -> None:
    with moto.running() as server:
        config = {
            "bucket": server.bucket(),
            "key": "k",
            "use_lockfile": True,
            "endpoints": {"s3": server.url},
        }
        check("s3", config, dict(moto.KEYS), writers=6, rounds=2)
