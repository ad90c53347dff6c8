"""Azure: signatures with the key of a storage account, and access tokens.

A token is obtained with a client certificate, a client secret, an OIDC token, the machine's
identity, or by the Azure CLI: the first one that is configured.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from nigari.clouds.failures import CloudFailure, NoCredentials
from nigari.net.client import Client, Policy
from nigari.net.failures import NetFailure
from nigari.record import record

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

_SIGNED: Final = (
    "content-encoding",
    "content-language",
    "content-length",
    "content-md5",
    "content-type",
    "date",
    "if-modified-since",
    "if-match",
    "if-none-match",
    "if-unmodified-since",
    "range",
)
_FORM: Final = {"content-type": "application/x-www-form-urlencoded"}
_ASSERTION: Final = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_QUICK: Final = Policy(retries=1, timeout=5.0)
_MACHINE: Final = "http://169.254.169.254/metadata/identity/oauth2/token"


@record
class AzureEnvironment:
    """One of Azure's clouds."""

    login: str
    manager: str
    storage: str
    """Domain of storage account hosts."""
    audience: str = ""
    """Audience of tokens for the manager, if it is not the manager itself."""
    metadata_host: str = ""
    """Host to query for the other fields, unless it has been queried."""


ENVIRONMENTS: Final[Mapping[str, AzureEnvironment]] = {
    "public": AzureEnvironment(
        "https://login.microsoftonline.com", "https://management.azure.com", "core.windows.net"
    ),
    "usgovernment": AzureEnvironment(
        "https://login.microsoftonline.us",
        "https://management.usgovcloudapi.net",
        "core.usgovcloudapi.net",
    ),
    "china": AzureEnvironment(
        "https://login.chinacloudapi.cn",
        "https://management.chinacloudapi.cn",
        "core.chinacloudapi.cn",
    ),
}


@record
class ClientCertificate:
    """A certificate with its key, in PKCS#12 format."""

    data: bytes
    password: str = ""

    def assertion(self, client: str, audience: str) -> str:
        """Build the signed assertion that proves possession of the certificate to the audience."""
        import uuid
        from time import time

        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import padding

        key, digest = self._opened()
        # The same header as Azure's Go library, which OpenTofu uses, including the padded base64.
        header = {"alg": "PS256", "typ": "JWT", "x5t#S256": base64.b64encode(digest).decode()}
        now = int(time())
        claims = {"aud": audience, "exp": now + 600, "iss": client, "jti": str(uuid.uuid4())}
        claims |= {"nbf": now, "sub": client}
        text = f"{_in_url(header)}.{_in_url(claims)}"
        with_salt = padding.PSS(padding.MGF1(hashes.SHA256()), padding.PSS.DIGEST_LENGTH)
        signature = key.sign(text.encode(), with_salt, hashes.SHA256())
        return f"{text}.{base64.urlsafe_b64encode(signature).decode().rstrip('=')}"

    def _opened(self) -> tuple[RSAPrivateKey, bytes]:
        """Return the key, and the digest of the certificate."""
        from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.serialization import pkcs12

        try:
            key, found, _ = pkcs12.load_key_and_certificates(self.data, self.password.encode())
        except ValueError:
            raise CloudFailure(
                "The client certificate cannot be read: it must be PKCS#12, and "
                "client_certificate_password must be its password."
            ) from None
        if not isinstance(key, RSAPrivateKey) or found is None:
            raise CloudFailure("The client certificate must have an RSA key with it.")
        return key, found.fingerprint(SHA256())


