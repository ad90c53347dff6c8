"""The arguments of the backend `s3`: where the objects are, and who may reach them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from nigari.backends.arguments import Arguments
from nigari.backends.http_store import STATE_LIMIT
from nigari.backends.store import BackendFailure
from nigari.clouds.aws.client import Service
from nigari.clouds.aws.credentials import Sources, WebIdentity
from nigari.clouds.aws.endpoints import Variants, check_region, endpoint, with_scheme
from nigari.clouds.aws.roles import Role
from nigari.clouds.aws.signing import Credentials, encoded
from nigari.clouds.failures import CloudFailure
from nigari.net.client import Policy
from nigari.net.settings import Settings, read_settings
from nigari.record import record, replace

_OLD_ENDPOINTS: Final = {
    "s3": ("endpoint", "AWS_ENDPOINT_URL_S3", "AWS_S3_ENDPOINT"),
    "iam": ("iam_endpoint", "AWS_ENDPOINT_URL_IAM", "AWS_IAM_ENDPOINT"),
    "sts": ("sts_endpoint", "AWS_ENDPOINT_URL_STS", "AWS_STS_ENDPOINT"),
    "dynamodb": ("dynamodb_endpoint", "AWS_ENDPOINT_URL_DYNAMODB", "AWS_DYNAMODB_ENDPOINT"),
}
_KEY_TEXT: Final = 44
_USUAL_PREFIX: Final = "env:"


@record
class Bucket:
    """Where the objects are, and how they are written."""

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
class Connection:
    """Who is asked, by whom."""

    settings: Settings
    policy: Policy
    sources: Sources
    s3: Service
    dynamodb: Service
    sts: Service
    allowed_accounts: tuple[str, ...]
    forbidden_accounts: tuple[str, ...]


def read_bucket(arguments: Arguments) -> Bucket:
    """What the arguments say about objects."""
    encryption, customer_key = _encryption(arguments)
    prefix = arguments.config.get("workspace_key_prefix")
    return Bucket(
        arguments.required("bucket"),
        arguments.required("key"),
        _USUAL_PREFIX if prefix is None else str(prefix),
        arguments.text("acl"),
        arguments.mapping("state_tags"),
        arguments.mapping("lock_tags"),
        encryption,
        customer_key,
        not arguments.flag("skip_s3_checksum"),
        arguments.flag("use_lockfile"),
        arguments.text("dynamodb_table"),
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


def read_connection(arguments: Arguments) -> Connection:
    """What the arguments and the environment say about AWS."""
    region = arguments.text("region", "AWS_REGION", "AWS_DEFAULT_REGION")
    try:
        if not arguments.flag("skip_region_validation"):
            check_region(region)
    except CloudFailure as failure:
        raise BackendFailure(failure.text) from None
    sts_region = arguments.text("sts_region") or region
    return Connection(
        _network(arguments),
        Policy(
            retries=arguments.number("max_retries", default=5),
            timeout=None,
            pause=0.3,
            longest_pause=20.0,
            limit=STATE_LIMIT,
        ),
        _sources(arguments),
        Service("s3", region, _bucket_url(arguments, _endpoint(arguments, "s3", region))),
        Service("dynamodb", region, _endpoint(arguments, "dynamodb", region)),
        Service("sts", sts_region, _endpoint(arguments, "sts", sts_region)),
        tuple(arguments.texts("allowed_account_ids")),
        tuple(arguments.texts("forbidden_account_ids")),
    )


def _endpoint(arguments: Arguments, service: str, region: str) -> str:
    old, *variables = _OLD_ENDPOINTS[service]
    block = arguments.block("endpoints")
    given = "" if block is None else block.text(service)
    if given and arguments.text(old):
        raise BackendFailure(f"Only one of endpoints.{service} and {old} can be set.")
    given = given or arguments.text(old, *variables)
    if given:
        return with_scheme(given)
    return endpoint(
        service,
        region,
        Variants(
            arguments.flag("use_fips_endpoint", "AWS_USE_FIPS_ENDPOINT"),
            arguments.flag("use_dualstack_endpoint", "AWS_USE_DUALSTACK_ENDPOINT"),
        ),
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


def _network(arguments: Arguments) -> Settings:
    settings = read_settings(arguments.environ)
    return replace(
        settings,
        http_proxy=arguments.text("http_proxy") or settings.http_proxy,
        https_proxy=arguments.text("https_proxy") or settings.https_proxy,
        no_proxy=arguments.text("no_proxy") or settings.no_proxy,
        certificate_file=arguments.text("custom_ca_bundle", "AWS_CA_BUNDLE")
        or settings.certificate_file,
        checks_certificates=not arguments.flag("insecure"),
    )


def _sources(arguments: Arguments) -> Sources:
    key, secret = arguments.text("access_key"), arguments.text("secret_key")
    static = Credentials(key, secret, arguments.text("token")) if key and secret else None
    checks = arguments.config.get("skip_metadata_api_check")
    mode = arguments.text(
        "ec2_metadata_service_endpoint_mode", "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE"
    )
    usual = "http://[fd00:ec2::254]" if mode.lower() == "ipv6" else ""
    return Sources(
        arguments.environ,
        static,
        arguments.text("profile"),
        _files(arguments, "shared_credentials_file", "AWS_SHARED_CREDENTIALS_FILE"),
        _files(arguments, "shared_config_file", "AWS_SHARED_CONFIG_FILE"),
        _role(arguments),
        _web_identity(arguments),
        None if checks is None else checks is not True,
        arguments.text("ec2_metadata_service_endpoint", "AWS_EC2_METADATA_SERVICE_ENDPOINT")
        or usual,
    )


def _files(arguments: Arguments, name: str, variable: str) -> tuple[str, ...]:
    several = arguments.texts(f"{name}s")
    one = arguments.text(name, variable)
    return tuple(several) if several else ((one,) if one else ())


def _role(arguments: Arguments) -> Role | None:
    block = arguments.block("assume_role")
    if block is not None:
        return Role(
            block.required("role_arn"),
            block.text("session_name"),
            block.text("duration"),
            block.text("external_id"),
            block.text("policy"),
            tuple(block.texts("policy_arns")),
            block.mapping("tags"),
            tuple(block.texts("transitive_tag_keys")),
        )
    if not arguments.text("role_arn"):
        return None
    seconds = arguments.number("assume_role_duration_seconds", default=0)
    return Role(
        arguments.text("role_arn"),
        arguments.text("session_name"),
        f"{seconds}s" if seconds else "",
        arguments.text("external_id"),
        arguments.text("assume_role_policy"),
        tuple(arguments.texts("assume_role_policy_arns")),
        arguments.mapping("assume_role_tags"),
        tuple(arguments.texts("assume_role_transitive_tag_keys")),
    )


def _web_identity(arguments: Arguments) -> WebIdentity | None:
    block = arguments.block("assume_role_with_web_identity")
    if block is None:
        return None
    role = Role(
        block.required("role_arn", "AWS_ROLE_ARN"),
        block.text("session_name", "AWS_ROLE_SESSION_NAME"),
        block.text("duration"),
        policy=block.text("policy"),
        policy_arns=tuple(block.texts("policy_arns")),
    )
    token = block.text("web_identity_token", "AWS_WEB_IDENTITY_TOKEN")
    file = block.text("web_identity_token_file", "AWS_WEB_IDENTITY_TOKEN_FILE")
    if not token and not file:
        raise BackendFailure(
            "assume_role_with_web_identity needs web_identity_token or web_identity_token_file."
        )
    return WebIdentity(role, token, "" if token else file)
