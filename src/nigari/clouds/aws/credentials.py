"""AWS credentials, from the same sources and in the same order as AWS's own tools.

These are: arguments; a named profile; the environment; a web identity in the environment; the
default profile with its sources; the container or the machine. Roles are assumed last. Expiring
credentials are renewed in time.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from hashlib import sha1
from types import MappingProxyType
from typing import Final
from urllib.parse import urlencode

from nigari.clouds.aws.client import AwsClient, AwsService
from nigari.clouds.aws.machine import container_credentials, has_container, instance_credentials
from nigari.clouds.aws.profiles import Profiles, Section, home_path, read_profiles, text_of
from nigari.clouds.aws.roles import Role, assume_role, assume_role_with_token, timestamp
from nigari.clouds.aws.signing import Credentials
from nigari.clouds.failures import CloudFailure, NoCredentials
from nigari.net.client import Client, Policy
from nigari.record import record, replace

_EARLY: Final = 300.0
"""Seconds before expiry at which credentials are renewed."""
_PROCESS_WITHIN: Final = 60.0
"""Time limit of a credential_process in seconds, including a user who types in a code."""
_LONGEST_CHAIN: Final = 8


@record
class WebIdentity:
    """A role that is assumed with a token."""

    role: Role
    token: str = ""
    token_file: str = ""


@record
class Sources:
    """Credential settings from the arguments."""

    environ: Mapping[str, str] = MappingProxyType({})
    static: Credentials | None = None
    profile: str = ""
    credentials_files: tuple[str, ...] = ()
    config_files: tuple[str, ...] = ()
    role: Role | None = None
    web_identity: WebIdentity | None = None
    queries_machine: bool | None = None
    """True to query the machine's metadata service; `None` to follow the environment."""
    machine_endpoint: str = ""


