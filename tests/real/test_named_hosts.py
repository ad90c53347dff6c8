"""Packages from hosts that have names: both programs in a world where a proxy leads to all of them.

Here are the rules that depend on the name of a host: short forms of addresses, credentials, settings
for hosts, clouds, and how patient a program is. Both programs end alike, write the same, and we
ask no host for anything that `tofu` does not ask it for.
"""

from __future__ import annotations

import base64
import functools
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from io import BufferedIOBase
from pathlib import Path
from typing import Final
from urllib.parse import unquote

import pytest

from nigari.addrs.provider import DEFAULT_REGISTRY_HOST
from tests.cli.bucket_storage import Storage
from tests.cli.initializing import call
from tests.net_world.oci import OciRegistry
from tests.net_world.registry import Registry
from tests.net_world.server import (
    NOT_FOUND,
    Answer,
    Asked,
    Handler,
    Server,
    head,
    json_answer,
    redirect,
)
from tests.net_world.world import World
from tests.packages.archives import files, packed
from tests.packages.git_http import answer_git
from tests.packages.module_world import MODULE
from tests.packages.repositories import Repository
from tests.real import program

pytestmark = pytest.mark.real

HOST: Final = "registry.example.com"
CONTENT: Final = {"main.tf": MODULE % "it", "sub/main.tf": MODULE % "sub"}
ARCHIVE: Final = packed("zip", files(CONTENT))
BUCKETS: Final = (
    "s3.amazonaws.com",
    "s3-eu-west-1.amazonaws.com",
    "s3.us-east-1.amazonaws.com",
    "s3.eu-west-1.amazonaws.com",
)


