"""Tencent Cloud: credentials, roles, and request signatures for its object storage and other
services.

The two kinds of services use different signatures. Names and content of stored objects are left to
the backend.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from nigari.clouds.arguments import Arguments
from nigari.clouds.failures import CloudFailure, NoCredentials
from nigari.net.client import Client, Policy
from nigari.record import record

_ALGORITHM: Final = "TC3-HMAC-SHA256"
_LASTS: Final = 3600
_POLICY: Final = Policy(retries=3)


@record
class TencentCredentials:
    """Keys that sign a request."""

    secret_id: str
    secret_key: str
    token: str = ""


@record
class TencentRole:
    """A role to assume."""

    arn: str
    session: str
    seconds: int
    policy: str


def read_credentials(arguments: Arguments) -> TencentCredentials:
    """Read the credentials from the arguments or the environment."""
    text = arguments.text
    found = TencentCredentials(
        text("secret_id", "TENCENTCLOUD_SECRET_ID"),
        text("secret_key", "TENCENTCLOUD_SECRET_KEY"),
        text("security_token", "TENCENTCLOUD_SECURITY_TOKEN"),
    )
    if not found.secret_id or not found.secret_key:
        raise NoCredentials(
            "No credentials for Tencent Cloud were found. Set secret_id and secret_key, or "
            "TENCENTCLOUD_SECRET_ID and TENCENTCLOUD_SECRET_KEY."
        )
    return found


def read_role(arguments: Arguments) -> TencentRole | None:
    """Read the role from the arguments, if there is one."""
    block = arguments.block("assume_role")
    if block is None:
        return None
    return TencentRole(
        block.required("role_arn", "TENCENTCLOUD_ASSUME_ROLE_ARN"),
        block.required("session_name", "TENCENTCLOUD_ASSUME_ROLE_SESSION_NAME"),
        block.number("session_duration", "TENCENTCLOUD_ASSUME_ROLE_SESSION_DURATION", default=7200),
        block.text("policy"),
    )


def object_headers(
    method: str, url: str, headers: Mapping[str, str], credentials: TencentCredentials
) -> dict[str, str]:
    """Build the signed headers of a request to the object storage."""
    parts = urlsplit(url)
    given = {name.lower(): value for name, value in headers.items()}
    if credentials.token:
        given["x-cos-security-token"] = credentials.token
    signed = {name: value for name, value in given.items() if name.startswith("x-cos-")}
    signed["host"] = parts.netloc
    arguments = parse_qsl(parts.query, keep_blank_values=True)
    now = int(time.time())
    lasting = f"{now};{now + _LASTS}"
    request = "\n".join(
        (method.lower(), unquote(parts.path), _listed(dict(arguments)), _listed(signed), "")
    )
    digest = hashlib.sha1(request.encode(), usedforsecurity=False).hexdigest()
    key = _hmac_sha1(credentials.secret_key, lasting)
    signature = _hmac_sha1(key, f"sha1\n{lasting}\n{digest}\n")
    given["authorization"] = "&".join(
        (
            "q-sign-algorithm=sha1",
            f"q-ak={credentials.secret_id}",
            f"q-sign-time={lasting}",
            f"q-key-time={lasting}",
            f"q-header-list={';'.join(sorted(signed))}",
            f"q-url-param-list={';'.join(sorted(_encoded(name).lower() for name, _ in arguments))}",
            f"q-signature={signature}",
        )
    )
    return given


def _listed(pairs: Mapping[str, str]) -> str:
    named = {_encoded(name).lower(): _encoded(value) for name, value in pairs.items()}
    return "&".join(f"{name}={named[name]}" for name in sorted(named))


def _encoded(text: str) -> str:
    return quote(text, safe="")


def _hmac_sha1(key: str, text: str) -> str:
    return hmac.digest(key.encode(), text.encode(), "sha1").hex()


class TencentServices:
    """Services that are called by the name of an action."""

    def __init__(self, client: Client, credentials: TencentCredentials, region: str) -> None:
        self._client = client
        self._credentials = credentials
        self._region = region

    async def call(self, service: str, action: str, version: str, **given: object) -> object:
        """Call an action; a `CloudFailure` has the error code."""
        host = f"{service}.tencentcloudapi.com"
        body = json.dumps(given).encode()
        response = await self._client.request(
            "POST",
            f"https://{host}/",
            headers=self._headers(host, service, action, version, body),
            body=body,
            policy=_POLICY,
        )
        document = response.require(200).json()
        answer = document.get("Response") if isinstance(document, dict) else None
        error = answer.get("Error") if isinstance(answer, dict) else None
        if isinstance(error, dict):
            text = f"{host} refuses {action}: {error.get('Message')}"
            raise CloudFailure(text, str(error.get("Code", "")))
        return answer

    def _headers(
        self, host: str, service: str, action: str, version: str, body: bytes
    ) -> dict[str, str]:
        credentials, now = self._credentials, int(time.time())
        day = time.strftime("%Y-%m-%d", time.gmtime(now))
        headers = {
            "content-type": "application/json",
            "x-tc-action": action,
            "x-tc-version": version,
            "x-tc-timestamp": str(now),
            "x-tc-region": self._region,
            "x-tc-language": "en-US",
        }
        if credentials.token:
            headers["x-tc-token"] = credentials.token
        request = "\n".join(
            (
                "POST",
                "/",
                "",
                f"content-type:application/json\nhost:{host}\n",
                "content-type;host",
                hashlib.sha256(body).hexdigest(),
            )
        )
        scope = f"{day}/{service}/tc3_request"
        digest = hashlib.sha256(request.encode()).hexdigest()
        key = f"TC3{credentials.secret_key}".encode()
        for part in scope.split("/"):
            key = hmac.digest(key, part.encode(), "sha256")
        text = "\n".join((_ALGORITHM, str(now), scope, digest))
        signature = hmac.digest(key, text.encode(), "sha256").hex()
        headers["authorization"] = (
            f"{_ALGORITHM} Credential={credentials.secret_id}/{scope}, "
            f"SignedHeaders=content-type;host, Signature={signature}"
        )
        return headers


async def assumed(
    client: Client, credentials: TencentCredentials, role: TencentRole, region: str
) -> TencentCredentials:
    """Assume a role."""
    given: dict[str, object] = {
        "RoleArn": role.arn,
        "RoleSessionName": role.session,
        "DurationSeconds": role.seconds,
    }
    if role.policy:
        given["Policy"] = quote(role.policy, safe="")
    services = TencentServices(client, credentials, region)
    answer = await services.call("sts", "AssumeRole", "2018-08-13", **given)
    found = answer.get("Credentials") if isinstance(answer, dict) else None
    if not isinstance(found, dict):
        raise CloudFailure(f"Tencent Cloud did not issue credentials for the role {role.arn}.")
    names = ("TmpSecretId", "TmpSecretKey", "Token")
    return TencentCredentials(*(str(found.get(name, "")) for name in names))
