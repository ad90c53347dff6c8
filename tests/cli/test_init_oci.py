"""`nigari init` with packages from an OCI registry, on loopback."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from nigari.packages.content.module_fetch import FetchError
from nigari.packages.modules.oci_source import OciAddress, oci_address
from tests.cli.initializing import call, init, installed, records, write
from tests.packages.module_world import MODULE, ModuleWorld
from tests.packages.oci_world import OciShelf


@pytest.fixture
def world(tmp_path: Path) -> Iterator[ModuleWorld]:
    with ModuleWorld(tmp_path / "world") as made:
        yield made


@pytest.fixture
def shelf(world: ModuleWorld) -> OciShelf:
    return OciShelf(world)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    directory = tmp_path / "work"
    directory.mkdir()
    return directory


def test_tags_digests_and_directories(world: ModuleWorld, shelf: OciShelf, work: Path) -> None:
    base = f"oci://{world.host}/team/net"
    shelf.push("team/net", text="newest")
    digest = shelf.push("team/net", "v1", text="one")
    write(
        work,
        call("a", base),
        call("b", f"{base}//sub?tag=v1"),
        call("c", f"{base}?digest={digest}"),
    )
    done = init(world, work)
    assert done.code == 0, done.err
    assert installed(work, "a") == MODULE % "newest"
    assert records(work)["b"]["Dir"] == ".terraform/modules/b/sub"
    assert installed(work, "c") == MODULE % "one"


def test_what_is_kept_is_not_downloaded(world: ModuleWorld, shelf: OciShelf, work: Path) -> None:
    shelf.push("team/net", text="one")
    write(work, call("a", f"oci://{world.host}/team/net"))
    assert init(world, work, "-lock-modules").code == 0
    world.log.clear()
    assert init(world, work, "-upgrade").code == 0
    assert world.asked == ["GET /v2/", "HEAD /v2/team/net/manifests/latest"]
    digest = shelf.push("team/net", text="two")
    assert init(world, work).code == 0
    assert installed(work, "a") == MODULE % "one"
    assert init(world, work, "-upgrade").code == 0
    assert installed(work, "a") == MODULE % "two"
    assert digest in (work / ".nigari.lock.hcl").read_text()


@pytest.mark.parametrize(
    ("push", "said"),
    [
        ({"layers": ()}, "no archive"),
        ({"layers": ("archive/zip", "archive/zip")}, "several archives"),
        ({"layers": ("archive/tar",)}, "no archive"),
        ({"artifact_type": "other"}, 'of the type "other"'),
        ({"media_type": "application/vnd.oci.image.index.v1+json"}, "not an OCI image manifest"),
        ({"tag": "other"}, 'has no tag "latest"'),
    ],
)
def test_packages_that_are_none(
    push: dict[str, object], said: str, world: ModuleWorld, shelf: OciShelf, work: Path
) -> None:
    shelf.push("team/net", **push)  # type: ignore[arg-type]
    write(work, call("a", f"oci://{world.host}/team/net"))
    done = init(world, work)
    assert done.code == 1
    assert said in done.err


@pytest.mark.parametrize("kind", ["manifests", "blobs"])
def test_content_is_checked(kind: str, world: ModuleWorld, shelf: OciShelf, work: Path) -> None:
    shelf.push("team/net")
    for path, (media_type, body) in list(shelf.contents.items()):
        if f"/{kind}/sha256:" in path:
            shelf.contents[path] = media_type, body[:-1] + b"?"
    write(work, call("a", f"oci://{world.host}/team/net"))
    done = init(world, work)
    assert done.code == 1
    assert "digest" in done.err or "checksum" in done.err
    assert not (work / ".terraform").exists()


def auth(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize("scheme", ["Bearer", "Basic"])
@pytest.mark.parametrize("way", ["block", "docker", "podman", "named file", "helper"])
def test_credentials(
    scheme: str, way: str, world: ModuleWorld, shelf: OciShelf, work: Path
) -> None:
    shelf.user, shelf.scheme = "me:pw", scheme
    shelf.push("team/net")
    write(work, call("a", f"oci://{world.host}/team/net"))
    done = init(world, work)
    assert done.code == 1
    assert f"No credentials for {world.host}" in done.err
    environ = world.environ()
    home, config = Path(environ["HOME"]), work.with_name("tofurc")
    known = json.dumps({"auths": {f"{world.host}/team": {"auth": auth("me:pw")}}})
    config.write_text("")
    match way:
        case "block":
            config.write_text(
                f'oci_credentials "{world.host}/team" {{\n  username = "me"\n  password = "pw"\n}}\n'
            )
        case "docker":
            (home / ".docker").mkdir()
            (home / ".docker/config.json").write_text(known)
        case "podman":
            (home / ".config/containers").mkdir(parents=True)
            (home / ".config/containers/auth.json").write_text(known)
        case "named file":
            work.with_name("auth.json").write_text(known)
            config.write_text(
                'oci_default_credentials {\n  docker_style_config_files = ["auth.json"]\n}\n'
            )
        case "helper":
            helper = work.with_name("bin") / "docker-credential-x"
            helper.parent.mkdir()
            helper.write_text('#!/bin/sh\necho \'{"Username": "me", "Secret": "pw"}\'\n')
            helper.chmod(0o755)
            environ["PATH"] = f"{helper.parent}:{environ['PATH']}"
            config.write_text(
                f'oci_credentials "{world.host}" {{\n  docker_credentials_helper = "x"\n}}\n'
            )
    done = init(world, work, TF_CLI_CONFIG_FILE=str(config), PATH=environ["PATH"])
    assert done.code == 0, done.err


@pytest.mark.parametrize("tokens", [("mine", "other"), ("wrong", "refresh")])
def test_tokens(tokens: tuple[str, str], world: ModuleWorld, shelf: OciShelf, work: Path) -> None:
    shelf.user, shelf.refresh_token = "me:pw", "refresh"
    shelf.push("team/net")
    write(work, call("a", f"oci://{world.host}/team/net"))
    config = work.with_name("tofurc")
    access, refresh = tokens
    config.write_text(
        f'oci_credentials "{world.host}" {{\n  access_token = "{access}"\n'
        f'  refresh_token = "{refresh}"\n}}\n'
    )
    done = init(world, work, TF_CLI_CONFIG_FILE=str(config))
    # An access token is used as it is.
    assert (done.code == 0) is (access == "mine"), done.err


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("oci://example.com/a/b-c", OciAddress("example.com", "a/b-c")),
        ("oci://example.com:5000/a?tag=v1.0", OciAddress("example.com:5000", "a", "v1.0")),
    ],
)
def test_addresses(url: str, address: OciAddress) -> None:
    assert oci_address(url) == address


@pytest.mark.parametrize(
    "url",
    [
        "oci://example.com",
        "oci://example.com/A",
        "oci://example.com/a?tag=",
        "oci://example.com/a?tag=x&tag=y",
        "oci://example.com/a?tag=-x",
        "oci://example.com/a?digest=x",
        "oci://example.com/a?digest=sha256:" + "0" * 64 + "&tag=x",
        "oci://example.com/a?other=x",
        "https://example.com/a",
    ],
)
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(FetchError):
        oci_address(url)
