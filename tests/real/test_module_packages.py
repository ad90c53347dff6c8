"""Packages of modules: both programs against the same servers, with the same outcome.

Each case says what the world serves and what a configuration calls. Both programs make a fresh
directory ready; verdict, list of modules and files must be the same, and we must not ask a server
for anything that `tofu` does not ask for.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from io import BufferedIOBase
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from tests.cli.bucket_storage import Storage
from tests.cli.initializing import call, page
from tests.net_world.server import Answer, Asked, Script, head, json_answer
from tests.packages.archives import Entry, files, packed
from tests.packages.git_http import GitShelf
from tests.packages.mercurial import hg
from tests.packages.module_world import MODULE, ModuleWorld
from tests.packages.oci_world import OciShelf
from tests.packages.repositories import Repository
from tests.real import program

pytestmark = pytest.mark.real

Setup = Callable[[ModuleWorld], str]
CASES: Final[dict[str, tuple[bool, Setup]]] = {}
"""Whether it is right, and what makes the world so and gives the configuration."""


def case(name: str, is_right: bool = True) -> Callable[[Setup], Setup]:
    def add(setup: Setup) -> Setup:
        CASES[name] = is_right, setup
        return setup

    return add


def archived(form: str, path: str, query: str = "") -> Setup:
    def setup(world: ModuleWorld) -> str:
        world.archive(path, form, {"main.tf": MODULE % "it", "sub/main.tf": MODULE % "sub"})
        more = f"&{query}" if query else ""
        url = f"{world.url}{path}"
        plain = url + (f"?{query}" if query else "")
        return call("a", plain) + call("b", f"{url}//sub?x=y{more}")

    return setup


for _form, _path in (
    ("zip", "/a.zip"),
    ("tar.gz", "/a.tar.gz"),
    ("tar.gz", "/a.tgz"),
    ("tar.bz2", "/a.tar.bz2"),
    ("tar.bz2", "/a.tar.tbz2"),
    ("tar.xz", "/a.tar.xz"),
    ("tar.xz", "/a.txz"),
):
    case(f"archive {_path}")(archived(_form, _path))
for _form in ("zip", "tar.gz", "tar.bz2", "tar.xz"):
    case(f"archive={_form}")(archived(_form, "/plain", f"archive={_form}"))
case("archive=false", False)(archived("zip", "/a.zip", "archive=false"))
case("archive=0", False)(archived("zip", "/a.zip", "archive=0"))
case("an unknown form", False)(archived("zip", "/a.zip", "archive=rar"))
case("a single packed file", False)(archived("tar.gz", "/a.gz"))


def summed(make: Callable[[bytes], str]) -> Setup:
    def setup(world: ModuleWorld) -> str:
        body = world.archive("/a.zip", "zip", {"main.tf": MODULE % "it"})
        return call("a", f"{world.url}/a.zip?checksum={make(body)}")

    return setup


def _without_type(make: Callable[[bytes], str]) -> Callable[[bytes], str]:
    return lambda body: make(body).partition(":")[2]


for _name in ("md5", "sha1", "sha256", "sha512"):

    def _typed(body: bytes, name: str = _name) -> str:
        return f"{name}:{hashlib.new(name, body).hexdigest()}"

    case(f"checksum {_name}")(summed(_typed))
    case(f"checksum of the length of {_name}")(summed(_without_type(_typed)))
case("wrong checksum", False)(summed(lambda _: "md5:" + "0" * 32))
case("checksum of a list without a name", False)(summed(lambda _: "file:"))
case("checksum that is none", False)(summed(lambda _: "md5:xyz"))
case("checksum of an unknown type", False)(summed(lambda _: "crc32:01020304"))
case("checksum of an unknown length", False)(summed(lambda _: "0102"))


def listed(text: str) -> Setup:
    def setup(world: ModuleWorld) -> str:
        body = world.archive("/d/a.zip", "zip", {"main.tf": MODULE % "it"})
        sums = text.format(hashlib.sha256(body).hexdigest()).encode()
        world.replies["/sums"] = Answer(200, sums)
        return call("a", f"{world.url}/d/a.zip?checksum=file:{world.url}/sums")

    return setup


for _text, _is_right in (
    ("{0}  a.zip\n", True),
    ("{0} *a.zip", True),
    ("{0} ?a.zip", True),
    ("SHA256 (a.zip) = {0}\n", True),
    ("{0} d/a.zip\n", True),
    ("{0} ./d/a.zip\n", True),
    ("{0} /d/a.zip\n", True),
    ("{0}\n", True),
    ("\n\nrubbish\n{0}  a.zip\n", True),
    ("{0}  b.zip\n", False),
    ("", False),
):
    case(f"list of checksums {_text!r}", _is_right)(listed(_text))


@case("files of several kinds in an archive")
def _(world: ModuleWorld) -> str:
    entries = [
        ("dir", "empty", ""),
        ("file", ".hidden", "x"),
        ("program", "bin/run", "#!/bin/sh\n"),
        ("file", "main.tf", MODULE % "it"),
    ]
    for form in ("zip", "tar.gz"):
        world.replies[f"/a.{form}"] = Answer(200, packed(form, entries))
    return call("a", f"{world.url}/a.zip") + call("b", f"{world.url}/a.tar.gz")


for _form in ("zip", "tar.gz"):
    case(f"an empty archive: {_form}", False)(
        lambda world, form=_form: _unpacked(world, form, [])  # type: ignore[misc]
    )
    case(f"a name that leads out: {_form}", False)(
        lambda world, form=_form: _unpacked(world, form, [("file", "a/../../x", "")])  # type: ignore[misc]
    )


def _unpacked(world: ModuleWorld, form: str, entries: list[Entry]) -> str:
    world.replies[f"/a.{form}"] = Answer(200, packed(form, entries))
    return call("a", f"{world.url}/a.{form}")


@case("checksum of a directory of this machine", False)
def _(world: ModuleWorld) -> str:
    directory = world.directory / "here"
    directory.mkdir()
    (directory / "main.tf").write_text(MODULE % "it")
    return call("a", f"{directory}?checksum=md5:{'0' * 32}")


@case("a directory that is called an archive", False)
def _(world: ModuleWorld) -> str:
    directory = world.directory / "here"
    directory.mkdir()
    (directory / "main.tf").write_text(MODULE % "it")
    return call("a", f"{directory}?archive=zip")


@case("checksum of a directory", False)
def _(world: ModuleWorld) -> str:
    repository = Repository(world.directory / "repository")
    repository.commit({"main.tf": MODULE % "it"})
    return call("a", f"{repository.source}?checksum=md5:{'0' * 32}")


def hopping(answer: Callable[[ModuleWorld], Answer], subdir: str = "") -> Setup:
    def setup(world: ModuleWorld) -> str:
        world.archive("/real.zip", "zip", {"main.tf": MODULE % "it", "x1/main.tf": MODULE % "x"})
        world.replies["/page"] = answer(world)
        return call("a", f"{world.url}/page{subdir}?q=1")

    return setup


def header(text: str) -> Callable[[ModuleWorld], Answer]:
    return lambda world: Answer(200, b"", {"x-terraform-get": text.format(world.url)})


def meta(text: str) -> Callable[[ModuleWorld], Answer]:
    return lambda world: page(text.format(world.url))


_META: Final = '<meta name="terraform-get" content="{0}/real.zip">'
case("header hop")(hopping(header("{0}/real.zip")))
case("header hop with a directory")(hopping(header("{0}/real.zip//x1")))
case("header hop with a pattern")(hopping(header("{0}/real.zip//x*")))
case("header hop, directory of the call")(hopping(header("{0}/real.zip"), "//x1"))
case("header hop to a pattern without match", False)(hopping(header("{0}/real.zip//y*")))
case("meta hop")(hopping(meta(f"<html><head>{_META}</head><body></body></html>")))
case("meta hop without a head")(hopping(meta(_META)))
case("meta hop with other elements")(
    hopping(meta(f'<!DOCTYPE html><head><meta charset="utf-8"><title>x</title>{_META}</head>'))
)
case("meta hop in the body", False)(hopping(meta(f"<html><body>{_META}</body></html>")))
case("meta hop after the head", False)(hopping(meta(f"<html><head></head>{_META}</html>")))
case("no hop", False)(hopping(meta("<html></html>")))
case("hop to a relative path", False)(hopping(header("./real.zip")))
case("hop to a shorthand", False)(hopping(header("github.com/a/b")))
case("hop to oci", False)(hopping(header("oci://example.com/a/b")))
case("hop to itself", False)(hopping(header("{0}/page")))
case("page that is not there", False)(hopping(lambda _: Answer(404)))
case("page with status 201")(
    hopping(lambda w: Answer(201, b"", {"x-terraform-get": f"{w.url}/real.zip"}))
)
case("hop to an archive that is not there", False)(hopping(header("{0}/nothing.zip")))


@case("netrc")
def _(world: ModuleWorld) -> str:
    body = packed("zip", files({"main.tf": MODULE % "it"}))

    def guarded(asked: Asked) -> Answer:
        is_known = asked.headers.get("authorization") == "Basic bWU6cHc="
        return Answer(200, body) if is_known else Answer(401)

    world.environ()
    (world.directory / "home/.netrc").write_text(f"machine {world.host} login me password pw\n")
    world.replies["/a.zip"] = guarded
    return call("a", f"{world.url}/a.zip")


def asked_with(path: str, wanted: Mapping[str, str], config: Setup) -> Setup:
    """A server that answers only those who send these headers (or ones that end so)."""

    def setup(world: ModuleWorld) -> str:
        text = config(world)
        reply = world.replies[path]

        def guarded(asked: Asked) -> Answer | Script:
            if not all(asked.headers.get(k, "").endswith(v) for k, v in wanted.items()):
                return Answer(400, json.dumps(dict(asked.headers)).encode())
            return reply if isinstance(reply, Answer) else reply(asked)

        world.replies[path] = guarded
        return text

    return setup


def _telling(world: ModuleWorld) -> str:
    world.settings["TF_APPEND_USER_AGENT"] = "mine/1.0"
    return archived("zip", "/a.zip")(world)


case("words for servers")(asked_with("/a.zip", {"user-agent": " mine/1.0"}, _telling))


@case("netrc elsewhere")
def _(world: ModuleWorld) -> str:
    path = world.directory / "logins"
    path.write_text(f"machine {world.host} login me password pw\n")
    world.settings["NETRC"] = str(path)
    return asked_with("/a.zip", {"authorization": "Basic bWU6cHc="}, archived("zip", "/a.zip"))(
        world
    )


def _partial(status: int) -> Setup:
    def setup(world: ModuleWorld) -> str:
        body = packed("zip", files({"main.tf": MODULE % "it"}))
        world.replies["/a.zip"] = Answer(status, body)
        return call("a", f"{world.url}/a.zip")

    return setup


for _status, _is_right in ((200, True), (206, True), (201, False), (204, False), (500, False)):
    case(f"archive with status {_status}", _is_right)(_partial(_status))


@case("archive that ends early", False)
def _(world: ModuleWorld) -> str:
    body = packed("zip", files({"main.tf": MODULE % "it"}))

    def cut(stream: BufferedIOBase) -> None:
        stream.write(head(content_length=str(len(body) + 1)) + body)

    world.replies["/a.zip"] = lambda _: cut
    return call("a", f"{world.url}/a.zip")


@case("user and password in the URL")
def _(world: ModuleWorld) -> str:
    body = packed("zip", files({"main.tf": MODULE % "it"}))

    def guarded(asked: Asked) -> Answer:
        is_known = asked.headers.get("authorization") == "Basic bWU6cHc="
        return Answer(200, body) if is_known else Answer(401)

    world.replies["/a.zip"] = guarded
    return call("a", world.url.replace("//", "//me:pw@") + "/a.zip")


# -- registries -----------------------------------------------------------------------------------

VERSIONS: Final = ("1.0.0", "1.2.0", "1.10.0", "2.0.0-beta1", "2.0.0-rc.1", "v3.0.0", "bad")


def constrained(text: str) -> Setup:
    def setup(world: ModuleWorld) -> str:
        world.publish("ns/name/sys", *VERSIONS)
        world.locations["ns/name/sys/3.0.0"] = "/packages/ns/name/sys/v3.0.0.tar.gz"
        del world.locations["ns/name/sys/v3.0.0"]
        return call("a", f"{world.host}/ns/name/sys", text)

    return setup


for _text, _is_right in (
    ("", True),
    ("1.2.0", True),
    ("= 1.2.0", True),
    ("v1.2.0", True),
    ("~> 1.0", True),
    ("~> 1.2.0", True),
    (">= 1.0, < 1.10", True),
    ("!= 3.0.0", True),
    ("2.0.0-beta1", True),
    ("v2.0.0-beta1", True),
    (">= 2.0.0-beta1", True),
    ("~> 2.0.0-beta1", False),
    ("> 1.5, < 3", True),
    (">= 2.0.0-beta1, < 3.0.0", False),
    ("= 2.0.0-beta1, = 2.0.0-beta1", False),
    ("~> 4.0", False),
    ("< 1.0", False),
):
    case(f"version {_text!r}", _is_right)(constrained(_text))


case("version '= 2.0.0-beta1'", False)(constrained("= 2.0.0-beta1"))
ACCEPTED: Final = {"version '= 2.0.0-beta1'": "an equals sign changes nothing"}
"""What `tofu` refuses and we accept, and why."""
REPEATED: Final = {"archive with status 500", "archive that ends early"}
"""What may be well the next time: `tofu` gives up at once, we try again."""


def located(answer: Callable[[ModuleWorld], Answer | str], subdir: str = "") -> Setup:
    def setup(world: ModuleWorld) -> str:
        world.archive("/pkg", "tar.gz", {"main.tf": MODULE % "it", "x1/y/main.tf": MODULE % "y"})
        world.archive(
            "/pkg.tgz", "tar.gz", {"main.tf": MODULE % "it", "x1/y/main.tf": MODULE % "y"}
        )
        world.locations["ns/name/sys/1.0.0"] = answer(world)
        return call("a", f"{world.host}/ns/name/sys{subdir}")

    return setup


def said(**document: object) -> Callable[[ModuleWorld], Answer]:
    return lambda _: json_answer(document)


for _name, _is_right, _answer, _subdir in (
    ("header, path", True, lambda _: "/pkg.tgz", ""),
    ("header, relative", True, lambda _: "../../../../../../pkg.tgz", ""),
    ("header, URL", True, lambda w: f"{w.url}/pkg.tgz", ""),
    ("header, form", True, lambda w: f"{w.url}/pkg?archive=tgz", ""),
    ("header, directory", True, lambda w: f"{w.url}/pkg.tgz//x1", ""),
    ("header, both directories", True, lambda w: f"{w.url}/pkg.tgz//x1", "//y"),
    ("header, no such directory", False, lambda w: f"{w.url}/pkg.tgz//x2", ""),
    ("header, registry address", False, lambda w: f"{w.host}/ns/name/sys", ""),
    ("header, shorthand without a way", False, lambda _: "pkg", ""),
    ("body", True, said(location="/pkg.tgz"), ""),
    ("body, empty", False, said(location=""), ""),
    ("body, none", False, said(), ""),
    ("direct", True, said(location="/pkg", use_registry_credentials=True), ""),
    ("direct without credentials", True, said(location="/pkg", use_registry_credentials=False), ""),
    (
        "direct with a directory",
        True,
        said(location="/pkg", use_registry_credentials=True),
        "//x1/y",
    ),
    ("direct, null", False, said(location="/pkg", use_registry_credentials=None), ""),
    ("direct, text", False, said(location="/pkg", use_registry_credentials="true"), ""),
    ("direct, fragment", False, said(location="/pkg#x", use_registry_credentials=True), ""),
    ("direct, other scheme", False, said(location="git::x", use_registry_credentials=True), ""),
    ("direct, not there", False, said(location="/none", use_registry_credentials=True), ""),
    ("status 404", False, lambda _: Answer(404), ""),
    ("status 500", False, lambda _: Answer(501), ""),
    ("no JSON", False, lambda _: Answer(200, b"hello"), ""),
):
    case(f"location: {_name}", _is_right)(located(_answer, _subdir))


case("headers for a registry's own package")(
    asked_with(
        "/pkg",
        {
            "accept": "application/zip, application/x-tar; *;q=0.1",
            "accept-encoding": "identity, gzip, *;q=0.1",
            "x-terraform-version": "1.12.6",
        },
        located(said(location="/pkg", use_registry_credentials=False)),
    )
)


def _known(use: bool) -> Setup:
    """Whether the registry's own token reaches the package."""

    def setup(world: ModuleWorld) -> str:
        world.token = "s3cret"
        host = f"TF_TOKEN_127_0_0_1:{world.host.partition(':')[2]}"
        world.settings[host] = "s3cret"
        config = located(said(location="/pkg", use_registry_credentials=use))(world)
        reply = world.replies["/pkg"]
        assert isinstance(reply, Answer)

        def guarded(asked: Asked) -> Answer:
            return reply if ("authorization" in asked.headers) is use else Answer(400)

        world.replies["/pkg"] = guarded
        return config

    return setup


