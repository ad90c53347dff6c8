"""The backend `s3` with an S3 and a DynamoDB in memory."""

import asyncio
import base64
import json
from collections.abc import Iterator, Mapping

import pytest

from nigari.backends.conformance import CHECKS, Subject
from nigari.backends.locking import new_lock
from nigari.backends.store import ABSENT, BackendFailure, Content, StateIsLocked
from nigari.backends.stores.s3.settings import read_bucket, read_connection
from nigari.backends.stores.s3.store import S3Store, open_store
from nigari.backends.stores.s3.table import LockTable
from nigari.clouds.arguments import Arguments
from nigari.clouds.failures import CloudFailure
from tests.backends.world.moto import KEYS, Moto, running
from tests.net_world.faults import FaultyProxy


@pytest.fixture(scope="module")
def moto() -> Iterator[Moto]:
    with running() as made:
        yield made


def config(moto: Moto, bucket: str, **more: object) -> dict[str, object]:
    urls = {"s3": moto.url, "dynamodb": moto.url, "sts": moto.url}
    return {
        "bucket": bucket,
        "key": "a/state",
        "endpoints": urls,
        "use_path_style": True,
        "skip_metadata_api_check": True,
        **more,
    }


def opened(given: Mapping[str, object], environ: Mapping[str, str] = KEYS) -> S3Store:
    return open_store(Arguments(given, environ))


LOCKS = {"lock file": (True, False), "table": (False, True), "both": (True, True)}


@pytest.mark.parametrize("locks", LOCKS)
@pytest.mark.parametrize("check", CHECKS)
def test_conformance(moto: Moto, check: str, locks: str) -> None:
    has_file, has_table = LOCKS[locks]
    table = moto.table() if has_table else None
    given = config(moto, moto.bucket(), use_lockfile=has_file, dynamodb_table=table)
    asyncio.run(CHECKS[check](Subject(lambda: opened(given))))


def run_in(store: S3Store, work: str, *arguments: object) -> object:
    async def whole() -> object:
        await store.open()
        try:
            return await getattr(store, work)(*arguments)
        finally:
            await store.close()

    return asyncio.run(whole())


def test_the_layout(moto: Moto) -> None:
    bucket, table = moto.bucket(), moto.table()
    store = opened(config(moto, bucket, use_lockfile=True, dynamodb_table=table))
    run_in(store, "write", "default", b"{}", None)
    run_in(store, "write", "w", b"{}", None)
    lock = run_in(store, "lock", "w", new_lock("test"))
    listed = moto.ask("GET", f"/{bucket}").decode()
    for key in ("a/state", "env:/w/a/state", "env:/w/a/state.tflock"):
        assert f"<Key>{key}</Key>" in listed
    held = json.loads(moto.ask("GET", f"/{bucket}/env:/w/a/state.tflock"))
    assert held["Path"] == f"{bucket}/env:/w/a/state"
    items = moto.call("DynamoDB_20120810.Scan", {"TableName": table})["Items"]
    assert isinstance(items, list)
    by_id = {each["LockID"]["S"]: each for each in items}
    assert sorted(by_id) == sorted(
        (f"{bucket}/a/state-md5", f"{bucket}/env:/w/a/state-md5", f"{bucket}/env:/w/a/state")
    )
    assert json.loads(by_id[f"{bucket}/env:/w/a/state"]["Info"]["S"]) == held
    assert by_id[f"{bucket}/a/state-md5"]["Digest"]["S"] == "99914b932bd37a50b983c5e7c90ae93b"
    run_in(store, "unlock", "w", lock)


@pytest.mark.parametrize("prefix", ["", "p/q"])
def test_prefixes(moto: Moto, prefix: str) -> None:
    bucket = moto.bucket()
    store = opened(config(moto, bucket, workspace_key_prefix=prefix))
    run_in(store, "write", "w", b"{}", None)
    expected = f"{prefix}/w/a/state" if prefix else "w/a/state"
    assert f"<Key>{expected}</Key>" in moto.ask("GET", f"/{bucket}").decode()
    assert run_in(store, "names") == ["w"]


