"""Access tokens for Google services: from the environment, from the files of its tools, or from the
machine's metadata service.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from nigari.net.client import Policy
from nigari.net.failures import NetFailure

if TYPE_CHECKING:
    from nigari.net.client import Client

_TOKENS: Final = "https://oauth2.googleapis.com/token"
_NEARBY: Final = Policy(retries=0, timeout=2.0, limit=1 << 16)
_LIFETIME: Final = 3600


async def access_token(client: Client, environ: Mapping[str, str], scope: str) -> str:
    """Obtain the user's token; empty if no credentials are configured. Unusable credentials raise
    `ValueError`.
    """
    given = environ.get("GOOGLE_OAUTH_ACCESS_TOKEN", "")
    if given:
        return given
    path = environ.get("GOOGLE_APPLICATION_CREDENTIALS", "") or _default_file(environ)
    return await (_from_file(client, path, scope) if path else _from_machine(client, environ))


def _default_file(environ: Mapping[str, str]) -> str:
    config = environ.get("CLOUDSDK_CONFIG") or f"{environ.get('HOME', '')}/.config/gcloud"
    path = f"{config}/application_default_credentials.json"
    return path if os.path.isfile(path) else ""


async def token_of_credentials(client: Client, given: str, scope: str) -> str:
    """Obtain a token for credentials that are JSON text, or the path of a JSON file."""
    if not given.lstrip().startswith("{"):
        return await _from_file(client, given, scope)
    try:
        document = json.loads(given)
    except ValueError:
        raise ValueError("the credentials are not valid JSON") from None
    return await _from_document(client, document, "the text", scope)


async def impersonated(
    client: Client, token: str, account: str, delegates: Sequence[str], scope: str
) -> str:
    """Exchange a token for that of another service account, which it may impersonate."""
    url = f"https://iamcredentials.googleapis.com/v1/{_account(account)}:generateAccessToken"
    body = {
        "scope": [scope],
        "delegates": [_account(each) for each in delegates],
        "lifetime": f"{_LIFETIME}s",
    }
    answer = await client.request(
        "POST",
        url,
        headers={"content-type": "application/json"},
        credentials={"authorization": f"Bearer {token}"},
        body=json.dumps(body).encode(),
    )
    document = answer.require(200).json()
    found = document.get("accessToken") if isinstance(document, dict) else None
    return found if isinstance(found, str) else ""


def _account(email: str) -> str:
    return f"projects/-/serviceAccounts/{email}"


async def _from_file(client: Client, path: str, scope: str) -> str:
    return await _from_document(client, _read(path), path, scope)


async def _from_document(
    client: Client, document: Mapping[str, object], path: str, scope: str
) -> str:
    kind = document.get("type")
    endpoint = str(document.get("token_uri") or _TOKENS)
    if kind == "authorized_user":
        arguments = {
            "grant_type": "refresh_token",
            **{name: str(document.get(name, "")) for name in _USER},
        }
    elif kind == "service_account":
        arguments = {
            "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer",
            "assertion": _assertion(document, endpoint, scope),
        }
    else:
        raise ValueError(f"{path} has credentials of the kind {kind}, which is not supported")
    headers = {"content-type": "application/x-www-form-urlencoded"}
    answer = await client.request(
        "POST", endpoint, headers=headers, body=urlencode(arguments).encode()
    )
    return _token(answer.require(200).json())


_USER: Final = ("client_id", "client_secret", "refresh_token")


def _assertion(document: Mapping[str, object], endpoint: str, scope: str) -> str:
    """Build a signed assertion of a service account's identity."""
    import time
    from base64 import urlsafe_b64encode

    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import padding, rsa

    def part(content: bytes) -> str:
        return urlsafe_b64encode(content).rstrip(b"=").decode()

    now = int(time.time())
    header = {"alg": "RS256", "typ": "JWT", "kid": document.get("private_key_id", "")}
    claims = {
        "iss": document.get("client_email", ""),
        "scope": scope,
        "aud": endpoint,
        "iat": now,
        "exp": now + _LIFETIME,
    }
    text = f"{part(json.dumps(header).encode())}.{part(json.dumps(claims).encode())}"
    pem = str(document.get("private_key", "")).encode()
    key = serialization.load_pem_private_key(pem, None)
    if not isinstance(key, rsa.RSAPrivateKey):
        raise ValueError("the private key of the service account is not an RSA key")
    return f"{text}.{part(key.sign(text.encode(), padding.PKCS1v15(), hashes.SHA256()))}"


async def _from_machine(client: Client, environ: Mapping[str, str]) -> str:
    host = environ.get("GCE_METADATA_HOST") or "metadata.google.internal"
    url = f"http://{host}/computeMetadata/v1/instance/service-accounts/default/token"
    try:
        answer = await client.get(url, headers={"metadata-flavor": "Google"}, policy=_NEARBY)
        return _token(answer.require(200).json())
    except NetFailure:
        # Most machines are not Google's, so the metadata service is missing.
        return ""


def _token(document: object) -> str:
    token = document.get("access_token") if isinstance(document, dict) else None
    return token if isinstance(token, str) else ""


def _read(path: str) -> dict[str, object]:
    try:
        with open(os.path.expanduser(path), encoding="utf-8") as file:
            document: object = json.load(file)
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from None
    return document if isinstance(document, dict) else {}