case("a token for a registry's own package")(_known(True))
case("no token for a registry's own package")(_known(False))


@case("body empty, header")
def _(world: ModuleWorld) -> str:
    world.archive("/pkg.tgz", "tar.gz", {"main.tf": MODULE % "it"})
    answer = json_answer({"location": ""}, x_terraform_get="/pkg.tgz")
    world.locations["ns/name/sys/1.0.0"] = answer
    return call("a", f"{world.host}/ns/name/sys")


@case("a module that is not there", False)
def _(world: ModuleWorld) -> str:
    return call("a", f"{world.host}/ns/name/sys")


@case("an empty list of modules", False)
def _(world: ModuleWorld) -> str:
    world.replies["/v1/modules/ns/name/sys/versions"] = json_answer({"modules": []})
    return call("a", f"{world.host}/ns/name/sys")


@case("a module without versions", False)
def _(world: ModuleWorld) -> str:
    world.replies["/v1/modules/ns/name/sys/versions"] = json_answer({"modules": [{}]})
    return call("a", f"{world.host}/ns/name/sys")


@case("a host without modules", False)
def _(world: ModuleWorld) -> str:
    world.replies["/.well-known/terraform.json"] = json_answer({"providers.v1": "/"})
    return call("a", f"{world.host}/ns/name/sys")


