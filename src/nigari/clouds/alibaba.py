"""Alibaba Cloud: credentials, and request signatures for its object storage.

Credentials come from arguments and the environment, from a profile of its command line tool, or
from the role of the machine; they can be used to assume another role.
"""

from __future__ import annotations

import base64
import hmac
import json
import os
import time
import uuid
from collections.abc import Mapping
from email.utils import formatdate
from typing import Final
from urllib.parse import quote, urlencode

from nigari.clouds.arguments import Arguments
from nigari.clouds.failures import CloudFailure, NoCredentials
from nigari.net.client import Client, Policy
from nigari.record import record

_MACHINE: Final = "http://100.100.100.200/latest/meta-data/ram/security-credentials/"
_QUICK: Final = Policy(retries=1, timeout=5.0)


@record
class AlibabaCredentials:
    """Keys that sign a request."""

    access_key: str
    secret_key: str
    token: str = ""


@record
class AlibabaRole:
    """A role to assume."""

    arn: str
    session: str
    policy: str
    seconds: int


@record
class AlibabaIdentity:
    """Keys or the role of this machine, and a role to assume with them."""

    keys: AlibabaCredentials | None
    machine_role: str
    role: AlibabaRole | None
    sts_endpoint: str
    region: str


def read_identity(arguments: Arguments) -> AlibabaIdentity:
    """Read the identity from the arguments, the environment and a profile."""
    text, profile = arguments.text, _profile(arguments)
    mode = str(profile.get("mode", ""))

    def stored(name: str, *modes: str) -> str:
        return str(profile.get(name) or "") if not modes or mode in modes else ""

    key = text("access_key", "ALICLOUD_ACCESS_KEY", "ALICLOUD_ACCESS_KEY_ID")
    secret = text("secret_key", "ALICLOUD_SECRET_KEY", "ALICLOUD_ACCESS_KEY_SECRET")
    if mode != "EcsRamRole":
        key = key or stored("access_key_id")
        secret = secret or stored("access_key_secret")
    token = text("security_token", "ALICLOUD_SECURITY_TOKEN") or stored("sts_token", "StsToken")
    machine = text("ecs_role_name", "ALICLOUD_ECS_ROLE_NAME") or stored(
        "ram_role_name", "EcsRamRole"
    )
    region = text("region", "ALICLOUD_REGION", "ALICLOUD_DEFAULT_REGION") or stored("region_id")
    if not key and not machine:
        raise NoCredentials(
            "No credentials for Alibaba Cloud were found. Set access_key and secret_key, "
            "ALICLOUD_ACCESS_KEY and ALICLOUD_SECRET_KEY, a profile or ecs_role_name."
        )
    keys = AlibabaCredentials(key, secret, token) if key else None
    endpoint = text("sts_endpoint", "ALICLOUD_STS_ENDPOINT")
    return AlibabaIdentity(keys, machine, _role(arguments, profile), endpoint, region)


def _role(arguments: Arguments, profile: Mapping[str, object]) -> AlibabaRole | None:
    is_stored = profile.get("mode") == "RamRoleArn"
    arn = str(profile.get("ram_role_arn") or "") if is_stored else ""
    session = str(profile.get("ram_session_name") or "") if is_stored else ""
    seconds = int(str(profile.get("expired_seconds") or 0)) if is_stored else 0
    policy = ""
    block = arguments.block("assume_role")
    own = arguments.text("assume_role_role_arn", "ALICLOUD_ASSUME_ROLE_ARN")
    if own:
        arn, policy = own, arguments.text("assume_role_policy")
        name = ("assume_role_session_name", "ALICLOUD_ASSUME_ROLE_SESSION_NAME")
        session = arguments.text(*name) or session
        seconds = arguments.number("assume_role_session_expiration", default=seconds)
    elif block is not None:
        arn = block.text("role_arn", "ALICLOUD_ASSUME_ROLE_ARN", default=arn)
        session = block.text("session_name", default=session)
        policy, seconds = block.text("policy"), block.number("session_expiration", default=0)
    if not arn:
        return None
    variable = arguments.environ.get("ALICLOUD_ASSUME_ROLE_SESSION_EXPIRATION", "")
    seconds = seconds or (int(variable) if variable.isdigit() else 0) or 3600
    return AlibabaRole(arn, session or "nigari", policy, seconds)