class Stage:
    """The hosts, and a directory for each program."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.world = World(base / "world", HOST, DEFAULT_REGISTRY_HOST)
        self.environ: dict[str, str] = {}
        self.settings = ""
        self.machine: Server | None = None
        """Who answers for the machine that programs run on."""
        for host in (HOST, DEFAULT_REGISTRY_HOST):
            self.publish(self.world.registries[host])

    def publish(self, registry: Registry) -> None:
        """Let a registry have a module."""
        registry.modules["ns", "name", "sys"] = {"1.0.0": f"https://{registry.host}/pkg.zip"}
        registry.answers["/pkg.zip"] = Answer(200, ARCHIVE)

    def registry(self, host: str) -> Registry:
        """One more host with that module."""
        made = self.world.add(host)
        self.publish(made)
        return made

    def repository(self) -> Path:
        """What git serves: a repository `o/r`."""
        root = self.base / "repositories"
        made = Repository(root / "o" / "r.git")
        made.commit(CONTENT, tag="v1")
        made.commit({"main.tf": MODULE % "two"})
        self.environ["GIT_SSL_CAINFO"] = self.world.environment["SSL_CERT_FILE"]
        return root

    def git(self, host: str) -> None:
        root = self.repository()
        self.world.serve(host, functools.partial(_served, root))

    def buckets(self) -> None:
        storage = Storage()
        storage.key = "AK"
        for host in BUCKETS:
            self.world.serve(host, storage.s3)
        self.environ |= {"AWS_ACCESS_KEY_ID": "AK", "AWS_SECRET_ACCESS_KEY": "x"}


def _served(root: Path, asked: Asked) -> Answer:
    path = asked.path.replace("/o/r.git/", "/o/r.git/.git/", 1)
    return answer_git(root, Asked(asked.method, path, asked.headers, asked.body))


Setup = Callable[[Stage], str]
CASES: Final[dict[str, tuple[bool, Setup]]] = {}


def case(name: str, is_right: bool = True) -> Callable[[Setup], Setup]:
    def add(setup: Setup) -> Setup:
        assert name not in CASES
        CASES[name] = is_right, setup
        return setup

    return add


ACCEPTED: Final = {
    "bitbucket, not for everybody": "it has git only, and git knows credentials",
    "oci, the host of Docker, login": "its other name has the same credentials",
    "oci, a file that is broken before one that is not": "it says nothing about the others",
    "oci, old form in the old file": "it is what Docker wrote there",
    "oci, scheme in a file": "Docker writes it for some registries",
    "s3, bucket and region as labels": "the bucket is in the path",
    "no retries of the services": "discovery is tried again, as other requests are",
}
"""What only `tofu` refuses, and why."""

REFUSED: Final = {"oci, credentials twice": "errors in the CLI configuration end init"}
"""What `tofu` does in spite of an error, and why we do not."""

RETRIED: Final = frozenset(("services, broken",))
"""What is asked once more, and `tofu` gives up at once."""


# -- short forms -----------------------------------------------------------------------------------


def on_github(source: str) -> Setup:
    def setup(stage: Stage) -> str:
        stage.git("github.com")
        return call("a", source)

    return setup


case("github")(on_github("github.com/o/r"))
case("github, tag and directory")(on_github("github.com/o/r//sub?ref=v1"))
case("github, further parts")(on_github("github.com/o/r/sub?ref=v1"))
case("github, further parts and a directory", False)(on_github("github.com/o/r/sub//sub?ref=v1"))
case("github, with the suffix")(on_github("github.com/o/r.git"))
case("github, forced")(on_github("git::github.com/o/r"))
case("github, owner alone", False)(on_github("github.com/o"))
case("github in upper case", False)(on_github("GitHub.com/o/r"))
case("no short form of gitlab", False)(on_github("gitlab.com/o/r"))
case("git without its prefix", False)(on_github("git://github.com/o/r.git"))
case("ssh without its prefix", False)(on_github("ssh://git@github.com/o/r.git"))
case("an unknown scheme", False)(on_github("ftp://github.com/o/r.zip"))
case("an unknown prefix", False)(on_github("svn::https://github.com/o/r"))
case("a port that is none", False)(on_github("git::https://github.com:99999/o/r.git"))
case("git, a directory that leads out", False)(on_github("github.com/o/r//../x"))


def on_bitbucket(answer: Answer) -> Setup:
    def setup(stage: Stage) -> str:
        stage.git("bitbucket.org")
        stage.world.serve("api.bitbucket.org", lambda _: answer)
        return call("a", "bitbucket.org/o/r")

    return setup


case("bitbucket")(on_bitbucket(json_answer({"scm": "git"})))
case("bitbucket, not for everybody", False)(on_bitbucket(Answer(403)))


def in_s3(source: str) -> Setup:
    def setup(stage: Stage) -> str:
        stage.buckets()
        return call("a", source)

    return setup


case("s3, path")(in_s3("s3.amazonaws.com/bucket/a/x.zip"))
case("s3, region in the path's host")(in_s3("s3-eu-west-1.amazonaws.com/bucket/a/x.zip//sub"))
case("s3, bucket in the host")(in_s3("bucket.s3.amazonaws.com/a/x.zip"))
case("s3, bucket and region in the host")(in_s3("bucket.s3-eu-west-1.amazonaws.com/a/x.zip"))
case("s3, bucket and region as labels", False)(in_s3("bucket.s3.eu-west-1.amazonaws.com/a/x.zip"))
case("s3, too many labels", False)(in_s3("x.bucket.s3.eu-west-1.amazonaws.com/a/x.zip"))
case("s3, forced")(in_s3("s3::https://s3-eu-west-1.amazonaws.com/bucket/a/x.zip"))
case("s3, forced, labels")(in_s3("s3::https://bucket.s3.eu-west-1.amazonaws.com/a/x.zip"))


@case("s3, profile")
def _(stage: Stage) -> str:
    stage.buckets()
    stage.environ["AWS_ACCESS_KEY_ID"] = "other"
    (stage.world.home / ".aws").mkdir()
    (stage.world.home / ".aws/credentials").write_text(
        "[team]\naws_access_key_id = AK\naws_secret_access_key = x\n"
    )
    (stage.world.home / ".aws/config").write_text("[profile team]\nregion = us-east-1\n")
    return call("a", "s3.amazonaws.com/bucket/a/x.zip?aws_profile=team")


@case("s3, credentials of the machine")
def _(stage: Stage) -> str:
    stage.buckets()
    stage.environ["AWS_ACCESS_KEY_ID"] = "other"
    stage.machine = Server(_machine)
    stage.environ["AWS_METADATA_URL"] = stage.machine.url
    return call("a", "s3.amazonaws.com/bucket/a/x.zip")


def _machine(asked: Asked) -> Answer:
    base = "/latest/meta-data/iam/security-credentials/"
    match asked.path:
        case "/latest/api/token":
            return Answer(200, b"session", {"x-aws-ec2-metadata-token-ttl-seconds": "300"})
        case path if path == base:
            return Answer(200, b"role")
        case path if path == f"{base}role":
            known = {
                "Code": "Success",
                "AccessKeyId": "AK",
                "SecretAccessKey": "x",
                "Token": "t",
                "Expiration": "2099-01-01T00:00:00Z",
            }
            return json_answer(known)
    return NOT_FOUND


def in_gcs(source: str, token: str = "s3cret") -> Setup:
    """A bucket for whoever has the token; the two programs ask it in different ways."""

    def setup(stage: Stage) -> str:
        storage = Storage()

        def handle(asked: Asked) -> Answer:
            if asked.headers.get("authorization") != "Bearer s3cret":
                return Answer(403)
            if asked.path.startswith("/storage/"):
                return storage.gcs(asked)
            name = unquote(asked.path.partition("?")[0]).removeprefix("/bucket/")
            content = storage.objects.get(name)
            return NOT_FOUND if content is None else Answer(200, content)

        stage.world.serve("storage.googleapis.com", handle)
        stage.environ["GOOGLE_OAUTH_ACCESS_TOKEN"] = token
        return call("a", source)

    return setup


case("gcs, short")(in_gcs("www.googleapis.com/storage/v1/bucket/a/x.zip"))
case("gcs, short, directory")(in_gcs("www.googleapis.com/storage/v1/bucket/a/x.zip//sub"))
case("gcs, forced")(in_gcs("gcs::https://www.googleapis.com/storage/v1/bucket/a/x.zip"))
case("gcs, too few parts", False)(in_gcs("www.googleapis.com/storage/v1"))
case("gcs, a wrong token", False)(in_gcs("www.googleapis.com/storage/v1/bucket/a/x.zip", "no"))


# -- registries ------------------------------------------------------------------------------------


def named(source: str, *hosts: str) -> Setup:
    def setup(stage: Stage) -> str:
        for host in hosts:
            stage.registry(host)
        return call("a", source)

    return setup


case("the registry that needs no name")(named("ns/name/sys"))
case("the registry that needs no name, directory")(named("ns/name/sys//sub"))
case("a registry")(named(f"{HOST}/ns/name/sys"))
case("a registry, upper case")(named("Registry.EXAMPLE.com/ns/name/sys"))
case("a registry, usual port")(named(f"{HOST}:443/ns/name/sys"))
case("a registry, encoded letters", False)(
    named("xn--bcher-kva.example.com/ns/name/sys", "xn--bcher-kva.example.com")
)
case("a registry, underscore", False)(named("a_b.example.com/ns/name/sys", "a_b.example.com"))
case("a registry, host without a dot", False)(named("registry/ns/name/sys", "registry"))
case("a registry, three parts with a host", False)(named(f"{HOST}/ns/name"))
case("a registry, upper case system", False)(named(f"{HOST}/ns/name/Sys"))
case("a registry, five parts", False)(named(f"{HOST}/ns/name/sys/x"))
case("a registry, query", False)(named(f"{HOST}/ns/name/sys?ref=v1"))
case("a host that does not exist", False)(named("nowhere.example.com/ns/name/sys"))
case("a version for a repository", False)(
    lambda stage: call("a", "git::https://github.com/o/r.git", "1.0.0")
)


@case("a registry, letters of the world")
def _(stage: Stage) -> str:
    stage.registry("xn--bcher-kva.example.com")
    return call("a", "bücher.example.com/ns/name/sys")


def guarded(host: str = HOST, settings: str = "", **environ: str) -> Setup:
    def setup(stage: Stage) -> str:
        registry = stage.world.registries.get(host) or stage.registry(host)
        registry.token = "s3cret"
        stage.settings = settings
        stage.environ |= {name.replace("DOT", "."): value for name, value in environ.items()}
        return call("a", f"{host}/ns/name/sys")

    return setup


_DASHED: Final = "my-reg.example.com"
case("no token", False)(guarded())
case("a wrong token", False)(guarded(TF_TOKEN_registry_example_com="x"))
case("a token of the environment")(guarded(TF_TOKEN_registry_example_com="s3cret"))
case("a token with dots")(guarded(TF_TOKEN_registryDOTexampleDOTcom="s3cret"))
case("a token in upper case")(guarded(TF_TOKEN_REGISTRY_example_com="s3cret"))
case("a token with dashes", True)(guarded(_DASHED, TF_TOKEN_my__reg_example_com="s3cret"))
case("a token without dashes", False)(guarded(_DASHED, TF_TOKEN_my_reg_example_com="s3cret"))
case("a token of a file")(guarded(settings=f'credentials "{HOST}" {{\n  token = "s3cret"\n}}\n'))
case("the environment wins")(
    guarded(
        settings=f'credentials "{HOST}" {{\n  token = "no"\n}}\n',
        TF_TOKEN_registry_example_com="s3cret",
    )
)
case("credentials without a token", False)(guarded(settings=f'credentials "{HOST}" {{\n}}\n'))


@case("a token for letters of the world")
def _(stage: Stage) -> str:
    stage.registry("xn--bcher-kva.example.com").token = "s3cret"
    stage.environ["TF_TOKEN_xn____bcher__kva_example_com"] = "s3cret"
    return call("a", "bücher.example.com/ns/name/sys")


def helped(*versions: str) -> Setup:
    """The newest of several helpers has the right token."""

    def setup(stage: Stage) -> str:
        stage.world.registries[HOST].token = f"from-{versions[-1]}"
        plugins = stage.world.home / ".terraform.d/plugins"
        plugins.mkdir(parents=True)
        for version in versions:
            path = plugins / f"terraform-credentials-keys{version}"
            path.write_text(
                f'#!/bin/sh\n[ "$*" = "-q get {HOST}" ] || exit 3\n'
                f'echo \'{{"token": "from-{version}"}}\'\n'
            )
            path.chmod(0o755)
        stage.settings = 'credentials_helper "keys" {\n  args = ["-q"]\n}\n'
        return call("a", f"{HOST}/ns/name/sys")

    return setup


case("a helper")(helped(""))
case("the newest helper")(helped("_v1.9.0", "_v1.10.0"))


def said_by_helper(script: str) -> Setup:
    def setup(stage: Stage) -> str:
        helped("")(stage)
        path = stage.world.home / ".terraform.d/plugins/terraform-credentials-keys"
        path.write_text(f"#!/bin/sh\n{script}\n")
        return call("a", f"{HOST}/ns/name/sys")

    return setup


case("a helper that fails", False)(said_by_helper("echo no luck >&2; exit 1"))
case("a helper that knows nothing", False)(said_by_helper("echo '{}'"))
case("a helper that says something else", False)(said_by_helper("echo hello"))


def described(services: Answer | Mapping[str, object]) -> Setup:
    def setup(stage: Stage) -> str:
        answer = services if isinstance(services, Answer) else json_answer(services)
        stage.world.registries[HOST].answers["/.well-known/terraform.json"] = answer
        return call("a", f"{HOST}/ns/name/sys")

    return setup


_SERVICES: Final = {"modules.v1": "/v1/modules/"}
_MEMBERS: Final = json.dumps(_SERVICES).encode()
case("services, without the last slash")(described({"modules.v1": "/v1/modules"}))
case("services, whole URL")(described({"modules.v1": f"https://{HOST}/v1/modules/"}))
case("services, relative")(described({"modules.v1": "../v1/modules/"}))
case("services, fragment")(described({"modules.v1": "/v1/modules/#x"}))
case("services, user", False)(described({"modules.v1": f"https://me@{HOST}/v1/modules/"}))
case("services, other scheme", False)(described({"modules.v1": "ftp://x/"}))
case("services, number", False)(described({"modules.v1": 1}))
case("services, other version", False)(described({"modules.v2": "/x/"}))
case("services, not there", False)(described(Answer(404)))
case("services, broken", False)(described(Answer(500)))
case("services, list", False)(described(json_answer([])))
case("services, with a character set")(
    described(Answer(200, _MEMBERS, {"content-type": "application/json; charset=utf-8"}))
)
case("services, as text", False)(described(Answer(200, _MEMBERS, {"content-type": "text/plain"})))
case("services, page of a portal", False)(
    described(Answer(200, b"<html>Log in</html>", {"content-type": "text/html"}))
)
case("services, too long", False)(described(json_answer({**_SERVICES, "x": "x" * (1 << 20)})))


@case("services, elsewhere")
def _(stage: Stage) -> str:
    other = stage.registry("other.example.com")
    other.answers["/here/services.json"] = json_answer({"modules.v1": "../v1/modules/"})
    answer = redirect("https://other.example.com/here/services.json")
    stage.world.registries[HOST].answers["/.well-known/terraform.json"] = answer
    return call("a", f"{HOST}/ns/name/sys")


@case("services in a host block")
def _(stage: Stage) -> str:
    services = f'{{\n    "modules.v1" = "https://{HOST}/v1/modules/"\n  }}'
    stage.settings = f'host "fake.example.com" {{\n  services = {services}\n}}\n'
    return call("a", "fake.example.com/ns/name/sys")


@case("relative services in a host block")
def _(stage: Stage) -> str:
    services = '{\n    "modules.v1" = "/v1/modules/"\n  }'
    stage.settings = f'host "{HOST}" {{\n  services = {services}\n}}\n'
    return call("a", f"{HOST}/ns/name/sys")


# -- patience --------------------------------------------------------------------------------------


def failing(
    times: int, answer: Answer | Callable[[BufferedIOBase], None], path: str = "", **environ: str
) -> Setup:
    """Something goes wrong a few times."""

    def setup(stage: Stage) -> str:
        registry = stage.world.registries[HOST]
        wrong = path or "/v1/modules/ns/name/sys/versions"
        seen: Counter[str] = Counter()

        def handle(asked: Asked) -> Answer | Callable[[BufferedIOBase], None]:
            # The log is emptied between the programs.
            log = stage.world.servers[HOST].log
            seen[asked.path] = sum(each.path == asked.path for each in log)
            if asked.path == wrong and seen[asked.path] <= times:
                return answer
            return registry.handle(asked)

        stage.world.servers[HOST].handler = handle
        stage.environ |= environ
        return call("a", f"{HOST}/ns/name/sys")

    return setup


def _slow(stream: BufferedIOBase) -> None:
    time.sleep(3)
    stream.write(head(500, content_length="0"))


def _hang_up(stream: BufferedIOBase) -> None: ...


_SOON: Final = {"retry-after": "1"}
_ONE: Final = {"TF_REGISTRY_DISCOVERY_RETRY": "2"}
case("broken once")(failing(1, Answer(500)))
case("broken twice", False)(failing(2, Answer(500)))
case("broken twice, more patience")(failing(2, Answer(500), **_ONE))
case("not implemented", False)(failing(1, Answer(501)))
case("busy for a second")(failing(1, Answer(503, b"", _SOON)))
case("too many requests")(failing(1, Answer(429, b"", _SOON)))
case("busy until a date")(
    failing(1, Answer(503, b"", {"retry-after": formatdate(time.time() + 2, usegmt=True)}))
)
case("the end of a connection")(failing(1, _hang_up))
case("too slow", False)(
    failing(9, _slow, TF_REGISTRY_CLIENT_TIMEOUT="1", TF_REGISTRY_DISCOVERY_RETRY="1")
)
case("refused", False)(failing(9, Answer(403)))
case("no retries of the services", False)(failing(1, Answer(500), "/.well-known/terraform.json"))


@case("patience in the settings", False)
def _(stage: Stage) -> str:
    stage.settings = "registry_protocols {\n  retry_count = 0\n}\n"
    return failing(1, Answer(500))(stage)


@case("an expired certificate", False)
def _(stage: Stage) -> str:
    stage.world.add("old.example.com", days=-1)
    return call("a", "old.example.com/ns/name/sys")


@case("a certificate of another name", False)
def _(stage: Stage) -> str:
    stage.world.proxy.ports["wrong.example.com"] = stage.world.servers[HOST].port
    return call("a", "wrong.example.com/ns/name/sys")


@case("nobody vouches for the certificate", False)
def _(stage: Stage) -> str:
    stage.environ["SSL_CERT_FILE"] = str(stage.base / "none.pem")
    (stage.base / "none.pem").write_text("")
    return call("a", f"{HOST}/ns/name/sys")


@case("a directory of authorities")
def _(stage: Stage) -> str:
    directory = stage.base / "authorities"
    directory.mkdir()
    content = Path(stage.world.environment["SSL_CERT_FILE"]).read_bytes()
    (directory / "tests.pem").write_bytes(content)
    stage.environ |= {"SSL_CERT_FILE": "", "SSL_CERT_DIR": str(directory)}
    return call("a", f"{HOST}/ns/name/sys")


@case("a host that the proxy is not for", False)
def _(stage: Stage) -> str:
    stage.environ["NO_PROXY"] = ".example.com"
    return call("a", f"{HOST}/ns/name/sys")


@case("a proxy in lower case")
def _(stage: Stage) -> str:
    stage.environ |= {"HTTPS_PROXY": "", "https_proxy": stage.world.environment["HTTPS_PROXY"]}
    return call("a", f"{HOST}/ns/name/sys")


@case("a proxy that is not there", False)
def _(stage: Stage) -> str:
    stage.environ["HTTPS_PROXY"] = "http://127.0.0.1:9"
    return call("a", f"{HOST}/ns/name/sys")


# -- OCI registries --------------------------------------------------------------------------------


def in_oci(host: str, source: str, login: str = "", settings: str = "") -> Setup:
    def setup(stage: Stage) -> str:
        registry = OciRegistry(host)
        registry.login = login
        registry.repository("team/net").publish_module("latest", ARCHIVE)
        stage.world.serve(host, registry.handle)
        stage.settings = settings
        return call("a", source)

    return setup


_OCI: Final = "oci.example.com"
_SOURCE: Final = f"oci://{_OCI}/team/net"


def oci_login(label: str, arguments: str) -> str:
    return f'oci_credentials "{label}" {{\n  {arguments}\n}}\n'


_RIGHT: Final = 'username = "me"\n  password = "s3cret"'
_WRONG: Final = 'username = "me"\n  password = "no"'
case("oci")(in_oci(_OCI, _SOURCE))
case("oci, the host of Docker")(in_oci("registry-1.docker.io", "oci://docker.io/team/net//sub"))
case("oci, the host of Docker, login", False)(
    in_oci(
        "registry-1.docker.io",
        "oci://docker.io/team/net",
        "basic",
        oci_login("docker.io", _RIGHT),
    )
)
case("oci, the longest path wins")(
    in_oci(
        _OCI,
        _SOURCE,
        "bearer",
        oci_login(_OCI, _WRONG) + oci_login(f"{_OCI}/team", _RIGHT),
    )
)
case("oci, another path", False)(in_oci(_OCI, _SOURCE, "basic", oci_login(f"{_OCI}/te", _RIGHT)))
case("oci, refresh token")(
    in_oci(
        _OCI,
        _SOURCE,
        "bearer",
        oci_login(_OCI, 'access_token = "direct"\n  refresh_token = "refresh"'),
    )
)
case("oci, credentials twice")(in_oci(_OCI, _SOURCE, "basic", oci_login(_OCI, _RIGHT) * 2))


@case("oci, content elsewhere")
def _(stage: Stage) -> str:
    config = in_oci(_OCI, _SOURCE, "basic", oci_login(_OCI, _RIGHT))(stage)

    def blobs(asked: Asked) -> Answer:
        return Answer(400) if "authorization" in asked.headers else Answer(200, ARCHIVE)

    stage.world.serve("blobs.example.com", blobs)
    registry = stage.world.servers[_OCI].handler
    stage.world.servers[_OCI].handler = _redirecting(registry)
    return config


def _redirecting(handler: Handler) -> Handler:
    def handle(asked: Asked) -> object:
        answer = handler(asked)
        is_blob = "/blobs/" in asked.path and isinstance(answer, Answer) and answer.status == 200
        return redirect(f"https://blobs.example.com{asked.path}", 307) if is_blob else answer

    return handle  # type: ignore[return-value]


@case("oci, a helper of Docker's")
def _(stage: Stage) -> str:
    helper = stage.base / "bin/docker-credential-x"
    helper.parent.mkdir()
    helper.write_text('#!/bin/sh\necho \'{"Username": "me", "Secret": "s3cret"}\'\n')
    helper.chmod(0o755)
    stage.environ["PATH"] = f"{helper.parent}{os.pathsep}{os.environ['PATH']}"
    docker = stage.world.home / ".docker"
    docker.mkdir()
    (docker / "config.json").write_text(json.dumps({"credHelpers": {_OCI: "x"}}))
    return in_oci(_OCI, _SOURCE, "basic")(stage)


@case("oci, nothing of what is around", False)
def _(stage: Stage) -> str:
    docker = stage.world.home / ".docker"
    docker.mkdir()
    known = {"auths": {_OCI: {"auth": base64.b64encode(b"me:s3cret").decode()}}}
    (docker / "config.json").write_text(json.dumps(known))
    settings = "oci_default_credentials {\n  discover_ambient_credentials = false\n}\n"
    return in_oci(_OCI, _SOURCE, "basic", settings)(stage)


def known(key: str = _OCI, word: str = "s3cret") -> str:
    """What a file of Docker's or Podman's says about a registry."""
    return json.dumps({"auths": {key: {"auth": base64.b64encode(f"me:{word}".encode()).decode()}}})


def kept(files: Mapping[str, str], settings: str = "", **environ: str) -> Setup:
    """Files below the user's home, and programs below `bin`, which say who the user is."""

    def setup(stage: Stage) -> str:
        for name, text in files.items():
            path = stage.world.home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            path.chmod(0o755)
        home = str(stage.world.home)
        stage.environ["PATH"] = f"{home}/bin{os.pathsep}{os.environ['PATH']}"
        stage.environ |= {name: value.replace("HOME", home) for name, value in environ.items()}
        return in_oci(_OCI, _SOURCE, "basic", settings.replace("HOME", home))(stage)

    return setup