@case("nested calls, each once")
def _(world: ModuleWorld) -> str:
    world.publish("ns/inner/sys", "1.0.0", "1.1.0")
    inner = call("inner", f"{world.host}/ns/inner/sys", "~> 1.0")
    world.archive("/outer.tgz", "tar.gz", {"main.tf": inner, "s/main.tf": call("up", "../")})
    world.locations["ns/outer/sys/1.0.0"] = "/outer.tgz"
    return call("a", f"{world.host}/ns/outer/sys") + call("b", f"{world.host}/ns/outer/sys//s")


@case("a package that several calls name")
def _(world: ModuleWorld) -> str:
    content = {"main.tf": MODULE % "it", "sub/main.tf": MODULE % "sub", "sub/x/main.tf": ""}
    world.archive("/a.zip", "zip", content)
    parts = ("", "//sub", "", "//s*", "//sub/x")
    return "".join(call(f"m{n}", f"{world.url}/a.zip{part}") for n, part in enumerate(parts))


@case("a module of a registry that several calls name")
def _(world: ModuleWorld) -> str:
    world.publish("ns/name/sys", "1.0.0", "1.1.0")
    source = f"{world.host}/ns/name/sys"
    calls = (("", ""), ("//sub", ""), ("", "1.0.0"), ("//sub", "~> 1.0.0"), ("", ">= 1.0.0"))
    return "".join(call(f"m{n}", source + part, at) for n, (part, at) in enumerate(calls))


