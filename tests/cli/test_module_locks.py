"""The lock file of modules: what is in it, and that init keeps to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from nigari.diagnostics import Diagnostics
from nigari.hcl.source import Source
from nigari.packages.modules.module_locks import ModuleLock, module_lock_text, parse_module_locks
from tests.cli.initializing import call, init, installed, nigari, records, write
from tests.net_world.server import json_answer
from tests.packages.module_world import MODULE, ModuleWorld
from tests.packages.repositories import Repository, needs_git


def locks(work: Path) -> list[ModuleLock]:
    diags = Diagnostics()
    text = (work / ".nigari.lock.hcl").read_text()
    found = parse_module_locks(Source("lock", text), diags)
    assert not diags.has_errors
    assert module_lock_text(found) == text
    return list(found.values())


def elsewhere(work: Path, name: str = "elsewhere") -> Path:
    """The same configuration and locks, as somebody else has checked them out."""
    other = work.with_name(name)
    other.mkdir()
    for file in ("main.tf", ".nigari.lock.hcl"):
        (other / file).write_bytes((work / file).read_bytes())
    return other


def test_there_is_none_unless_it_is_asked_for(world: ModuleWorld, work: Path) -> None:
    world.publish("ns/name/sys", "1.0.0")
    write(work, call("a", f"{world.host}/ns/name/sys"))
    assert init(world, work).code == 0
    assert not (work / ".nigari.lock.hcl").exists()
    done = init(world, work, "-lock-modules")
    assert done.code == 0
    assert "records the packages of modules" in " ".join(done.out.split())
    (lock,) = locks(work)
    assert (lock.source, lock.version) == (f"{world.host}/ns/name/sys", "1.0.0")
    before = (work / ".nigari.lock.hcl").read_bytes()
    assert "lock file" not in init(world, work).out
    assert (work / ".nigari.lock.hcl").read_bytes() == before


def test_versions_stay_until_an_upgrade(world: ModuleWorld, work: Path) -> None:
    world.publish("ns/name/sys", "1.0.0")
    source = f"{world.host}/ns/name/sys"
    write(work, call("a", source, "~> 1.0"), call("b", source, ">= 0.1"))
    assert init(world, work, "-lock-modules").code == 0
    world.publish("ns/name/sys", "1.1.0", "2.0.0")
    other = elsewhere(work)
    assert init(world, other).code == 0
    assert {each["Version"] for each in records(other).values()} == {"1.0.0"}
    done = init(world, other, "-upgrade")
    assert done.code == 0
    assert "was updated" in " ".join(done.out.split())
    assert records(other)["a"]["Version"] == "1.1.0"
    assert records(other)["b"]["Version"] == "2.0.0"
    assert sorted((each.constraints, each.version) for each in locks(other)) == [
        (">= 0.1", "2.0.0"),
        ("~> 1.0", "1.1.0"),
    ]


@needs_git
@pytest.mark.parametrize("shares", [True, False])
def test_branches_stay_at_their_commit(shares: bool, world: ModuleWorld, work: Path) -> None:
    repository = Repository(work.with_name("repository"))
    first = repository.commit({"main.tf": MODULE % "one"})
    write(work, call("a", f"{repository.source}?ref=main"))
    assert init(world, work, "-lock-modules").code == 0
    (lock,) = locks(work)
    assert lock.revision == first
    second = repository.commit({"main.tf": MODULE % "two"})
    other = elsewhere(work)
    more = {} if shares else {"NIGARI_CACHE_DIR": "off"}
    assert init(world, other, **more).code == 0
    assert installed(other, "a") == MODULE % "one"
    assert init(world, other, "-upgrade", **more).code == 0
    assert installed(other, "a") == MODULE % "two"
    assert locks(other)[0].revision == second
    # Whoever gets the new lock file gets the new commit.
    (work / ".nigari.lock.hcl").write_bytes((other / ".nigari.lock.hcl").read_bytes())
    assert init(world, work, **more).code == 0
    assert installed(work, "a") == MODULE % "two"


@pytest.mark.parametrize("kind", ["registry", "archive", "direct"])
def test_changed_content_is_refused(kind: str, world: ModuleWorld, work: Path) -> None:
    world.archive("/a.zip", "zip", {"main.tf": MODULE % "one"})
    if kind == "direct":
        answer = json_answer({"location": "/a.zip", "use_registry_credentials": False})
        world.locations["ns/name/sys/1.0.0"] = answer
    else:
        world.locations["ns/name/sys/1.0.0"] = "/a.zip"
    source = f"{world.url}/a.zip" if kind == "archive" else f"{world.host}/ns/name/sys"
    write(work, call("a", source))
    assert init(world, work, "-lock-modules").code == 0
    world.archive("/a.zip", "zip", {"main.tf": MODULE % "changed"})
    # Where the package is kept, nobody has to be asked.
    world.log.clear()
    other = elsewhere(work)
    assert init(world, other).code == 0
    assert installed(other, "a") == MODULE % "one"
    assert world.asked == []
    third = elsewhere(work, "third")
    done = init(world, third, NIGARI_CACHE_DIR="off")
    assert done.code == 1
    assert "content has changed since it was locked" in done.err
    assert not (third / ".terraform").exists()
    assert init(world, third, "-upgrade", NIGARI_CACHE_DIR="off").code == 0
    assert installed(third, "a") == MODULE % "changed"


def test_read_only_locks(world: ModuleWorld, work: Path) -> None:
    world.publish("ns/name/sys", "1.0.0")
    world.publish("ns/more/sys", "1.0.0")
    write(work, call("a", f"{world.host}/ns/name/sys"))
    assert init(world, work, "-lock-modules").code == 0
    before = (work / ".nigari.lock.hcl").read_bytes()
    assert init(world, work, "-lockfile=readonly").code == 0
    write(work, call("a", f"{world.host}/ns/name/sys"), call("b", f"{world.host}/ns/more/sys"))
    done = init(world, work, "-lockfile=readonly")
    assert done.code == 1
    assert f"{world.host}/ns/more/sys" in done.err
    assert (work / ".nigari.lock.hcl").read_bytes() == before
    assert init(world, work).code == 0
    assert len(locks(work)) == 2


def test_entries_that_are_not_used_stay_until_an_upgrade(world: ModuleWorld, work: Path) -> None:
    world.publish("ns/one/sys", "1.0.0")
    world.publish("ns/two/sys", "1.0.0")
    variable = 'variable "which" {}\n'
    write(work, variable, call("a", f"{world.host}/ns/${{var.which}}/sys"))
    assert init(world, work, "-lock-modules", "-var=which=one").code == 0
    assert init(world, work, "-var=which=two").code == 0
    assert len(locks(work)) == 2
    assert init(world, work, "-var=which=two", "-upgrade").code == 0
    assert [each.source for each in locks(work)] == [f"{world.host}/ns/two/sys"]


def test_get_keeps_to_it_as_well(world: ModuleWorld, work: Path) -> None:
    world.publish("ns/name/sys", "1.0.0")
    write(work, call("a", f"{world.host}/ns/name/sys"))
    assert init(world, work, "-lock-modules").code == 0
    world.publish("ns/name/sys", "1.1.0")
    other = elsewhere(work)
    assert nigari(world, other, "get").code == 0
    assert installed(other, "a") == MODULE % "1.0.0"


def test_directories_are_not_locked(world: ModuleWorld, work: Path) -> None:
    (work / "mod").mkdir()
    (work / "mod" / "main.tf").write_text(MODULE % "it")
    write(work, call("a", "./mod"), call("b", str(work / "mod")))
    assert init(world, work, "-lock-modules").code == 0
    assert locks(work) == []


def test_secrets_of_registries_are_not_written(world: ModuleWorld, work: Path) -> None:
    world.archive("/a.zip", "zip", {"main.tf": MODULE % "it"})
    location = f"{world.url}/a.zip?X-Amz-Signature=hush&x=y"
    world.locations["ns/name/sys/1.0.0"] = json_answer({"location": location})
    write(work, call("a", f"{world.host}/ns/name/sys"))
    done = init(world, work, "-lock-modules")
    assert done.code == 0, done.err
    assert locks(work)[0].location == f"{world.url}/a.zip?X-Amz-Signature=REDACTED&x=y"
    cached = nigari(world, work, "cache", "list").out
    assert "hush" not in done.out + cached


def test_secrets_are_not_written(world: ModuleWorld, work: Path) -> None:
    world.archive("/a.zip", "zip", {"main.tf": MODULE % "it"})
    write(work, call("a", world.url.replace("//", "//me:hush@") + "/a.zip"))
    assert init(world, work, "-lock-modules").code == 0
    assert "hush" not in (work / ".nigari.lock.hcl").read_text()
    assert "hush" not in nigari(world, work, "cache", "list").out
    other = elsewhere(work)
    assert init(world, other).code == 0


@pytest.mark.parametrize(
    "text",
    [
        'module "x" {\n}\n',
        'module "x" {\n  hash = "sha256:12"\n}\n',
        'module "x" {\n  hash = 5\n}\n',
        'module "x" {\n  hash = "sha256:' + "0" * 64 + '"\n  more = 1\n}\n',
        'provider "x" {}\n',
        "module {",
    ],
)
def test_lock_files_that_make_no_sense(text: str, world: ModuleWorld, work: Path) -> None:
    """Nothing is fetched while it is not known what may be."""
    world.archive("/a.zip", "zip", {"main.tf": MODULE % "it"})
    write(work, call("a", f"{world.url}/a.zip"))
    (work / ".nigari.lock.hcl").write_text(text)
    done = init(world, work)
    assert done.code == 1
    assert ".nigari.lock.hcl" in done.err
    assert "source not available" not in done.err
    assert world.asked == []


@pytest.mark.parametrize("name", [".nigari.lock.hcl", ".terraform.lock.hcl"])
def test_both_sides_of_a_conflict(name: str, world: ModuleWorld, work: Path) -> None:
    write(work, "locals {}\n")
    (work / name).write_text("<<<<<<< ours\n# one\n=======\n# two\n>>>>>>> theirs\n")
    done = init(world, work)
    assert done.code == 1
    assert done.err.count("Error:") == 1
    assert "two branches have changed the lock file" in done.err
    assert f"on {name} line 1" in done.err
    assert "<<<<<<< ours" in done.err


def test_two_entries_for_one_source(world: ModuleWorld, work: Path) -> None:
    world.publish("ns/name/sys", "1.0.0")
    write(work, call("a", f"{world.host}/ns/name/sys"))
    assert init(world, work, "-lock-modules").code == 0
    path = work / ".nigari.lock.hcl"
    path.write_text(path.read_text() * 2)
    done = init(world, work)
    assert done.code == 1
    assert "already has a block for" in done.err
