"""The backend `gcs` with a Google Cloud Storage in memory."""

import asyncio
import base64
import json
from collections.abc import Iterator

import pytest

from nigari.backends.conformance import CHECKS, Subject
from nigari.backends.locking import new_lock
from nigari.backends.store import BackendFailure
from nigari.backends.stores.gcs.store import GcsStore, open_store
from nigari.clouds.arguments import Arguments
from tests.backends.world.fake_gcs import FakeGcs, running


@pytest.fixture(scope="module")
def gcs() -> Iterator[FakeGcs]:
    with running() as made:
        yield made


def opened(gcs: FakeGcs, bucket: str, **more: object) -> GcsStore:
    return open_store(Arguments({"bucket": bucket, **more}, gcs.environ))


@pytest.mark.parametrize("check", CHECKS)
def test_conformance(gcs: FakeGcs, check: str) -> None:
    bucket = gcs.bucket()
    # This server deletes whatever the condition says.
    subject = Subject(lambda: opened(gcs, bucket, prefix="/p"), refuses_wrong_ids=False)
    asyncio.run(CHECKS[check](subject))


def test_the_layout(gcs: FakeGcs) -> None:
    bucket = gcs.bucket()

    async def work() -> str:
        store = opened(gcs, bucket, prefix="/a/b")
        await store.open()
        await store.write("default", b"{}", None)
        lock = await store.lock("default", new_lock("test"))
        await store.close()
        return lock.id

    lock_id = asyncio.run(work())
    listed = json.loads(gcs.ask("GET", f"/storage/v1/b/{bucket}/o"))["items"]
    generations = {each["name"]: each["generation"] for each in listed}
    assert sorted(generations) == ["a/b/default.tflock", "a/b/default.tfstate"]
    assert generations["a/b/default.tflock"] == lock_id
    held = json.loads(gcs.ask("GET", f"/storage/v1/b/{bucket}/o/a%2Fb%2Fdefault.tflock?alt=media"))
    assert held["Path"] == f"gs://{bucket}/a/b/default.tflock"


def test_a_lock_is_removed_by_its_number_only(gcs: FakeGcs) -> None:
    store = opened(gcs, gcs.bucket())

    async def work() -> None:
        await store.open()
        await store.force_unlock("default", "not-a-number")

    with pytest.raises(BackendFailure, match="is a number"):
        asyncio.run(work())


@pytest.mark.parametrize(
    ("given", "environ", "url"),
    [
        ({}, {}, "https://storage.googleapis.com/storage/v1"),
        ({"universe_domain": "u.example"}, {}, "https://storage.u.example/storage/v1"),
        ({"storage_custom_endpoint": "https://x/storage/v1/b"}, {}, "https://x/storage/v1"),
        ({}, {"STORAGE_EMULATOR_HOST": "h:1"}, "http://h:1/storage/v1"),
    ],
)
def test_endpoints(given: dict[str, object], environ: dict[str, str], url: str) -> None:
    store = open_store(Arguments({"bucket": "b", **given}, environ))
    assert store._objects.endpoint == url


def test_keys() -> None:
    key = base64.b64encode(b"k" * 32).decode()
    store = open_store(Arguments({"bucket": "b", "encryption_key": key}, {}))
    assert store._objects.key["x-goog-encryption-key"] == key
    with pytest.raises(BackendFailure, match="32 bytes"):
        open_store(Arguments({"bucket": "b", "encryption_key": "short"}, {}))