@case("a repository that a registry names")
def _(world: ModuleWorld) -> str:
    repository = Repository(world.directory / "repository")
    repository.commit({"modules/x/main.tf": MODULE % "it"}, tag="v1")
    location = f"{repository.source}//modules?ref=v1"
    world.locations["ns/name/sys/1.0.0"] = json_answer({"location": location})
    return call("a", f"{world.host}/ns/name/sys//x")


# -- repositories ----------------------------------------------------------------------------------


def cloned(address: str, login: str = "") -> Setup:
    def setup(world: ModuleWorld) -> str:
        root = world.directory / "repositories"
        repository = Repository(root / "net")
        repository.commit({"main.tf": MODULE % "one", "sub/main.tf": MODULE % "sub"}, tag="v1")
        repository.git("branch", "side")
        commit = repository.commit({"main.tf": MODULE % "two", "a.zip": "no archive"})
        shelf = GitShelf(world, root)
        shelf.login = login
        return call("a", address.format(shelf.source + "net/.git", commit, commit[:8]))

    return setup


case("git over https")(cloned("{0}"))
case("git, tag")(cloned("{0}?ref=v1"))
case("git, branch")(cloned("{0}//sub?ref=side"))
case("git, commit")(cloned("{0}?ref={1}"))
case("git, short commit")(cloned("{0}?ref={2}"))
case("git, depth")(cloned("{0}?ref=side&depth=1"))
case("git, a depth that is no number")(cloned("{0}?ref=side&depth=x"))
case("git, other arguments", False)(cloned("{0}?ref=v1&x=y"))
case("git, no such ref", False)(cloned("{0}?ref=none"))
case("git, no such repository", False)(cloned("{0}x"))
case("git, no such directory", False)(cloned("{0}//none"))
case("git, a file that is no archive", False)(cloned("{0}/a.zip"))
case("git, no credentials", False)(cloned("{0}", "Basic bWU6cHc="))


