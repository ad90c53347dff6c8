"""The backend `oss`: objects of Alibaba Cloud's storage. There is no locking.

OpenTofu locks with a table of Tablestore, whose protocol is its own; a configuration that wants it
is refused: the lock would not exist.
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

from nigari.backends.locking import LockInfo
from nigari.backends.store import BackendFailure
from nigari.backends.stores.bucket_store import BucketLayout, BucketStore
from nigari.clouds.alibaba import (
    AlibabaCredentials,
    AlibabaIdentity,
    credentials_of,
    object_headers,
    read_identity,
)
from nigari.clouds.arguments import Arguments
from nigari.net.settings import Settings, read_settings


def open_store(arguments: Arguments) -> OssStore:
    """The store that the arguments describe."""
    if arguments.text("tablestore_table"):
        raise BackendFailure(
            "Locking with tablestore_table is not supported. Remove tablestore_table and "
            "tablestore_endpoint to use the state without locks, or use another backend."
        )
    bucket = arguments.required("bucket")
    identity = read_identity(arguments)
    endpoint = arguments.text("endpoint", "ALICLOUD_OSS_ENDPOINT", "OSS_ENDPOINT")
    if not endpoint and not identity.region:
        raise BackendFailure("Set the region, ALICLOUD_REGION or the endpoint.")
    prefix = arguments.text("prefix", default="env:").strip("/").removeprefix("./")
    layout = BucketLayout(
        _bucket_url(endpoint or f"oss-{identity.region}.aliyuncs.com", bucket),
        bucket,
        prefix,
        arguments.text("key", default="terraform.tfstate"),
    )
    headers = {"content-type": "application/json"}
    acl = arguments.text("acl")
    if acl:
        headers["x-oss-object-acl"] = acl
    if arguments.flag("encrypt"):
        headers["x-oss-server-side-encryption"] = "AES256"
    return OssStore(read_settings(arguments.environ), layout, headers, identity)


def _bucket_url(endpoint: str, bucket: str) -> str:
    """A bucket has a host of its own, except where hosts have no names."""
    parts = urlsplit(endpoint if endpoint.startswith("http") else f"https://{endpoint}")
    try:
        ip_address(parts.hostname or "")
    except ValueError:
        return f"{parts.scheme}://{bucket}.{parts.netloc}"
    return f"{parts.scheme}://{parts.netloc}/{bucket}"


class OssStore(BucketStore):
    """States in a bucket of Alibaba Cloud."""

    keeps_others: Mapping[str, str] = {"x-oss-forbid-overwrite": "true"}

    def __init__(
        self,
        settings: Settings,
        layout: BucketLayout,
        headers: Mapping[str, str],
        identity: AlibabaIdentity,
    ) -> None:
        super().__init__(settings, layout, headers)
        self._identity = identity
        self._credentials: AlibabaCredentials | None = None

    async def sign(
        self, method: str, url: str, key: str, headers: Mapping[str, str]
    ) -> Mapping[str, str]:
        if self._credentials is None:
            self._credentials = await credentials_of(self.client, self._identity)
        return object_headers(method, f"/{self.layout.bucket}/{key}", headers, self._credentials)

    async def lock(self, workspace: str, info: LockInfo) -> LockInfo:
        return info

    async def unlock(self, workspace: str, lock: LockInfo) -> None:
        pass

    async def force_unlock(self, workspace: str, lock_id: str) -> None:
        raise BackendFailure("The backend has no locks, so there is none to remove.")
