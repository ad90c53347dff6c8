"""Packages in Google Cloud Storage: `gcs::https://www.googleapis.com/storage/v1/BUCKET/OBJECT`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote, unquote, urlencode, urlsplit

from nigari.clouds.google import access_token
from nigari.net.failures import NetFailure
from nigari.packages.content.module_fetch import FetchError, Progress
from nigari.packages.modules.buckets import BucketObject
from nigari.packages.modules.http_source import ARCHIVES
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.net.client import Client

_SCOPE: Final = "https://www.googleapis.com/auth/devstorage.read_only"
_ENDPOINT: Final = "https://storage.googleapis.com"
_MOST_PAGES: Final = 1000


@record
class GcsAddress:
    """Parsed source address of an object."""

    bucket: str
    name: str
    generation: str = ""


def gcs_address(url: str) -> GcsAddress:
    """Parse an address, or raise `FetchError` if it is invalid."""
    parts = urlsplit(url)
    # go-getter: /storage/v1/BUCKET/OBJECT; the fragment is the generation.
    path = unquote(parts.path).split("/", 4)
    host = (parts.hostname or "").split(".")
    is_valid = len(host) == 3 and host[1:] == ["googleapis", "com"] and len(path) == 5
    generation = parts.fragment
    if not is_valid or not path[3] or (generation and not generation.isdigit()):
        raise FetchError(
            "The address is not that of an object in Google Cloud Storage. Write it as "
            "gcs::https://www.googleapis.com/storage/v1/BUCKET/OBJECT."
        )
    return GcsAddress(path[3], path[4], generation)


class GcsStorage:
    """Google Cloud Storage, with the user's credentials."""

    def __init__(self, client: Client, environ: Mapping[str, str]) -> None:
        self._client = client
        self._environ = environ
        self._token: str | None = None

    async def open(self, url: str) -> tuple[GcsBucket, str]:
        """Open the bucket of a URL, and return it with the object name, or raise `FetchError`."""
        address = gcs_address(url)
        emulator = self._environ.get("STORAGE_EMULATOR_HOST", "")
        # Client libraries of Google use this variable and send no credentials.
        if emulator:
            base = emulator if "://" in emulator else f"http://{emulator}"
            return GcsBucket(self._client, base.rstrip("/"), address, ""), address.name
        if self._token is None:
            try:
                self._token = await access_token(self._client, self._environ, _SCOPE)
            except NetFailure as failure:
                raise FetchError(
                    f"The credentials for Google Cloud are not available. {failure.text}"
                ) from None
            except ValueError as error:
                raise FetchError(
                    f"The credentials for Google Cloud cannot be used: {error}."
                ) from None
        return GcsBucket(self._client, _ENDPOINT, address, self._token), address.name


class GcsBucket:
    """A bucket in Google Cloud Storage."""

    def __init__(self, client: Client, endpoint: str, address: GcsAddress, token: str) -> None:
        self._client = client
        self._address = address
        self._base = f"{endpoint}/storage/v1/b/{quote(address.bucket, safe='')}/o"
        self._credentials = {"authorization": f"Bearer {token}"} if token else {}

    @property
    def used(self) -> str:
        """A sentence about the credentials that were used."""
        if self._credentials:
            return "The access token or the application default credentials were used."
        return (
            "No credentials for Google Cloud were found in GOOGLE_OAUTH_ACCESS_TOKEN, the "
            "application default credentials or the machine."
        )

    async def listing(self, prefix: str) -> Sequence[BucketObject]:
        """List the objects with a prefix."""
        found: list[BucketObject] = []
        token = ""
        for _ in range(_MOST_PAGES):
            arguments = {"prefix": prefix, **({"pageToken": token} if token else {})}
            url = f"{self._base}?{urlencode(arguments)}"
            answer = await self._client.get(url, credentials=self._credentials)
            document = answer.require(200).json()
            members = document if isinstance(document, dict) else {}
            for each in members.get("items") or ():
                size = str(each.get("size", ""))
                found.append(
                    BucketObject(
                        str(each.get("name", "")), _tag(each), int(size) if size.isdigit() else 0
                    )
                )
            token = str(members.get("nextPageToken") or "")
            if not token:
                break
        return found

    async def tag(self, name: str) -> str:
        """Return the checksum of an object."""
        answer = await self._client.get(self._url(name), credentials=self._credentials)
        document = answer.json() if answer.status == 200 else None
        return _tag(document) if isinstance(document, dict) else ""

    async def download(self, name: str, path: Path, progress: Progress) -> Mapping[str, str]:
        """Download an object to a file."""
        tag = await self.tag(name) if name == self._address.name else ""
        url = self._url(name, alt="media")
        await self._client.download(
            url, path, credentials=self._credentials, policy=ARCHIVES, progress=progress
        )
        return {"etag": tag}

    def _url(self, name: str, **arguments: str) -> str:
        if self._address.generation and name == self._address.name:
            arguments["generation"] = self._address.generation
        query = f"?{urlencode(arguments)}" if arguments else ""
        return f"{self._base}/{quote(name, safe='')}{query}"


def _tag(document: Mapping[str, object]) -> str:
    return str(document.get("md5Hash") or document.get("crc32c") or document.get("etag") or "")