@case("git, credentials in the URL")
def _(world: ModuleWorld) -> str:
    return cloned("{0}", "Basic bWU6cHc=")(world).replace("git::https://", "git::https://me:pw@")


@case("git, an archive in a repository")
def _(world: ModuleWorld) -> str:
    repository = Repository(world.directory / "repository")
    repository.commit({"readme": "x"})
    (repository.path / "a.zip").write_bytes(packed("zip", files({"main.tf": MODULE % "it"})))
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "--message=archive")
    return call("a", f"{repository.source}/a.zip")


def changed(address: str) -> Setup:
    def setup(world: ModuleWorld) -> str:
        run = functools.partial(hg, program=program("hg"))
        world.settings["PATH"] = f"{program('hg').parent}{os.pathsep}{os.environ['PATH']}"
        path = world.directory / "hg"
        path.mkdir()
        run(path, "init")
        for text in ("one", "two"):
            (path / "sub").mkdir(exist_ok=True)
            (path / "main.tf").write_text(MODULE % text)
            (path / "sub/main.tf").write_text(MODULE % f"sub {text}")
            run(path, "commit", "--addremove", f"--message={text}")
        run(path, "tag", "--rev=0", "v1")
        return call("a", address.format(f"hg::file://{path}"))

    return setup


case("hg")(changed("{0}"))
case("hg, tag")(changed("{0}?rev=v1"))
case("hg, directory")(changed("{0}//sub?rev=v1"))
case("hg, no such revision", False)(changed("{0}?rev=none"))
case("hg, no such repository", False)(changed("{0}x"))


