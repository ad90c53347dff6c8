"""What stores say when they are refused: whose words these are, and what to do about it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from nigari.backends.open_backend import open_backend
from nigari.backends.protocol import Around
from nigari.diagnostics import Diagnostics
from tests.net_world.server import Answer
from tests.net_world.world import World

HOSTS: Final = {
    "s3": "b.s3.eu-west-1.amazonaws.com",
    "gcs": "storage.googleapis.com",
    "azurerm": "abc.blob.core.windows.net",
    "kubernetes": "cluster.example.com",
}
CONFIGS: Final[Mapping[str, Mapping[str, object]]] = {
    "s3": {
        "bucket": "b",
        "key": "k",
        "region": "eu-west-1",
        "access_key": "a",
        "secret_key": "s",
        "max_retries": 0,
    },
    "gcs": {"bucket": "b", "access_token": "t"},
    "azurerm": {
        "storage_account_name": "abc",
        "container_name": "abc",
        "key": "k",
        "access_key": "a2V5",
    },
    "kubernetes": {"secret_suffix": "x", "host": f"https://{HOSTS['kubernetes']}", "token": "t"},
}


def aws(status: int, code: str, message: str, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    body = f"<Error><Code>{code}</Code><Message>{message}</Message></Error>".encode()
    return Answer(status, body, {"content-type": "application/xml", **named})


def azure(status: int, code: str, message: str) -> Answer:
    body = f"<Error><Code>{code}</Code><Message>{message}\nRequestId:1</Message></Error>".encode()
    return Answer(status, body, {"content-type": "application/xml", "x-ms-error-code": code})


def google(status: int, message: str) -> Answer:
    body = json.dumps({"error": {"code": status, "message": message}}).encode()
    return Answer(status, body, {"content-type": "application/json"})


def cluster(status: int, message: str) -> Answer:
    body = json.dumps({"kind": "Status", "message": message}).encode()
    return Answer(status, body, {"content-type": "application/json"})


ROWS: Final = [
    ("s3", aws(403, "AccessDenied", "You may not."), "AccessDenied, You may not."),
    ("s3", aws(400, "ExpiredToken", "It has expired."), "It has expired. The credentials have"),
    ("s3", aws(403, "InvalidAccessKeyId", "No such key."), "No such key. Check the access key"),
    ("s3", aws(403, "RequestTimeTooSkewed", "Too late."), "Too late. Set the clock"),
    (
        "s3",
        aws(301, "PermanentRedirect", "Elsewhere.", x_amz_bucket_region="us-east-2"),
        "Elsewhere. The bucket is in the region us-east-2: set region to that.",
    ),
    ("gcs", google(401, "Invalid Credentials"), "Google Cloud refuses: Invalid Credentials. Log"),
    ("gcs", google(403, "me may not read"), "Google Cloud refuses: me may not read."),
    (
        "azurerm",
        azure(403, "AuthorizationPermissionMismatch", "This is not allowed."),
        "AuthorizationPermissionMismatch, This is not allowed. The caller needs the role",
    ),
    (
        "azurerm",
        azure(403, "AuthenticationFailed", "No."),
        "AuthenticationFailed, No. Check the access key",
    ),
    ("azurerm", azure(403, "SomethingElse", "No."), "status 403: SomethingElse, No."),
    ("kubernetes", cluster(401, "Unauthorized"), "Unauthorized. Log in to the cluster again."),
    ("kubernetes", cluster(403, "secrets is forbidden"), "refuses: secrets is forbidden."),
]


@pytest.mark.parametrize(("kind", "answer", "says"), ROWS)
def test_reading_is_refused(kind: str, answer: Answer, says: str, tmp_path: Path) -> None:
    world = World(tmp_path / "world")
    world.serve(HOSTS[kind], lambda _: answer)
    diags = Diagnostics()
    try:
        around = Around(tmp_path, world.environment)
        backend = open_backend(kind, CONFIGS[kind], around, diags)
        assert backend is not None, list(diags)
        assert asyncio.run(backend.storage("default").read(diags)) is None
    finally:
        world.close()
    (told,) = diags
    assert says in told.detail
