"""AWS roles: calls of its token service (STS), which uses forms and XML."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Final
from urllib.parse import urlencode

from nigari.clouds.aws.client import AwsClient, AwsService, failure_of
from nigari.clouds.aws.signing import Credentials
from nigari.clouds.failures import CloudFailure
from nigari.lazy import lazy_pattern
from nigari.net.client import Client, Policy
from nigari.net.response import Response
from nigari.record import record

_VERSION: Final = "2011-06-15"
_FORM: Final = {"content-type": "application/x-www-form-urlencoded; charset=utf-8"}
_DURATION: Final = lazy_pattern(r"(\d+(?:\.\d+)?)(h|m|s|ms|us|ns)")
_SECONDS: Final = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


@record
class Role:
    """A role to assume, with the parameters of the call."""

    arn: str
    session_name: str = ""
    duration: str = ""
    """A Go duration: `1h30m`."""
    external_id: str = ""
    policy: str = ""
    policy_arns: tuple[str, ...] = ()
    tags: Mapping[str, str] = MappingProxyType({})
    transitive_tag_keys: tuple[str, ...] = ()

    def form(self, action: str) -> dict[str, str]:
        """Build the form fields of the call that assumes the role."""
        found = {"Action": action, "Version": _VERSION, "RoleArn": self.arn}
        found["RoleSessionName"] = self.session_name or "nigari"
        if self.duration:
            found["DurationSeconds"] = str(seconds_of(self.duration))
        given = {"ExternalId": self.external_id, "Policy": self.policy}
        found |= {name: text for name, text in given.items() if text}
        for number, arn in enumerate(self.policy_arns, start=1):
            found[f"PolicyArns.member.{number}.arn"] = arn
        for number, (key, value) in enumerate(sorted(self.tags.items()), start=1):
            found[f"Tags.member.{number}.Key"] = key
            found[f"Tags.member.{number}.Value"] = value
        for number, key in enumerate(self.transitive_tag_keys, start=1):
            found[f"TransitiveTagKeys.member.{number}"] = key
        return found


def seconds_of(duration: str) -> int:
    """Convert a Go duration to seconds."""
    parts = _DURATION.findall(duration)
    if not parts or "".join(number + unit for number, unit in parts) != duration:
        raise CloudFailure(f'"{duration}" is not a duration such as 1h30m.')
    return int(sum(float(number) * _SECONDS[unit] for number, unit in parts))


async def assume_role(client: AwsClient, sts: AwsService, role: Role) -> Credentials:
    """Assume a role with the client's credentials."""
    body = urlencode(role.form("AssumeRole")).encode()
    response = await client.send(sts, "POST", f"{sts.url}/", body, _FORM)
    return _credentials(response, f"The role {role.arn} cannot be assumed")


async def assume_role_with_token(
    client: Client, sts: AwsService, role: Role, token: str, policy: Policy
) -> Credentials:
    """Assume a role with a token of an identity provider, without credentials."""
    form = {**role.form("AssumeRoleWithWebIdentity"), "WebIdentityToken": token}
    response = await client.request(
        "POST", f"{sts.url}/", headers=_FORM, body=urlencode(form).encode(), policy=policy
    )
    return _credentials(response, f"The role {role.arn} cannot be assumed with the web identity")


async def account_of(client: AwsClient, sts: AwsService) -> str:
    """Return the account of the client's credentials."""
    body = urlencode({"Action": "GetCallerIdentity", "Version": _VERSION}).encode()
    response = await client.send(sts, "POST", f"{sts.url}/", body, _FORM)
    if response.status != 200:
        raise failure_of("sts", response)
    return _member(response, "Account")


def _credentials(response: Response, what: str) -> Credentials:
    if response.status != 200:
        raise CloudFailure(f"{what}: {failure_of('sts', response).text}")
    return Credentials(
        _member(response, "AccessKeyId"),
        _member(response, "SecretAccessKey"),
        _member(response, "SessionToken"),
        timestamp(_member(response, "Expiration")),
    )


def _member(response: Response, name: str) -> str:
    from html import unescape

    found = re.search(f"<{name}>([^<]*)</{name}>", response.body.decode("utf-8", "replace"))
    return unescape(found[1]).strip() if found else ""


def timestamp(text: str) -> float | None:
    """Convert an RFC 3339 time to epoch seconds; None if it is invalid."""
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
    except ValueError:
        return None
