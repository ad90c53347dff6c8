"""Packages of modules from servers that others wrote: both programs get the same from them.

The small world of `test_module_packages` has every rule; here are `git` over ssh, `hg serve`,
the OCI registry `distribution`, and the emulators of S3 and GCS.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.client import HTTPSConnection
from pathlib import Path
from ssl import create_default_context
from urllib.parse import quote

import pytest

from tests.backends.world import fake_gcs, moto
from tests.cli.initializing import call
from tests.net_world.certificates import Authority
from tests.net_world.programs import free_port, serving
from tests.packages.archives import files, packed
from tests.packages.module_world import MODULE
from tests.packages.repositories import Repository
from tests.real import program

pytestmark = pytest.mark.real

CONTENT = {"main.tf": MODULE % "it", "sub/main.tf": MODULE % "sub"}


@dataclass(frozen=True)
class Installed:
    """What one program made of a configuration."""

    status: int
    text: str
    record: str
    files: Mapping[str, str] = field(default_factory=dict)


def install(
    command: list[str], work: Path, configuration: str, environ: Mapping[str, str]
) -> Installed:
    work.mkdir()
    (work / "main.tf").write_text(configuration)
    home = work.parent / "home"
    home.mkdir(exist_ok=True)
    done = subprocess.run(
        [*command, "init", "-no-color", "-backend=false", "-input=false"],
        cwd=work,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "TF_CLI_CONFIG_FILE": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "PYTHONPATH": os.pathsep.join(sys.path),
            "NIGARI_CACHE_DIR": str(work.parent / "cache"),
            **environ,
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    modules = work / ".terraform/modules"
    record = modules / "modules.json"
    found = {}
    for entry in sorted(modules.glob("[!.]*/")) if done.returncode == 0 else ():
        for path in sorted(entry.resolve().rglob("*.tf")):
            found[f"{entry.name}/{path.relative_to(entry.resolve())}"] = path.read_text()
    return Installed(
        done.returncode,
        done.stdout + done.stderr,
        record.read_text() if record.exists() and done.returncode == 0 else "",
        found,
    )


def both(
    tmp_path: Path, configuration: str, environ: Mapping[str, str], is_right: bool = True
) -> str:
    """Compare both programs; what ours says."""
    theirs = install([str(program("tofu"))], tmp_path / "theirs", configuration, environ)
    ours = install([sys.executable, "-m", "nigari"], tmp_path / "ours", configuration, environ)
    assert (theirs.status == 0) is is_right, theirs.text
    assert (ours.status == 0) is is_right, ours.text
    assert ours.record == theirs.record
    assert ours.files == theirs.files
    assert bool(ours.files) is is_right
    return ours.text


# -- git over ssh ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class SshServer:
    source: str
    """Of a module in a repository."""
    key: Path
    command: str
    """What `git` runs to get there, if it has a key."""


@pytest.fixture
def ssh(tmp_path: Path) -> Iterator[SshServer]:
    root = tmp_path / "repositories"
    repository = Repository(root / "net")
    repository.commit(CONTENT, tag="v1")
    repository.commit({"main.tf": MODULE % "two"})
    with subprocess.Popen(
        [sys.executable, "-m", "tests.real.ssh_server", root, tmp_path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        known = f"-o UserKnownHostsFile={tmp_path / 'known_hosts'} -o BatchMode=yes"
        yield SshServer(
            f"git::ssh://git@127.0.0.1:{port}/net/.git",
            tmp_path / "key",
            f"ssh -F {os.devnull} {known}",
        )
        process.stdin.close()


@pytest.mark.parametrize("rest", ["", "?ref=v1", "//sub?ref=v1", "?depth=1"])
def test_git_over_ssh(tmp_path: Path, ssh: SshServer, rest: str) -> None:
    environ = {"GIT_SSH_COMMAND": f"{ssh.command} -i {ssh.key}"}
    both(tmp_path, call("a", ssh.source + rest), environ)


def test_git_with_the_key_in_the_address(tmp_path: Path, ssh: SshServer) -> None:
    key = base64.urlsafe_b64encode(ssh.key.read_bytes()).decode()
    both(tmp_path, call("a", f"{ssh.source}?sshkey={key}"), {"GIT_SSH_COMMAND": ssh.command})


def test_git_over_ssh_without_a_key(tmp_path: Path, ssh: SshServer) -> None:
    said = both(tmp_path, call("a", ssh.source), {"GIT_SSH_COMMAND": ssh.command}, False)
    assert "Permission denied" in said


# -- Mercurial -------------------------------------------------------------------------------------


@pytest.fixture
def mercurial(tmp_path: Path) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Where a repository is served, and the environment for who wants it."""
    hg = program("hg")
    repository, port = tmp_path / "hg", free_port()
    for text in ("one", "two"):
        (repository / "sub").mkdir(parents=True, exist_ok=True)
        for name in ("main.tf", "sub/main.tf"):
            (repository / name).write_text(MODULE % f"{name} {text}")
        if text == "one":
            subprocess.run([hg, "init", repository], check=True)
        commit = ["commit", "--addremove", f"--message={text}", "--user=me"]
        subprocess.run([hg, "-R", repository, *commit], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([hg, "-R", repository, "tag", "--rev=0", "--user=me", "v1"], check=True)
    environ = {"PATH": f"{hg.parent}{os.pathsep}{os.environ['PATH']}"}
    command = [str(hg), "-R", str(repository), "serve", "--address=127.0.0.1", f"--port={port}"]
    with serving(command, port):
        yield f"hg::http://127.0.0.1:{port}/", environ


@pytest.mark.parametrize(
    ("rest", "is_right"),
    [("", True), ("?rev=v1", True), ("/sub?rev=v1", True), ("?rev=none", False)],
)
def test_mercurial(
    tmp_path: Path, mercurial: tuple[str, Mapping[str, str]], rest: str, is_right: bool
) -> None:
    source, environ = mercurial
    both(tmp_path, call("a", source + rest), environ, is_right)


# -- an OCI registry -------------------------------------------------------------------------------


class Distribution:
    """The registry of the project `distribution`, with TLS."""

    def __init__(self, port: int, authority: Path) -> None:
        self.host = f"127.0.0.1:{port}"
        self._context = create_default_context(cafile=str(authority))

    def push(self, repository: str, tag: str, layers: Mapping[str, bytes]) -> str:
        """Put a package there; the digest of its manifest."""
        empty = self._blob(repository, b"{}")
        manifest = {
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "artifactType": "application/vnd.opentofu.modulepkg",
            "config": {"mediaType": "application/vnd.oci.empty.v1+json", **empty},
            "layers": [
                {"mediaType": kind, **self._blob(repository, content)}
                for kind, content in layers.items()
            ],
        }
        body = json.dumps(manifest).encode()
        headers = {"content-type": "application/vnd.oci.image.manifest.v1+json"}
        self._ask("PUT", f"/v2/{repository}/manifests/{tag}", body, headers)
        return f"sha256:{hashlib.sha256(body).hexdigest()}"

    def _blob(self, repository: str, content: bytes) -> dict[str, object]:
        digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
        location = self._ask("POST", f"/v2/{repository}/blobs/uploads/", b"", {})["Location"]
        path = location.removeprefix(f"https://{self.host}")
        headers = {"content-type": "application/octet-stream"}
        self._ask("PUT", f"{path}&digest={digest}", content, headers)
        return {"digest": digest, "size": len(content)}

    def _ask(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> dict[str, str]:
        connection = HTTPSConnection(self.host, context=self._context, timeout=30)
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        said = response.read()
        assert response.status < 300, (method, path, response.status, said)
        connection.close()
        return dict(response.headers.items())


@pytest.fixture
def oci(tmp_path: Path) -> Iterator[tuple[Distribution, Mapping[str, str]]]:
    authority, port = Authority(tmp_path), free_port()
    certificate = authority.certificate(["127.0.0.1"])
    settings = {
        "version": 0.1,
        "log": {"level": "error"},
        "storage": {"filesystem": {"rootdirectory": str(tmp_path / "registry")}},
        "http": {
            "addr": f"127.0.0.1:{port}",
            "tls": {"certificate": str(certificate), "key": str(certificate)},
        },
    }
    # JSON is YAML.
    (tmp_path / "registry.yml").write_text(json.dumps(settings))
    command = [str(program("registry")), "serve", str(tmp_path / "registry.yml")]
    with serving(command, port):
        yield Distribution(port, authority.path), {"SSL_CERT_FILE": str(authority.path)}


@pytest.mark.parametrize(
    ("rest", "is_right"),
    [
        ("", True),
        ("?tag=v1", True),
        ("//sub?tag=v1", True),
        ("?digest={digest}", True),
        ("?tag=v2", False),
        ("?digest=sha256:" + "0" * 64, False),
    ],
)
def test_an_oci_registry(
    tmp_path: Path, oci: tuple[Distribution, Mapping[str, str]], rest: str, is_right: bool
) -> None:
    registry, environ = oci
    archive = {"archive/zip": packed("zip", files(CONTENT))}
    registry.push("team/net", "latest", archive)
    digest = registry.push("team/net", "v1", {**archive, "other/thing": b"x"})
    source = f"oci://{registry.host}/team/net" + rest.format(digest=digest)
    both(tmp_path, call("a", source), environ, is_right)


# -- buckets ---------------------------------------------------------------------------------------

OBJECTS = {
    "pack/net.zip": packed("zip", files(CONTENT)),
    "tree/main.tf": (MODULE % "tree").encode(),
    "tree/sub/main.tf": (MODULE % "deep").encode(),
}


@pytest.mark.parametrize(
    ("key", "is_right"),
    [("pack/net.zip", True), ("pack/net.zip//sub", True), ("tree/", True), ("none.zip", False)],
)
def test_s3(tmp_path: Path, key: str, is_right: bool) -> None:
    with moto.running() as server:
        bucket = server.bucket()
        for name, content in OBJECTS.items():
            server.ask("PUT", f"/{bucket}/{name}", content)
        source = f"s3::{server.url}/{bucket}/{key}"
        both(tmp_path, call("a", source), moto.KEYS, is_right)


@pytest.mark.parametrize(
    ("key", "is_right"),
    [("pack/net.zip", True), ("pack/net.zip//sub", True), ("tree/", True), ("none.zip", False)],
)
def test_gcs(tmp_path: Path, key: str, is_right: bool) -> None:
    with fake_gcs.running() as server:
        bucket = server.bucket()
        for name, content in OBJECTS.items():
            path = f"/upload/storage/v1/b/{bucket}/o?uploadType=media&name={quote(name, '')}"
            server.ask("POST", path, content)
        source = f"gcs::https://www.googleapis.com/storage/v1/{bucket}/{key}"
        both(tmp_path, call("a", source), server.environ, is_right)