# -- OCI registries and buckets --------------------------------------------------------------------


def pushed(address: str, **push: object) -> Setup:
    def setup(world: ModuleWorld) -> str:
        shelf = OciShelf(world)
        digest = shelf.push("team/net", **push)  # type: ignore[arg-type]
        return call("a", f"oci://{world.host}/" + address.format(digest))

    return setup


_INDEX: Final = "application/vnd.oci.image.index.v1+json"
case("oci")(pushed("team/net"))
case("oci, tag")(pushed("team/net?tag=v1", tag="v1"))
case("oci, digest")(pushed("team/net?digest={0}"))
case("oci, directory")(pushed("team/net//sub?tag=v1", tag="v1"))
case("oci, no tag", False)(pushed("team/net?tag=v2"))
case("oci, no repository", False)(pushed("team/other"))
case("oci, tag and digest", False)(pushed("team/net?tag=latest&digest={0}"))
case("oci, empty tag", False)(pushed("team/net?tag="))
case("oci, wrong tag", False)(pushed("team/net?tag=-"))
case("oci, other argument", False)(pushed("team/net?x=y"))
case("oci, archive", False)(pushed("team/net?archive=zip"))
case("oci, upper case", False)(pushed("Team/net"))
case("oci, no layer", False)(pushed("team/net", layers=()))
case("oci, other layers")(pushed("team/net", layers=("archive/zip", "other/thing")))
case("oci, two layers", False)(pushed("team/net", layers=("archive/zip", "archive/zip")))
case("oci, other artifact", False)(pushed("team/net", artifact_type="x/y"))
case("oci, index", False)(pushed("team/net", media_type=_INDEX))


@case("oci, credentials in a file of Docker's")
def _(world: ModuleWorld) -> str:
    shelf = OciShelf(world)
    shelf.user = "me:pw"
    shelf.push("team/net")
    docker = Path(world.environ()["HOME"], ".docker")
    docker.mkdir()
    known = {"auths": {f"{world.host}/team": {"auth": base64.b64encode(b"me:pw").decode()}}}
    (docker / "config.json").write_text(json.dumps(known))
    return call("a", f"oci://{world.host}/team/net")


@case("oci, no credentials", False)
def _(world: ModuleWorld) -> str:
    shelf = OciShelf(world)
    shelf.user = "me:pw"
    shelf.push("team/net")
    return call("a", f"oci://{world.host}/team/net")


def stored(*sources: str) -> Setup:
    def setup(world: ModuleWorld) -> str:
        storage = Storage()
        storage.key = "AK"
        world.prefixes["/bucket"] = storage.s3
        world.prefixes["/storage/v1/b/"] = storage.gcs
        # What the library of `tofu` asks objects with.
        world.prefixes["/bucket/"] = storage.s3
        world.settings |= {"AWS_ACCESS_KEY_ID": "AK", "AWS_SECRET_ACCESS_KEY": "x"}
        return "".join(
            call(f"m{number}", source.format(f"s3::{world.url}"))
            for number, source in enumerate(sources)
        )

    return setup


