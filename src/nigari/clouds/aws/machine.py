"""Credentials from the metadata services of AWS containers and machines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from nigari.clouds.aws.profiles import text_of
from nigari.clouds.aws.roles import timestamp
from nigari.clouds.aws.signing import Credentials
from nigari.clouds.failures import CloudFailure
from nigari.net.client import Client, Policy
from nigari.net.failures import NetFailure
from nigari.net.settings import Settings

_CONTAINER: Final = "http://169.254.170.2"
_RELATIVE: Final = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"
_FULL: Final = "AWS_CONTAINER_CREDENTIALS_FULL_URI"
_OF_CONTAINERS: Final = ("169.254.170.2", "169.254.170.23", "fd00:ec2::23")
_MACHINE: Final = "http://169.254.169.254"
_ROLES: Final = "/latest/meta-data/iam/security-credentials/"
_QUICK: Final = Policy(retries=1, timeout=2.0, pause=0.1)
"""A metadata service responds at once or not at all."""


def has_container(environ: Mapping[str, str]) -> bool:
    """True in a container with credentials."""
    return bool(environ.get(_RELATIVE) or environ.get(_FULL))


async def container_credentials(environ: Mapping[str, str]) -> Credentials:
    """Request the credentials of the current container."""
    relative = environ.get(_RELATIVE, "")
    url = f"{_CONTAINER}{relative}" if relative else environ[_FULL]
    if not relative:
        _check_full(url)
    token = environ.get("AWS_CONTAINER_AUTHORIZATION_TOKEN", "")
    token_file = environ.get("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "")
    if token_file:
        token = text_of(token_file)
    secret = {"authorization": token} if token else {}
    async with Client(Settings()) as client:
        response = await client.get(url, credentials=secret, policy=_QUICK)
    return _given(response.require(200).body)


def _check_full(url: str) -> None:
    """Check a credentials URL: no other machine must be able to intercept the request."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    try:
        is_near = ip_address(host).is_loopback or host in _OF_CONTAINERS
    except ValueError:
        is_near = host == "localhost"
    if parts.scheme != "https" and not is_near:
        raise CloudFailure(f"{_FULL} must be a URL on this machine or begin with https.")


async def instance_credentials(endpoint: str) -> Credentials | None:
    """Request the credentials of the current machine; `None` if it has none."""
    base = (endpoint or _MACHINE).rstrip("/")
    async with Client(Settings()) as client:
        try:
            token = await client.request(
                "PUT",
                f"{base}/latest/api/token",
                headers={"x-aws-ec2-metadata-token-ttl-seconds": "21600"},
                policy=_QUICK,
            )
            proof = {}
            if token.status == 200:
                proof = {"x-aws-ec2-metadata-token": token.body.decode().strip()}
            names = await client.get(f"{base}{_ROLES}", credentials=proof, policy=_QUICK)
            role = names.body.decode().strip().splitlines()
            if names.status != 200 or not role:
                return None
            response = await client.get(
                f"{base}{_ROLES}{role[0]}", credentials=proof, policy=_QUICK
            )
        except NetFailure:
            return None
    return _given(response.require(200).body)


def _given(body: bytes) -> Credentials:
    try:
        given = json.loads(body)
        return Credentials(
            str(given["AccessKeyId"]),
            str(given["SecretAccessKey"]),
            str(given.get("Token") or ""),
            timestamp(str(given.get("Expiration") or "")),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        raise CloudFailure(
            "The source of AWS credentials returned an unexpected response."
        ) from None
