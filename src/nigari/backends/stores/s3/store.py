"""The objects of the backend `s3`: states and lock files.

A write has the condition that the object is still the one that was read. Locks are objects, items
of a DynamoDB table (`table`), or both. Signatures and credentials are in `nigari.clouds.aws`.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from nigari.backends.locking import LockInfo, parse_lock
from nigari.backends.store import (
    ABSENT,
    BackendFailure,
    Content,
    ContentChanged,
    StateIsLocked,
)
from nigari.backends.stores.http_store import HttpStore
from nigari.backends.stores.s3.settings import (
    S3Connection,
    StateBucket,
    read_bucket,
    read_connection,
)
from nigari.backends.stores.s3.table import LockTable
from nigari.clouds.arguments import Arguments
from nigari.clouds.aws.client import AwsClient, failure_of, refusal_of
from nigari.clouds.aws.credentials import CredentialChain
from nigari.clouds.aws.roles import account_of
from nigari.clouds.aws.signing import Credentials, encoded
from nigari.clouds.failures import CloudFailure
from nigari.net.response import Response
from nigari.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_LOCK_SUFFIX: Final = ".tflock"
_CONFLICT: Final = 409
_REFUSED: Final = 412
_LOCK_ATTEMPTS: Final = 5
_PATIENCE: Final = 10.0
_POLL: Final = 2.0


def open_store(arguments: Arguments) -> S3Store:
    """The store that the arguments describe."""
    return S3Store(read_bucket(arguments), read_connection(arguments))


class S3Store(HttpStore):
    """The states in a bucket."""

    has_workspaces: Final = True

    def __init__(self, bucket: StateBucket, connection: S3Connection) -> None:
        super().__init__(connection.settings)
        self._bucket = bucket
        self._connection = connection
        self._chain = CredentialChain(connection.sources, connection.sts, connection.policy)
        self._can_have_conditions = True
        self._is_checked = False

    def location(self, workspace: str) -> str:
        return f"{self._bucket.name}/{self._bucket.object_of(workspace)}"

    # -- contents -------------------------------------------------------------------------------

    async def names(self) -> Sequence[str]:
        bucket = self._bucket
        prefix = f"{bucket.prefix}/" if bucket.prefix else ""
        found: list[str] = []
        token = ""
        while True:
            query = {"list-type": "2", "max-keys": "1000", "prefix": prefix}
            if token:
                query["continuation-token"] = token
            url = f"{self._connection.s3.url}?{urlencode(sorted(query.items()))}"
            response = await self._send("GET", url)
            if response.status == 403 and refusal_of(response).code == "AccessDenied":
                return ()
            keys, token = _listed(self._required(response, 200))
            for key in keys:
                name, slash, rest = key.removeprefix(prefix).partition("/")
                if key.startswith(prefix) and slash and rest == bucket.key:
                    found.append(name)
            if not token:
                return found

    async def read(self, workspace: str) -> Content | None:
        import asyncio
        import time

        deadline = time.monotonic() + _PATIENCE
        while True:
            found = await self._get(self._bucket.object_of(workspace))
            digest = "" if found is None or not found.data else _md5(found.data)
            expected = await self._expected_digest(workspace)
            if not expected or expected == digest:
                return found
            if time.monotonic() >= deadline:
                raise BackendFailure(
                    f"The state has the MD5 digest {digest or '(none)'}, but the DynamoDB table "
                    f"{self._bucket.table} says {expected}. Another write may not be visible yet: "
                    "try again. If the state is right as it is, set the Digest of the item "
                    f'"{self.location(workspace)}-md5" to the digest that it has.'
                )
            await asyncio.sleep(_POLL)

    async def _expected_digest(self, workspace: str) -> str:
        table = self._table
        if table is None:
            return ""
        try:
            return await table.digest(self.location(workspace))
        except CloudFailure:
            # Who may not read the table may read the state all the same.
            return ""

    async def write(self, workspace: str, data: bytes, expected: str | None) -> str | None:
        key = self._bucket.object_of(workspace)
        response = await self._put(key, data, self._bucket.state_tags, self._condition(expected))
        if response.status == 501 and expected is not None and self._can_have_conditions:
            # Not every store that speaks S3 knows conditions.
            self._can_have_conditions = False
            response = await self._put(key, data, self._bucket.state_tags, {})
        is_missing = response.status == 404 and refusal_of(response).code == "NoSuchKey"
        if expected is not None and (response.status in (_REFUSED, _CONFLICT) or is_missing):
            version = await self._settle(key, data)
        else:
            version = self._required(response, 200).headers.get("etag")
        await self._put_digest(workspace, data)
        return version

    async def _put_digest(self, workspace: str, data: bytes) -> None:
        """Without the right to do so nothing is wrong, unless there is one, which is now of old."""
        table = self._table
        if table is None:
            return
        try:
            await table.put_digest(self.location(workspace), _md5(data))
        except CloudFailure as failure:
            if not await self._expected_digest(workspace):
                return
            raise BackendFailure(
                f"The state was stored, but not its digest in the DynamoDB table {table.name}, so "
                f"it cannot be read any more: {failure.text}"
            ) from None

    def _condition(self, expected: str | None) -> Mapping[str, str]:
        if expected is None or not self._can_have_conditions:
            return {}
        return {"if-none-match": "*"} if expected == ABSENT else {"if-match": expected}

    async def _settle(self, key: str, data: bytes) -> str | None:
        """A write was refused. It may be ours, made by an attempt whose answer was lost."""
        found = await self._get(key)
        if found is None or found.data != data:
            raise ContentChanged(
                "Another run has changed the state since it was read, so it was not replaced."
            )
        return found.version

    async def delete(self, workspace: str) -> None:
        await self._delete(self._bucket.object_of(workspace))
        if (table := self._table) is not None:
            await table.delete_digest(self.location(workspace))

    # -- locks ----------------------------------------------------------------------------------

    async def lock(self, workspace: str, info: LockInfo) -> LockInfo:
        info = replace(info, path=self.location(workspace))
        if self._bucket.has_lock_file:
            await self._lock_file(workspace, info)
        table = self._table
        if table is not None:
            try:
                await table.lock(info.path, info)
            except BaseException:
                if self._bucket.has_lock_file:
                    await self._unlock_file(workspace, info.id)
                raise
        return info

    async def unlock(self, workspace: str, lock: LockInfo) -> None:
        await self._unlock_all(workspace, lock.id)

    async def force_unlock(self, workspace: str, lock_id: str) -> None:
        if not self._bucket.has_lock_file and not self._bucket.table:
            raise BackendFailure(
                "The backend has neither use_lockfile nor dynamodb_table, so locking is not "
                "enabled."
            )
        await self._unlock_all(workspace, lock_id)

    async def _unlock_all(self, workspace: str, lock_id: str) -> None:
        """Remove both locks, the second even if the first cannot be removed."""
        problems: list[str] = []
        table = self._table
        if self._bucket.has_lock_file:
            try:
                await self._unlock_file(workspace, lock_id)
            except (BackendFailure, CloudFailure) as failure:
                problems.append(failure.text)
        if table is not None:
            try:
                await table.unlock(self.location(workspace), lock_id)
            except (BackendFailure, CloudFailure) as failure:
                problems.append(failure.text)
        if problems:
            raise BackendFailure(" ".join(problems))

    async def _lock_file(self, workspace: str, info: LockInfo) -> None:
        key = self._bucket.object_of(workspace) + _LOCK_SUFFIX
        for _ in range(_LOCK_ATTEMPTS):
            response = await self._put(
                key, info.to_bytes(), self._bucket.lock_tags, {"if-none-match": "*"}
            )
            if response.status not in (_REFUSED, _CONFLICT):
                self._required(response, 200)
                return
            found = await self._get(key)
            if found is None:
                continue  # it was removed meanwhile
            holder = parse_lock(found.data)
            # An attempt whose answer was lost may have been ours.
            if holder is None or holder.id != info.id:
                raise StateIsLocked(holder)
            return
        raise StateIsLocked(None)

    async def _unlock_file(self, workspace: str, lock_id: str) -> None:
        key = self._bucket.object_of(workspace) + _LOCK_SUFFIX
        found = await self._get(key)
        if found is None:
            raise BackendFailure(
                f"The lock file {self._bucket.name}/{key} no longer exists. Another user or process removed it."
            )
        holder = parse_lock(found.data)
        held = "" if holder is None else holder.id
        if held != lock_id:
            raise BackendFailure(
                f'The lock file {self._bucket.name}/{key} has another ID, "{held}".'
            )
        await self._delete(key)

    # -- requests -------------------------------------------------------------------------------

    @property
    def _aws(self) -> AwsClient:
        async def identity() -> Credentials:
            return await self._chain.current(self.client)

        return AwsClient(self.client, identity, self._connection.policy)

    @property
    def _table(self) -> LockTable | None:
        name = self._bucket.table
        return LockTable(name, self._connection.dynamodb, self._aws) if name else None

    async def _get(self, key: str) -> Content | None:
        response = await self._send("GET", self._url(key), headers=self._bucket.customer_key)
        if response.status == 404 and refusal_of(response).code != "NoSuchBucket":
            return None
        self._required(response, 200)
        return Content(response.body, response.headers.get("etag"))

    async def _put(
        self, key: str, data: bytes, tags: Mapping[str, str], condition: Mapping[str, str]
    ) -> Response:
        bucket = self._bucket
        headers = {"content-type": "application/json", **bucket.encryption, **condition}
        if bucket.has_checksum:
            digest = base64.b64encode(hashlib.sha256(data).digest()).decode()
            headers["x-amz-checksum-sha256"] = digest
        if bucket.acl:
            headers["x-amz-acl"] = bucket.acl
        if tags:
            headers["x-amz-tagging"] = urlencode(sorted(tags.items()))
        return await self._send("PUT", self._url(key), data, headers)

    async def _delete(self, key: str) -> None:
        response = await self._send("DELETE", self._url(key))
        if response.status != 404 or refusal_of(response).code == "NoSuchBucket":
            self._required(response, 200, 204)

    def _url(self, key: str) -> str:
        return f"{self._connection.s3.url}/{encoded(key, also='/')}"

    async def _send(
        self, method: str, url: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> Response:
        if not self._is_checked:
            await self._check_account()
            self._is_checked = True
        return await self._aws.send(self._connection.s3, method, url, body, headers or {})

    async def _check_account(self) -> None:
        allowed = self._connection.allowed_accounts
        forbidden = self._connection.forbidden_accounts
        if not allowed and not forbidden:
            return
        account = await account_of(self._aws, self._connection.sts)
        if (allowed and account not in allowed) or account in forbidden:
            raise BackendFailure(
                f"The credentials belong to the AWS account {account}, which the arguments "
                "allowed_account_ids or forbidden_account_ids rule out."
            )

    def _required(self, response: Response, *statuses: int) -> Response:
        if response.status in statuses:
            return response
        if refusal_of(response).code == "NoSuchBucket":
            raise BackendFailure(
                f'There is no bucket "{self._bucket.name}". Create it first, or wait a minute if '
                "it was created just now."
            )
        raise failure_of("s3", response)


def _md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def _listed(response: Response) -> tuple[list[str], str]:
    """The keys of a list of objects, and the token of its next page."""
    from xml.etree import ElementTree

    try:
        document = ElementTree.fromstring(response.body)
    except ElementTree.ParseError:
        raise BackendFailure("The list of objects cannot be read.") from None
    keys: list[str] = []
    token = ""
    for element in document.iter():
        name = element.tag.rpartition("}")[2]
        if name == "Key":
            keys.append(element.text or "")
        elif name == "NextContinuationToken":
            token = element.text or ""
    return keys, token