def test_a_digest_that_does_not_match(moto: Moto, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nigari.backends.stores.s3.store._PATIENCE", 0.0)
    bucket = moto.bucket()
    table = moto.table()
    store = opened(config(moto, bucket, dynamodb_table=table))
    run_in(store, "write", "default", b"{}", None)
    moto.ask("PUT", f"/{bucket}/a/state", b"{ }")
    with pytest.raises(BackendFailure, match="99914b932bd37a50b983c5e7c90ae93b"):
        run_in(store, "read", "default")


@pytest.mark.parametrize("fault", ["cut", "broken", "reset"])
def test_the_digest_is_that_of_a_state_whose_answer_was_lost(
    moto: Moto, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    monkeypatch.setattr("nigari.backends.stores.s3.store._PATIENCE", 0.0)
    with FaultyProxy(moto.port, True) as proxy:
        given = config(Moto(proxy.port), moto.bucket(), dynamodb_table=moto.table())
        store = opened(given)
        run_in(store, "write", "default", b"{}", ABSENT)
        before = run_in(store, "read", "default")
        assert isinstance(before, Content)
        proxy.spoil(fault, 1)
        run_in(store, "write", "default", b"[]", before.version)
        found = run_in(store, "read", "default")
        assert isinstance(found, Content)
        assert found.data == b"[]"


@pytest.mark.parametrize("has_digest", [True, False])
def test_a_digest_that_cannot_be_stored(
    moto: Moto, monkeypatch: pytest.MonkeyPatch, has_digest: bool
) -> None:
    """It matters only where another one is there, which would then be wrong."""
    bucket, table = moto.bucket(), moto.table()
    store = opened(config(moto, bucket, dynamodb_table=table))
    if has_digest:
        run_in(store, "write", "default", b"{}", None)

    async def refused(*_: object) -> None:
        raise CloudFailure("You may not.", "AccessDeniedException")

    monkeypatch.setattr(LockTable, "put_digest", refused)
    if not has_digest:
        run_in(store, "write", "default", b"[]", None)
        return
    with pytest.raises(BackendFailure, match=r"digest.*You may not"):
        run_in(store, "write", "default", b"[]", None)


def test_who_has_the_second_lock_keeps_us_from_the_first(moto: Moto) -> None:
    bucket, table = moto.bucket(), moto.table()
    other = opened(config(moto, bucket, dynamodb_table=table))
    run_in(other, "lock", "default", new_lock("other"))
    both = opened(config(moto, bucket, dynamodb_table=table, use_lockfile=True))
    with pytest.raises(StateIsLocked) as conflict:
        run_in(both, "lock", "default", new_lock("ours"))
    assert conflict.value.holder is not None
    assert conflict.value.holder.operation == "other"
    assert "tflock" not in moto.ask("GET", f"/{bucket}").decode()


def test_a_bucket_that_is_not_there(moto: Moto) -> None:
    with pytest.raises(BackendFailure, match='no bucket "nowhere"'):
        run_in(opened(config(moto, "nowhere")), "read", "default")
    with pytest.raises(BackendFailure, match='no bucket "nowhere"'):
        run_in(opened(config(moto, "nowhere")), "names")


def test_roles_are_taken(moto: Moto) -> None:
    bucket = moto.bucket()
    role = {"role_arn": "arn:aws:iam::123456789012:role/states", "duration": "1h"}
    store = opened(config(moto, bucket, assume_role=role))
    run_in(store, "write", "default", b"{}", None)
    assert store._chain._known is not None
    assert store._chain._known.token
    assert store._chain._known.expires is not None
    given = config(
        moto, bucket, assume_role_with_web_identity={**role, "web_identity_token": "x.y.z"}
    )
    found = run_in(opened(given, {"AWS_REGION": "eu-west-1"}), "read", "default")
    assert isinstance(found, Content)


@pytest.mark.parametrize(
    ("accounts", "says"),
    [
        ({"allowed_account_ids": ["123456789012"]}, ""),
        ({"allowed_account_ids": ["1"]}, "123456789012"),
        ({"forbidden_account_ids": ["123456789012"]}, "123456789012"),
    ],
)
def test_accounts(moto: Moto, accounts: dict[str, object], says: str) -> None:
    store = opened(config(moto, moto.bucket(), **accounts))
    if not says:
        assert run_in(store, "read", "default") is None
        return
    with pytest.raises(BackendFailure, match=says):
        run_in(store, "read", "default")


KEY = base64.b64encode(b"k" * 32).decode()


@pytest.mark.parametrize(
    ("given", "headers"),
    [
        ({}, {}),
        ({"encrypt": True}, {"x-amz-server-side-encryption": "AES256"}),
        (
            {"encrypt": True, "kms_key_id": "k"},
            {
                "x-amz-server-side-encryption": "aws:kms",
                "x-amz-server-side-encryption-aws-kms-key-id": "k",
            },
        ),
        ({"kms_key_id": "k"}, {}),
        (
            {"encrypt": True, "sse_customer_key": KEY},
            {
                "x-amz-server-side-encryption-customer-algorithm": "AES256",
                "x-amz-server-side-encryption-customer-key": KEY,
                "x-amz-server-side-encryption-customer-key-md5": "2FYGGcKqb6FZe+ReKd/sFA==",
            },
        ),
    ],
)
def test_encryption(given: dict[str, object], headers: dict[str, str]) -> None:
    found = read_bucket(Arguments({"bucket": "b", "key": "k", **given}, {})).encryption
    if "sse_customer_key" in given:
        assert set(found) == set(headers)
    else:
        assert found == headers


BASE = {"bucket": "b", "key": "k", "region": "eu-west-1"}


@pytest.mark.parametrize(
    ("given", "environ", "url"),
    [
        ({}, {}, "https://b.s3.eu-west-1.amazonaws.com"),
        ({"use_path_style": True}, {}, "https://s3.eu-west-1.amazonaws.com/b"),
        ({"bucket": "a.b"}, {}, "https://s3.eu-west-1.amazonaws.com/a.b"),
        ({"region": "cn-north-1"}, {}, "https://b.s3.cn-north-1.amazonaws.com.cn"),
        ({"use_fips_endpoint": True}, {}, "https://b.s3-fips.eu-west-1.amazonaws.com"),
        ({"use_dualstack_endpoint": True}, {}, "https://b.s3.dualstack.eu-west-1.amazonaws.com"),
        ({"endpoints": {"s3": "s.example.com"}}, {}, "https://b.s.example.com"),
        ({"endpoint": "http://127.0.0.1:9"}, {}, "http://127.0.0.1:9/b"),
        ({}, {"AWS_ENDPOINT_URL_S3": "https://e"}, "https://b.e"),
        ({}, {"AWS_S3_ENDPOINT": "https://e"}, "https://b.e"),
        (
            {"region": None},
            {"AWS_DEFAULT_REGION": "us-east-1"},
            "https://b.s3.us-east-1.amazonaws.com",
        ),
        ({"region": "r", "skip_region_validation": True}, {}, "https://b.s3.r.amazonaws.com"),
    ],
)
def test_endpoints(given: dict[str, object], environ: dict[str, str], url: str) -> None:
    assert read_connection(Arguments({**BASE, **given}, environ)).s3.url == url


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"region": "r"}, "not the name of an AWS region"),
        ({"endpoint": "a", "endpoints": {"s3": "b"}}, "Only one of endpoints.s3 and endpoint"),
        ({"encrypt": True, "sse_customer_key": "x"}, "44 characters"),
        ({"kms_key_id": "k", "sse_customer_key": KEY}, "Only one of kms_key_id"),
        ({"assume_role_with_web_identity": {"role_arn": "r"}}, "needs web_identity_token"),
    ],
)
def test_arguments_that_are_refused(given: dict[str, object], says: str) -> None:
    with pytest.raises((BackendFailure, CloudFailure), match=says):
        open_store(Arguments({**BASE, **given}, {}))


def test_nobody_without_credentials(moto: Moto) -> None:
    given = config(moto, "b", shared_credentials_files=["/nowhere"])
    with pytest.raises(CloudFailure, match="No AWS credentials were found"):
        run_in(opened(given, {"AWS_REGION": "eu-west-1"}), "read", "default")