def gathered(*names: str) -> Setup:
    def setup(world: ModuleWorld) -> str:
        storage = Storage()

        def plain(asked: Asked) -> Answer:
            # `tofu` reads objects in another way than it lists them.
            parts = urlsplit(asked.path)
            name = unquote(parts.path.removeprefix("/bucket/"))
            content = storage.content(name, parse_qs(parts.query))
            return Answer(404) if content is None else Answer(200, content)

        world.prefixes |= {"/storage/v1/b/": storage.gcs, "/bucket/": plain}
        world.settings["STORAGE_EMULATOR_HOST"] = world.url
        storage.generations["a/x.zip"] = {"7": storage.objects["a/x.zip"]}
        base = "gcs::https://www.googleapis.com/storage/v1/bucket"
        return "".join(call(f"m{n}", f"{base}/{name}") for n, name in enumerate(names))

    return setup


case("gcs, archive")(gathered("a/x.zip", "a/x.zip//sub"))
case("gcs, directory")(gathered("mod/deep/"))
case("gcs, generation")(gathered("a/x.zip#7"))
case("gcs, no such generation", False)(gathered("a/x.zip#8"))
case("gcs, generation that is no number", False)(gathered("a/x.zip#x"))
case("gcs, nothing", False)(gathered("none.zip"))
case("s3, archive")(stored("{0}/bucket/a/x.zip", "{0}/bucket/a/x.zip//sub"))
case("s3, directory")(stored("{0}/bucket/mod/deep/"))
case("s3, version")(stored("{0}/bucket/a/x.zip?version=7"))
case("s3, key in the address")(
    stored("{0}/bucket/a/x.zip?aws_access_key_id=AK&aws_access_key_secret=y&region=eu-west-1")
)
case("s3, wrong key", False)(
    stored("{0}/bucket/a/x.zip?aws_access_key_id=NO&aws_access_key_secret=y")
)
case("s3, nothing", False)(stored("{0}/bucket/none.zip"))
case("s3, no key", False)(stored("{0}/bucket"))


# -- running both ---------------------------------------------------------------------------------


