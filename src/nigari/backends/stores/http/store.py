"""The backend `http`: one state at a URL, with locks where the server has them.

Reading is GET, writing POST (or another method), deleting DELETE; locks have methods and URLs of
their own. A server that gives strong entity tags gets them back with each write.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from nigari.backends.locking import LockInfo, parse_lock
from nigari.backends.protocol import DEFAULT_WORKSPACE
from nigari.backends.store import BackendFailure, Content, ContentChanged, StateIsLocked
from nigari.backends.stores.http_store import STATE_LIMIT, HttpStore
from nigari.clouds.arguments import Arguments
from nigari.diagnostics.secret_urls import hidden_url
from nigari.lazy import lazy_pattern
from nigari.net.client import Policy
from nigari.net.response import Response
from nigari.net.settings import Identity, Settings, read_settings
from nigari.net.urls import origin_of, with_query
from nigari.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_HEADER_NAME: Final = lazy_pattern(r"[A-Za-z0-9_-]+")
_RESERVED: Final = ("content-type", "content-md5")
_LOCKED: Final = (409, 423)
"""The statuses of a server that knows of another lock."""
_NO_TIME: Final = "0001-01-01T00:00:00Z"


@record
class Endpoints:
    """The address of the server, and the form of its requests."""

    address: str
    update_method: str
    lock_address: str
    lock_method: str
    unlock_address: str
    unlock_method: str


def open_store(arguments: Arguments) -> HttpStateStore:
    """The store that the arguments describe."""
    text = arguments.text
    endpoints = Endpoints(
        _url(arguments, "address", "TF_HTTP_ADDRESS", is_required=True),
        text("update_method", "TF_HTTP_UPDATE_METHOD", default="POST"),
        _url(arguments, "lock_address", "TF_HTTP_LOCK_ADDRESS"),
        text("lock_method", "TF_HTTP_LOCK_METHOD", default="LOCK"),
        _url(arguments, "unlock_address", "TF_HTTP_UNLOCK_ADDRESS"),
        text("unlock_method", "TF_HTTP_UNLOCK_METHOD", default="UNLOCK"),
    )
    policy = Policy(
        retries=arguments.number("retry_max", "TF_HTTP_RETRY_MAX", default=2),
        timeout=None,
        pause=float(arguments.number("retry_wait_min", "TF_HTTP_RETRY_WAIT_MIN", default=1)),
        longest_pause=float(
            arguments.number("retry_wait_max", "TF_HTTP_RETRY_WAIT_MAX", default=30)
        ),
        limit=STATE_LIMIT,
    )
    return HttpStateStore(
        _settings(arguments), endpoints, policy, _headers(arguments), _credentials(arguments)
    )


def _url(arguments: Arguments, name: str, variable: str, is_required: bool = False) -> str:
    found = arguments.required(name, variable) if is_required else arguments.text(name, variable)
    if found:
        try:
            origin_of(found)
        except ValueError as error:
            raise BackendFailure(f"The {name} {hidden_url(found)} is not valid: {error}.") from None
    return found


def _settings(arguments: Arguments) -> Settings:
    """The network's settings, with the certificates of the arguments."""
    settings = read_settings(arguments.environ)
    certificate = arguments.text("client_certificate_pem", "TF_HTTP_CLIENT_CERTIFICATE_PEM")
    key = arguments.text("client_private_key_pem", "TF_HTTP_CLIENT_PRIVATE_KEY_PEM")
    if bool(certificate) != bool(key):
        raise BackendFailure(
            "client_certificate_pem and client_private_key_pem must be set together."
        )
    return replace(
        settings,
        certificates=arguments.text(
            "client_ca_certificate_pem", "TF_HTTP_CLIENT_CA_CERTIFICATE_PEM"
        ),
        identity=Identity(certificate, key) if certificate else None,
        checks_certificates=not arguments.flag("skip_cert_verification"),
    )


def _headers(arguments: Arguments) -> dict[str, str]:
    headers = arguments.mapping("headers")
    has_user = bool(arguments.text("username", "TF_HTTP_USERNAME"))
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name):
            raise BackendFailure(
                f'"{name}" is not a valid header name: it may contain only letters, digits, "-" '
                'and "_".'
            )
        if not value.strip() or not value.isascii():
            raise BackendFailure(f'The value of the header "{name}" must be non-empty ASCII text.')
        if name.lower() in _RESERVED:
            raise BackendFailure(f'The header "{name}" is set by the backend itself.')
        if name.lower() == "authorization" and has_user:
            raise BackendFailure('The header "Authorization" cannot be set together with username.')
    return dict(headers)


def _credentials(arguments: Arguments) -> dict[str, str]:
    user = arguments.text("username", "TF_HTTP_USERNAME")
    if not user:
        return {}
    from base64 import b64encode

    password = arguments.text("password", "TF_HTTP_PASSWORD")
    pair = b64encode(f"{user}:{password}".encode()).decode()
    return {"authorization": f"Basic {pair}"}