def _profile(arguments: Arguments) -> Mapping[str, object]:
    """Read the selected profile from the files of Alibaba Cloud's command line tool."""
    name = arguments.text("profile", "ALICLOUD_PROFILE")
    if not name:
        return {}
    home = arguments.environ.get("HOME", "")
    path = arguments.text("shared_credentials_file", "ALICLOUD_SHARED_CREDENTIALS_FILE")
    path = f"{home}{path[1:]}" if path.startswith("~/") else path
    path = path or os.path.join(home, ".aliyun", "config.json")
    try:
        with open(path, encoding="utf-8") as file:
            document: object = json.load(file)
    except (OSError, ValueError) as error:
        raise CloudFailure(f"The profiles in {path} cannot be read: {error}.") from None
    profiles = document.get("profiles") if isinstance(document, dict) else None
    for each in profiles if isinstance(profiles, list) else ():
        if isinstance(each, dict) and each.get("name") == name:
            return each
    raise CloudFailure(f'There is no profile "{name}" in {path}.')


async def credentials_of(client: Client, identity: AlibabaIdentity) -> AlibabaCredentials:
    """Obtain the credentials of an identity."""
    found = identity.keys
    if found is None:
        found = await _of_machine(client, identity.machine_role)
    if identity.role is not None:
        found = await _assumed(client, found, identity)
    return found


async def _of_machine(client: Client, role: str) -> AlibabaCredentials:
    response = await client.get(f"{_MACHINE}{quote(role)}", policy=_QUICK)
    names = ("AccessKeyId", "AccessKeySecret", "SecurityToken")
    return _credentials(response.require(200).json(), names)


async def _assumed(
    client: Client, credentials: AlibabaCredentials, identity: AlibabaIdentity
) -> AlibabaCredentials:
    role = identity.role
    assert role is not None
    given = {
        "Action": "AssumeRole",
        "Version": "2015-04-01",
        "Format": "JSON",
        "RoleArn": role.arn,
        "RoleSessionName": role.session,
        "DurationSeconds": str(role.seconds),
        "AccessKeyId": credentials.access_key,
        "SignatureMethod": "HMAC-SHA1",
        "SignatureVersion": "1.0",
        "SignatureNonce": uuid.uuid4().hex,
        "Timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    given |= {"Policy": role.policy} if role.policy else {}
    given |= {"SecurityToken": credentials.token} if credentials.token else {}
    query = urlencode(sorted(given.items()), quote_via=quote, safe="-_.~")
    text = f"POST&%2F&{quote(query, safe='-_.~')}"
    given["Signature"] = _signature(f"{credentials.secret_key}&", text)
    host = identity.sts_endpoint or "sts.aliyuncs.com"
    url = host if host.startswith("http") else f"https://{host}"
    form = {"content-type": "application/x-www-form-urlencoded"}
    response = await client.request("POST", url, headers=form, body=urlencode(given).encode())
    document = response.require(200).json()
    found = document.get("Credentials") if isinstance(document, dict) else None
    return _credentials(found, ("AccessKeyId", "AccessKeySecret", "SecurityToken"))


def _credentials(document: object, names: tuple[str, str, str]) -> AlibabaCredentials:
    found = document if isinstance(document, dict) else {}
    if not all(isinstance(found.get(name), str) and found[name] for name in names):
        raise CloudFailure(
            "The credentials source for Alibaba Cloud returned an unexpected response."
        )
    return AlibabaCredentials(*(found[name] for name in names))


def object_headers(
    method: str, resource: str, headers: Mapping[str, str], credentials: AlibabaCredentials
) -> dict[str, str]:
    """Build the signed headers of a request to the object storage.

    The resource is `/BUCKET/KEY`, not escaped.
    """
    given = {name.lower(): value for name, value in headers.items()}
    given["date"] = formatdate(usegmt=True)
    if credentials.token:
        given["x-oss-security-token"] = credentials.token
    own = "".join(f"{name}:{given[name]}\n" for name in sorted(given) if name.startswith("x-oss-"))
    parts = (method, given.get("content-md5", ""), given.get("content-type", ""), given["date"])
    text = "\n".join((*parts, own + resource))
    signature = _signature(credentials.secret_key, text)
    given["authorization"] = f"OSS {credentials.access_key}:{signature}"
    return given


def _signature(key: str, text: str) -> str:
    return base64.b64encode(hmac.digest(key.encode(), text.encode(), "sha1")).decode()
