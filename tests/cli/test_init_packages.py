"""`nigari init` with packages from a registry and from web servers, on loopback."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
from pathlib import Path

import pytest

from nigari.cli.command import Terminal
from nigari.cli.main import run
from nigari.version import OPENTOFU_VERSION
from tests.cli.initializing import call, init, installed, nigari, page, records, write
from tests.cli.screen import Screen
from tests.net_world.server import Answer, Asked, json_answer
from tests.packages.archives import files, packed
from tests.packages.module_world import MODULE, ModuleWorld
from tests.packages.repositories import Repository, needs_git

# -- registries -----------------------------------------------------------------------------------


def test_a_registry_gives_the_newest_version(world: ModuleWorld, work: Path) -> None:
    world.publish("ns/name/sys", "1.0.0", "1.10.0", "1.9.0", "2.0.0-beta1")
    source = f"{world.host}/ns/name/sys"
    write(work, call("a", source), call("b", f"{source}//sub", "< 1.10"))
    done = init(world, work)
    assert done.code == 0, done.err
    assert installed(work, "a") == MODULE % "1.10.0"
    assert installed(work, "b") == MODULE % "sub"
    assert records(work)["b"] == {
        "Key": "b",
        "Source": f"{source}//sub",
        "Version": "1.9.0",
        "Dir": ".terraform/modules/b/sub",
    }
    base = "GET /v1/modules/ns/name/sys"
    assert sorted(world.asked) == [
        "GET /.well-known/terraform.json",
        "GET /packages/ns/name/sys/1.10.0.tar.gz",
        "GET /packages/ns/name/sys/1.9.0.tar.gz",
        f"{base}/1.10.0/download",
        f"{base}/1.9.0/download",
        f"{base}/versions",
    ]
    headers = [each.headers for each in world.log if each.path.startswith("/v1/modules/")]
    assert {each.get("x-terraform-version") for each in headers} == {OPENTOFU_VERSION}
    # Who has everything asks nobody.
    world.log.clear()
    assert init(world, work).code == 0
    assert world.asked == []
    world.publish("ns/name/sys", "1.11.0")
    assert init(world, work).code == 0
    assert installed(work, "a") == MODULE % "1.10.0"
    assert init(world, work, "-upgrade").code == 0
    assert installed(work, "a") == MODULE % "1.11.0"


def test_another_directory_downloads_nothing(world: ModuleWorld, work: Path) -> None:
    world.publish("ns/name/sys", "1.0.0")
    write(work, call("a", f"{world.host}/ns/name/sys", "1.0.0"))
    assert init(world, work).code == 0
    other = work.with_name("other")
    other.mkdir()
    write(other, call("b", f"{world.host}/ns/name/sys", "1.0.0"))
    world.log.clear()
    done = init(world, other)
    assert done.code == 0
    assert "Downloading" not in done.out
    assert "from the cache for b\n" in done.out
    assert installed(other, "b") == MODULE % "1.0.0"
    # One version is wanted and kept, so there is nothing to ask.
    assert world.asked == []
    # What one writes below its module is not the other's.
    Path(other, ".terraform/modules/b/main.tf").write_text("# changed")
    Path(other, ".terraform/modules/b/made.zip").write_text("made")
    assert init(world, work).code == 0
    assert installed(work, "a") == MODULE % "1.0.0"
    assert not Path(work, ".terraform/modules/a/made.zip").exists()


@pytest.mark.parametrize(
    ("constraint", "version"),
    [
        ("~> 1.0", "1.10.0"),
        (">= 1.0, < 1.10", "1.9.0"),
        ("1.9.0", "1.9.0"),
        ("2.0.0-beta1", "2.0.0-beta1"),
        ("= 2.0.0-beta1", "2.0.0-beta1"),
        (">= 2.0.0-beta1", ""),
        (">= 1.0, = 2.0.0-beta1", ""),
        ("~> 3.0", ""),
    ],
)
def test_version_constraints(constraint: str, version: str, world: ModuleWorld, work: Path) -> None:
    world.publish("ns/name/sys", "1.10.0", "1.9.0", "2.0.0-beta1")
    write(work, call("a", f"{world.host}/ns/name/sys", constraint))
    done = init(world, work)
    if version:
        assert done.code == 0, done.err
        assert records(work)["a"]["Version"] == version
    else:
        assert done.code == 1
        assert "The newest is 1.10.0." in done.err
        assert "on main.tf line 3" in done.err


def direct(world: ModuleWorld, use: object, url: str = "/direct") -> None:
    answer = json_answer({"location": url, "use_registry_credentials": use})
    world.locations["ns/name/sys/1.0.0"] = answer


@pytest.mark.parametrize("form", ["zip", "tar.gz", "tar.bz2", "tar.xz"])
@pytest.mark.parametrize("use", [True, False])
def test_packages_that_a_registry_has_itself(
    form: str, use: bool, world: ModuleWorld, work: Path
) -> None:
    world.archive("/direct", form, {"main.tf": MODULE % "direct"})
    direct(world, use)
    write(work, call("a", f"{world.host}/ns/name/sys"))
    config = work / "tofurc"
    config.write_text(f'credentials "{world.host}" {{\n  token = "secret"\n}}\n')
    done = init(world, work, TF_CLI_CONFIG_FILE=str(config))
    assert done.code == 0, done.err
    assert installed(work, "a") == MODULE % "direct"
    (package,) = [each for each in world.log if each.path == "/direct"]
    assert package.headers.get("authorization") == ("Bearer secret" if use else None)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (json_answer({"location": ""}), "returned no location for the module"),
        (json_answer({}), "returned no location for the module"),
        (Answer(204), "returned no location for the module"),
        (json_answer({"location": "ns/name/sys"}), "not the complete address"),
        (json_answer({"location": "/x", "use_registry_credentials": None}), "cannot be used"),
        (
            json_answer({"location": "ftp://x/y", "use_registry_credentials": True}),
            "cannot be used",
        ),
        (Answer(200, b"<html>", {"content-type": "text/html"}), "instead of JSON"),
        (Answer(404), "does not have version 1.0.0"),
        (json_answer({"errors": ["no such luck"]}, 403), "no such luck"),
        (json_answer({"location": "/v1/page"}), "status 404"),
    ],
)
def test_what_a_registry_answers_wrongly(
    answer: Answer, said: str, world: ModuleWorld, work: Path
) -> None:
    world.locations["ns/name/sys/1.0.0"] = answer
    write(work, call("a", f"{world.host}/ns/name/sys"))
    done = init(world, work)
    assert done.code == 1
    assert said in done.err
    assert "module.a" in done.err
    assert not (work / ".terraform").exists()


def test_missing_credentials_are_told(world: ModuleWorld, work: Path) -> None:
    world.token = "secret"
    world.publish("ns/name/sys", "1.0.0")
    write(work, call("a", f"{world.host}/ns/name/sys"))
    done = init(world, work)
    assert done.code == 1
    assert "who are you?" in done.err
    assert "No credentials for" in done.err


def test_a_module_that_is_not_there(world: ModuleWorld, work: Path) -> None:
    write(work, call("a", f"{world.host}/ns/name/sys"))
    done = init(world, work)
    assert done.code == 1
    assert "has no module ns/name/sys" in done.err


def test_versions_that_are_none_are_a_warning(world: ModuleWorld, work: Path) -> None:
    world.publish("ns/name/sys", "1.0.0", "latest")
    write(work, call("a", f"{world.host}/ns/name/sys"))
    done = init(world, work)
    assert done.code == 0
    assert 'not valid version numbers: "latest"' in done.err + " ".join(done.out.split())


def test_the_chain_that_made_a_source_is_told(world: ModuleWorld, work: Path) -> None:
    write(
        work,
        'variable "host" {\n  default = "' + world.host + '"\n}\n',
        'locals {\n  repo = "${var.host}/ns/nope/sys"\n}\n',
        'module "a" {\n  source = local.repo\n}\n',
    )
    done = init(world, work)
    assert done.code == 1
    assert "local.repo is set here" in done.err


# -- web servers ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("/a.zip", "zip"),
        ("/a.tar.gz", "tar.gz"),
        ("/a.tgz", "tar.gz"),
        ("/a.tar.bz2", "tar.bz2"),
        ("/a.tar.xz", "tar.xz"),
        ("/a.txz", "tar.xz"),
        ("/plain?archive=zip", "zip"),
        ("/plain?archive=tar.gz&x=y", "tar.gz"),
    ],
)
def test_archives(path: str, form: str, world: ModuleWorld, work: Path) -> None:
    world.archive(path.partition("?")[0], form, {"main.tf": MODULE % "it", "sub/main.tf": ""})
    base, question, query = path.partition("?")
    write(work, call("a", world.url + path), call("b", f"{world.url}{base}//sub{question}{query}"))
    done = init(world, work)
    assert done.code == 0, done.err
    assert installed(work, "a") == MODULE % "it"
    assert records(work)["b"]["Dir"] == ".terraform/modules/b/sub"
    # One download for both, and the arguments are not the server's affair.
    rest = "?x=y" if "x=y" in path else ""
    assert world.asked == [f"GET {base}{rest}"]


def test_an_archive_is_asked_for_again_and_not_downloaded(world: ModuleWorld, work: Path) -> None:
    world.archive("/a.zip", "zip", {"main.tf": MODULE % "one"}, etag='"1"')
    write(work, call("a", f"{world.url}/a.zip"))
    assert init(world, work).code == 0
    assert init(world, work, "-upgrade").code == 0
    assert world.asked == ["GET /a.zip", "HEAD /a.zip"]
    world.archive("/a.zip", "zip", {"main.tf": MODULE % "two"}, etag='"2"')
    assert init(world, work).code == 0
    assert installed(work, "a") == MODULE % "one"
    assert init(world, work, "-upgrade").code == 0
    assert installed(work, "a") == MODULE % "two"


@pytest.mark.parametrize(
    ("make", "is_right"),
    [
        (lambda body: "sha256:" + hashlib.sha256(body).hexdigest(), True),
        (lambda body: hashlib.sha256(body).hexdigest(), True),
        (lambda body: hashlib.sha512(body).hexdigest().upper(), True),
        (lambda body: "md5:" + hashlib.md5(body).hexdigest(), True),
        (lambda body: "sha1:" + hashlib.sha1(body).hexdigest(), True),
        (lambda _: "sha256:" + "0" * 64, False),
        (lambda _: "sha256:xyz", False),
        (lambda _: "crc32:01234567", False),
        (lambda _: "file:", False),
    ],
)
def test_checksums(make: object, is_right: bool, world: ModuleWorld, work: Path) -> None:
    assert callable(make)
    body = world.archive("/a.zip", "zip", {"main.tf": MODULE % "it"})
    write(work, call("a", f"{world.url}/a.zip?checksum={make(body)}"))
    done = init(world, work)
    assert (done.code == 0) is is_right
    if not is_right:
        assert "checksum" in done.err
        assert not (work / ".terraform").exists()


@pytest.mark.parametrize(
    ("text", "is_right"),
    [
        ("{0}  a.zip\n", True),
        ("{0} *a.zip\n", True),
        ("x\nSHA256 (a.zip) = {0}\n", True),
        ("{0}\n", True),
        ("{0}  other.zip\n", False),
        ("0000000000000000000000000000000000000000000000000000000000000000  a.zip", False),
    ],
)
def test_lists_of_checksums(text: str, is_right: bool, world: ModuleWorld, work: Path) -> None:
    body = world.archive("/a.zip", "zip", {"main.tf": MODULE % "it"})
    listed = text.format(hashlib.sha256(body).hexdigest())
    world.replies["/sums"] = Answer(200, listed.encode())
    write(work, call("a", f"{world.url}/a.zip?checksum=file:{world.url}/sums"))
    assert (init(world, work).code == 0) is is_right


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("/a.zip", b" \n<!DOCTYPE html><title>Log in</title>", "log in on a web page"),
        ("/a.tar.gz", b"", "The file is empty"),
        ("/a.zip", b"", "The file is empty"),
        ("/a.tgz", packed("zip", files({"main.tf": ""})), "add archive=zip to the address"),
        ("/a.zip", packed("tar.xz", files({"main.tf": ""})), "add archive=tar.xz to the address"),
        ("/a.zip", b"PK\x03\x04 and no more", "is damaged"),
    ],
)
def test_files_that_are_something_else(
    path: str, body: bytes, said: str, world: ModuleWorld, work: Path
) -> None:
    world.replies[path] = Answer(200, body)
    write(work, call("a", f"{world.url}{path}"))
    done = init(world, work)
    assert done.code == 1
    assert said in done.err
    assert not (work / ".terraform").exists()


@pytest.mark.parametrize("way", ["header", "meta"])
def test_pages_lead_to_packages(way: str, world: ModuleWorld, work: Path) -> None:
    world.archive("/real.zip", "zip", {"deep/er/main.tf": MODULE % "it"})
    target = f"{world.url}/real.zip//d*p"
    if way == "header":
        world.replies["/page"] = Answer(200, b"", {"x-terraform-get": target})
    else:
        world.replies["/page"] = page(
            f'<html><head><meta name="terraform-get" content="{target}"></head><body>Hi'
        )
    write(work, call("a", f"{world.url}/page//er"))
    done = init(world, work)
    assert done.code == 0, done.err
    assert installed(work, "a") == MODULE % "it"
    assert world.asked == ["GET /page?terraform-get=1", "GET /real.zip"]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (page("<html><head></head></html>"), "does not say where the package is"),
        (page('<body><meta name="terraform-get" content="x::y">'), "does not say where"),
        (Answer(200, b"", {"x-terraform-get": "./relative"}), "not a complete address"),
        (Answer(200, b"", {"x-terraform-get": "github.com/a/b"}), "not a complete address"),
        (Answer(200, b"", {"x-terraform-get": "oci://x/y"}), "not a complete address"),
        (Answer(501, b"", {}), "status 501"),
        (Answer(401, b"secret place", {"content-type": "text/plain"}), "secret place"),
    ],
)
def test_pages_that_lead_nowhere(answer: Answer, said: str, world: ModuleWorld, work: Path) -> None:
    world.replies["/page"] = answer
    write(work, call("a", f"{world.url}/page"))
    done = init(world, work)
    assert done.code == 1
    assert said in done.err


def test_pages_that_lead_in_circles(world: ModuleWorld, work: Path) -> None:
    world.replies["/page"] = Answer(200, b"", {"x-terraform-get": f"{world.url}/page"})
    write(work, call("a", f"{world.url}/page"))
    done = init(world, work)
    assert done.code == 1
    assert "more than 10 times" in done.err
    assert len(world.asked) == 10


def test_netrc(world: ModuleWorld, work: Path) -> None:
    body = packed("zip", files({"main.tf": MODULE % "it"}))

    def guarded(asked: Asked) -> Answer:
        is_known = asked.headers.get("authorization") == "Basic bWU6cHc="
        return Answer(200, body) if is_known else Answer(401)

    world.replies["/a.zip"] = guarded
    write(work, call("a", f"{world.url}/a.zip"))
    done = init(world, work)
    assert done.code == 1
    assert "No credentials for" in done.err
    netrc = work.with_name("netrc")
    netrc.write_text(f"machine {world.host} login me password pw\n")
    done = init(world, work, NETRC=str(netrc))
    assert done.code == 0, done.err
    write(work, call("a", world.url.replace("//", "//me:wrong@") + "/a.zip"))
    done = init(world, work, NETRC=str(netrc))
    assert done.code == 1
    assert "REDACTED@" in done.err
    assert "wrong" not in done.out


# -- what is on the machine, and repositories -----------------------------------------------------


@pytest.mark.parametrize("form", ["zip", "tar.gz"])
def test_archives_on_this_machine(form: str, world: ModuleWorld, work: Path) -> None:
    archive = work.with_name(f"a.{form}")
    archive.write_bytes(packed(form, files({"main.tf": MODULE % "it"})))
    write(work, call("a", str(archive)), call("b", f"file://{archive}?archive=false"))
    done = init(world, work)
    assert done.code == 1
    assert "is not a directory" in done.err
    write(work, call("a", str(archive)))
    assert init(world, work).code == 0
    assert installed(work, "a") == MODULE % "it"


def test_patterns_for_directories(world: ModuleWorld, work: Path) -> None:
    world.archive("/a.zip", "zip", {"x-1/main.tf": MODULE % "x", "y-1/main.tf": MODULE % "y"})
    write(work, call("a", f"{world.url}/a.zip//x*"), call("b", f"{world.url}/a.zip//[^x]-*"))
    done = init(world, work)
    assert done.code == 0, done.err
    assert records(work)["a"]["Dir"] == ".terraform/modules/a/x-1"
    assert installed(work, "b") == MODULE % "y"
    for pattern, said in (("*-1", "matches x-1, y-1"), ("z*", "No directory"), ("x-1/q", "no dir")):
        write(work, call("a", f"{world.url}/a.zip//{pattern}"))
        done = init(world, work)
        assert done.code == 1
        assert said in done.err


@needs_git
def test_a_registry_may_name_a_repository(world: ModuleWorld, work: Path) -> None:
    repository = Repository(work.with_name("repository"))
    repository.commit({"modules/x/main.tf": MODULE % "it", "modules/y/main.tf": ""}, tag="v1")
    source = f"{repository.source}//modules?ref=v1"
    world.locations["ns/name/sys/1.0.0"] = json_answer({"location": source})
    world.locations["ns/other/sys/1.0.0"] = json_answer({"location": source})
    write(
        work,
        call("a", f"{world.host}/ns/name/sys//x"),
        call("b", f"{world.host}/ns/other/sys//y"),
    )
    done = init(world, work)
    assert done.code == 0, done.err
    assert records(work)["a"]["Dir"] == ".terraform/modules/a/modules/x"
    assert installed(work, "a") == MODULE % "it"
    store = work / ".terraform/modules/.store"
    assert len([path for path in store.iterdir() if path.is_dir()]) == 1


def test_a_configuration_begins_with_a_registry_module(world: ModuleWorld, work: Path) -> None:
    world.publish("ns/name/sys", "1.0.0", "1.1.0")
    done = init(world, work, f"-from-module={world.host}/ns/name/sys//sub")
    assert done.code == 0, done.err
    assert (work / "main.tf").read_text() == MODULE % "sub"


@pytest.mark.parametrize(
    ("directory", "instead"),
    [("up", "{}/a.zip//sub"), ("deep/er", "{}/a.zip//deep/sub"), ("", "")],
)
def test_a_copy_cannot_call_what_was_beside_it(
    directory: str, instead: str, world: ModuleWorld, work: Path
) -> None:
    beside = call("s", "../sub")
    world.archive("/a.zip", "zip", {f"{each}/main.tf": beside for each in ("up", "deep/er", ".")})
    # There may be something of that name, which is not what is meant.
    work.with_name("sub").mkdir()
    subdir = f"//{directory}" if directory else ""
    done = init(world, work, f"-from-module={world.url}/a.zip{subdir}")
    assert done.code == 1
    assert "outside the directory that was copied" in done.err
    assert (f'Change the source to "{instead.format(world.url)}"' in done.err) is bool(instead)


def test_a_copy_has_no_hidden_files(world: ModuleWorld, work: Path) -> None:
    """A lock file of the module would select providers for another configuration."""
    hidden = dict.fromkeys((".gitignore", "sub/.hidden/x", ".terraform.lock.hcl"), "")
    world.archive("/a.zip", "zip", {"main.tf": "locals {}\n", "sub/x.txt": "x", **hidden})
    assert init(world, work, f"-from-module={world.url}/a.zip").code == 0
    found = sorted(str(path.relative_to(work)) for path in work.rglob("*") if path.is_file())
    assert [each for each in found if not each.startswith(".terraform/")] == [
        "main.tf",
        "sub/x.txt",
    ]


def test_a_copy_of_the_directory_above(world: ModuleWorld, work: Path) -> None:
    (work.parent / "above.tf").write_text("locals {}\n")
    assert init(world, work, "-from-module=..").code == 0
    assert (work / "above.tf").exists()
    assert not (work / work.name).exists()


def test_what_is_no_source_on_the_command_line(world: ModuleWorld, work: Path) -> None:
    done = init(world, work, "-from-module=nothing")
    assert done.code == 1
    assert "is not a valid module source" in done.err
    assert "line 1" not in done.err


def test_get_installs_as_well(world: ModuleWorld, work: Path) -> None:
    world.publish("ns/name/sys", "1.0.0")
    write(work, call("a", f"{world.host}/ns/name/sys"))
    done = nigari(world, work, "get", "-no-color")
    assert done.code == 0, done.err
    assert installed(work, "a") == MODULE % "1.0.0"


# -- what is told ---------------------------------------------------------------------------------


def test_events_have_members(world: ModuleWorld, work: Path) -> None:
    world.publish("ns/name/sys", "1.0.0")
    source = f"{world.host}/ns/name/sys"
    write(work, call("a", source))
    lines = nigari(world, work, "init", "-json").out.splitlines()
    events = [event for event in map(json.loads, lines) if "module" in event]
    download, install = events
    assert (download["module"], download["source"]) == ("a", f"{source} 1.0.0")
    assert install["@message"] == "installing a 1.0.0 in .terraform/modules/a"
    assert (install["version"], install["directory"]) == ("1.0.0", ".terraform/modules/a")


def test_a_line_on_a_terminal_shows_how_far_it_is(world: ModuleWorld, work: Path) -> None:
    world.archive("/a.zip", "zip", {"main.tf": MODULE % "it"})
    write(work, call("a", f"{world.url}/a.zip"))
    screen = Screen()
    terminal = Terminal(io.StringIO(), screen, io.StringIO(), world.environ())
    with contextlib.chdir(work):
        assert run(["init"], terminal) == 0
    text = screen.getvalue()
    assert f"- {world.url}/a.zip: 0.1 of 0.1 kB\n" in text
    # It is gone when it is over.
    assert text.index("\x1b[1A\x1b[2K") < text.index("- a in .terraform")
