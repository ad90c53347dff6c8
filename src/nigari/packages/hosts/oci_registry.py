"""Access to an OCI registry's repository: tags, manifests, blobs, and token login.

Always over https. Deliberately unknown here: the meaning of manifests for providers and modules.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from nigari.hcl.quoting import quoted
from nigari.lazy import lazy_pattern
from nigari.net.client import DOWNLOAD, Expected, Policy
from nigari.net.failures import NetFailure, StatusRefused
from nigari.net.urls import resolved
from nigari.packages.hosts.cli_config import OciSecret
from nigari.packages.hosts.oci_credentials import OciCredentialsError, OciCredentialsStore
from nigari.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.net.client import Client, Progress
    from nigari.net.response import Response

INDEX: Final = "application/vnd.oci.image.index.v1+json"
MANIFEST: Final = "application/vnd.oci.image.manifest.v1+json"
_ACCEPTED: Final = ", ".join(
    (
        MANIFEST,
        INDEX,
        "application/vnd.docker.distribution.manifest.v2+json",
        "application/vnd.docker.distribution.manifest.list.v2+json",
    )
)
_LARGEST_MANIFEST: Final = 4 << 20
_MOST_PAGES: Final = 1000
_CLIENT_ID: Final = "oras-go"
"""Client ID of this kind of client; some registries accept no other."""
_PARAMETER: Final = lazy_pattern(r'(\w+)=(?:"((?:[^"\\]|\\.)*)"|([^\s,]+))')
_NEXT: Final = lazy_pattern(r'<([^>]*)>\s*;\s*rel="?next"?')
_POLICY: Final = Policy(limit=_LARGEST_MANIFEST)


class OciError(Exception):
    """A registry that cannot be used; the text is full sentences for a diagnostic."""


class OciNotFound(OciError):
    """A repository, tag or blob that does not exist."""


@record
class Descriptor:
    """Reference to content in a registry."""

    media_type: str
    digest: str
    size: int
    artifact_type: str = ""
    platform: Mapping[str, object] | None = None


class OciRepository:
    """A repository. The first request logs in for all that follow."""

    def __init__(
        self, client: Client, domain: str, name: str, credentials: OciCredentialsStore
    ) -> None:
        self._client = client
        self._domain = domain
        self._name = name
        self._credentials = credentials
        # Docker Hub serves its API from another host than its name.
        host = "registry-1.docker.io" if domain == "docker.io" else domain
        self._base = f"https://{host}/v2/"
        self._headers: Mapping[str, str] | None = None
        self._secret: OciSecret | None = None

    @property
    def address(self) -> str:
        return f"{self._domain}/{self._name}"

    async def tags(self) -> list[str]:
        """List all tags; raise `OciNotFound` if the repository does not exist."""
        found: list[str] = []
        url = f"{self._base}{self._name}/tags/list"
        for _ in range(_MOST_PAGES):
            answer = await self._get(url, {"accept": "application/json"})
            document = self._json(answer)
            tags = document.get("tags")
            found += (
                [each for each in tags if isinstance(each, str)] if isinstance(tags, list) else []
            )
            # OCI Distribution Specification: pages are linked by a Link header.
            following = _NEXT.search(answer.headers.get("link", ""))
            if following is None:
                return found
            url = resolved(answer.url, following[1])
            if urlsplit(url).netloc != urlsplit(self._base).netloc:
                break
        raise OciError(f"The list of tags of {self.address} does not end.")

    async def resolve(self, reference: str) -> Descriptor:
        """Resolve a tag or digest."""
        url = f"{self._base}{self._name}/manifests/{reference}"
        answer = await self._ask("HEAD", url, {"accept": _ACCEPTED})
        size = answer.headers.get("content-length", "")
        digest = answer.headers.get("docker-content-digest", "")
        # OCI Distribution Specification: the digest header is optional for HEAD.
        if not digest or not size.isdigit():
            answer = await self._get(url, {"accept": _ACCEPTED})
            digest, size = _digest(answer.body), str(len(answer.body))
        return Descriptor(answer.media_type, digest, int(size))

    async def manifest(self, descriptor: Descriptor) -> Mapping[str, object]:
        """Download a manifest, checked against its digest."""
        if descriptor.size > _LARGEST_MANIFEST:
            raise OciError(f"A manifest of {self.address} is too large.")
        url = f"{self._base}{self._name}/manifests/{descriptor.digest}"
        answer = await self._get(url, {"accept": descriptor.media_type or _ACCEPTED})
        if _digest(answer.body) != descriptor.digest:
            raise OciError(
                f"A manifest of {self.address} does not have the digest {descriptor.digest}."
            )
        document = self._json(answer)
        # The type is part of the content too, so that a server cannot reinterpret signed content.
        if document.get("mediaType") != descriptor.media_type:
            raise OciError(
                f"A manifest of {self.address} says that it is {document.get('mediaType')}, not "
                f"{descriptor.media_type}."
            )
        return document

    async def download(self, descriptor: Descriptor, path: Path, progress: Progress) -> None:
        """Download a blob to a file, checked against its digest."""
        algorithm, _, digest = descriptor.digest.partition(":")
        if algorithm not in ("sha256", "sha512"):
            raise OciError(f"A blob of {self.address} has a digest of an unknown kind.")
        url = f"{self._base}{self._name}/blobs/{descriptor.digest}"
        try:
            await self._client.download(
                url,
                path,
                credentials=await self._login(),
                policy=replace(DOWNLOAD, limit=descriptor.size),
                expected=Expected(descriptor.size, {algorithm: digest}),
                progress=progress,
            )
        except NetFailure as failure:
            raise self._failed(failure) from failure

    async def _get(self, url: str, headers: Mapping[str, str]) -> Response:
        return await self._ask("GET", url, headers)

    async def _ask(self, method: str, url: str, headers: Mapping[str, str]) -> Response:
        try:
            answer = await self._client.request(
                method, url, headers=headers, credentials=await self._login(), policy=_POLICY
            )
            if answer.status == 404 or _says_unknown(answer):
                raise OciNotFound(f"The repository {self.address} does not exist{_or_has_no(url)}.")
            return answer.require(200)
        except NetFailure as failure:
            raise self._failed(failure) from failure

    async def _login(self) -> Mapping[str, str]:
        """Log in with the first request, and return the headers for all requests."""
        if self._headers is None:
            try:
                self._secret = await self._credentials.find(self._domain, self._name)
                answer = await self._client.get(self._base, policy=_POLICY)
                if answer.status != 401:
                    answer.require(200)
                    self._headers = {}
                else:
                    challenge = answer.headers.get("www-authenticate", "")
                    self._headers = await self._answered(challenge, answer)
            except OciCredentialsError as error:
                raise OciError(str(error)) from error
            except NetFailure as failure:
                raise self._failed(failure) from failure
        return self._headers

    async def _answered(self, challenge: str, refusal: Response) -> Mapping[str, str]:
        kind, _, rest = challenge.partition(" ")
        secret = self._secret
        # RFC 7235: the challenge selects the scheme.
        if kind.lower() == "basic":
            if secret is None or not secret.username:
                raise refusal.refusal()
            return {"authorization": _basic(secret)}
        if kind.lower() != "bearer":
            raise refusal.refusal()
        if secret is not None and secret.access_token:
            return {"authorization": f"Bearer {secret.access_token}"}
        parameters = {m[1].lower(): m[2] or m[3] or "" for m in _PARAMETER.finditer(rest)}
        return {"authorization": f"Bearer {await self._token(parameters)}"}

    async def _token(self, parameters: Mapping[str, str]) -> str:
        realm = resolved(self._base, parameters.get("realm", ""))
        # Docker token authentication: the scope names the repository and the action.
        form = {"scope": f"repository:{self._name}:pull"}
        if parameters.get("service"):
            form["service"] = parameters["service"]
        secret = self._secret
        if secret is not None and secret.refresh_token:
            form = {
                **form,
                "grant_type": "refresh_token",
                "client_id": _CLIENT_ID,
                "refresh_token": secret.refresh_token,
            }
            answer = await self._client.request(
                "POST",
                realm,
                headers={"content-type": "application/x-www-form-urlencoded"},
                body=urlencode(form).encode(),
                policy=_POLICY,
            )
        else:
            joint = "&" if urlsplit(realm).query else "?"
            login = {"authorization": _basic(secret)} if secret is not None else {}
            answer = await self._client.get(
                f"{realm}{joint}{urlencode(form)}", credentials=login, policy=_POLICY
            )
        document = answer.require(200).json()
        if isinstance(document, dict):
            # Docker token authentication: both names are in use.
            for name in ("access_token", "token"):
                token = document.get(name)
                if isinstance(token, str) and token:
                    return token
        raise OciError(f"The registry {self._domain} returned no token for {self._name}.")

    def _json(self, answer: Response) -> Mapping[str, object]:
        try:
            document = answer.json()
        except NetFailure as failure:
            raise self._failed(failure) from failure
        if not isinstance(document, dict):
            raise OciError(f"The registry {self._domain} did not return a JSON object.")
        return document

    def _failed(self, failure: NetFailure) -> OciError:
        advice = ""
        if isinstance(failure, StatusRefused) and failure.status in (401, 403):
            advice = (
                " The credentials that were found for it were sent."
                if self._secret is not None
                else f" No credentials for {self._domain} were found in oci_credentials blocks of the "
                f"CLI configuration, nor in {', '.join(self._credentials.files) or 'any file'}."
            )
        return OciError(f"{self.address} cannot be read. {failure.text}{advice}")


def _or_has_no(url: str) -> str:
    """Describe what else may be missing if a manifest was requested."""
    _, is_manifest, reference = url.rpartition("/manifests/")
    if not is_manifest:
        return ""
    return f", or has no {'manifest' if ':' in reference else 'tag'} {quoted(reference)}"


def descriptors(document: Mapping[str, object], name: str) -> list[Descriptor]:
    """Parse the descriptors in a member of a manifest."""
    listed = document.get(name)
    found: list[Descriptor] = []
    for each in listed if isinstance(listed, list) else ():
        match each:
            case {"mediaType": str(media), "digest": str(digest), "size": int(size)}:
                artifact, platform = each.get("artifactType"), each.get("platform")
                found.append(
                    Descriptor(
                        media,
                        digest,
                        size,
                        artifact if isinstance(artifact, str) else "",
                        platform if isinstance(platform, dict) else None,
                    )
                )
    return found


def _digest(content: bytes) -> str:
    import hashlib

    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _basic(secret: OciSecret) -> str:
    from base64 import b64encode

    return "Basic " + b64encode(f"{secret.username}:{secret.password}".encode()).decode("ascii")


def _says_unknown(answer: Response) -> bool:
    """Check whether a registry reports an unknown repository, regardless of the status."""
    if answer.is_success or answer.media_type != "application/json":
        return False
    try:
        document = answer.json()
    except NetFailure:
        return False
    listed = document.get("errors") if isinstance(document, dict) else None
    codes = [each.get("code") for each in listed or () if isinstance(each, dict)]
    return any(code in ("NAME_UNKNOWN", "NAME_INVALID") for code in codes)
