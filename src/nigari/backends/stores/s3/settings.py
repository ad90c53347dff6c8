"""The arguments of the backend `s3`: where the objects are, and who may reach them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from urllib.parse import urlsplit

from nigari.backends.store import BackendFailure
from nigari.backends.stores.http_store import STATE_LIMIT
from nigari.clouds.arguments import Arguments
from nigari.clouds.aws.client import AwsService
from nigari.clouds.aws.credentials import Sources
from nigari.clouds.aws.settings import aws_endpoint, aws_network, aws_region, aws_sources
from nigari.clouds.aws.signing import encoded
from nigari.net.client import Policy
from nigari.net.settings import Settings
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_KEY_TEXT: Final = 44
_USUAL_PREFIX: Final = "env:"


@record
class StateBucket:
    """The location of the objects, and how they are written."""

    name: str
    key: str
    prefix: str
    acl: str
    state_tags: Mapping[str, str]
    lock_tags: Mapping[str, str]
    encryption: Mapping[str, str]
    """The headers that have an object encrypted."""
    customer_key: Mapping[str, str]
    """The headers without which an object cannot be read."""
    has_checksum: bool
    has_lock_file: bool
    table: str

    def object_of(self, workspace: str) -> str:
        if workspace == "default":
            return self.key
        return f"{self.prefix}/{workspace}/{self.key}" if self.prefix else f"{workspace}/{self.key}"


@record
class S3Connection:
    """The endpoint and the credentials."""

    settings: Settings
    policy: Policy
    sources: Sources
    s3: AwsService
    dynamodb: AwsService
    sts: AwsService
    allowed_accounts: tuple[str, ...]
    forbidden_accounts: tuple[str, ...]


def read_bucket(arguments: Arguments) -> StateBucket:
    """The object settings of the arguments."""
    encryption, customer_key = _encryption(arguments)
    prefix = arguments.config.get("workspace_key_prefix")
    return StateBucket(
        name=arguments.required("bucket"),
        key=arguments.required("key"),
        prefix=_USUAL_PREFIX if prefix is None else str(prefix),
        acl=arguments.text("acl"),
        state_tags=arguments.mapping("state_tags"),
        lock_tags=arguments.mapping("lock_tags"),
        encryption=encryption,
        customer_key=customer_key,
        has_checksum=not arguments.flag("skip_s3_checksum"),
        has_lock_file=arguments.flag("use_lockfile"),
        table=arguments.text("dynamodb_table"),
    )


def _encryption(arguments: Arguments) -> tuple[Mapping[str, str], Mapping[str, str]]:
    key_text = arguments.text("sse_customer_key", "AWS_SSE_CUSTOMER_KEY")
    kms_key = arguments.text("kms_key_id")
    if key_text and kms_key:
        raise BackendFailure(
            "Only one of kms_key_id and sse_customer_key (or AWS_SSE_CUSTOMER_KEY) can be set."
        )
    if not arguments.flag("encrypt"):
        return {}, {}
    if kms_key:
        name = "x-amz-server-side-encryption"
        return {name: "aws:kms", f"{name}-aws-kms-key-id": kms_key}, {}
    if not key_text:
        return {"x-amz-server-side-encryption": "AES256"}, {}
    try:
        key = base64.b64decode(key_text, validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key_text) != _KEY_TEXT or not key:
        raise BackendFailure("The sse_customer_key must be 44 characters of base64.")
    from hashlib import md5

    digest = base64.b64encode(md5(key, usedforsecurity=False).digest()).decode()
    name = "x-amz-server-side-encryption-customer"
    headers = {
        f"{name}-algorithm": "AES256",
        f"{name}-key": key_text,
        f"{name}-key-md5": digest,
    }
    return headers, headers


def read_connection(arguments: Arguments) -> S3Connection:
    """The AWS settings of the arguments and the environment."""
    region = aws_region(arguments)
    sts_region = arguments.text("sts_region") or region
    return S3Connection(
        settings=aws_network(arguments),
        policy=Policy(
            retries=arguments.number("max_retries", default=5),
            timeout=None,
            pause=0.3,
            longest_pause=20.0,
            limit=STATE_LIMIT,
        ),
        sources=aws_sources(arguments),
        s3=AwsService("s3", region, _bucket_url(arguments, aws_endpoint(arguments, "s3", region))),
        dynamodb=AwsService("dynamodb", region, aws_endpoint(arguments, "dynamodb", region)),
        sts=AwsService("sts", sts_region, aws_endpoint(arguments, "sts", sts_region)),
        allowed_accounts=tuple(arguments.texts("allowed_account_ids")),
        forbidden_accounts=tuple(arguments.texts("forbidden_account_ids")),
    )


def _bucket_url(arguments: Arguments, url: str) -> str:
    """The bucket as a host name where that is possible and wanted, otherwise as a path."""
    from ipaddress import ip_address

    bucket = arguments.required("bucket")
    parts = urlsplit(url)
    try:
        ip_address(parts.hostname or "")
        is_address = True
    except ValueError:
        is_address = False
    is_path = (
        arguments.flag("use_path_style")
        or arguments.flag("force_path_style")
        or is_address
        or ("." in bucket and parts.scheme == "https")
        or not all(c.isascii() and (c.islower() or c.isdigit() or c in "-.") for c in bucket)
    )
    if is_path:
        return f"{url}/{encoded(bucket)}"
    return f"{parts.scheme}://{bucket}.{parts.netloc}{parts.path}"
