"""Request signatures of version 4, for AWS and compatible services."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl, quote, urlsplit

from nigari.record import record

_ALGORITHM: Final = "AWS4-HMAC-SHA256"
_UNRESERVED: Final = "-_.~"


@record
class Credentials:
    """Keys that sign a request."""

    access_key: str
    secret_key: str
    token: str = ""
    expires: float | None = None
    """Expiry in epoch seconds; `None` for permanent ones."""


def signed_headers(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes,
    credentials: Credentials,
    scope: tuple[str, str],
    time: str,
) -> dict[str, str]:
    """Build the signed headers. `scope` is region and service, `time` is `20260131T235959Z`."""
    parts = urlsplit(url)
    digest = hashlib.sha256(body).hexdigest()
    all_headers = {name.lower(): " ".join(value.split()) for name, value in headers.items()}
    all_headers |= {"host": parts.netloc, "x-amz-date": time, "x-amz-content-sha256": digest}
    if credentials.token:
        all_headers["x-amz-security-token"] = credentials.token
    names = sorted(all_headers)
    request = "\n".join(
        (
            method,
            parts.path or "/",
            canonical_query(parts.query),
            "".join(f"{name}:{all_headers[name]}\n" for name in names),
            ";".join(names),
            digest,
        )
    )
    where = "/".join((time[:8], *scope, "aws4_request"))
    to_sign = "\n".join((_ALGORITHM, time, where, hashlib.sha256(request.encode()).hexdigest()))
    key = f"AWS4{credentials.secret_key}".encode()
    for part in where.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.digest(key, to_sign.encode(), "sha256").hex()
    all_headers["authorization"] = (
        f"{_ALGORITHM} Credential={credentials.access_key}/{where}, "
        f"SignedHeaders={';'.join(names)}, Signature={signature}"
    )
    del all_headers["host"]
    return all_headers


def canonical_query(query: str) -> str:
    """Sort and escape query arguments for the signature."""
    pairs = [(encoded(n), encoded(v)) for n, v in parse_qsl(query, keep_blank_values=True)]
    return "&".join(f"{name}={value}" for name, value in sorted(pairs))


def encoded(text: str, also: str = "") -> str:
    """Escape a text for a signature; the characters of `also` stay."""
    return quote(text, safe=_UNRESERVED + also)
