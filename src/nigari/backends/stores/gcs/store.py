"""The backend `gcs`: a state and a lock per workspace as objects of a bucket of Google Cloud Storage.

The number that each version of an object has, its generation, is the condition of writes and the id
of locks.
"""

from __future__ import annotations

import base64
import binascii
import os
import time
from collections.abc import Mapping, Sequence
from urllib.parse import quote, urlencode, urlsplit

from nigari.backends.locking import LockInfo, parse_lock
from nigari.backends.store import (
    ABSENT,
    BackendFailure,
    Content,
    ContentChanged,
    StateIsLocked,
)
from nigari.backends.stores.http_store import STATE_LIMIT, HttpStore
from nigari.clouds.arguments import Arguments
from nigari.clouds.google import access_token, impersonated, token_of_credentials
from nigari.net.client import Policy
from nigari.net.response import Response
from nigari.net.settings import Settings, read_settings
from nigari.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_SCOPE: Final = "https://www.googleapis.com/auth/devstorage.read_write"
_WIDE_SCOPE: Final = "https://www.googleapis.com/auth/cloud-platform"
_API: Final = "/storage/v1"
_STATE: Final = ".tfstate"
_LOCK: Final = ".tflock"
_TOKEN_LASTS: Final = 3000.0
_LOCK_ATTEMPTS: Final = 5
_POLICY: Final = Policy(retries=4, timeout=None, limit=STATE_LIMIT)
_KEY_SIZE: Final = 32


@record
class Who:
    """As whom Google is asked."""

    token: str
    credentials: str
    account: str
    """A service account to act as."""
    delegates: tuple[str, ...]
    environ: Mapping[str, str]


@record
class StateObjects:
    """The location of the objects, and their encryption."""

    bucket: str
    prefix: str
    endpoint: str
    """With the path of the API; of an emulator, which asks for no token."""
    is_emulator: bool
    key: Mapping[str, str]
    """The headers without which a state cannot be read."""
    kms_key: str


def open_store(arguments: Arguments) -> GcsStore:
    """The store that the arguments describe."""
    text = arguments.text
    who = Who(
        text("access_token", "GOOGLE_OAUTH_ACCESS_TOKEN"),
        text("credentials", "GOOGLE_BACKEND_CREDENTIALS", "GOOGLE_CREDENTIALS"),
        text(
            "impersonate_service_account",
            "GOOGLE_BACKEND_IMPERSONATE_SERVICE_ACCOUNT",
            "GOOGLE_IMPERSONATE_SERVICE_ACCOUNT",
        ),
        tuple(arguments.texts("impersonate_service_account_delegates")),
        arguments.environ,
    )
    prefix = text("prefix").lstrip("/")
    emulator = arguments.environ.get("STORAGE_EMULATOR_HOST", "")
    domain = text("universe_domain", "GOOGLE_BACKEND_UNIVERSE_DOMAIN", default="googleapis.com")
    endpoint = text(
        "storage_custom_endpoint",
        "GOOGLE_BACKEND_STORAGE_CUSTOM_ENDPOINT",
        "GOOGLE_STORAGE_CUSTOM_ENDPOINT",
    )
    objects = StateObjects(
        arguments.required("bucket"),
        f"{prefix}/" if prefix and not prefix.endswith("/") else prefix,
        _endpoint(endpoint or emulator or f"https://storage.{domain}"),
        bool(emulator) and not endpoint,
        _key_headers(text("encryption_key", "GOOGLE_ENCRYPTION_KEY")),
        text("kms_encryption_key", "GOOGLE_KMS_ENCRYPTION_KEY"),
    )
    return GcsStore(read_settings(arguments.environ), objects, who)


def _endpoint(text: str) -> str:
    url = (text if "://" in text else f"http://{text}").rstrip("/").removesuffix("/b")
    return url if urlsplit(url).path else f"{url}{_API}"


def _key_headers(given: str) -> Mapping[str, str]:
    """The headers for a key that is given in base64, or as the path of a file of that."""
    if not given:
        return {}
    path = os.path.expanduser(given)
    if os.path.isfile(path):
        with open(path, encoding="utf-8", errors="replace") as file:
            given = file.read().strip()
    try:
        key = base64.b64decode(given, validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) != _KEY_SIZE:
        raise BackendFailure("The encryption_key must be 32 bytes in base64, or a file of that.")
    from hashlib import sha256

    return {
        "x-goog-encryption-algorithm": "AES256",
        "x-goog-encryption-key": given,
        "x-goog-encryption-key-sha256": base64.b64encode(sha256(key).digest()).decode(),
    }


