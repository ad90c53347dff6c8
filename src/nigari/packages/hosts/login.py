"""Login to a host: OAuth with an authorization code, OAuth with a password, or a manually created
token.

Owns the protocol: a host's login description, the requests, and the local server for the browser's
callback. Prompts and output are left to the caller.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Mapping
from urllib.parse import parse_qs, quote_plus, urlencode, urlsplit

from nigari.net.client import Client, Policy
from nigari.net.failures import NetFailure, StatusRefused
from nigari.net.urls import resolved
from nigari.packages.hosts.hosts import Host, HostError
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


CODE: Final = "authz_code"
PASSWORD: Final = "password"
# login.v1: without ports, any unprivileged one may be used.
_PORTS: Final = (1024, 65535)
_FORM: Final = {
    "content-type": "application/x-www-form-urlencoded",
    "accept": "application/json",
}
_PAGE: Final = (
    "<!DOCTYPE html><title>Login</title><p>The login is complete. Close this page and return to "
    "the terminal.</p>"
)
_LONGEST_HEAD: Final = 1 << 14
_POLICY: Final = Policy(retries=0, limit=1 << 20)


class LoginError(Exception):
    """A failed login; the text is full sentences for a diagnostic."""


@record
class LoginService:
    """A host's login description (`login.v1`)."""

    client: str
    grants: frozenset[str]
    authorization: str
    token: str
    ports: tuple[int, int] = _PORTS
    scopes: tuple[str, ...] = ()


def login_service(host: Host) -> LoginService:
    """Read the login description of a host; raise `ServiceMissing` if it has none."""
    found = host.object("login.v1")
    # login.v1: without grant_types, only the authorization code is supported.
    grants = found.get("grant_types", [CODE])
    if not isinstance(grants, list):
        raise _invalid(host, "grant_types must be a list")
    client = found.get("client")
    if not isinstance(client, str):
        raise _invalid(host, "client is missing")
    scopes = found.get("scopes", [])
    if not isinstance(scopes, list) or not all(isinstance(each, str) for each in scopes):
        raise _invalid(host, "scopes must be a list of strings")
    return LoginService(
        client,
        frozenset(each for each in grants if isinstance(each, str)),
        _url(host, found, "authz", is_needed=CODE in grants),
        _url(host, found, "token", is_needed=CODE in grants or PASSWORD in grants),
        _ports(host, found.get("ports")),
        tuple(scopes),
    )


class CodeLogin:
    """A login with an authorization code (RFC 6749, with the proof key of RFC 7636)."""

    def __init__(self, service: LoginService, callback: str) -> None:
        import hashlib
        from base64 import urlsafe_b64encode

        self._service = service
        self._callback = callback
        self._verifier = secrets.token_urlsafe(48)
        self.state: str = secrets.token_urlsafe(24)
        # RFC 7636: the server sees the verifier only when the code is exchanged, so that a stolen
        # code is worthless.
        digest = hashlib.sha256(self._verifier.encode()).digest()
        challenge = urlsafe_b64encode(digest).rstrip(b"=").decode("ascii")
        query = {
            "client_id": service.client,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
            "redirect_uri": callback,
            "response_type": "code",
            "state": self.state,
        }
        if service.scopes:
            query["scope"] = " ".join(service.scopes)
        joint = "&" if urlsplit(service.authorization).query else "?"
        self.url: str = f"{service.authorization}{joint}{urlencode(query)}"
        """URL of the login page."""

    async def token(self, client: Client, code: str) -> str:
        """Exchange the authorization code from the browser for a token."""
        return await _token(
            client,
            self._service,
            {
                "grant_type": "authorization_code",
                "code": code,
                "redirect_uri": self._callback,
                "code_verifier": self._verifier,
            },
        )


async def token_for_password(client: Client, service: LoginService, user: str, word: str) -> str:
    """Exchange a user name and password for a token."""
    form = {"grant_type": "password", "username": user, "password": word}
    if service.scopes:
        form["scope"] = " ".join(service.scopes)
    return await _token(client, service, form)


def tokens_page(service_url: str) -> str:
    """Return the page on which users create a token manually, for a host without a login service."""
    host = urlsplit(service_url).hostname
    return f"https://{host}/app/settings/tokens?source=terraform-login"