def helper(script: str) -> str:
    return f"#!/bin/sh\nread given\n{script}\n"


_TELLS: Final = helper('echo \'{"Username": "me", "Secret": "s3cret"}\'')
_LIES: Final = helper('echo \'{"Username": "me", "Secret": "no"}\'')
_ASKED: Final = helper(
    f'[ "$1 $given" = "get https://{_OCI}" ] || exit 1\n'
    'echo \'{"Username": "me", "Secret": "s3cret"}\''
)
_DOCKER: Final = ".docker/config.json"


def defaults(arguments: str) -> str:
    return f"oci_default_credentials {{\n  {arguments}\n}}\n"


for _name, _is_right, _setup in (
    (
        "runtime directory",
        True,
        kept({"r/containers/auth.json": known()}, XDG_RUNTIME_DIR="HOME/r"),
    ),
    ("Podman's directory", True, kept({".config/containers/auth.json": known()})),
    (
        "configuration directory",
        True,
        kept({"c/containers/auth.json": known()}, XDG_CONFIG_HOME="HOME/c"),
    ),
    (
        "not the usual directory where there is another one",
        False,
        kept({".config/containers/auth.json": known()}, XDG_CONFIG_HOME="HOME/c"),
    ),
    ("old file of Docker's", True, kept({".dockercfg": known()})),
    (
        "old form in the old file",
        False,
        kept({".dockercfg": json.dumps(json.loads(known())["auths"])}),
    ),
    ("another file", False, kept({".docker/other.json": known()})),
    (
        "the first file wins",
        True,
        kept({".config/containers/auth.json": known(), _DOCKER: known(word="no")}),
    ),
    (
        "the path in a later file wins",
        True,
        kept({".config/containers/auth.json": known(word="no"), _DOCKER: known(f"{_OCI}/team")}),
    ),
    ("scheme in a file", False, kept({_DOCKER: known(f"https://{_OCI}")})),
    ("scheme and path in a file", False, kept({_DOCKER: known(f"https://{_OCI}/v1/")})),
    ("a file that is broken", False, kept({_DOCKER: "{"})),
    (
        "a file that is broken before one that is not",
        False,
        kept({".config/containers/auth.json": "{", _DOCKER: known()}),
    ),
    ("a block wins", True, kept({_DOCKER: known(word="no")}, oci_login(_OCI, _RIGHT))),
    (
        "the path in a file wins",
        True,
        kept({_DOCKER: known(f"{_OCI}/team")}, oci_login(_OCI, _WRONG)),
    ),
    (
        "own files",
        True,
        kept({"mine.json": known()}, defaults('docker_style_config_files = ["HOME/mine.json"]')),
    ),
    (
        "own files, relative",
        True,
        kept({"x/mine.json": known()}, defaults('docker_style_config_files = ["x/mine.json"]')),
    ),
    (
        "own files take the place of others",
        False,
        kept(
            {"mine.json": "{}", _DOCKER: known()},
            defaults('docker_style_config_files = ["mine.json"]'),
        ),
    ),
    (
        "no files",
        False,
        kept({_DOCKER: known()}, defaults("docker_style_config_files = []")),
    ),
    (
        "own files that are not there",
        False,
        kept({_DOCKER: known()}, defaults('docker_style_config_files = ["none.json"]')),
    ),
    (
        "helper for all",
        True,
        kept({"bin/docker-credential-x": _ASKED}, defaults('docker_credentials_helper = "x"')),
    ),
    (
        "helper for all before files",
        True,
        kept(
            {
                "bin/docker-credential-x": _TELLS,
                "bin/docker-credential-y": _LIES,
                _DOCKER: json.dumps({"credsStore": "y"}),
            },
            defaults('docker_credentials_helper = "x"'),
        ),
    ),
    (
        "a host in a file before the helper for all",
        True,
        kept(
            {"bin/docker-credential-x": _LIES, _DOCKER: known()},
            defaults('docker_credentials_helper = "x"'),
        ),
    ),
    (
        "helper of a block",
        True,
        kept(
            {"bin/docker-credential-x": _ASKED}, oci_login(_OCI, 'docker_credentials_helper = "x"')
        ),
    ),
    (
        "store of a file",
        True,
        kept({"bin/docker-credential-x": _ASKED, _DOCKER: json.dumps({"credsStore": "x"})}),
    ),
    (
        "helper that is not there",
        False,
        kept({}, defaults('docker_credentials_helper = "none"')),
    ),
    (
        "helper that knows nothing",
        False,
        kept(
            {
                "bin/docker-credential-x": helper(
                    "echo credentials not found in native keychain; exit 1"
                )
            },
            defaults('docker_credentials_helper = "x"'),
        ),
    ),
    (
        "helper that has another kind of token",
        False,
        kept(
            {
                "bin/docker-credential-x": helper(
                    'echo \'{"Username": "<token>", "Secret": "s3cret"}\''
                )
            },
            defaults('docker_credentials_helper = "x"'),
        ),
    ),
):
    case(f"oci, {_name}", _is_right)(_setup)


