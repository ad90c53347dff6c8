"""The backends `cos` and `oss`, with storages that check signatures."""

import asyncio
import json
from collections.abc import Iterator
from hashlib import md5
from pathlib import Path

import pytest

from nigari.backends.conformance import CHECKS, Subject
from nigari.backends.locking import LockInfo, new_lock, parse_lock
from nigari.backends.store import BackendFailure, StateIsLocked
from nigari.backends.stores.bucket_store import BucketLayout, BucketStore
from nigari.backends.stores.cos import store as cos
from nigari.backends.stores.oss import store as oss
from nigari.clouds.arguments import Arguments
from nigari.clouds.failures import CloudFailure
from tests.backends.world.buckets import BUCKET, SECRET, FakeAlibaba, FakeTencent


@pytest.fixture
def tencent(tmp_path: Path) -> Iterator[FakeTencent]:
    with FakeTencent(tmp_path) as made:
        yield made


@pytest.fixture
def alibaba() -> Iterator[FakeAlibaba]:
    with FakeAlibaba() as made:
        yield made


def in_tencent(server: FakeTencent, **given: object) -> cos.CosStore:
    return cos.open_store(Arguments({"bucket": BUCKET, "prefix": "a/b", **given}, server.environ))


def in_alibaba(server: FakeAlibaba, **given: object) -> oss.OssStore:
    return oss.open_store(Arguments({"bucket": BUCKET, **given}, server.environ))


async def stored(store: BucketStore, *workspaces: str) -> None:
    await store.open()
    for name in workspaces:
        await store.write(name, b"{}", "")
    await store.close()


@pytest.mark.parametrize("check", CHECKS)
def test_conformance_of_cos(tencent: FakeTencent, check: str) -> None:
    asyncio.run(CHECKS[check](Subject(lambda: in_tencent(tencent))))
    assert not tencent.tags


# Without a table there are no locks, also with OpenTofu.
LOCKED = {each for each in CHECKS if "lock" in each} | {"one_writer_at_a_time"}


@pytest.mark.parametrize("check", [each for each in CHECKS if each not in LOCKED])
def test_conformance_of_oss(alibaba: FakeAlibaba, check: str) -> None:
    asyncio.run(CHECKS[check](Subject(lambda: in_alibaba(alibaba))))


def test_objects_of_cos(tencent: FakeTencent) -> None:
    asyncio.run(stored(in_tencent(tencent), "default", "x&y"))
    asyncio.run(stored(in_tencent(tencent, encrypt=False, acl="public-read"), "open"))
    assert sorted(tencent.objects.contents) == [
        "a/b/open/terraform.tfstate",
        "a/b/terraform.tfstate",
        "a/b/x&y/terraform.tfstate",
    ]
    _, headers = tencent.objects.contents["a/b/terraform.tfstate"]
    assert headers["x-cos-acl"] == "private"
    assert headers["x-cos-server-side-encryption"] == "AES256"
    assert headers["x-cos-meta-md5"] == "99914b932bd37a50b983c5e7c90ae93b"
    _, headers = tencent.objects.contents["a/b/open/terraform.tfstate"]
    assert headers["x-cos-acl"] == "public-read"
    assert "x-cos-server-side-encryption" not in headers


def test_objects_of_oss(alibaba: FakeAlibaba) -> None:
    asyncio.run(stored(in_alibaba(alibaba, acl="private", encrypt=True), "default", "x&y"))
    asyncio.run(stored(in_alibaba(alibaba, prefix="./p/", key="k"), "w"))
    assert sorted(alibaba.objects.contents) == [
        "env:/terraform.tfstate",
        "env:/x&y/terraform.tfstate",
        "p/w/k",
    ]
    _, headers = alibaba.objects.contents["env:/terraform.tfstate"]
    assert headers["x-oss-object-acl"] == "private"
    assert headers["x-oss-server-side-encryption"] == "AES256"


def test_the_lock_of_cos(tencent: FakeTencent) -> None:
    async def work() -> LockInfo:
        store = in_tencent(tencent)
        await store.open()
        lock = await store.lock("w", new_lock("test"))
        key = "a/b/w/terraform.tfstate.tflock"
        told = parse_lock(tencent.objects.contents[key][0])
        assert told is not None
        assert (told.operation, told.path) == ("test", key)
        assert tencent.actions == ["CreateTag", "DeleteTag"]
        with pytest.raises(BackendFailure, match=lock.id):
            await store.force_unlock("w", told.id)
        await store.unlock("w", lock)
        with pytest.raises(BackendFailure, match="not locked"):
            await store.force_unlock("w", lock.id)
        await store.close()
        return lock

    assert len(asyncio.run(work()).id) == 32


def test_somebody_else_is_just_taking_the_lock(tencent: FakeTencent) -> None:
    async def work() -> None:
        store = in_tencent(tencent)
        await store.open()
        lock = await store.lock("default", new_lock("test"))
        tencent.tags.add(("tencentcloud-terraform-lock", tag))
        with pytest.raises(StateIsLocked) as refused:
            await store.lock("default", new_lock("other"))
        assert refused.value.holder is not None
        assert refused.value.holder.id == lock.id
        await store.force_unlock("default", lock.id)
        await store.close()

    tag = md5(f"{BUCKET}:a/b/terraform.tfstate.tflock".encode()).hexdigest()
    asyncio.run(work())
    assert not tencent.tags


