"""AWS single sign-on: exchanges the token stored by `aws sso login` for role credentials."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from hashlib import sha1
from urllib.parse import urlencode

from nigari.clouds.aws.profiles import Section, home_path
from nigari.clouds.aws.roles import timestamp
from nigari.clouds.aws.signing import Credentials
from nigari.clouds.failures import CloudFailure
from nigari.net.client import Client, Policy


async def single_sign_on(
    client: Client, settings: Section, environ: Mapping[str, str], policy: Policy
) -> Credentials:
    """Request the credentials of a profile's role."""
    token = _cached_token(settings, environ)
    if not token:
        raise CloudFailure(
            'The AWS single sign-on has expired or was never done: run "aws sso login".'
        )
    query = {
        "role_name": settings.get("sso_role_name", ""),
        "account_id": settings.get("sso_account_id", ""),
    }
    region = settings.get("sso_region", "")
    response = await client.get(
        f"https://portal.sso.{region}.amazonaws.com/federation/credentials?{urlencode(query)}",
        credentials={"x-amz-sso_bearer_token": token},
        policy=policy,
    )
    given = response.require(200).json()
    role = given.get("roleCredentials") if isinstance(given, dict) else None
    if not isinstance(role, dict):
        raise CloudFailure("The AWS single sign-on returned no credentials.")
    return Credentials(
        str(role["accessKeyId"]),
        str(role["secretAccessKey"]),
        str(role["sessionToken"]),
        float(role["expiration"]) / 1000,
    )


def _cached_token(settings: Section, environ: Mapping[str, str]) -> str:
    """Return the cached token if it is still valid."""
    name = settings.get("sso_session") or settings.get("sso_start_url", "")
    digest = sha1(name.encode(), usedforsecurity=False).hexdigest()
    try:
        with open(home_path(f"~/.aws/sso/cache/{digest}.json", environ), "rb") as file:
            kept = json.load(file)
        token, expires = str(kept["accessToken"]), timestamp(str(kept["expiresAt"]))
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    return token if expires is not None and expires > time.time() else ""