class CredentialChain:
    """Finds credentials, and caches them while they are valid."""

    def __init__(self, sources: Sources, sts: AwsService, policy: Policy) -> None:
        self._sources = sources
        self._sts = sts
        self._policy = policy
        self._known: Credentials | None = None

    async def current(self, client: Client) -> Credentials:
        """Return currently valid credentials."""
        known = self._known
        if known is None or (known.expires is not None and known.expires - _EARLY < time.time()):
            self._known = known = await self._find(client)
        return known

    async def _find(self, client: Client) -> Credentials:
        sources = self._sources
        if sources.web_identity is not None:
            found = await self._with_token(client, sources.web_identity)
        else:
            found = await self._base(client)
        return found if sources.role is None else await self._assume(client, found, sources.role)

    async def _base(self, client: Client) -> Credentials:
        sources, environ = self._sources, self._sources.environ
        if sources.static is not None:
            return sources.static
        if sources.profile:
            return await self._of_profile(client, sources.profile, is_named=True)
        key, secret = environ.get("AWS_ACCESS_KEY_ID"), environ.get("AWS_SECRET_ACCESS_KEY")
        if key and secret:
            return Credentials(key, secret, environ.get("AWS_SESSION_TOKEN", ""))
        token_file = environ.get("AWS_WEB_IDENTITY_TOKEN_FILE", "")
        arn = environ.get("AWS_ROLE_ARN", "")
        if token_file and arn:
            role = Role(arn, environ.get("AWS_ROLE_SESSION_NAME", ""))
            return await self._with_token(client, WebIdentity(role, token_file=token_file))
        name = environ.get("AWS_PROFILE") or environ.get("AWS_DEFAULT_PROFILE") or ""
        return await self._of_profile(client, name or "default", is_named=bool(name))

    # -- profiles -------------------------------------------------------------------------------

    async def _of_profile(self, client: Client, name: str, is_named: bool) -> Credentials:
        sources = self._sources
        profiles = read_profiles(sources.credentials_files, sources.config_files, sources.environ)
        if is_named and profiles.get(name) is None:
            raise CloudFailure(f'There is no AWS profile "{name}" in the shared files.')
        return await self._resolved(client, profiles, name, ())

    async def _resolved(
        self, client: Client, profiles: Profiles, name: str, seen: tuple[str, ...]
    ) -> Credentials:
        """Resolve the credentials of a profile, which may assume a role with those of another."""
        section = profiles.get(name) or {}
        if name in seen or len(seen) > _LONGEST_CHAIN:
            raise CloudFailure(f'The AWS profile "{name}" is its own source.')
        source = section.get("source_profile", "")
        if source and source != name:
            if profiles.get(source) is None:
                raise CloudFailure(f'The AWS profile "{name}" names "{source}", which is missing.')
            found = await self._resolved(client, profiles, source, (*seen, name))
        else:
            found = await self._own(client, profiles, section)
        arn = section.get("role_arn", "")
        if not arn or section.get("web_identity_token_file"):
            return found
        role = Role(
            arn,
            section.get("role_session_name", ""),
            f"{section['duration_seconds']}s" if section.get("duration_seconds") else "",
            section.get("external_id", ""),
        )
        return await self._assume(client, found, role)

    async def _own(self, client: Client, profiles: Profiles, section: Section) -> Credentials:
        key, secret = section.get("aws_access_key_id"), section.get("aws_secret_access_key")
        if key and secret:
            return Credentials(key, secret, section.get("aws_session_token", ""))
        token_file = section.get("web_identity_token_file")
        if token_file:
            role = Role(section.get("role_arn", ""), section.get("role_session_name", ""))
            return await self._with_token(client, WebIdentity(role, token_file=token_file))
        if section.get("sso_account_id"):
            settings = {**profiles.sessions.get(section.get("sso_session", ""), {}), **section}
            return await single_sign_on(client, settings, self._sources.environ, self._policy)
        if section.get("credential_process"):
            return await _of_process(section["credential_process"], self._sources.environ)
        return await self._of_surroundings(section.get("credential_source", ""))

    async def _of_surroundings(self, wanted: str) -> Credentials:
        """Query the container or the machine for credentials."""
        sources, environ = self._sources, self._sources.environ
        if wanted == "Environment":
            key, secret = environ.get("AWS_ACCESS_KEY_ID"), environ.get("AWS_SECRET_ACCESS_KEY")
            return Credentials(key or "", secret or "", environ.get("AWS_SESSION_TOKEN", ""))
        if wanted != "Ec2InstanceMetadata" and has_container(environ):
            return await container_credentials(environ)
        asks = sources.queries_machine
        if asks is None:
            asks = environ.get("AWS_EC2_METADATA_DISABLED", "").lower() != "true"
        found = await instance_credentials(sources.machine_endpoint) if asks else None
        if found is None:
            raise NoCredentials(
                "No AWS credentials were found. Set access_key and secret_key, the environment "
                "variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile in "
                "~/.aws/credentials; on an AWS machine, attach a role."
            )
        return found

    # -- roles ----------------------------------------------------------------------------------

    async def _assume(self, client: Client, base: Credentials, role: Role) -> Credentials:
        async def identity() -> Credentials:
            return base

        return await assume_role(AwsClient(client, identity, self._policy), self._sts, role)

    async def _with_token(self, client: Client, wanted: WebIdentity) -> Credentials:
        token = wanted.token or text_of(wanted.token_file)
        return await assume_role_with_token(client, self._sts, wanted.role, token, self._policy)


async def _of_process(command: str, environ: Mapping[str, str]) -> Credentials:
    """Run a credential_process of the user, which may prompt for a code."""
    from nigari.programs import run_program

    try:
        done = await run_program(command, environ, within=_PROCESS_WITHIN, may_prompt=True)
        if done.status:
            raise ValueError(f"it ended with status {done.status}")
        given = json.loads(done.output)
        found = Credentials(
            str(given["AccessKeyId"]),
            str(given["SecretAccessKey"]),
            str(given.get("SessionToken") or ""),
        )
        expires = given.get("Expiration")
        return replace(found, expires=timestamp(str(expires))) if expires else found
    except TimeoutError:
        raise CloudFailure(
            "The credential_process of the AWS profile did not answer within "
            f"{_PROCESS_WITHIN:g} seconds."
        ) from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CloudFailure(f"The credential_process of the AWS profile failed: {error}.") from None


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
