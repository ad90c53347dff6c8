"""The backend `consul` with keys and sessions in memory."""

import asyncio
import json
from collections.abc import Iterator

import pytest

from nigari.backends.conformance import CHECKS, Subject
from nigari.backends.locking import LockInfo, new_lock
from nigari.backends.store import BackendFailure
from nigari.backends.stores.consul.store import ConsulStore, open_store
from nigari.clouds.arguments import Arguments
from tests.backends.world.consul import FakeConsul


@pytest.fixture
def consul() -> Iterator[FakeConsul]:
    with FakeConsul() as made:
        yield made


def opened(consul: FakeConsul, **more: object) -> ConsulStore:
    given = {"address": consul.address, "scheme": "http", "path": "a/state", **more}
    return open_store(Arguments(given, {}))


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("check", CHECKS)
def test_conformance(consul: FakeConsul, check: str, compressed: bool) -> None:
    asyncio.run(CHECKS[check](Subject(lambda: opened(consul, gzip=compressed))))


def test_large_states_are_in_chunks(consul: FakeConsul) -> None:
    async def work() -> None:
        store = opened(consul)
        await store.open()
        large = b'["' + bytes(range(97, 123)) * 50_000 + b'"]'
        version = await store.write("w", large, None)
        link = json.loads(consul.entries["a/state-env:w"].value)
        assert [key for key in sorted(consul.entries) if "tfstate." in key] == link["chunks"]
        assert link["chunks"][0] == f"a/state-env:w/tfstate.{link['current-hash']}/0"
        found = await store.read("w")
        assert found is not None
        assert found.data == large
        await store.write("w", b"{}", version)
        assert sorted(consul.entries) == ["a/state-env:w"]
        await store.close()

    asyncio.run(work())


def test_the_objects_of_a_lock(consul: FakeConsul) -> None:
    async def work() -> LockInfo:
        store = opened(consul)
        await store.open()
        lock = await store.lock("default", new_lock("test"))
        assert consul.entries["a/state/.lock"].session == lock.id
        assert consul.entries["a/state/.lock"].flags == 3304740253564472344
        told = json.loads(consul.entries["a/state/.lockinfo"].value)
        assert (told["ID"], told["Info"]) == (lock.id, f"consul session: {lock.id}")
        assert told["Path"] == "a/state"
        await store.unlock("default", lock)
        assert not consul.entries
        assert not consul.sessions
        await store.close()
        return lock

    asyncio.run(work())


def test_a_lost_lock(consul: FakeConsul, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is taken again, and who gives it back learns that it was lost."""
    monkeypatch.setattr("nigari.backends.stores.consul.store._RENEWED_EVERY", 0.05)
    monkeypatch.setattr("nigari.backends.stores.consul.store._TAKEN_AGAIN_AFTER", 0.05)

    async def work() -> None:
        store = opened(consul)
        await store.open()
        lock = await store.lock("default", new_lock("test"))
        consul.sessions.clear()
        consul.entries["a/state/.lock"].session = ""
        for _ in range(100):
            await asyncio.sleep(0.05)
            if consul.entries["a/state/.lock"].session:
                break
        assert consul.entries["a/state/.lock"].session != lock.id
        with pytest.raises(BackendFailure, match="was lost"):
            await store.unlock("default", lock)
        await store.close()

    asyncio.run(work())
