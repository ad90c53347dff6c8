"""Requests to Consul: keys, transactions and sessions, as data."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from urllib.parse import quote, urlencode

from nigari.backends.store import BackendFailure
from nigari.backends.stores.http_store import STATE_LIMIT
from nigari.clouds.arguments import Arguments
from nigari.net.client import Client, Policy
from nigari.net.response import Response
from nigari.net.settings import Identity, Settings, read_settings
from nigari.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


LOCK_FLAGS: Final = 0x2DDCCBC058A50C18
"""The mark by which Consul's own tools know a key that is a lock."""
_SESSION: Final = {"Name": "Consul API Lock", "TTL": "15s", "LockDelay": "5000ms"}
_POLICY: Final = Policy(timeout=None, limit=STATE_LIMIT)


@record
class Server:
    """The address of Consul, and the credentials."""

    url: str
    query: Mapping[str, str]
    secrets: Mapping[str, str]


@record
class Pair:
    """The value of a key."""

    value: bytes
    index: int
    session: str = ""


class TooLargeForOne(Exception):
    """A value that does not fit into one key."""


class ConditionFailed(Exception):
    """A transaction whose condition does not hold."""


def read_server(arguments: Arguments) -> tuple[Settings, Server]:
    """The Consul settings of the arguments and the environment."""
    text, environ = arguments.text, arguments.environ
    is_tls = environ.get("CONSUL_HTTP_SSL", "").lower() in ("1", "t", "true")
    address = text("address", "CONSUL_HTTP_ADDR", default="127.0.0.1:8500")
    given, separator, rest = address.partition("://")
    scheme = text("scheme") or (given if separator else ("https" if is_tls else "http"))
    query = {"dc": text("datacenter")} if text("datacenter") else {}
    if environ.get("CONSUL_NAMESPACE"):
        query["ns"] = environ["CONSUL_NAMESPACE"]
    secrets: dict[str, str] = {}
    token = text("access_token", "CONSUL_HTTP_TOKEN") or _content(
        environ.get("CONSUL_HTTP_TOKEN_FILE", "")
    )
    if token:
        secrets["x-consul-token"] = token.strip()
    user = text("http_auth", "CONSUL_HTTP_AUTH")
    if user:
        pair = user if ":" in user else f"{user}:"
        secrets["authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    url = f"{scheme}://{rest if separator else address}".rstrip("/")
    return _settings(arguments), Server(url, query, secrets)


def _settings(arguments: Arguments) -> Settings:
    certificate = _content(arguments.text("cert_file", "CONSUL_CLIENT_CERT"))
    key = _content(arguments.text("key_file", "CONSUL_CLIENT_KEY"))
    checks = arguments.environ.get("CONSUL_HTTP_SSL_VERIFY", "").lower()
    return replace(
        read_settings(arguments.environ),
        certificates=_content(arguments.text("ca_file", "CONSUL_CACERT")),
        identity=Identity(certificate, key) if certificate and key else None,
        checks_certificates=checks not in ("0", "f", "false"),
    )


def _content(path: str) -> str:
    if not path:
        return ""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise BackendFailure(f"{path} cannot be read: {reason}.") from None


class Consul:
    """The requests to Consul."""

    def __init__(self, client: Client, server: Server) -> None:
        self._client = client
        self._server = server

    async def get(self, key: str) -> Pair | None:
        response = await self._ask("GET", _key(key))
        if response.status == 404:
            return None
        found = self._required(response).json()
        member = found[0] if isinstance(found, list) and found else {}
        value = base64.b64decode(member.get("Value") or "")
        return Pair(value, int(member.get("ModifyIndex", 0)), str(member.get("Session") or ""))

    async def put(self, key: str, value: bytes, **query: str) -> bool:
        response = self._required(await self._ask("PUT", _key(key), value, **query))
        return response.body.strip() == b"true"

    async def delete(self, key: str, **query: str) -> None:
        self._required(await self._ask("DELETE", _key(key), None, **query))

    async def keys(self, prefix: str) -> Sequence[str]:
        response = await self._ask("GET", _key(prefix), keys="", separator="/")
        if response.status == 404:
            return ()
        found = self._required(response).json()
        return [str(each) for each in found] if isinstance(found, list) else ()

    async def store(self, key: str, value: bytes, index: int | None) -> int:
        """Set a key, if its index is the given one (0: if there is none); its new index."""
        operation: dict[str, object] = {
            "Verb": "set" if index is None else "cas",
            "Key": key,
            "Value": base64.b64encode(value).decode(),
            "Index": index or 0,
        }
        body = json.dumps([{"KV": operation}]).encode()
        response = await self._ask("PUT", "/v1/txn", body)
        if response.status == 413 or b"too large" in response.body:
            raise TooLargeForOne
        if response.status == 409:
            raise ConditionFailed
        found = self._required(response).json()
        results = found.get("Results") if isinstance(found, dict) else None
        return int(results[0]["KV"]["ModifyIndex"]) if results else 0

    async def new_session(self) -> str:
        body = json.dumps(_SESSION).encode()
        found = self._required(await self._ask("PUT", "/v1/session/create", body)).json()
        return str(found["ID"]) if isinstance(found, dict) else ""

    async def renew(self, session: str) -> bool:
        """Renew the session and return whether it still exists."""
        response = await self._ask("PUT", f"/v1/session/renew/{quote(session)}")
        return response.status != 404 and bool(self._required(response))

    async def end_session(self, session: str) -> None:
        self._required(await self._ask("PUT", f"/v1/session/destroy/{quote(session)}"))

    async def _ask(
        self, method: str, path: str, body: bytes | None = None, **query: str
    ) -> Response:
        asked = urlencode({**self._server.query, **query})
        return await self._client.request(
            method,
            f"{self._server.url}{path}{f'?{asked}' if asked else ''}",
            credentials=self._server.secrets,
            body=body,
            policy=_POLICY,
        )

    def _required(self, response: Response) -> Response:
        if response.status == 403:
            raise BackendFailure(f"Consul refuses: {response.said or 'permission denied'}.")
        return response.require(200)


def _key(key: str) -> str:
    return f"/v1/kv/{quote(key, safe='/')}"