class Outcome:
    def __init__(
        self,
        command: list[str],
        work: Path,
        world: ModuleWorld,
        config: str,
        arguments: tuple[str, ...] = ("init", "-backend=false"),
    ) -> None:
        work.mkdir(exist_ok=True)
        if config:
            (work / "main.tf").write_text(config)
        world.log.clear()
        environ = world.environ(NIGARI_CACHE_DIR=str(world.directory / "cache"))
        environ["PYTHONPATH"] = os.pathsep.join(sys.path)
        done = subprocess.run(
            [*command, *arguments, "-no-color"],
            cwd=work,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
        self.is_right = done.returncode == 0
        self.text = done.stdout + done.stderr
        self.asked = Counter(_in_order(f"{each.compared} {each}") for each in world.log)
        modules = work / ".terraform/modules"
        record = modules / "modules.json"
        self.record = record.read_text() if record.exists() and self.is_right else ""
        self.files = dict(_files(modules)) if self.is_right else {}


def _in_order(request: str) -> str:
    """A request with the arguments of its query in one order; a library adds its own."""
    path, _, query = request.partition("?")
    return f"{path}?{'&'.join(sorted(set(query.split('&')) - {'x-id=GetObject', ''}))}"


def _files(modules: Path) -> Iterator[tuple[str, str]]:
    for entry in sorted(modules.glob("*")):
        if entry.is_dir() and not entry.name.startswith("."):
            for folder, subfolders, names in os.walk(entry.resolve()):
                subfolders[:] = [each for each in subfolders if each not in (".git", ".hg")]
                for name in names:
                    path = Path(folder, name)
                    mode = "program " if path.stat().st_mode & 0o111 else ""
                    key = f"{mode}{entry.name}/{path.relative_to(entry.resolve())}"
                    yield key, path.read_text()


@pytest.mark.parametrize("name", CASES)
def test_both_programs(name: str, tmp_path: Path) -> None:
    is_right, setup = CASES[name]
    with ModuleWorld(tmp_path / "world") as world:
        config = setup(world)
        theirs = Outcome([str(program("tofu"))], tmp_path / "theirs", world, config)
        ours = Outcome([sys.executable, "-m", "nigari"], tmp_path / "ours", world, config)
    assert theirs.is_right is is_right, theirs.text
    if name in ACCEPTED:
        assert ours.is_right, ours.text
        return
    assert ours.is_right is is_right, ours.text
    assert ours.record == theirs.record
    assert ours.files == theirs.files
    extra = ours.asked - theirs.asked
    # Who is refused notices it with one request or another; what git asks is git's affair.
    is_fewer = not is_right and ours.asked.total() <= theirs.asked.total()
    is_more = bool(extra) and not is_fewer and not name.startswith(("gcs", "git"))
    assert is_more is (name in REPEATED), f"{extra}\n{theirs.text}\n---\n{ours.text}"


@pytest.mark.parametrize("steps", [("1.0.0", "~> 1.0", "~> 1.0.1", ""), ("", "1.0.0", "> 1.0")])
def test_again(tmp_path: Path, steps: tuple[str, ...]) -> None:
    """What is there is kept as long as it fits; whatever else is asked for anew."""
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    programs = ((theirs, [str(program("tofu"))]), (ours, [sys.executable, "-m", "nigari"]))
    with ModuleWorld(tmp_path / "world") as world:
        world.publish("ns/name/sys", "1.0.0", "1.0.5")
        source = f"{world.host}/ns/name/sys"

        def both(text: str, *options: str) -> None:
            arguments = ("init", "-backend=false", *options)
            their, our = (
                Outcome(command, work, world, text, arguments) for work, command in programs
            )
            about = f"{text}{options}\n{their.text}\n---\n{our.text}"
            assert our.is_right is their.is_right, about
            assert (our.record, our.files) == (their.record, their.files), about
            assert not our.asked - their.asked, f"{our.asked - their.asked}\n{about}"

        for constraint in steps:
            text = call("a", source, constraint)
            both(text)
            both(text)
        both(call("a", f"{source}//sub", steps[-1]))
        world.publish("ns/name/sys", "1.1.0")
        both(call("a", f"{source}//sub"))
        both(call("a", f"{source}//sub"), "-upgrade")
        for work, _ in programs:
            place = work / ".terraform/modules/a"
            place.unlink() if place.is_symlink() else shutil.rmtree(place)
        both(call("a", f"{source}//sub"))
        both(call("a", f"{source}//sub") + call("b", source))
        # What nobody calls any more is gone; `tofu` leaves it.
        Outcome(programs[1][1], ours, world, call("b", source))
        assert not (ours / ".terraform/modules/a").exists()


def test_hidden_files_of_a_package(tmp_path: Path) -> None:
    """The second call of a package has what the first one has; with `tofu` it has no hidden files."""
    with ModuleWorld(tmp_path / "world") as world:
        world.archive("/a.zip", "zip", {"main.tf": MODULE % "it", ".x": "1", "d/.y": "2"})
        config = "".join(call(name, f"{world.url}/a.zip") for name in "ab")
        theirs = Outcome([str(program("tofu"))], tmp_path / "theirs", world, config)
        ours = Outcome([sys.executable, "-m", "nigari"], tmp_path / "ours", world, config)
    assert set(ours.files) - set(theirs.files) == {"b/.x", "b/d/.y"}
    assert not ours.asked - theirs.asked


KINDS: Final = (
    "archive /a.zip",
    "archive=tar.gz",
    "checksum sha256",
    "header hop with a pattern",
    "meta hop",
    "location: header, both directories",
    "location: direct",
    "a repository that a registry names",
    "git, branch",
    "git, credentials in the URL",
    "git, no such ref",
    "hg, directory",
    "oci, directory",
    "oci, wrong tag",
    "s3, archive",
    "s3, wrong key",
    "gcs, directory",
)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("way", ["from", "get"])
def test_other_commands(name: str, way: str, tmp_path: Path) -> None:
    """`init -from-module` and `get` take whatever `init` takes."""
    is_right, setup = CASES[name]
    found = []
    with ModuleWorld(tmp_path / "world") as world:
        config = setup(world)
        source = config.partition('source = "')[2].partition('"')[0]
        arguments = ("get",) if way == "get" else ("init", f"-from-module={source}")
        for who, command in (
            ("theirs", [str(program("tofu"))]),
            ("ours", [sys.executable, "-m", "nigari"]),
        ):
            work = tmp_path / who
            given = config if way == "get" else ""
            found.append(Outcome(command, work, world, given, arguments))
            assert found[-1].is_right is is_right, found[-1].text
            found[-1].files |= {
                str(path.relative_to(work)): path.read_text()
                for path in sorted(work.rglob("*"))
                if path.is_file() and ".terraform" not in path.relative_to(work).parts
            }
    theirs, ours = found
    assert "pw" not in ours.text
    assert ours.files == theirs.files
    if way == "get":
        assert ours.record == theirs.record