class HttpStateStore(HttpStore):
    """One state at a URL."""

    has_workspaces: Final = False

    def __init__(
        self,
        settings: Settings,
        endpoints: Endpoints,
        policy: Policy,
        headers: dict[str, str],
        credentials: dict[str, str],
    ) -> None:
        super().__init__(settings)
        self._at = endpoints
        self._policy = policy
        self._headers = headers
        self._credentials = credentials
        self._lock_id = ""

    def location(self, workspace: str) -> str:
        return hidden_url(self._at.address)

    async def names(self) -> Sequence[str]:
        return (DEFAULT_WORKSPACE,)

    async def read(self, workspace: str) -> Content | None:
        response = await self._ask("GET", self._at.address)
        if response.status == 204 or response.status == 404:
            return None
        self._require(response, 200)
        if not response.body:
            return None
        return Content(response.body, _strong_tag(response))

    async def write(self, workspace: str, data: bytes, expected: str | None) -> str | None:
        url = self._at.address
        if self._lock_id:
            url = with_query(url, {"ID": self._lock_id})
        condition = {"If-Match": expected} if expected else {}
        response = await self._ask(self._at.update_method, url, data, condition)
        if response.status == 412 and expected:
            return await self._settle(data)
        if response.status in _LOCKED and self._lock_id:
            raise BackendFailure(f"{_lost_lock(response)} The state was not stored.")
        self._require(response, 200, 201, 204)
        return _strong_tag(response)

    async def _settle(self, data: bytes) -> str | None:
        """A write was refused. It may be ours, made by an attempt whose answer was lost."""
        found = await self.read(DEFAULT_WORKSPACE)
        if found is None or found.data != data:
            raise ContentChanged(
                "Another run has changed the state since it was read, so it was not replaced."
            )
        return found.version

    async def delete(self, workspace: str) -> None:
        response = await self._ask("DELETE", self._at.address)
        if response.status != 404:
            self._require(response, 200)

    async def lock(self, workspace: str, info: LockInfo) -> LockInfo:
        if not self._at.lock_address:
            return info
        # OpenTofu tells no path either, since the server knows what it locks.
        info = replace(info, path="")
        response = await self._ask(self._at.lock_method, self._at.lock_address, info.to_bytes())
        if response.status in _LOCKED:
            holder = parse_lock(response.body)
            # An attempt whose answer was lost may have been ours.
            if holder is None or holder.id != info.id:
                raise StateIsLocked(holder)
        else:
            self._require(response, 200)
        self._lock_id = info.id
        return info

    async def unlock(self, workspace: str, lock: LockInfo) -> None:
        if not self._lock_id:
            return
        self._lock_id = ""
        if self._at.unlock_address:
            await self._unlock(lock)

    async def force_unlock(self, workspace: str, lock_id: str) -> None:
        if not self._at.unlock_address:
            raise BackendFailure("The backend has no unlock_address, so locking is not enabled.")
        await self._unlock(LockInfo(lock_id, "", created=_NO_TIME))

    async def _unlock(self, lock: LockInfo) -> None:
        url, method = self._at.unlock_address, self._at.unlock_method
        response = await self._ask(method, url, lock.to_bytes())
        if response.status in _LOCKED:
            raise BackendFailure(_lost_lock(response))
        self._require(response, 200)

    async def _ask(
        self,
        method: str,
        url: str,
        body: bytes | None = None,
        condition: Mapping[str, str] = MappingProxyType({}),
    ) -> Response:
        headers = {**self._headers, **condition}
        if body is not None:
            headers |= {"Content-Type": "application/json", "Content-MD5": _md5(body)}
        return await self.client.request(
            method,
            url,
            headers=headers,
            credentials=self._credentials,
            body=body,
            policy=self._policy,
        )

    def _require(self, response: Response, *statuses: int) -> None:
        if response.status in statuses:
            return
        if response.status == 401:
            raise BackendFailure(
                "The server requires a user name and password. Set username and password, or "
                "TF_HTTP_USERNAME and TF_HTTP_PASSWORD."
            )
        if response.status == 403:
            raise BackendFailure("The server refuses the user name, the password or the token.")
        raise response.refusal()


def _md5(data: bytes) -> str:
    from base64 import b64encode
    from hashlib import md5

    return b64encode(md5(data, usedforsecurity=False).digest()).decode()


def _strong_tag(response: Response) -> str | None:
    """The entity tag, if it stands for the very bytes; others cannot be conditions of a write."""
    tag = response.headers.get("etag", "")
    return tag if tag.startswith('"') else None


def _lost_lock(response: Response) -> str:
    """A server that knows of another lock, or of none."""
    holder = parse_lock(response.body)
    now = f"is held by {holder.who} now" if holder is not None and holder.who else "is gone"
    return f"The server answered with status {response.status}: the lock of this run {now}."
