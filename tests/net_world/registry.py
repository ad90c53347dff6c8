"""A registry of providers and modules, and a network mirror, as one server answers them."""

import functools
import hashlib
import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from pysequoia import SignatureMode, Tsk, sign

from tests.net_world.server import NOT_FOUND, Answer, Asked, Script, json_answer

PLATFORMS = ("linux_amd64", "darwin_arm64")


def zip_of(files: Mapping[str, bytes]) -> bytes:
    """The same bytes for the same files; programs can be executed."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            mode = 0o755 if name.startswith("terraform-provider-") else 0o644
            entry.external_attr = (0o100000 | mode) << 16
            archive.writestr(entry, content)
    return buffer.getvalue()


@dataclass
class Release:
    """One version of a provider: its archives by platform, and what the registry says of it."""

    type: str
    version: str
    archives: dict[str, bytes]
    protocols: Sequence[str] = ("5.0",)
    keys: list[str] = field(default_factory=list)
    """Armored public keys."""
    signer: Tsk | None = None
    packages: Mapping[str, object] | None = None
    """The member `packages` of registries since 1.12, if the registry has it."""
    sums: bytes | None = None
    """The list of checksums, if it is not the right one."""
    signature: bytes | None = None
    changes: Mapping[str, object] = field(default_factory=dict)
    """Members of the description that are wrong on purpose."""

    def name(self, platform: str) -> str:
        return f"terraform-provider-{self.type}_{self.version}_{platform}.zip"

    @property
    def sums_name(self) -> str:
        return f"terraform-provider-{self.type}_{self.version}_SHA256SUMS"

    def digest(self, platform: str) -> str:
        return _sha256(self.archives[platform])

    def sums_text(self) -> bytes:
        if self.sums is not None:
            return self.sums
        lines = [f"{self.digest(each)}  {self.name(each)}\n" for each in sorted(self.archives)]
        return "".join(lines).encode()

    def signature_bytes(self) -> bytes:
        if self.signature is not None:
            return self.signature
        if self.signer is None:
            return b"no signature"
        mode = SignatureMode.DETACHED
        return sign(self.signer.signer(), self.sums_text(), mode=mode, armor=False)


@functools.lru_cache(64)
def _sha256(archive: bytes) -> str:
    """Worked out once, however often a server is asked for it."""
    return hashlib.sha256(archive).hexdigest()


class Key:
    """A key of somebody who publishes providers."""

    def __init__(self, seconds: int | None = None) -> None:
        self.secret = Tsk.generate("Publisher <publisher@example.com>", validity_seconds=seconds)
        self.public = str(self.secret.extract_certificate())
        self.id = self.secret.extract_certificate().fingerprint[-16:].upper()


class Registry:
    """What one host has. `handle` is for a `Server`; single paths can be answered otherwise."""

    def __init__(self, host: str) -> None:
        self.host = host
        self.providers: dict[tuple[str, str], dict[str, Release]] = {}
        self.warnings: dict[tuple[str, str], list[str]] = {}
        self.modules: dict[tuple[str, str, str], dict[str, str]] = {}
        """By version, the sources of modules."""
        self.services = {
            "providers.v1": "/v1/providers/",
            "modules.v1": "/v1/modules/",
        }
        self.token = ""
        """The bearer token without which nobody gets anything."""
        self.answers: dict[str, Answer | Script] = {}
        self.mirrored: list[Registry] = []
        """Whose providers this host mirrors below /mirror/."""

    def publish(
        self,
        namespace: str,
        type: str,
        version: str,
        key: Key | None = None,
        platforms: Sequence[str] = PLATFORMS,
        content: bytes = b"",
    ) -> Release:
        archives = {
            each: zip_of(
                {
                    f"terraform-provider-{type}_v{version}": f"{type} {version} {each}\n".encode()
                    + content,
                    "LICENSE": b"free\n",
                }
            )
            for each in platforms
        }
        release = Release(type, version, archives)
        if key is not None:
            release.signer, release.keys = key.secret, [key.public]
        self.providers.setdefault((namespace, type), {})[version] = release
        return release

    def handle(self, asked: Asked) -> Answer | Script:
        path = urlsplit(asked.path).path
        if path in self.answers:
            return self.answers[path]
        if path == "/.well-known/terraform.json":
            return json_answer(self.services)
        parts = path.strip("/").split("/")
        if parts[0] == "files":
            return self._file(parts[1:])
        if self.token and asked.headers.get("authorization") != f"Bearer {self.token}":
            return json_answer({"errors": ["a token is needed"]}, 401)
        if parts[:2] == ["v1", "providers"]:
            return self._provider(parts[2:])
        if parts[:2] == ["v1", "modules"]:
            return self._module(parts[2:])
        if parts[0] == "mirror":
            return self._mirror(parts[1:])
        return NOT_FOUND

    def _provider(self, parts: list[str]) -> Answer:
        namespace, type, *rest = parts
        releases = self.providers.get((namespace, type))
        if releases is None:
            return json_answer({"errors": ["not found"]}, 404)
        if rest == ["versions"]:
            listed = [
                {
                    "version": release.version,
                    "protocols": list(release.protocols),
                    "platforms": [_platform(each) for each in release.archives],
                }
                for release in releases.values()
            ]
            document: dict[str, object] = {"versions": listed}
            if (namespace, type) in self.warnings:
                document["warnings"] = self.warnings[namespace, type]
            return json_answer(document)
        version, _, system, machine = rest
        release = releases.get(version)
        platform = f"{system}_{machine}"
        if release is None or platform not in release.archives:
            return json_answer({"errors": ["not found"]}, 404)
        return json_answer(self._description(namespace, release, platform))

    def _description(self, namespace: str, release: Release, platform: str) -> dict[str, object]:
        base = f"/files/{namespace}/{release.type}/{release.version}"
        document: dict[str, object] = {
            **_platform(platform),
            "protocols": list(release.protocols),
            "filename": release.name(platform),
            "download_url": f"{base}/{release.name(platform)}",
            "shasum": release.digest(platform),
            "shasums_url": f"{base}/{release.sums_name}",
            "shasums_signature_url": f"{base}/{release.sums_name}.sig",
            "signing_keys": {"gpg_public_keys": [{"ascii_armor": key} for key in release.keys]},
        }
        if release.packages is not None:
            document["packages"] = release.packages
        return {**document, **release.changes}

    def _file(self, parts: list[str]) -> Answer:
        namespace, type, version, name = parts
        release = self.providers.get((namespace, type), {}).get(version)
        if release is None:
            return NOT_FOUND
        if name == release.sums_name:
            return Answer(200, release.sums_text(), {"content-type": "text/plain"})
        if name == f"{release.sums_name}.sig":
            return Answer(200, release.signature_bytes())
        for platform, archive in release.archives.items():
            if name == release.name(platform):
                return Answer(200, archive, {"content-type": "application/zip"})
        return NOT_FOUND

    def _module(self, parts: list[str]) -> Answer:
        namespace, name, system, *rest = parts
        versions = self.modules.get((namespace, name, system))
        if versions is None:
            return json_answer({"errors": ["not found"]}, 404)
        if rest == ["versions"]:
            listed = [{"version": each} for each in versions]
            return json_answer({"modules": [{"versions": listed}]})
        if len(rest) == 2 and rest[1] == "download" and rest[0] in versions:
            return Answer(204, b"", {"x-terraform-get": versions[rest[0]]})
        return NOT_FOUND

    def _mirror(self, parts: list[str]) -> Answer:
        host, namespace, type, name = parts
        for registry in self.mirrored:
            releases = registry.providers.get((namespace, type))
            if registry.host != host or releases is None:
                continue
            if name == "index.json":
                return json_answer({"versions": {version: {} for version in releases}})
            for release in releases.values():
                if name == f"{release.version}.json":
                    return json_answer({"archives": _archives(release)})
                for platform, archive in release.archives.items():
                    if name == release.name(platform):
                        return Answer(200, archive, {"content-type": "application/zip"})
        return NOT_FOUND


def _platform(text: str) -> dict[str, str]:
    system, _, machine = text.partition("_")
    return {"os": system, "arch": machine}


def _archives(release: Release) -> dict[str, object]:
    return {
        platform: {"url": release.name(platform), "hashes": [f"zh:{release.digest(platform)}"]}
        for platform in release.archives
    }
