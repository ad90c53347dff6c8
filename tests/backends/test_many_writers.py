"""Many writers on one state, each a client of its own: one at a time, no lost update."""

import asyncio
from collections.abc import Callable

import pytest

from nigari.backends.locking import LockOptions
from nigari.backends.opening import Around, open_backend
from nigari.backends.snapshots import Snapshots
from nigari.cty import number
from nigari.diagnostics import Diagnostics
from nigari.state.encryption import no_encryption
from nigari.state.model import OutputState, State
from tests.backends.world import moto, postgres


async def count(make: Callable[[], Snapshots], rounds: int) -> None:
    for _ in range(rounds):
        diags = Diagnostics()
        snapshots = make()
        assert await snapshots.lock("test", LockOptions(timeout_seconds=120), diags), list(diags)
        assert await snapshots.read(diags), list(diags)
        known = snapshots.state.outputs.get("count")
        now = 0 if known is None else int(str(known.value.as_number()))
        changed = State(outputs={"count": OutputState(number(now + 1))})
        assert await snapshots.write(changed, diags), list(diags)
        assert await snapshots.unlock(diags), list(diags)


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


def test_s3() -> None:
    with moto.running() as server:
        config = {
            "bucket": server.bucket(),
            "key": "k",
            "use_lockfile": True,
            "endpoints": {"s3": server.url},
        }
        check("s3", config, dict(moto.KEYS), writers=6, rounds=2)
