"""The blobs of the backend `azurerm`: states, locked by leases, whose metadata name the holder.

A write has the condition that the blob is still the one that was read. Credentials and tokens are
in `nigari.clouds.azure`.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from urllib.parse import quote, urlencode

from nigari.backends.locking import LockInfo, parse_lock
from nigari.backends.protocol import DEFAULT_WORKSPACE
from nigari.backends.store import (
    ABSENT,
    BackendFailure,
    Content,
    ContentChanged,
    StateIsLocked,
)
from nigari.backends.stores.azurerm.access import Access, StorageAccount, read_account
from nigari.backends.stores.http_store import STATE_LIMIT, HttpStore
from nigari.clouds.arguments import Arguments
from nigari.clouds.azure_identity import read_identity
from nigari.net.client import Policy
from nigari.net.response import Response
from nigari.net.settings import Settings, read_settings
from nigari.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_INFO: Final = "terraformlockid"
_META: Final = "x-ms-meta-"
_POLICY: Final = Policy(retries=4, timeout=300.0, limit=STATE_LIMIT)
_NAME: Final = re.compile(r"<Name>([^<]*)</Name>")
_MARKER: Final = re.compile(r"<NextMarker>([^<]+)</NextMarker>")


def open_store(arguments: Arguments) -> AzureStore:
    """The store that the arguments describe."""
    account = read_account(arguments)
    access = Access(account, read_identity(arguments), arguments.environ)
    return AzureStore(read_settings(arguments.environ), access)


class AzureStore(HttpStore):
    """The states in a container."""

    has_workspaces: Final = True

    def __init__(self, settings: Settings, access: Access) -> None:
        super().__init__(settings)
        self._access = access
        self._leases: dict[str, str] = {}

    @property
    def _account(self) -> StorageAccount:
        return self._access.account

    async def open(self) -> None:
        await super().open()
        await self._access.find_environment(self.client)

    def location(self, workspace: str) -> str:
        return f"{self._account.url}/{self._blob(workspace)}"

    def _blob(self, workspace: str) -> str:
        key = self._account.key
        return key if workspace == DEFAULT_WORKSPACE else f"{key}env:{workspace}"

    # -- contents -------------------------------------------------------------------------------

    async def names(self) -> Sequence[str]:
        from html import unescape

        prefix, marker, found = f"{self._account.key}env:", "", []
        while True:
            query = {"comp": "list", "prefix": prefix, "restype": "container"}
            if marker:
                query["marker"] = marker
            response = await self._ask("GET", f"{self._account.url}?{urlencode(query)}")
            text = self._required(response, 200).body.decode("utf-8", "replace")
            for each in _NAME.findall(text):
                name = unescape(each)
                if name.startswith(prefix) and "/" not in name.removeprefix(prefix):
                    found.append(name.removeprefix(prefix))
            next_marker = _MARKER.search(text)
            if next_marker is None:
                return found
            marker = unescape(next_marker[1])

    async def read(self, workspace: str) -> Content | None:
        headers = {**self._lease(workspace), **self._account.encryption}
        response = await self._ask("GET", self._url(workspace), headers=headers)
        if self._is_missing(response):
            return None
        self._required(response, 200, 206)
        return Content(response.body, response.headers.get("etag"))

    async def write(self, workspace: str, data: bytes, expected: str | None) -> str | None:
        known = await self._properties(workspace)
        if self._account.has_snapshots and known is not None:
            url = f"{self._url(workspace)}?comp=snapshot"
            headers = {**self._lease(workspace), **self._account.encryption}
            self._required(await self._ask("PUT", url, b"", headers), 201)
        condition: dict[str, str] = {}
        if expected is not None:
            condition = {"if-none-match": "*"} if expected == ABSENT else {"if-match": expected}
        metadata = {} if known is None else _metadata(known)
        response = await self._put(workspace, data, {**condition, **_as_headers(metadata)})
        if response.status in (409, 412) and expected is not None:
            found = await self.read(workspace)
            # A write that was refused may be ours, made by an attempt whose answer was lost.
            if found is None or found.data != data:
                raise ContentChanged(
                    "Another run has changed or locked the state since it was read, so it was "
                    "not replaced."
                )
            return found.version
        return self._required(response, 201).headers.get("etag")

    async def delete(self, workspace: str) -> None:
        headers = {**self._lease(workspace), "x-ms-delete-snapshots": "include"}
        response = await self._ask("DELETE", self._url(workspace), headers=headers)
        if not self._is_missing(response):
            self._required(response, 202)

    # -- locks ----------------------------------------------------------------------------------

    async def lock(self, workspace: str, info: LockInfo) -> LockInfo:
        # As the library of Azure that OpenTofu uses writes a URL.
        path = f"{self._account.url}/{quote(self._blob(workspace), safe='$&+:=@')}"
        info = replace(info, path=path)
        known = await self._properties(workspace) or await self._created(workspace)
        if known is not None and known.headers.get("x-ms-lease-status") == "locked":
            raise StateIsLocked(_holder(known))
        asked = {
            "x-ms-lease-action": "acquire",
            "x-ms-lease-duration": "-1",
            "x-ms-proposed-lease-id": info.id,
        }
        response = await self._ask("PUT", f"{self._url(workspace)}?comp=lease", b"", asked)
        if response.status == 409:
            known = await self._properties(workspace)
            raise StateIsLocked(None if known is None else _holder(known))
        self._required(response, 201)
        self._leases[workspace] = info.id
        try:
            await self._tell(workspace, known, base64.b64encode(info.to_bytes()).decode())
        except BaseException:
            await self._release(workspace)
            raise
        return info

    async def unlock(self, workspace: str, lock: LockInfo) -> None:
        await self.force_unlock(workspace, lock.id)

    async def force_unlock(self, workspace: str, lock_id: str) -> None:
        known = await self._properties(workspace)
        holder = None if known is None else _holder(known)
        if holder is None:
            raise BackendFailure(
                "The state is not locked, or its lock has no information about its holder."
            )
        if holder.id != lock_id:
            raise BackendFailure(f'The state is locked with another ID, "{holder.id}".')
        self._leases[workspace] = lock_id
        try:
            await self._tell(workspace, known, "")
        finally:
            await self._release(workspace)

    async def _created(self, workspace: str) -> Response | None:
        """Make an empty blob, which can be locked; give the properties of one made meanwhile."""
        created = await self._put(workspace, b"", {"if-none-match": "*"})
        if created.status in (409, 412):
            return await self._properties(workspace)
        self._required(created, 201)
        return None

    async def _tell(self, workspace: str, known: Response | None, text: str) -> None:
        """Say in the metadata of the blob whose lock it is, or nothing any more.

        Those that were known before the lock are still right: only locks change them.
        """
        metadata = {} if known is None else _metadata(known)
        metadata.pop(_INFO, None)
        if text:
            metadata[_INFO] = text
        headers = {**self._lease(workspace), **self._account.encryption, **_as_headers(metadata)}
        url = f"{self._url(workspace)}?comp=metadata"
        self._required(await self._ask("PUT", url, b"", headers), 200)

    async def _release(self, workspace: str) -> None:
        headers = {**self._lease(workspace), "x-ms-lease-action": "release"}
        self._leases.pop(workspace, None)
        url = f"{self._url(workspace)}?comp=lease"
        self._required(await self._ask("PUT", url, b"", headers), 200)

    # -- requests -------------------------------------------------------------------------------

    def _url(self, workspace: str) -> str:
        return f"{self._account.url}/{quote(self._blob(workspace), safe='/-_.~')}"

    def _lease(self, workspace: str) -> dict[str, str]:
        lease = self._leases.get(workspace)
        return {"x-ms-lease-id": lease} if lease else {}

    async def _properties(self, workspace: str) -> Response | None:
        headers = {**self._lease(workspace), **self._account.encryption}
        response = await self._ask("HEAD", self._url(workspace), headers=headers)
        if self._is_missing(response):
            return None
        return self._required(response, 200)

    async def _put(self, workspace: str, data: bytes, headers: Mapping[str, str]) -> Response:
        more = {
            "x-ms-blob-type": "BlockBlob",
            "content-type": "application/json",
            **self._lease(workspace),
            **self._account.encryption,
            **headers,
        }
        return await self._ask("PUT", self._url(workspace), data, more)

    async def _ask(
        self,
        method: str,
        url: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        wanted = dict(headers or {})
        if body is not None:
            wanted["content-length"] = str(len(body))
        allowed_url, allowed = await self._access.allowed(self.client, method, url, wanted)
        return await self.client.request(
            method, allowed_url, headers=allowed, body=body, policy=_POLICY
        )

    def _is_missing(self, response: Response) -> bool:
        code = response.headers.get("x-ms-error-code", "")
        return response.status == 404 and code != "ContainerNotFound"

    def _required(self, response: Response, *statuses: int) -> Response:
        if response.status in statuses:
            return response
        code = response.headers.get("x-ms-error-code", "")
        if code == "ContainerNotFound":
            raise BackendFailure(f'There is no container "{self._account.container}".')
        if code:
            what = f"Azure refuses with status {response.status}: {code}"
            message = _MESSAGE.search(response.body[: 1 << 16].decode("utf-8", "replace"))
            what += f", {message[1].strip().rstrip('.')}" if message else ""
            raise BackendFailure(f"{what}. {_ADVICE.get(code, '')}".rstrip())
        raise response.refusal()


_MESSAGE: Final = re.compile(r"<Message>([^<\n]+)")
"""The first line; those after it tell the ID of the request."""
_ADVICE: Final[Mapping[str, str]] = {
    "AuthenticationFailed": "Check the access key or the SAS token, and the clock of this machine.",
    "AuthorizationFailure": "The network rules of the storage account may not allow this machine.",
    "AuthorizationPermissionMismatch": "The caller needs the role Storage Blob Data Contributor.",
    "KeyBasedAuthenticationNotPermitted": "Set use_azuread_auth to true.",
}
"""Advice about a request that Azure refused."""


def _metadata(response: Response) -> dict[str, str]:
    return {
        name.removeprefix(_META): value
        for name, value in response.headers.items()
        if name.startswith(_META)
    }


def _as_headers(metadata: Mapping[str, str]) -> dict[str, str]:
    return {f"{_META}{name}": value for name, value in metadata.items()}


def _holder(response: Response) -> LockInfo | None:
    try:
        return parse_lock(base64.b64decode(_metadata(response).get(_INFO, ""), validate=True))
    except (binascii.Error, ValueError):
        return None
