"""An OCI registry: repositories with tags, manifests and blobs, and its two kinds of login."""

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

from tests.net_world.server import NOT_FOUND, Answer, Asked, json_answer, redirect

INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"


def digest_of(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


@dataclass
class Repository:
    tags: dict[str, str] = field(default_factory=dict)
    """Digests of manifests by tag."""
    manifests: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    blobs: dict[str, bytes] = field(default_factory=dict)

    def blob(self, content: bytes, media_type: str) -> dict[str, object]:
        digest = digest_of(content)
        self.blobs[digest] = content
        return {"mediaType": media_type, "digest": digest, "size": len(content)}

    def manifest(self, document: Mapping[str, object], tag: str = "") -> dict[str, object]:
        content = json.dumps({"schemaVersion": 2, **document}).encode()
        media_type = str(document["mediaType"])
        digest = digest_of(content)
        self.manifests[digest] = (media_type, content)
        if tag:
            self.tags[tag] = digest
        return {"mediaType": media_type, "digest": digest, "size": len(content)}

    def publish_provider(
        self, version: str, archives: Mapping[str, bytes], **changes: object
    ) -> None:
        """One version of a provider, with the archives for some platforms."""
        listed: list[dict[str, object]] = []
        empty = self.blob(b"{}", "application/vnd.oci.empty.v1+json")
        for platform, archive in archives.items():
            system, _, machine = platform.partition("_")
            target = "application/vnd.opentofu.provider-target"
            manifest = {
                "mediaType": MANIFEST,
                "artifactType": target,
                "config": empty,
                "layers": [self.blob(archive, "archive/zip")],
            }
            listed.append(
                {
                    **self.manifest(manifest),
                    "artifactType": target,
                    "platform": {"os": system, "architecture": machine},
                }
            )
        index = {
            "mediaType": INDEX,
            "artifactType": "application/vnd.opentofu.provider",
            "manifests": listed,
            **changes,
        }
        self.manifest(index, version.replace("+", "_"))

    def publish_module(self, tag: str, archive: bytes) -> None:
        """A module package."""
        empty = self.blob(b"{}", "application/vnd.oci.empty.v1+json")
        manifest = {
            "mediaType": MANIFEST,
            "artifactType": "application/vnd.opentofu.modulepkg",
            "config": empty,
            "layers": [self.blob(archive, "archive/zip")],
        }
        self.manifest(manifest, tag)


class OciRegistry:
    """Handles the requests to one host. `login` is "", "basic" or "bearer"."""

    def __init__(self, host: str) -> None:
        self.host = host
        self.repositories: dict[str, Repository] = {}
        self.login = ""
        self.user = ("me", "s3cret")
        self.blobs_at = ""
        """Where blobs are redirected to, if they are elsewhere."""
        self.page = 2
        self.tampered: dict[str, bytes] = {}
        """Other content than the digests in the path promise."""

    def repository(self, name: str) -> Repository:
        return self.repositories.setdefault(name, Repository())

    def handle(self, asked: Asked) -> Answer:
        parts = urlsplit(asked.path)
        if parts.path == "/token":
            return self._token(asked)
        if not parts.path.startswith("/v2/"):
            return NOT_FOUND
        if not self._is_allowed(asked):
            return self._challenge()
        if parts.path == "/v2/":
            return json_answer({})
        for kind in ("tags", "manifests", "blobs"):
            name, slash, rest = parts.path.removeprefix("/v2/").partition(f"/{kind}/")
            if slash:
                return self._content(name, kind, rest, parse_qs(parts.query))
        return NOT_FOUND

    def _content(self, name: str, kind: str, rest: str, query: dict[str, list[str]]) -> Answer:
        repository = self.repositories.get(name)
        if repository is None:
            return json_answer({"errors": [{"code": "NAME_UNKNOWN", "message": "who?"}]}, 404)
        if kind == "tags":
            return self._tags(name, repository, query)
        if kind == "blobs":
            if rest not in repository.blobs:
                return json_answer({"errors": [{"code": "BLOB_UNKNOWN"}]}, 404)
            if self.blobs_at:
                return redirect(f"{self.blobs_at}/{rest}", 307)
            content = self.tampered.get(rest, repository.blobs[rest])
            return Answer(200, content, {"content-type": "application/octet-stream"})
        digest = repository.tags.get(rest, rest)
        if digest not in repository.manifests:
            return json_answer({"errors": [{"code": "MANIFEST_UNKNOWN"}]}, 404)
        media_type, content = repository.manifests[digest]
        content = self.tampered.get(digest, content)
        return Answer(200, content, {"content-type": media_type, "docker-content-digest": digest})

    def _tags(self, name: str, repository: Repository, query: dict[str, list[str]]) -> Answer:
        tags = sorted(repository.tags)
        begin = 0
        if "last" in query:
            begin = tags.index(query["last"][0]) + 1
        some = tags[begin : begin + self.page]
        document = {"name": name, "tags": some}
        if begin + self.page < len(tags):
            link = f'</v2/{name}/tags/list?n={self.page}&last={some[-1]}>; rel="next"'
            return json_answer(document, link=link)
        return json_answer(document)

    def _is_allowed(self, asked: Asked) -> bool:
        given = asked.headers.get("authorization", "")
        if self.login == "basic":
            return given == f"Basic {self._basic()}"
        return self.login != "bearer" or given in ("Bearer good", "Bearer direct")

    def _basic(self) -> str:
        return base64.b64encode(":".join(self.user).encode()).decode()

    def _challenge(self) -> Answer:
        kind = 'Basic realm="here"'
        if self.login == "bearer":
            kind = f'Bearer realm="https://{self.host}/token",service="{self.host}"'
        return json_answer({"errors": [{"code": "UNAUTHORIZED"}]}, 401, www_authenticate=kind)

    def _token(self, asked: Asked) -> Answer:
        if asked.method == "POST":
            form = {name: values[0] for name, values in parse_qs(asked.body.decode()).items()}
            is_known = form.get("refresh_token") == "refresh"
        else:
            is_known = asked.headers.get("authorization") == f"Basic {self._basic()}"
        return json_answer({"token": "good"}) if is_known else json_answer({"details": "no"}, 401)
