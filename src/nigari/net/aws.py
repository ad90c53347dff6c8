"""Requests to services that speak Amazon's protocol: signatures (version 4), and whose keys sign.

Keys come from the environment, from the shared files of AWS tools, from a web identity token, or
from the container or machine that the program runs on, in this order.
"""

from __future__ import annotations

import configparser
import hashlib
import hmac
import os
import shlex
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from nigari.net.client import Policy
from nigari.net.failures import NetFailure
from nigari.record import record

if TYPE_CHECKING:
    from nigari.net.client import Client

NO_CONTENT: Final = hashlib.sha256(b"").hexdigest()
_ALGORITHM: Final = "AWS4-HMAC-SHA256"
_UNRESERVED: Final = "-_.~"
_METADATA: Final = "http://169.254.169.254"
_CONTAINER: Final = "http://169.254.170.2"
_NEARBY: Final = Policy(retries=0, timeout=2.0, limit=1 << 16)
"""For services on this machine, which answer at once or are not there."""


@record
class Keys:
    """What signs a request."""

    access_key: str
    secret_key: str
    token: str = ""


def encoded_path(path: str) -> str:
    """A path as requests to S3 have it, and as it is signed."""
    return quote(path, safe="/" + _UNRESERVED)


def signed_headers(
    method: str,
    url: str,
    keys: Keys,
    region: str,
    service: str,
    content_hash: str = NO_CONTENT,
    now: datetime | None = None,
) -> dict[str, str]:
    """The headers that make a request to this URL, whose path is encoded already, a signed one."""
    time = (now or datetime.now(UTC)).strftime("%Y%m%dT%H%M%SZ")
    parts = urlsplit(url)
    headers = {"host": parts.netloc, "x-amz-content-sha256": content_hash, "x-amz-date": time}
    if keys.token:
        headers["x-amz-security-token"] = keys.token
    names = ";".join(sorted(headers))
    arguments = sorted(parse_qsl(parts.query, keep_blank_values=True))
    canonical = "\n".join(
        (
            method,
            parts.path or "/",
            "&".join(
                f"{quote(n, safe=_UNRESERVED)}={quote(v, safe=_UNRESERVED)}" for n, v in arguments
            ),
            *(f"{name}:{headers[name]}" for name in sorted(headers)),
            "",
            names,
            content_hash,
        )
    )
    scope = f"{time[:8]}/{region}/{service}/aws4_request"
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    to_sign = "\n".join((_ALGORITHM, time, scope, digest))
    key = f"AWS4{keys.secret_key}".encode()
    for part in (time[:8], region, service, "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.new(key, to_sign.encode(), "sha256").hexdigest()
    del headers["host"]
    headers["authorization"] = (
        f"{_ALGORITHM} Credential={keys.access_key}/{scope}, SignedHeaders={names}, "
        f"Signature={signature}"
    )
    return headers


async def find_keys(client: Client, environ: Mapping[str, str], profile: str = "") -> Keys | None:
    """The keys of whoever runs the program; None if there are none. `ValueError` says why some
    that are there cannot be used.
    """
    if not profile:
        found = _keys(environ, "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
        if found is not None:
            return found
    found = await _from_files(environ, profile)
    if found is not None or profile:
        return found
    if environ.get("AWS_WEB_IDENTITY_TOKEN_FILE") and environ.get("AWS_ROLE_ARN"):
        return await _from_web_identity(client, environ)
    if environ.get("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") or environ.get(
        "AWS_CONTAINER_CREDENTIALS_FULL_URI"
    ):
        return await _from_container(client, environ)
    if environ.get("AWS_EC2_METADATA_DISABLED", "").lower() == "true":
        return None
    return await _from_machine(client, environ)


def _keys(values: Mapping[str, str], access: str, secret: str, token: str) -> Keys | None:
    if values.get(access) and values.get(secret):
        return Keys(values[access], values[secret], values.get(token, ""))
    return None


async def _from_files(environ: Mapping[str, str], profile: str) -> Keys | None:
    name = profile or environ.get("AWS_PROFILE") or "default"
    home = environ.get("HOME", "")
    shared = environ.get("AWS_SHARED_CREDENTIALS_FILE") or f"{home}/.aws/credentials"
    config = environ.get("AWS_CONFIG_FILE") or f"{home}/.aws/config"
    section = name if name == "default" else f"profile {name}"
    for path, wanted in ((shared, name), (config, section)):
        reader = configparser.RawConfigParser()
        try:
            reader.read(path, encoding="utf-8")
        except (configparser.Error, UnicodeError) as error:
            raise ValueError(f"{path} cannot be read: {error}") from None
        values = dict(reader.items(wanted)) if reader.has_section(wanted) else {}
        found = _keys(values, "aws_access_key_id", "aws_secret_access_key", "aws_session_token")
        if found is None and values.get("credential_process"):
            found = await _from_process(values["credential_process"], environ)
        if found is not None:
            return found
    return None


async def _from_process(command: str, environ: Mapping[str, str]) -> Keys | None:
    import asyncio
    import json

    process = await asyncio.create_subprocess_exec(
        *shlex.split(command), stdout=asyncio.subprocess.PIPE, env=dict(environ)
    )
    output, _ = await process.communicate()
    try:
        return _keys(json.loads(output), "AccessKeyId", "SecretAccessKey", "SessionToken")
    except (ValueError, AttributeError):
        raise ValueError("the credential_process of the AWS profile gives no keys") from None


async def _from_web_identity(client: Client, environ: Mapping[str, str]) -> Keys | None:
    import re

    path = environ["AWS_WEB_IDENTITY_TOKEN_FILE"]
    token = _read(path)
    region = environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION") or "us-east-1"
    endpoint = environ.get("AWS_ENDPOINT_URL_STS") or f"https://sts.{region}.amazonaws.com"
    body = urlencode(
        {
            "Action": "AssumeRoleWithWebIdentity",
            "Version": "2011-06-15",
            "RoleArn": environ["AWS_ROLE_ARN"],
            "RoleSessionName": environ.get("AWS_ROLE_SESSION_NAME") or "nigari",
            "WebIdentityToken": token.strip(),
        }
    )
    headers = {"content-type": "application/x-www-form-urlencoded"}
    answer = await client.request("POST", f"{endpoint}/", headers=headers, body=body.encode())
    text = answer.require(200).body.decode(errors="replace")
    found = {
        name: match[1]
        for name in ("AccessKeyId", "SecretAccessKey", "SessionToken")
        if (match := re.search(f"<{name}>([^<]*)</{name}>", text))
    }
    return _keys(found, "AccessKeyId", "SecretAccessKey", "SessionToken")


async def _from_container(client: Client, environ: Mapping[str, str]) -> Keys | None:
    relative = environ.get("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")
    url = f"{_CONTAINER}{relative}" if relative else environ["AWS_CONTAINER_CREDENTIALS_FULL_URI"]
    token = environ.get("AWS_CONTAINER_AUTHORIZATION_TOKEN", "")
    if path := environ.get("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"):
        token = _read(path).strip()
    headers = {"authorization": token} if token else {}
    answer = await client.get(url, credentials=headers, policy=_NEARBY)
    document = answer.require(200).json()
    return _keys(_texts(document), "AccessKeyId", "SecretAccessKey", "Token")


async def _from_machine(client: Client, environ: Mapping[str, str]) -> Keys | None:
    base = environ.get("AWS_METADATA_URL") or environ.get("AWS_EC2_METADATA_SERVICE_ENDPOINT")
    base = (base or _METADATA).rstrip("/")
    try:
        token = await client.request(
            "PUT",
            f"{base}/latest/api/token",
            headers={"x-aws-ec2-metadata-token-ttl-seconds": "300"},
            policy=_NEARBY,
        )
        headers = {"x-aws-ec2-metadata-token": token.require(200).body.decode(errors="replace")}
        path = f"{base}/latest/meta-data/iam/security-credentials/"
        role = (await client.get(path, credentials=headers, policy=_NEARBY)).require(200)
        name = role.body.decode(errors="replace").strip().partition("\n")[0]
        answer = await client.get(path + quote(name), credentials=headers, policy=_NEARBY)
        document = answer.require(200).json()
    except NetFailure:
        # Most machines are no instances.
        return None
    return _keys(_texts(document), "AccessKeyId", "SecretAccessKey", "Token")


def _texts(document: object) -> dict[str, str]:
    members = document if isinstance(document, dict) else {}
    return {name: value for name, value in members.items() if isinstance(value, str)}


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeError) as error:
        raise ValueError(f"{os.fspath(path)} cannot be read") from error