async def user_name(client: Client, service_url: str, token: str) -> str:
    """Return the name of a token's user."""
    base = service_url if service_url.endswith("/") else f"{service_url}/"
    try:
        answer = await client.get(
            resolved(base, "account/details"),
            headers={"accept": "application/vnd.api+json"},
            credentials={"authorization": f"Bearer {token}"},
            policy=_POLICY,
        )
        document = answer.require(200).json()
    except StatusRefused as refused:
        if refused.status == 401:
            raise LoginError("The host does not know this token.") from refused
        raise LoginError(f"The token cannot be checked. {refused.text}") from refused
    except NetFailure as failure:
        raise LoginError(f"The token cannot be checked. {failure.text}") from failure
    match document:
        case {"data": {"attributes": {"username": str(name)}}}:
            return name
    raise LoginError("The token cannot be checked: the host did not return its user.")


@contextlib.asynccontextmanager
async def callback_server(ports: tuple[int, int]) -> AsyncIterator[CallbackServer]:
    """Run a local server for the browser's callback within the context."""
    server = CallbackServer()
    listening = await _listen(server, ports)
    try:
        server.url = f"http://localhost:{listening.sockets[0].getsockname()[1]}/login"
        yield server
    finally:
        listening.close()


class CallbackServer:
    """Waits for the one request that has the code, and rejects all others."""

    def __init__(self) -> None:
        self.url = ""
        self.state = ""
        self.code: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, ValueError, asyncio.IncompleteReadError):
            async with asyncio.timeout(10):
                head = await reader.readuntil(b"\r\n\r\n")
            accepted = self._accept(head.split(b" ", 2)[1].decode("ascii", "replace"))
            body = _PAGE.encode() if accepted else b""
            status = "200 OK" if accepted else "400 Bad Request"
            writer.write(
                f"HTTP/1.1 {status}\r\ncontent-type: text/html\r\ncontent-length: {len(body)}\r\n"
                "connection: close\r\n\r\n".encode()
                + body
            )
            await writer.drain()
        writer.close()

    def _accept(self, target: str) -> bool:
        query = parse_qs(urlsplit(target).query)
        code = query.get("code", [""])[0]
        # RFC 6749, 10.12: state proves that the request belongs to this login.
        is_ours = secrets.compare_digest(query.get("state", [""])[0], self.state)
        if not (self.state and is_ours and code) or self.code.done():
            return False
        self.code.set_result(code)
        return True


async def _listen(server: CallbackServer, ports: tuple[int, int]) -> asyncio.Server:
    low, high = ports
    count = max(high - low, 1)
    for _ in range(count + count // 2 + 1):
        # OpenTofu also draws the port at random: a fixed one could be taken by another program on
        # purpose.
        port = low + secrets.randbelow(count)
        with contextlib.suppress(OSError):
            return await asyncio.start_server(server.serve, "127.0.0.1", port, limit=_LONGEST_HEAD)
    raise LoginError(
        f"No port between {low} and {high} is free on this machine for the browser to return to."
    )


async def _token(client: Client, service: LoginService, form: Mapping[str, str]) -> str:
    body = urlencode({"client_id": service.client, **form}, quote_via=quote_plus).encode()
    try:
        answer = await client.request(
            "POST", service.token, headers=_FORM, body=body, policy=_POLICY
        )
        document = answer.require().json()
    except NetFailure as failure:
        raise LoginError(f"The host returned no token. {failure.text}") from failure
    match document:
        case {"access_token": str(token)} if token:
            return token
    raise LoginError("The host returned no token: its response has no access_token.")


def _url(host: Host, found: Mapping[str, object], name: str, is_needed: bool) -> str:
    value = found.get(name)
    if isinstance(value, str):
        return host.resolved("login.v1", value)
    if is_needed:
        raise _invalid(host, f"{name} is missing")
    return ""


def _ports(host: Host, value: object) -> tuple[int, int]:
    if value is None:
        return _PORTS
    match value:
        case [int(low) | float(low), int(high) | float(high)] if (
            low == int(low) and high == int(high) and 1024 <= low <= high <= 65535
        ):
            return int(low), int(high)
    raise _invalid(host, "ports must be two whole numbers between 1024 and 65535, in order")


def _invalid(host: Host, what: str) -> HostError:
    return HostError(f"The login of {host.name} is not described correctly: {what}.")
