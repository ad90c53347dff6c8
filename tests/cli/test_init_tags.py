"""`version` of modules in git and OCI repositories: the newest tag that fits."""

from __future__ import annotations

from pathlib import Path
from shutil import rmtree

import pytest

from tests.cli.init_world import call, directory, init, installed, told, write
from tests.cli.initializing import call as oci_call
from tests.cli.initializing import init as oci_init
from tests.cli.initializing import records
from tests.cli.initializing import write as oci_write
from tests.net_world.server import json_answer
from tests.packages.module_world import MODULE, ModuleWorld
from tests.packages.oci_world import OciShelf
from tests.packages.repositories import Repository

__all__ = ["directory"]

_TAGS = ("v1.0.0", "1.1.0", "v1.2.0-beta1", "v2.0.0", "latest", "one", "v1.1.0+build")


@pytest.fixture
def tagged(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "tagged")
    for tag in _TAGS:
        made.commit({"main.tf": MODULE % tag, "sub/main.tf": MODULE % f"sub {tag}"}, tag=tag)
    made.git("tag", "--annotate", "--message=three", "v3.0.0")
    return made


def _text(name: str) -> str:
    return Path(installed()[name][1], "main.tf").read_text()


@pytest.mark.parametrize(
    ("version", "tag"),
    [
        ("~> 1.0", "1.1.0"),
        ("1.0.0", "v1.0.0"),
        (">= 1, < 3", "v2.0.0"),
        (">= 1", "v1.1.0+build"),
        ("1.2.0-beta1", "v1.2.0-beta1"),
        ("< 1.1", "v1.0.0"),
    ],
)
def test_newest_fitting_tag_is_installed(
    directory: Path, tagged: Repository, version: str, tag: str
) -> None:
    write({"main.tf": call("a", tagged.source, f'  version = "{version}"\n')})
    done = init()
    assert done.code == 0, done.err
    assert _text("a") == MODULE % tag


def test_directories_and_several_versions_of_one_repository(
    directory: Path, tagged: Repository
) -> None:
    write(
        {
            "main.tf": call("a", f"{tagged.source}//sub", '  version = "1.0.0"\n')
            + call("b", f"{tagged.source}//sub", '  version = "2.0.0"\n')
            + call("c", f"{tagged.source}?ref=one")
        }
    )
    assert init().code == 0
    assert [_text(each) for each in "abc"] == [
        MODULE % "sub v1.0.0",
        MODULE % "sub v2.0.0",
        MODULE % "one",
    ]


def test_what_is_installed_stays_until_an_upgrade(directory: Path, tagged: Repository) -> None:
    write({"main.tf": call("a", tagged.source, '  version = "~> 2.0"\n')})
    assert init().code == 0
    tagged.commit({"main.tf": MODULE % "newer"}, tag="v2.5.0")
    assert init().code == 0
    assert _text("a") == MODULE % "v2.0.0"
    assert init("-upgrade").code == 0
    assert _text("a") == MODULE % "newer"


def test_lock_file_keeps_the_commit_of_a_tag(directory: Path, tagged: Repository) -> None:
    write({"main.tf": call("a", tagged.source, '  version = "~> 2.0"\n')})
    assert init("-lock-modules").code == 0
    lock = Path(".nigari.lock.hcl").read_text()
    assert f'revision    = "{tagged.git("rev-parse", "v2.0.0")}"' in lock
    assert 'version     = "2.0.0"' in lock
    tagged.commit({"main.tf": MODULE % "moved"})
    tagged.git("tag", "--force", "v2.0.0")
    tagged.git("tag", "v2.9.0")
    rmtree(".terraform")
    assert init("-lockfile=readonly").code == 0
    assert _text("a") == MODULE % "v2.0.0"


@pytest.mark.parametrize(
    ("suffix", "version", "words"),
    [
        ("", ">= 7", "No suitable module version"),
        ("", "one", "Invalid version constraint"),
        ("?ref=v1.0.0", "1.0.0", "Two versions of a module"),
    ],
)
def test_unusable_versions_of_a_repository_are_reported(
    directory: Path, tagged: Repository, suffix: str, version: str, words: str
) -> None:
    write({"main.tf": call("a", tagged.source + suffix, f'  version = "{version}"\n')})
    done = init()
    assert done.code == 1
    assert words in told(done)


def test_a_repository_without_versions(directory: Path, tmp_path: Path) -> None:
    made = Repository(tmp_path / "untagged")
    made.commit({"main.tf": MODULE % "x"}, tag="stable")
    write({"main.tf": call("a", made.source, '  version = "1.0.0"\n')})
    done = init()
    assert "has no tags that are versions" in told(done)


def test_tags_of_an_oci_repository(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    with ModuleWorld(tmp_path / "world") as world:
        shelf = OciShelf(world)
        tags = ("1.0.0", "1.1.0_build", "2.0.0", "latest")
        for tag in tags:
            shelf.push("team/net", tag, text=tag)
        world.replies["/v2/team/net/tags/list"] = json_answer({"tags": list(tags)})
        base = f"oci://{world.host}/team/net"
        oci_write(work, oci_call("a", base, "~> 1.0"), oci_call("b", f"{base}//sub", "2.0.0"))
        done = oci_init(world, work, "-lock-modules")
        assert done.code == 0, done.err
        found = records(work)
        assert found["a"]["Version"] == "1.1.0+build"
        assert Path(work, found["a"]["Dir"], "main.tf").read_text() == MODULE % "1.1.0_build"
        assert found["b"]["Dir"] == ".terraform/modules/b/sub"
        oci_write(work, oci_call("a", f"{base}?tag=2.0.0", "2.0.0"))
        assert "Two versions of a module" in oci_init(world, work).err