class GcsStore(HttpStore):
    """The states in a bucket."""

    has_workspaces: Final = True

    def __init__(self, settings: Settings, objects: StateObjects, who: Who) -> None:
        super().__init__(settings)
        self._objects = objects
        self._who = who
        self._token = ""
        self._token_ends = 0.0

    def location(self, workspace: str) -> str:
        return f"gs://{self._objects.bucket}/{self._name(workspace, _STATE)}"

    def _name(self, workspace: str, suffix: str) -> str:
        return f"{self._objects.prefix}{workspace}{suffix}"

    # -- contents -------------------------------------------------------------------------------

    async def names(self) -> Sequence[str]:
        objects, found, page = self._objects, [], ""
        while True:
            query = {"prefix": objects.prefix, "delimiter": "/", "fields": _LISTED}
            if page:
                query["pageToken"] = page
            url = f"{self._bucket_url}?{urlencode(query)}"
            answer = self._required(await self._ask("GET", url), 200).json()
            document = answer if isinstance(answer, dict) else {}
            for item in document.get("items") or ():
                name = str(item.get("name", "")).rpartition("/")[2]
                if name.endswith(_STATE):
                    found.append(name.removesuffix(_STATE))
            page = str(document.get("nextPageToken") or "")
            if not page:
                return found

    async def read(self, workspace: str) -> Content | None:
        return await self._get(self._name(workspace, _STATE), self._objects.key)

    async def write(self, workspace: str, data: bytes, expected: str | None) -> str | None:
        name = self._name(workspace, _STATE)
        query = {"kmsKeyName": self._objects.kms_key} if self._objects.kms_key else {}
        if expected is not None:
            query["ifGenerationMatch"] = "0" if expected == ABSENT else expected
        response = await self._put(name, data, query, self._objects.key)
        if response.status == 412:
            found = await self.read(workspace)
            # A write that was refused may be ours, made by an attempt whose answer was lost.
            if found is None or found.data != data:
                raise ContentChanged(
                    "Another run has changed the state since it was read, so it was not replaced."
                )
            return found.version
        return _generation(self._required(response, 200))

    async def delete(self, workspace: str) -> None:
        response = await self._ask("DELETE", self._url(self._name(workspace, _STATE)))
        if response.status != 404:
            self._required(response, 200, 204)

    # -- locks ----------------------------------------------------------------------------------

    async def lock(self, workspace: str, info: LockInfo) -> LockInfo:
        name = self._name(workspace, _LOCK)
        info = replace(info, path=f"gs://{self._objects.bucket}/{name}")
        for _ in range(_LOCK_ATTEMPTS):
            response = await self._put(name, info.to_bytes(), {"ifGenerationMatch": "0"}, {})
            if response.status != 412:
                return replace(info, id=_generation(self._required(response, 200)))
            found = await self._get(name, {})
            if found is None:
                continue  # it was removed meanwhile
            holder = parse_lock(found.data)
            # An attempt whose answer was lost may have been ours.
            if holder is not None and holder.id == info.id:
                return replace(info, id=found.version or "")
            raise StateIsLocked(holder and replace(holder, id=found.version or ""))
        raise StateIsLocked(None)

    async def unlock(self, workspace: str, lock: LockInfo) -> None:
        await self.force_unlock(workspace, lock.id)

    async def force_unlock(self, workspace: str, lock_id: str) -> None:
        if not lock_id.isascii() or not lock_id.isdigit():
            raise BackendFailure(f'The ID of a lock is a number here, and "{lock_id}" is not.')
        url = self._url(self._name(workspace, _LOCK))
        response = await self._ask("DELETE", f"{url}?ifGenerationMatch={lock_id}")
        if response.status == 404:
            raise BackendFailure("The state is not locked.")
        if response.status == 412:
            raise BackendFailure("The state is locked with another ID.")
        self._required(response, 200, 204)

    # -- requests -------------------------------------------------------------------------------

    @property
    def _bucket_url(self) -> str:
        return f"{self._objects.endpoint}/b/{quote(self._objects.bucket, safe='')}/o"

    def _url(self, name: str) -> str:
        return f"{self._bucket_url}/{quote(name, safe='')}"

    async def _get(self, name: str, headers: Mapping[str, str]) -> Content | None:
        response = await self._ask("GET", f"{self._url(name)}?alt=media", headers=headers)
        if response.status == 404 and b"bucket does not exist" not in response.body:
            return None
        self._required(response, 200)
        return Content(response.body, response.headers.get("x-goog-generation"))

    async def _put(
        self, name: str, data: bytes, query: Mapping[str, str], headers: Mapping[str, str]
    ) -> Response:
        base = self._bucket_url.replace(_API, f"/upload{_API}", 1)
        url = f"{base}?{urlencode({'uploadType': 'media', 'name': name, **query})}"
        return await self._ask("POST", url, data, {"content-type": "application/json", **headers})

    async def _ask(
        self,
        method: str,
        url: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        token = await self._current_token()
        return await self.client.request(
            method,
            url,
            headers=headers or {},
            credentials={"authorization": f"Bearer {token}"} if token else {},
            body=body,
            policy=_POLICY,
        )

    async def _current_token(self) -> str:
        if self._objects.is_emulator:
            return ""
        if self._token_ends < time.monotonic():
            try:
                self._token = await self._find_token()
            except ValueError as error:
                raise BackendFailure(f"The credentials cannot be used: {error}.") from None
            self._token_ends = time.monotonic() + _TOKEN_LASTS
        return self._token

    async def _find_token(self) -> str:
        who = self._who
        scope = _WIDE_SCOPE if who.account else _SCOPE
        if who.token:
            token = who.token
        elif who.credentials:
            token = await token_of_credentials(self.client, who.credentials, scope)
        else:
            token = await access_token(self.client, who.environ, scope)
        if not token:
            raise BackendFailure(
                "No credentials for Google Cloud were found. Set credentials or "
                'GOOGLE_CREDENTIALS, or run "gcloud auth application-default login".'
            )
        if who.account:
            return await impersonated(self.client, token, who.account, who.delegates, _SCOPE)
        return token

    def _required(self, response: Response, *statuses: int) -> Response:
        if response.status == 404:
            raise BackendFailure(
                f'There is no bucket "{self._objects.bucket}", or no access to it.'
            )
        if response.status in (401, 403):
            advice = " Log in again, or get new credentials." if response.status == 401 else ""
            raise BackendFailure(
                f"Google Cloud refuses: {response.said or 'not authorized'}.{advice}"
            )
        return response.require(*statuses)


_LISTED: Final = "items(name),nextPageToken"


def _generation(response: Response) -> str:
    document = response.json()
    return str(document.get("generation", "")) if isinstance(document, dict) else ""
