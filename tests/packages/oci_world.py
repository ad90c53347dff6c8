"""An OCI registry on loopback, as a part of a world of modules."""

from __future__ import annotations

import base64
import hashlib
import json
from urllib.parse import parse_qs

from tests.net_world.server import Answer, Asked, json_answer
from tests.packages.archives import files, packed
from tests.packages.module_world import MODULE, ModuleWorld

IMAGE = "application/vnd.oci.image.manifest.v1+json"
PACKAGE = "application/vnd.opentofu.modulepkg"


def digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


class OciShelf:
    """The repositories of a world. With a `user`, tokens are wanted."""

    def __init__(self, world: ModuleWorld) -> None:
        self._world = world
        self.user = ""
        self.scheme = "Bearer"
        self.refresh_token = ""
        world.prefixes["/v2/"] = self._answer
        world.prefixes["/token"] = self._token
        self.contents: dict[str, tuple[str, bytes]] = {}
        """Media type and content by path."""

    def push(
        self,
        repository: str,
        tag: str = "latest",
        text: str = "it",
        layers: tuple[str, ...] = ("archive/zip",),
        artifact_type: str = PACKAGE,
        media_type: str = IMAGE,
    ) -> str:
        """Put a package there, and give the digest of its manifest."""
        described = []
        for number, layer in enumerate(layers):
            main = {"main.tf": MODULE % text, "sub/main.tf": MODULE % "sub"}
            blob = packed("zip", files(main if number == 0 else {"other.tf": str(number)}))
            self.contents[f"/v2/{repository}/blobs/{digest(blob)}"] = layer, blob
            described.append({"mediaType": layer, "digest": digest(blob), "size": len(blob)})
        manifest = {
            "schemaVersion": 2,
            "mediaType": media_type,
            "artifactType": artifact_type,
            "config": {
                "mediaType": "application/vnd.oci.empty.v1+json",
                "digest": digest(b"{}"),
                "size": 2,
            },
            "layers": described,
        }
        body = json.dumps(manifest).encode()
        for reference in (tag, digest(body)):
            self.contents[f"/v2/{repository}/manifests/{reference}"] = media_type, body
        return digest(body)

    def _answer(self, asked: Asked) -> Answer:
        if self.user and not self._is_known(asked):
            challenge = f'{self.scheme} realm="{self._world.url}/token",service="here"'
            return json_answer({"errors": []}, 401, www_authenticate=challenge)
        if asked.path == "/v2/":
            return json_answer({})
        found = self.contents.get(asked.path)
        if found is None:
            return json_answer({"errors": [{"code": "NOT_KNOWN", "message": "never seen"}]}, 404)
        media_type, body = found
        return Answer(
            200, body, {"content-type": media_type, "docker-content-digest": digest(body)}
        )

    def _is_known(self, asked: Asked) -> bool:
        given = asked.headers.get("authorization", "")
        if self.scheme == "Basic":
            return given == f"Basic {base64.b64encode(self.user.encode()).decode()}"
        return given in ("Bearer granted", "Bearer mine")

    def _token(self, asked: Asked) -> Answer:
        if asked.method == "POST":
            given = parse_qs(asked.body.decode()).get("refresh_token", [""])[0]
            is_right = bool(given) and given == self.refresh_token
            return json_answer({"access_token": "granted"}) if is_right else Answer(401)
        wanted = f"Basic {base64.b64encode(self.user.encode()).decode()}"
        if asked.headers.get("authorization") != wanted:
            return json_answer({"errors": [{"message": "who?"}]}, 401)
        return json_answer({"token": "granted"})
