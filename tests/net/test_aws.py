"""Signatures as Amazon documents them, and where keys come from."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from nigari.net.aws import Keys, find_keys, signed_headers
from nigari.net.client import Client
from nigari.net.settings import Settings
from tests.net_world.server import NOT_FOUND, Answer, Asked, json_answer, serving

EXAMPLE = Keys("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")


@pytest.mark.parametrize(
    ("query", "signature"),
    [
        ("lifecycle", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
        (
            "max-keys=2&prefix=J",
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
        ),
    ],
)
def test_documented_signatures(query: str, signature: str) -> None:
    url = f"https://examplebucket.s3.amazonaws.com/?{query}"
    at = datetime(2013, 5, 24, tzinfo=UTC)
    headers = signed_headers("GET", url, EXAMPLE, "us-east-1", "s3", now=at)
    assert headers["authorization"].endswith(f"Signature={signature}")
    assert "host" not in headers


def found(environ: dict[str, str], profile: str = "") -> Keys | None:
    async def find() -> Keys | None:
        async with Client(Settings()) as client:
            return await find_keys(client, environ, profile)

    return asyncio.run(find())


def test_keys_of_the_environment() -> None:
    environ = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_SESSION_TOKEN": "c"}
    assert found(environ) == Keys("a", "b", "c")


def test_keys_of_files(tmp_path: Path) -> None:
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws/credentials").write_text(
        "[default]\naws_access_key_id = a\naws_secret_access_key = b\n"
    )
    (tmp_path / ".aws/config").write_text(
        "[profile other]\naws_access_key_id = c\naws_secret_access_key = d%e\n"
        '[profile asked]\ncredential_process = echo \'{"AccessKeyId": "e", "SecretAccessKey": "f"}\'\n'
    )
    home = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    assert found(home) == Keys("a", "b")
    assert found({**home, "AWS_PROFILE": "other"}) == Keys("c", "d%e")
    assert found({**home, "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "y"}, "other") == Keys(
        "c", "d%e"
    )
    assert found(home, "asked") == Keys("e", "f")
    assert found(home, "none") is None


def test_keys_of_the_machine() -> None:
    def answer(asked: Asked) -> Answer:
        roles = "/latest/meta-data/iam/security-credentials/"
        if asked.method == "PUT":
            return Answer(200, b"tok")
        if asked.headers.get("x-aws-ec2-metadata-token") != "tok":
            return Answer(401)
        if asked.path == roles:
            return Answer(200, b"role")
        keys = {"AccessKeyId": "a", "SecretAccessKey": "b", "Token": "c"}
        return json_answer(keys) if asked.path == f"{roles}role" else NOT_FOUND

    with serving(answer) as server:
        assert found({"AWS_METADATA_URL": server.url}) == Keys("a", "b", "c")
        disabled = {"AWS_METADATA_URL": server.url, "AWS_EC2_METADATA_DISABLED": "true"}
        assert found(disabled) is None


def test_keys_of_the_container_and_of_a_web_identity(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("identity\n")

    def answer(asked: Asked) -> Answer:
        if asked.path == "/keys":
            is_known = asked.headers.get("authorization") == "secret"
            keys = {"AccessKeyId": "a", "SecretAccessKey": "b", "Token": "c"}
            return json_answer(keys) if is_known else Answer(401)
        assert b"WebIdentityToken=identity" in asked.body
        return Answer(
            200,
            b"<R><Credentials><AccessKeyId>d</AccessKeyId><SecretAccessKey>e</SecretAccessKey>"
            b"<SessionToken>f</SessionToken></Credentials></R>",
        )

    with serving(answer) as server:
        container = {
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{server.url}/keys",
            "AWS_CONTAINER_AUTHORIZATION_TOKEN": "secret",
        }
        assert found(container) == Keys("a", "b", "c")
        identity = {
            "AWS_WEB_IDENTITY_TOKEN_FILE": str(token),
            "AWS_ROLE_ARN": "arn",
            "AWS_ENDPOINT_URL_STS": server.url,
        }
        assert found(identity) == Keys("d", "e", "f")