def _in_url(part: Mapping[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")


@record
class AzureIdentity:
    """The identity for Azure requests."""

    tenant: str = ""
    client: str = ""
    secret: str = ""
    assertion: str = ""
    """An OIDC token."""
    assertion_url: str = ""
    """URL of an OIDC token service, which `assertion_token` authenticates to."""
    assertion_token: str = ""
    connection: str = ""
    """Azure DevOps service connection, if the token service is Azure DevOps."""
    certificate: ClientCertificate | None = None
    uses_machine: bool = False
    machine_endpoint: str = ""
    uses_cli: bool = True


def shared_key_headers(
    method: str, url: str, headers: Mapping[str, str], account: str, key: str
) -> dict[str, str]:
    """Build the headers of a request, signed with the key of a storage account."""
    given = {name.lower(): value for name, value in headers.items()}
    parts = urlsplit(url)
    arguments = sorted(
        (name.lower(), value) for name, value in parse_qsl(parts.query, keep_blank_values=True)
    )
    values = [given.get(name, "") for name in _SIGNED]
    values[2] = "" if values[2] == "0" else values[2]
    own = "".join(f"{name}:{given[name]}\n" for name in sorted(given) if name.startswith("x-ms-"))
    resource = f"/{account}{parts.path or '/'}"
    resource += "".join(f"\n{name}:{value}" for name, value in arguments)
    text = "\n".join((method, *values, own + resource))
    try:
        secret = base64.b64decode(key, validate=True)
    except (binascii.Error, ValueError):
        raise CloudFailure("The access key of the storage account is not base64.") from None
    signature = base64.b64encode(hmac.digest(secret, text.encode(), hashlib.sha256)).decode()
    return {**given, "authorization": f"SharedKey {account}:{signature}"}


async def azure_token(
    client: Client, identity: AzureIdentity, login: str, resource: str, environ: Mapping[str, str]
) -> str:
    """Request an access token for a resource."""
    url = f"{login.rstrip('/')}/{identity.tenant}/oauth2/v2.0/token"
    proof = await _proof(client, identity, url) if identity.tenant and identity.client else {}
    if proof:
        form = {"client_id": identity.client, "scope": f"{resource.rstrip('/')}/.default"}
        form |= {"grant_type": "client_credentials", **proof}
        response = await client.request("POST", url, headers=_FORM, body=urlencode(form).encode())
        if response.status != 200:
            raise CloudFailure(f"Azure did not issue a token: {response.refusal().text}")
        return _member(response.json(), "access_token")
    if identity.uses_machine:
        return await _of_machine(client, identity, resource)
    if identity.uses_cli:
        return await _of_cli(identity, resource, environ)
    raise NoCredentials(
        "No credentials for Azure were found. Set access_key, a client secret or certificate, OIDC "
        'or use_msi, or run "az login".'
    )


async def _proof(client: Client, identity: AzureIdentity, url: str) -> Mapping[str, str]:
    """Build the client's proof of identity for a token URL; empty if there is none."""
    if identity.certificate is not None:
        assertion = identity.certificate.assertion(identity.client, url)
    elif identity.secret:
        return {"client_secret": identity.secret}
    elif not identity.assertion and identity.assertion_url and identity.assertion_token:
        assertion = await _asked_assertion(client, identity)
    else:
        assertion = identity.assertion
    if not assertion:
        return {}
    return {"client_assertion": assertion, "client_assertion_type": _ASSERTION}


async def _asked_assertion(client: Client, identity: AzureIdentity) -> str:
    """Request an OIDC token from the CI service that runs this program."""
    if identity.connection:
        query = {"api-version": "7.1", "serviceConnectionId": identity.connection}
        asked = await client.request(
            "POST",
            f"{identity.assertion_url}?{urlencode(query)}",
            # Without this header, Azure DevOps redirects to a login page.
            headers={"x-tfs-fedauthredirect": "Suppress"},
            credentials={"authorization": f"Bearer {identity.assertion_token}"},
            body=b"",
        )
        return _member(asked.require(200).json(), "oidcToken")
    separator = "&" if "?" in identity.assertion_url else "?"
    response = await client.get(
        f"{identity.assertion_url}{separator}audience=api%3A%2F%2FAzureADTokenExchange",
        credentials={"authorization": f"Bearer {identity.assertion_token}"},
    )
    return _member(response.require(200).json(), "value")


async def known_environment(client: Client, environment: AzureEnvironment) -> AzureEnvironment:
    """Complete the environment from its metadata host, if it has one."""
    host = environment.metadata_host
    if not host:
        return environment
    response = await client.get(f"https://{host}/metadata/endpoints?api-version=2023-11-01")
    found = response.require(200).json()
    try:
        assert isinstance(found, dict)
        authentication = found["authentication"]
        return AzureEnvironment(
            str(authentication["loginEndpoint"]).rstrip("/"),
            str(found["resourceManager"]).rstrip("/"),
            str(found["suffixes"]["storage"]),
            str(authentication["audiences"][0]),
        )
    except (AssertionError, KeyError, IndexError, TypeError):
        raise CloudFailure(
            f"{host} does not return the endpoints of an Azure environment."
        ) from None


async def _of_machine(client: Client, identity: AzureIdentity, resource: str) -> str:
    query = {"api-version": "2018-02-01", "resource": resource}
    if identity.client:
        query["client_id"] = identity.client
    url = f"{identity.machine_endpoint or _MACHINE}?{urlencode(query)}"
    try:
        response = await client.get(url, headers={"metadata": "true"}, policy=_QUICK)
        return _member(response.require(200).json(), "access_token")
    except NetFailure as failure:
        raise CloudFailure(f"The identity of this machine got no token: {failure.text}") from None


async def _of_cli(identity: AzureIdentity, resource: str, environ: Mapping[str, str]) -> str:
    from nigari.programs import run_program

    command = ["az", "account", "get-access-token", "--output", "json", "--resource", resource]
    command += ["--tenant", identity.tenant] if identity.tenant else []
    said = ""
    try:
        done = await run_program(command, environ)
        said = f" Its message: {done.error_text.rpartition(chr(10))[2]}." if done.error_text else ""
        if done.status:
            raise ValueError
        return _member(json.loads(done.output), "accessToken")
    except (OSError, ValueError):
        raise NoCredentials(
            "No credentials for Azure were found, and the Azure CLI has no token. Set "
            f'access_key, or run "az login".{said}'
        ) from None


def _member(document: object, name: str) -> str:
    found = document.get(name) if isinstance(document, dict) else None
    if not isinstance(found, str) or not found:
        raise CloudFailure("The token source for Azure returned an unexpected response.")
    return found