# -- running both ----------------------------------------------------------------------------------


@dataclass
class Outcome:
    status: int
    text: str
    record: str
    requests: Counter[str]
    content: dict[str, str] = field(default_factory=dict)


def run(stage: Stage, command: list[str], name: str, configuration: str) -> Outcome:
    work = stage.base / name
    work.mkdir()
    (work / "main.tf").write_text(configuration)
    stage.world.requests()
    kept = ("TF_", "XDG_", "AWS_", "GIT_")
    done = subprocess.run(
        [*command, "init", "-no-color", "-input=false"],
        cwd=work,
        env={
            **{n: v for n, v in os.environ.items() if not n.startswith(kept)},
            "PYTHONPATH": os.pathsep.join(sys.path),
            "NIGARI_CACHE_DIR": str(stage.base / "cache"),
            "CHECKPOINT_DISABLE": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            **stage.world.environment,
            **stage.environ,
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    modules = work / ".terraform/modules"
    record = modules / "modules.json"
    found = Outcome(done.returncode, done.stdout + done.stderr, "", Counter())
    found.requests = Counter(map(_in_order, stage.world.requests(with_headers=True)))
    if found.status == 0:
        found.record = record.read_text()
        for entry in sorted(modules.glob("[!.]*/")):
            for path in sorted(entry.resolve().rglob("*.tf")):
                key = f"{entry.name}/{path.relative_to(entry.resolve())}"
                found.content[key] = path.read_text()
    return found


def _in_order(request: str) -> str:
    path, _, query = request.partition("?")
    return f"{path}?{'&'.join(sorted(set(query.split('&')) - {'x-id=GetObject', ''}))}"


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    made = Stage(tmp_path)
    yield made
    made.world.close()
    if made.machine is not None:
        made.machine.close()


@pytest.mark.parametrize("name", CASES)
def test_both_programs(stage: Stage, name: str) -> None:
    is_right, setup = CASES[name]
    configuration = setup(stage)
    stage.world.configure(stage.settings)
    theirs = run(stage, [str(program("tofu"))], "theirs", configuration)
    ours = run(stage, [sys.executable, "-m", "nigari"], "ours", configuration)
    about = f"--- theirs\n{theirs.text}\n--- ours\n{ours.text}"
    is_accepted = (is_right or name in ACCEPTED) and name not in REFUSED
    assert (theirs.status == 0, ours.status == 0) == (is_right, is_accepted), about
    assert "s3cret" not in ours.text
    if is_accepted is not is_right:
        return
    assert ours.record == theirs.record, about
    assert ours.content == theirs.content, about
    own = Counter(
        {
            each: n
            for each, n in ours.requests.items()
            if ".git/" in each or "/storage/v1/b/" in each
        }
    )
    again = theirs.requests if name in RETRIED else Counter[str]()
    assert not ours.requests - theirs.requests - own - again, about
