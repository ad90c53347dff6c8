"""Packages in S3 and compatible storage: `s3::https://HOST/BUCKET/KEY`.

Parses addresses with their query parameters, and provides access to the objects. Credentials and
signatures are in `nigari.clouds.aws`; unpacking is done elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from nigari.clouds.aws.client import AwsService, signing_time
from nigari.clouds.aws.credentials import CredentialChain, Sources
from nigari.clouds.aws.machine import instance_credentials
from nigari.clouds.aws.settings import Variants, endpoint, with_scheme
from nigari.clouds.aws.signing import Credentials, encoded, signed_headers
from nigari.clouds.failures import CloudFailure, NoCredentials
from nigari.net.client import Policy
from nigari.net.failures import NetFailure
from nigari.packages.content.module_fetch import FetchError, Progress
from nigari.packages.modules.buckets import BucketObject
from nigari.packages.modules.http_source import ARCHIVES
from nigari.packages.modules.package_address import take_arguments
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.net.client import Client

_DOMAINS: Final = (".amazonaws.com.cn", ".amazonaws.com")
# go-getter: hosts without a region are those of us-east-1.
_DEFAULT_REGION: Final = "us-east-1"
_ARGUMENTS: Final = (
    "region",
    "version",
    "aws_access_key_id",
    "aws_access_key_secret",
    "aws_access_token",
    "aws_profile",
)
_MOST_PAGES: Final = 1000


@record
class S3Address:
    """Parsed source address of an object."""

    endpoint: str
    region: str
    bucket: str
    key: str
    version: str = ""
    keys: Credentials | None = None
    profile: str = ""


def s3_address(url: str) -> S3Address:
    """Parse an address, or raise `FetchError` if it is invalid."""
    base, given = take_arguments(url, _ARGUMENTS)
    parts = urlsplit(base)
    host, path = parts.netloc.rpartition("@")[2], unquote(parts.path).removeprefix("/")
    keys = None
    # go-getter: keys in the address override all others.
    if "aws_access_key_id" in given or "aws_access_key_secret" in given:
        keys = Credentials(
            given.get("aws_access_key_id", ""),
            given.get("aws_access_key_secret", ""),
            given.get("aws_access_token", ""),
        )
    domain = next((each for each in _DOMAINS if host.endswith(each)), "")
    if domain:
        region, bucket, key = _amazon(host.removesuffix(domain), path)
        endpoint = f"https://s3.{region}{domain}"
    else:
        region = given.get("region") or _DEFAULT_REGION
        bucket, _, key = path.partition("/")
        endpoint = f"{parts.scheme}://{host}"
    if not bucket or not key or parts.scheme not in ("http", "https"):
        raise FetchError(
            "The address is not that of an object in S3. Write it as "
            "s3::https://s3-REGION.amazonaws.com/BUCKET/KEY."
        )
    version, profile = given.get("version", ""), given.get("aws_profile", "")
    return S3Address(
        endpoint=endpoint,
        region=region,
        bucket=bucket,
        key=key,
        version=version,
        keys=keys,
        profile=profile,
    )


def _amazon(host: str, path: str) -> tuple[str, str, str]:
    """Split a URL of Amazon's into region, bucket and key, by its host without the domain."""
    # go-getter: s3.amazonaws.com, s3-REGION and s3.REGION, each with the bucket in the host or in
    # the path.
    match = re.fullmatch(r"(?:(?P<bucket>.+)\.)?s3(?:[.-](?P<region>[a-z0-9-]+))?", host)
    if match is None:
        return "", "", ""
    region = match["region"] or _DEFAULT_REGION
    if match["bucket"]:
        return region, match["bucket"], path
    bucket, _, key = path.partition("/")
    return region, bucket, key