def test_a_damaged_object_of_cos(tencent: FakeTencent) -> None:
    tencent.objects.contents["a/b/terraform.tfstate"] = (b"{}", {"x-cos-meta-md5": "0" * 32})

    async def work() -> None:
        store = in_tencent(tencent)
        await store.open()
        try:
            await store.read("default")
        finally:
            await store.close()

    with pytest.raises(BackendFailure, match="may be damaged"):
        asyncio.run(work())


def test_roles(tencent: FakeTencent, alibaba: FakeAlibaba) -> None:
    role = [{"role_arn": "r", "session_name": "s", "session_duration": 100, "policy": "{}"}]
    asyncio.run(stored(in_tencent(tencent, assume_role=role), "default"))
    _, headers = tencent.objects.contents["a/b/terraform.tfstate"]
    assert headers["x-cos-security-token"] == "t"
    sts = {"sts_endpoint": alibaba.server.url}
    asyncio.run(stored(in_alibaba(alibaba, assume_role_role_arn="r", **sts), "default"))
    _, headers = alibaba.objects.contents["env:/terraform.tfstate"]
    assert headers["x-oss-security-token"] == "t"


@pytest.mark.parametrize(
    ("profile", "is_found"),
    [
        ({"mode": "AK", "access_key_id": "id", "access_key_secret": SECRET}, True),
        ({"mode": "EcsRamRole", "access_key_id": "id", "access_key_secret": SECRET}, False),
    ],
)
def test_profiles_of_alibaba(
    alibaba: FakeAlibaba, tmp_path: Path, profile: dict[str, str], is_found: bool
) -> None:
    (tmp_path / ".aliyun").mkdir()
    profiles = [{"name": "other"}, {"name": "mine", "region_id": "r", **profile}]
    path = tmp_path / ".aliyun" / "config.json"
    path.write_text(json.dumps({"profiles": profiles}))
    environ = {"HOME": str(tmp_path), "ALICLOUD_OSS_ENDPOINT": alibaba.server.url}
    given = Arguments({"bucket": BUCKET, "profile": "mine"}, environ)
    if not is_found:
        with pytest.raises(CloudFailure, match="No credentials"):
            oss.open_store(given)
        return
    asyncio.run(stored(oss.open_store(given), "default"))
    assert alibaba.objects.contents


@pytest.mark.parametrize(
    ("module", "config", "environ", "says"),
    [
        (cos, {}, {}, '"bucket" is not set'),
        (cos, {"bucket": "b"}, {}, '"region" is not set'),
        (cos, {"bucket": "b", "region": "r"}, {}, "No credentials for Tencent"),
        (cos, {"bucket": "b", "region": "r", "acl": "x"}, {}, "acl must be"),
        (oss, {"bucket": "b"}, {}, "No credentials for Alibaba"),
        (oss, {"bucket": "b", "tablestore_table": "t"}, {}, "tablestore_table is not supported"),
        (oss, {"bucket": "b"}, {"ALICLOUD_ACCESS_KEY": "a"}, "Set the region"),
        (oss, {"bucket": "b", "profile": "p"}, {"HOME": "/nowhere"}, "cannot be read"),
    ],
)
def test_arguments_that_are_refused(
    module: object, config: dict[str, object], environ: dict[str, str], says: str
) -> None:
    opened = cos.open_store if module is cos else oss.open_store
    with pytest.raises((BackendFailure, CloudFailure), match=says):
        opened(Arguments(config, environ))


def test_wrong_credentials(tencent: FakeTencent, alibaba: FakeAlibaba) -> None:
    async def read(store: BucketStore) -> None:
        await store.open()
        try:
            await store.read("default")
        finally:
            await store.close()

    for store in (in_tencent(tencent, secret_key="x"), in_alibaba(alibaba, secret_key="x")):
        with pytest.raises(BackendFailure, match="SignatureDoesNotMatch"):
            asyncio.run(read(store))


@pytest.mark.parametrize(
    ("prefix", "key", "name", "workspace"),
    [
        ("p", "k", "p/k", None),
        ("p", "k", "p/w/k", "w"),
        ("p", "k", "p/w/x/k", None),
        ("p", "a/k", "p/w/a/k", "w"),
        ("", "k", "w/k", "w"),
        ("", "k", "k", None),
        ("p", "k", "q/w/k", None),
        ("p", "k", "p/w/k.tflock", None),
    ],
)
def test_which_objects_are_states(prefix: str, key: str, name: str, workspace: str | None) -> None:
    assert BucketLayout("", "b", prefix, key).workspace_of(name) == workspace


@pytest.mark.parametrize(
    ("endpoint", "url"),
    [
        ("", "https://b.oss-r.aliyuncs.com"),
        ("oss.example.com", "https://b.oss.example.com"),
        ("http://oss.example.com:8080", "http://b.oss.example.com:8080"),
        ("http://127.0.0.1:1", "http://127.0.0.1:1/b"),
    ],
)
def test_where_a_bucket_of_oss_is(endpoint: str, url: str) -> None:
    given = {"bucket": "b", "region": "r", "access_key": "a", "endpoint": endpoint}
    assert oss.open_store(Arguments(given, {})).layout.url == url
