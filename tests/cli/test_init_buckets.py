"""`nigari init` with packages in buckets, on loopback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from nigari.packages.content.module_fetch import FetchError
from nigari.packages.modules.gcs_source import GcsAddress, gcs_address
from nigari.packages.modules.s3_source import S3Address, s3_address
from tests.cli.bucket_storage import Storage
from tests.cli.initializing import call, init, installed, write
from tests.net_world.server import Answer, Asked, Server, json_answer
from tests.packages.module_world import MODULE, ModuleWorld


@pytest.fixture
def storage() -> Storage:
    return Storage()


@pytest.fixture(params=["s3", "gcs"])
def base(
    request: pytest.FixtureRequest, storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """How sources in the bucket begin."""
    kind = request.param
    with Server(storage.s3 if kind == "s3" else storage.gcs) as server:
        if kind == "s3":
            yield f"s3::{server.url}/bucket"
        else:
            monkeypatch.setenv("STORAGE_EMULATOR_HOST", server.url.removeprefix("http://"))
            yield "gcs::https://www.googleapis.com/storage/v1/bucket"


def surroundings(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    import os

    host = os.environ.get("STORAGE_EMULATOR_HOST", "")
    return {
        "AWS_ACCESS_KEY_ID": "AK",
        "AWS_SECRET_ACCESS_KEY": "secret",
        **({"STORAGE_EMULATOR_HOST": host} if host else {}),
    }


def test_objects_and_prefixes(
    base: str, world: ModuleWorld, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(
        work,
        call("a", f"{base}/a/x.zip"),
        call("b", f"{base}/a/x.zip//sub"),
        call("c", f"{base}/mod"),
    )
    done = init(world, work, **surroundings(monkeypatch))
    assert done.code == 0, done.err
    assert installed(work, "a") == MODULE % "zip"
    assert installed(work, "b") == MODULE % "sub"
    assert installed(work, "c") == MODULE % "one"
    assert installed(work, "c", "deep/b c+d.txt") == "odd"


def test_what_has_not_changed_is_not_downloaded(
    base: str, storage: Storage, world: ModuleWorld, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(work, call("a", f"{base}/a/x.zip"), call("c", f"{base}/mod"))
    environ = surroundings(monkeypatch)
    assert init(world, work, **environ).code == 0
    assert init(world, work, "-upgrade", **environ).code == 0
    storage.objects["mod/main.tf"] = (MODULE % "two").encode()
    assert init(world, work, "-upgrade", **environ).code == 0
    assert installed(work, "c") == MODULE % "two"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("none.zip", "status 404"),
        ("none", "no objects below none"),
        ("evil", "outside its own directory"),
    ],
)
def test_what_cannot_be_fetched(
    name: str, said: str, base: str, world: ModuleWorld, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(work, call("a", f"{base}/{quote(name)}"))
    done = init(world, work, **surroundings(monkeypatch))
    assert done.code == 1
    assert said in done.err
    assert not (work / ".terraform").exists()


def test_keys_in_the_address_and_elsewhere(
    storage: Storage, world: ModuleWorld, work: Path
) -> None:
    storage.key = "MINE"
    with Server(storage.s3) as server:
        source = f"s3::{server.url}/bucket/a/x.zip"
        write(work, call("a", source))
        done = init(world, work, AWS_EC2_METADATA_DISABLED="true")
        assert done.code == 1
        assert "Not yours" in done.err
        assert "No credentials for AWS were found" in done.err
        keys = {"AWS_ACCESS_KEY_ID": "OTHER", "AWS_SECRET_ACCESS_KEY": "x"}
        assert "access key OTHER was used" in init(world, work, **keys).err
        keys["AWS_ACCESS_KEY_ID"] = "MINE"
        assert init(world, work, **keys).code == 0
        write(work, call("b", f"{source}?aws_access_key_id=MINE&aws_access_key_secret=hush"))
        done = init(world, work)
        assert done.code == 0, done.err
        assert "hush" not in done.out
        assert all("hush" not in each.path for each in server.log)


def test_the_role_of_a_machine_that_is_named(
    storage: Storage, world: ModuleWorld, work: Path
) -> None:
    """It counts instead of the keys of the environment."""
    storage.key = "ROLE"
    roles = "/latest/meta-data/iam/security-credentials/"
    given = {"AccessKeyId": "ROLE", "SecretAccessKey": "x", "Token": "t"}
    answers = {
        "/latest/api/token": Answer(200, b"proof"),
        roles: Answer(200, b"worker\n"),
        f"{roles}worker": json_answer(given),
    }
    with Server(storage.s3) as server, Server(lambda asked: answers[asked.path]) as machine:
        write(work, call("a", f"s3::{server.url}/bucket/a/x.zip"))
        environ = {"AWS_ACCESS_KEY_ID": "OTHER", "AWS_SECRET_ACCESS_KEY": "x"}
        assert init(world, work, **environ).code == 1
        done = init(world, work, AWS_METADATA_URL=machine.url, **environ)
        assert done.code == 0, done.err


@pytest.mark.parametrize(
    ("url", "address"),
    [
        (
            "https://s3.amazonaws.com/b/k.zip",
            S3Address("https://s3.us-east-1.amazonaws.com", "us-east-1", "b", "k.zip"),
        ),
        (
            "https://s3-eu-west-1.amazonaws.com/b/d/k.zip",
            S3Address("https://s3.eu-west-1.amazonaws.com", "eu-west-1", "b", "d/k.zip"),
        ),
        (
            "https://s3.eu-west-1.amazonaws.com/b/k.zip",
            S3Address("https://s3.eu-west-1.amazonaws.com", "eu-west-1", "b", "k.zip"),
        ),
        (
            "https://b.s3-eu-west-1.amazonaws.com/k.zip",
            S3Address("https://s3.eu-west-1.amazonaws.com", "eu-west-1", "b", "k.zip"),
        ),
        (
            "https://b.s3.eu-west-1.amazonaws.com/k.zip?version=1",
            S3Address("https://s3.eu-west-1.amazonaws.com", "eu-west-1", "b", "k.zip", "1"),
        ),
        (
            "http://localhost:9000/b/k?region=x",
            S3Address("http://localhost:9000", "x", "b", "k"),
        ),
    ],
)
def test_s3_addresses(url: str, address: S3Address) -> None:
    assert s3_address(url) == address


@pytest.mark.parametrize(
    "url", ["https://s3.amazonaws.com/b", "https://x.amazonaws.com/b/k", "http://localhost/b", "x"]
)
def test_what_is_no_s3_address(url: str) -> None:
    with pytest.raises(FetchError):
        s3_address(url)


def test_gcs_addresses() -> None:
    base = "https://www.googleapis.com/storage/v1/b"
    assert gcs_address(f"{base}/d/k.zip") == GcsAddress("b", "d/k.zip")
    assert gcs_address(f"{base}/k.zip#12") == GcsAddress("b", "k.zip", "12")
    for url in (base, "https://example.com/storage/v1/b/k", f"{base}/k#x"):
        with pytest.raises(FetchError):
            gcs_address(url)


def test_access_tokens(world: ModuleWorld, tmp_path: Path) -> None:
    import asyncio

    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    from nigari.clouds.google import access_token
    from nigari.net.client import Client
    from nigari.net.settings import Settings

    asked: list[Asked] = []

    def answer(request: Asked) -> Answer:
        asked.append(request)
        return json_answer({"access_token": "tok"})

    async def token(environ: dict[str, str]) -> str:
        async with Client(Settings()) as client:
            return await access_token(client, environ, "scope")

    key = rsa.generate_private_key(65537, 2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    with Server(answer) as server:
        assert asyncio.run(token({"GOOGLE_OAUTH_ACCESS_TOKEN": "given"})) == "given"
        file = tmp_path / "credentials.json"
        environ = {"GOOGLE_APPLICATION_CREDENTIALS": str(file)}
        user = {"type": "authorized_user", "refresh_token": "r", "token_uri": server.url}
        file.write_text(json.dumps(user))
        assert asyncio.run(token(environ)) == "tok"
        assert b"refresh_token=r" in asked[-1].body
        account = {"type": "service_account", "private_key": pem.decode(), "token_uri": server.url}
        file.write_text(json.dumps(account))
        assert asyncio.run(token(environ)) == "tok"
        assert asked[-1].body.count(b".") >= 2
        machine = {"GCE_METADATA_HOST": server.url.removeprefix("http://")}
        assert asyncio.run(token(machine)) == "tok"
        assert asked[-1].headers["metadata-flavor"] == "Google"
        file.write_text(json.dumps({"type": "external_account"}))
        with pytest.raises(ValueError, match="not supported"):
            asyncio.run(token(environ))
