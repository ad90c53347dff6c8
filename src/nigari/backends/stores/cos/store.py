"""The backend `cos`: objects of Tencent Cloud's storage.

A lock is another object. The service cannot say whether such an object is new, so it is written
while a tag of the account exists, which only one can create at a time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from nigari.backends.locking import LockInfo, parse_lock
from nigari.backends.store import BackendFailure, StateIsLocked
from nigari.backends.stores.bucket_store import BucketLayout, BucketStore
from nigari.clouds.arguments import Arguments
from nigari.clouds.failures import CloudFailure
from nigari.clouds.tencent import (
    TencentCredentials,
    TencentRole,
    TencentServices,
    assumed,
    object_headers,
    read_credentials,
    read_role,
)
from nigari.net.response import Response
from nigari.net.settings import Settings, read_settings
from nigari.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_TAG: Final = "tencentcloud-terraform-lock"
_TAG_VERSION: Final = "2018-08-13"
_TAKEN: Final = "ResourceInUse.TagDuplicate"
_DIGEST: Final = "x-cos-meta-md5"
_LOCK_SUFFIX: Final = ".tflock"


@record
class CosAccount:
    """The credentials, and the endpoint."""

    region: str
    credentials: TencentCredentials
    role: TencentRole | None


def open_store(arguments: Arguments) -> CosStore:
    """The store that the arguments describe."""
    bucket = arguments.required("bucket")
    region = arguments.required("region", "TENCENTCLOUD_REGION")
    acl = arguments.text("acl", default="private")
    if acl not in ("private", "public-read"):
        raise BackendFailure("The acl must be private or public-read.")
    where = "accelerate" if arguments.flag("accelerate") else region
    layout = BucketLayout(
        f"https://{bucket}.cos.{where}.myqcloud.com",
        bucket,
        arguments.text("prefix"),
        arguments.text("key", default="terraform.tfstate"),
    )
    headers = {"x-cos-acl": acl}
    if arguments.flag("encrypt", default=True):
        headers["x-cos-server-side-encryption"] = "AES256"
    account = CosAccount(region, read_credentials(arguments), read_role(arguments))
    return CosStore(read_settings(arguments.environ), layout, headers, account)


class CosStore(BucketStore):
    """States in a bucket of Tencent Cloud."""

    keeps_others: Mapping[str, str] = {"x-cos-forbid-overwrite": "true"}

    def __init__(
        self,
        settings: Settings,
        layout: BucketLayout,
        headers: Mapping[str, str],
        account: CosAccount,
    ) -> None:
        super().__init__(settings, layout, headers)
        self._account = account
        self._assumed: TencentCredentials | None = None

    async def sign(
        self, method: str, url: str, key: str, headers: Mapping[str, str]
    ) -> Mapping[str, str]:
        return object_headers(method, url, headers, await self._credentials())

    async def _credentials(self) -> TencentCredentials:
        account = self._account
        if account.role is None:
            return account.credentials
        if self._assumed is None:
            given = (account.credentials, account.role, account.region)
            self._assumed = await assumed(self.client, *given)
        return self._assumed

    def described(self, data: bytes) -> Mapping[str, str]:
        return {_DIGEST: _md5(data)}

    async def get(self, key: str) -> Response | None:
        """An object, if there is one and it is whole."""
        found = await super().get(key)
        if found is not None and found.headers.get(_DIGEST) != _md5(found.body):
            raise BackendFailure(
                f"The object {key} does not have the MD5 digest that is stored with it, so it may "
                "be damaged. Restore an older version of it."
            )
        return found

    # -- locks ----------------------------------------------------------------------------------

    async def lock(self, workspace: str, info: LockInfo) -> LockInfo:
        key = self._lock_key(workspace)
        try:
            await self._tag("CreateTag", key)
        except CloudFailure as failure:
            if failure.code != _TAKEN:
                raise
            raise StateIsLocked(await self._holder(key)) from None
        try:
            holder = await self._holder(key)
            if holder is not None:
                raise StateIsLocked(holder)
            info = replace(info, path=key)
            data = info.to_bytes()
            await self.put(key, data)
        finally:
            await self._tag("DeleteTag", key)
        return replace(info, id=_md5(data))

    async def unlock(self, workspace: str, lock: LockInfo) -> None:
        await self._remove_lock(workspace, lock.id)

    async def force_unlock(self, workspace: str, lock_id: str) -> None:
        await self._remove_lock(workspace, lock_id)
        key = self._lock_key(workspace)
        value = self._tag_value(key)
        found = await self._call("DescribeTags", value)
        tags = found.get("Tags") if isinstance(found, dict) else None
        if tags:
            # The process that took the lock has ended before it could remove the tag.
            await self._tag("DeleteTag", key)

    async def _remove_lock(self, workspace: str, lock_id: str) -> None:
        key = self._lock_key(workspace)
        holder = await self._holder(key)
        if holder is None:
            raise BackendFailure("The state is not locked.")
        if holder.id != lock_id:
            raise BackendFailure(f'The lock of the state has the ID "{holder.id}".')
        await self.remove(key)

    def _lock_key(self, workspace: str) -> str:
        return f"{self.layout.object_of(workspace)}{_LOCK_SUFFIX}"

    async def _holder(self, key: str) -> LockInfo | None:
        """The holder of the lock, identified by the digest of the stored lock."""
        found = await self.get(key)
        if found is None:
            return None
        found_lock = parse_lock(found.body) or LockInfo("", "")
        return replace(found_lock, id=_md5(found.body))

    def _tag_value(self, key: str) -> str:
        return _md5(f"{self.layout.bucket}:{key}".encode())

    async def _tag(self, action: str, key: str) -> None:
        await self._call(action, self._tag_value(key))

    async def _call(self, action: str, value: str) -> object:
        services = TencentServices(self.client, await self._credentials(), self._account.region)
        return await services.call("tag", action, _TAG_VERSION, TagKey=_TAG, TagValue=value)


def _md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()