class S3Storage:
    """S3, with the user's credentials."""

    def __init__(self, client: Client, environ: Mapping[str, str]) -> None:
        self._client = client
        self._environ = environ
        self._keys: dict[str, Credentials | None] = {}

    async def open(self, url: str) -> tuple[S3Bucket, str]:
        """Open the bucket of a URL, and return it with the key, or raise `FetchError`."""
        address = s3_address(url)
        keys = address.keys
        if keys is None:
            if address.profile not in self._keys:
                self._keys[address.profile] = await self._find_keys(address.profile)
            keys = self._keys[address.profile]
        return S3Bucket(self._client, address, keys), address.key

    async def _find_keys(self, profile: str) -> Credentials | None:
        environ = self._environ
        region = environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION") or _DEFAULT_REGION
        given = environ.get("AWS_ENDPOINT_URL_STS", "")
        url = with_scheme(given) if given else endpoint("sts", region, Variants())
        machine = environ.get("AWS_EC2_METADATA_SERVICE_ENDPOINT", "")
        sources = Sources(environ, profile=profile, machine_endpoint=machine)
        named = environ.get("AWS_METADATA_URL", "")
        try:
            if named and not profile:
                # A user who names a machine's endpoint wants its role, regardless of other
                # credentials.
                return await instance_credentials(named)
            chain = CredentialChain(sources, AwsService("sts", region, url), Policy())
            return await chain.current(self._client)
        except NoCredentials:
            return None
        except (CloudFailure, NetFailure) as failure:
            raise FetchError(f"The credentials for AWS are not available. {failure.text}") from None


class S3Bucket:
    """A bucket in S3."""

    def __init__(self, client: Client, address: S3Address, keys: Credentials | None) -> None:
        self._client = client
        self._address = address
        self._keys = keys

    @property
    def used(self) -> str:
        """A sentence about the credentials that were used."""
        if self._keys is None:
            return (
                "No credentials for AWS were found in the address, the environment variables "
                "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the shared credentials file or the "
                "machine."
            )
        return f"The AWS access key {self._keys.access_key} was used."

    async def listing(self, prefix: str) -> Sequence[BucketObject]:
        """List the objects with a prefix."""
        found: list[BucketObject] = []
        token = ""
        for _ in range(_MOST_PAGES):
            arguments = {"list-type": "2", "prefix": prefix}
            if token:
                arguments["continuation-token"] = token
            query = "&".join(f"{n}={quote(v, safe='-_.~')}" for n, v in sorted(arguments.items()))
            url = f"{self._url('')}?{query}"
            answer = await self._client.get(url, credentials=self._signed("GET", url))
            objects, token = _read_listing(answer.require(200).body)
            found += objects
            if not token:
                break
        return found

    async def tag(self, name: str) -> str:
        """Return the entity tag of an object, with its version."""
        url = self._url(name, self._address.version)
        answer = await self._client.request("HEAD", url, credentials=self._signed("HEAD", url))
        return answer.headers.get("etag", "") if answer.status == 200 else ""

    async def download(self, name: str, path: Path, progress: Progress) -> Mapping[str, str]:
        """Download an object to a file."""
        # The version is that of the object in the address, not of others below a prefix.
        version = self._address.version if name == self._address.key else ""
        url = self._url(name, version)
        done = await self._client.download(
            url, path, credentials=self._signed("GET", url), policy=ARCHIVES, progress=progress
        )
        return done.headers

    def _url(self, name: str, version: str = "") -> str:
        path = f"/{self._address.bucket}/{name}" if name else f"/{self._address.bucket}"
        path = encoded(path, also="/")
        query = f"?versionId={quote(version, safe='-_.~')}" if version else ""
        return f"{self._address.endpoint}{path}{query}"

    def _signed(self, method: str, url: str) -> Mapping[str, str]:
        if self._keys is None:
            return {}
        scope = self._address.region, "s3"
        return signed_headers(method, url, {}, b"", self._keys, scope, signing_time())


def _read_listing(body: bytes) -> tuple[list[BucketObject], str]:
    """Parse a page of a listing, and return its objects and the token of the next page."""
    from xml.etree import ElementTree

    try:
        # Listings of S3 have no document type, and one could define entities without end.
        if b"<!DOCTYPE" in body:
            raise FetchError("The bucket returned something other than a listing.")
        root = ElementTree.fromstring(body)
    except ElementTree.ParseError:
        raise FetchError("The listing of the bucket cannot be read.") from None
    found: list[BucketObject] = []
    for each in root.iter():
        if each.tag.rpartition("}")[2] != "Contents":
            continue
        fields = {child.tag.rpartition("}")[2]: child.text or "" for child in each}
        size = fields.get("Size", "")
        found.append(
            BucketObject(
                fields.get("Key", ""), fields.get("ETag", ""), int(size) if size.isdigit() else 0
            )
        )
    members = {child.tag.rpartition("}")[2]: child.text or "" for child in root}
    is_more = members.get("IsTruncated") == "true"
    return found, members.get("NextContinuationToken", "") if is_more else ""
