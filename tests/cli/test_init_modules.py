"""`nigari init` and `nigari get`: the modules that they install, refuse and leave behind."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.init_world import OUTPUT, call, directory, init, installed, repository, told, write
from tests.cli.process import inside
from tests.packages.repositories import Repository, needs_git

__all__ = ["directory", "repository"]


@needs_git
def test_local_and_git_modules(directory: Path, repository: Repository) -> None:
    source = f"{repository.source}//sub?ref=v1"
    write({"main.tf": call("a", "./mods/a") + call("s", source), "mods/a/main.tf": OUTPUT})
    done = init()
    assert done.code == 0, done.err
    assert installed() == {
        "a": ("./mods/a", "mods/a"),
        "s": (source, ".terraform/modules/s/sub"),
        "s.deep": ("./deep", ".terraform/modules/s/sub/deep"),
    }
    assert Path(".terraform/modules/s/sub/deep/main.tf").is_file()
    assert "Downloading" in done.out
    again = init()
    assert again.code == 0
    assert "Downloading" not in again.out
    assert inside("validate").code == 0


def test_a_directory_by_its_whole_path(directory: Path, tmp_path: Path) -> None:
    """It is used where it is."""
    write({f"{tmp_path}/module/main.tf": OUTPUT, f"{tmp_path}/module/sub/main.tf": OUTPUT})
    write({"main.tf": call("a", f"{tmp_path}/module") + call("b", f"{tmp_path}/module//sub")})
    done = init()
    assert done.code == 0, done.err
    assert installed() == {
        "a": (f"file://{tmp_path}/module", ".terraform/modules/a"),
        "b": (f"file://{tmp_path}/module//sub", ".terraform/modules/b/sub"),
    }
    assert Path(".terraform/modules/a").resolve() == tmp_path / "module"
    assert init().code == 0
    assert inside("validate").code == 0
    write({f"{tmp_path}/module/main.tf": call("out", "../..")})
    assert "leads out of the package" in told(init())


@needs_git
def test_one_copy_for_many_calls(directory: Path, repository: Repository) -> None:
    write({"main.tf": "".join(call(f"m{i}", repository.source) for i in range(20))})
    done = init()
    assert done.code == 0, done.err
    assert done.out.count("Downloading") == 1
    assert len({Path(f".terraform/modules/m{i}").resolve() for i in range(20)}) == 1


@needs_git
def test_instances_with_sources_of_their_own(directory: Path, repository: Repository) -> None:
    source = f"{repository.source}//${{each.value}}?ref=v1"
    write({"main.tf": call("m", source, '  for_each = { a = "sub", "../b" = "sub/deep" }\n')})
    done = init()
    assert done.code == 0, done.err
    found = installed()
    assert found['m["a"]'][1] == '.terraform/modules/m["a"]/sub'
    assert found['m["../b"]'][1] == '.terraform/modules/m["..%2Fb"]/sub/deep'
    assert 'm["a"].deep' in found


@needs_git
def test_calls_that_are_gone_leave_nothing(directory: Path, repository: Repository) -> None:
    write({"main.tf": call("a", repository.source) + call("b", "./b"), "b/main.tf": ""})
    assert init().code == 0
    write({"main.tf": call("b", "./b")})
    assert init().code == 0
    assert list(installed()) == ["b"]
    assert [path.name for path in Path(".terraform/modules").iterdir()] == ["modules.json"]


@needs_git
def test_upgrade_takes_what_is_new(directory: Path, repository: Repository) -> None:
    write({"main.tf": call("a", repository.source)})
    assert init().code == 0
    repository.commit({"new.tf": "# new\n"})
    assert init().code == 0
    assert not Path(".terraform/modules/a/new.tf").exists()
    assert init("-upgrade").code == 0
    assert Path(".terraform/modules/a/new.tf").is_file()
    repository.commit({"newer.tf": "# newer\n"})
    assert inside("get", "-update", settings={"PATH": os.environ["PATH"]}).code == 0
    assert Path(".terraform/modules/a/newer.tf").is_file()


@needs_git
def test_changed_files_are_repaired(directory: Path, repository: Repository) -> None:
    write({"main.tf": call("a", repository.source)})
    assert init().code == 0
    Path(".terraform/modules/a/main.tf").write_text("broken {")
    done = init()
    assert done.code == 0, done.err
    assert Path(".terraform/modules/a/main.tf").read_text() == OUTPUT


@needs_git
def test_an_error_deep_down_leaves_nothing(directory: Path, repository: Repository) -> None:
    repository.commit({"sub/deep/main.tf": call("worse", "./nowhere")})
    write(
        {
            "main.tf": call("s", f"{repository.source}//sub")
            + 'terraform {\n  backend "local" {\n    path = "x"\n  }\n}\n'
        }
    )
    done = init()
    assert done.code == 1
    assert "module.s.module.deep.module.worse" in told(done)
    assert [path.name for path in directory.iterdir()] == ["main.tf"]


@needs_git
def test_an_error_changes_nothing_that_was_there(directory: Path, repository: Repository) -> None:
    write({"main.tf": call("a", repository.source)})
    assert init().code == 0
    before = installed()
    write({"main.tf": call("b", repository.source) + call("c", f"{repository.source}?ref=none")})
    done = init()
    assert done.code == 1
    assert 'no branch, tag or commit "none"' in told(done)
    assert installed() == before
    assert Path(".terraform/modules/a/main.tf").is_file()
    assert not Path(".terraform/modules/b").exists()


@needs_git
@pytest.mark.parametrize("path", ["../..", "../../../work", "./../.."])
def test_paths_out_of_a_package_are_refused(
    path: str, directory: Path, repository: Repository
) -> None:
    repository.commit({"sub/main.tf": call("out", path)})
    write({"main.tf": call("s", f"{repository.source}//sub")})
    done = init()
    assert done.code == 1
    assert "leads out of the package" in told(done)
    assert not Path(".terraform").exists()


@needs_git
def test_a_package_that_calls_itself(directory: Path, repository: Repository) -> None:
    repository.commit({"main.tf": call("again", repository.source)})
    write({"main.tf": call("a", repository.source)})
    done = init()
    assert done.code == 1
    assert "Module that calls itself without end" in done.err


@needs_git
def test_a_link_out_of_a_package(directory: Path, repository: Repository) -> None:
    (repository.path / "link").symlink_to("/etc/passwd")
    repository.commit({})
    write({"main.tf": call("a", repository.source)})
    done = init()
    assert done.code == 1
    assert "link links to /etc/passwd" in told(done)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("ftp::https://example.com/x.zip", 'cannot be fetched with "ftp"'),
        ("ssh://git@example.com/x.git", "write git::ssh://git@example.com/x.git"),
        ("https://example.com/x.gz", "one packed file"),
        ("git::https://example.com/x.git?checksum=1", "only archives have checksums"),
        ("file:///nowhere/at/all", "/nowhere/at/all does not exist"),
        ("file:///nowhere/at/all.zip", "/nowhere/at/all.zip cannot be read"),
        ("./none", "which does not exist"),
        ("git::https://example.com/x.git?ref=-x", "is not a valid name"),
    ],
)
def test_sources_that_cannot_be_had(source: str, said: str, directory: Path) -> None:
    write({"main.tf": call("a", source)})
    done = init()
    assert done.code == 1
    assert said in told(done)
    assert not Path(".terraform").exists()


@needs_git
def test_without_getting_modules(directory: Path, repository: Repository) -> None:
    write({"main.tf": call("a", repository.source)})
    done = init("-get=false")
    assert done.code == 1
    assert "Module not installed" in done.err
    assert init().code == 0
    assert init("-get=false").code == 0


@needs_git
def test_beginning_with_a_module(directory: Path, repository: Repository) -> None:
    done = init(f"-from-module={repository.source}//sub")
    assert done.code == 0, done.err
    assert sorted(path.name for path in directory.iterdir()) == [".terraform", "deep", "main.tf"]
    assert list(installed()) == ["deep"]
    assert "not empty" in init("-from-module=../repository").err


def test_an_empty_directory(directory: Path) -> None:
    done = init()
    assert done.code == 0
    assert "no configuration" in done.out
    assert list(directory.iterdir()) == []


def test_without_modules_nothing_is_made(directory: Path) -> None:
    write({"main.tf": "locals {}\n"})
    assert init().code == 0
    assert sorted(path.name for path in directory.iterdir()) == [".terraform", "main.tf"]
    assert [path.name for path in Path(".terraform").iterdir()] == ["nigari.init.json"]


@needs_git
def test_another_data_directory(directory: Path, repository: Repository) -> None:
    write({"main.tf": call("a", repository.source)})
    assert init(TF_DATA_DIR="data").code == 0
    record = json.loads(Path("data/modules/modules.json").read_text())["Modules"][1]
    assert record["Dir"] == "data/modules/a"


@needs_git
def test_sources_from_files_of_a_package(directory: Path, repository: Repository) -> None:
    """What is about to be installed can be read as if it were."""
    text = 'locals {\n  s = file("${path.module}/where")\n}\n' + call("x", "${local.s}")
    repository.commit({"main.tf": text, "where": "./sub/deep"})
    write({"main.tf": call("a", repository.source)})
    done = init()
    assert done.code == 0, done.err
    assert installed()["a.x"] == ("./sub/deep", ".terraform/modules/a/sub/deep")


def test_events_for_programs(directory: Path) -> None:
    write({"main.tf": call("a", "./a"), "a/main.tf": ""})
    done = inside("init", "-json")
    assert done.code == 0
    events = [json.loads(line) for line in done.out.splitlines()]
    assert events[0]["type"] == "version"
    assert "installing a in a" in [event["@message"] for event in events]
    assert {event["@module"] for event in events} == {"tofu.ui"}
    write({"main.tf": call("a", "./none")})
    done = inside("init", "-json")
    assert done.code == 1
    assert json.loads(done.out.splitlines()[-1])["diagnostic"]["severity"] == "error"


def test_what_another_program_has_installed_stays(directory: Path) -> None:
    """Also from places that this program cannot fetch from."""
    source = "registry.opentofu.org/acme/net/aws"
    record = {"Key": "a", "Source": source, "Version": "1.2.0", "Dir": ".terraform/modules/a"}
    root = {"Key": "", "Source": "", "Dir": "."}
    write(
        {
            "main.tf": call("a", "acme/net/aws", '  version = "~> 1.0"\n'),
            ".terraform/modules/a/main.tf": OUTPUT,
            ".terraform/modules/modules.json": json.dumps({"Modules": [root, record]}),
        }
    )
    done = init()
    assert done.code == 0, done.err
    assert json.loads(Path(".terraform/modules/modules.json").read_text())["Modules"][1] == record
    assert inside("validate").code == 0
    write({"main.tf": call("a", "acme/net/aws", '  version = "~> 2.0"\n')})
    assert "but version 1.2.0 is installed for it" in told(inside("validate"))
    assert init().code == 1


@pytest.mark.parametrize("content", ["", "{", '{"Modules": 1}', '{"Modules": [{}]}'])
def test_a_broken_list_of_modules_is_written_anew(content: str, directory: Path) -> None:
    write(
        {"main.tf": call("a", "./a"), "a/main.tf": "", ".terraform/modules/modules.json": content}
    )
    assert init().code == 0
    assert list(installed()) == ["a"]


def test_a_directory_that_cannot_be_written(directory: Path) -> None:
    write({"main.tf": call("a", "./a"), "a/main.tf": "", ".terraform": "a file"})
    done = init()
    assert done.code == 1
    assert "Cannot write to the working directory" in done.err


@needs_git
@pytest.mark.parametrize("options", [(), ("-upgrade",)])
@pytest.mark.parametrize("command", ["init", "get"])
def test_edits_of_installed_modules(
    directory: Path, repository: Repository, command: str, options: tuple[str, ...]
) -> None:
    """They are taken back, and that is said."""
    options = ("-update",) if command == "get" and options else options
    write({"main.tf": call("a", repository.source) + call("b", f"{repository.source}//sub")})
    assert init().code == 0
    edited = Path(".terraform/modules/b/sub/main.tf")
    edited.write_text(edited.read_text() + "# tried something\n")
    Path(".terraform/modules/a/main.tf").unlink()
    Path(".terraform/modules/a/sub/debug.tf").write_text("")
    done = inside(command, *options)
    assert done.code == 0, done.err
    said = " ".join((done.out + done.err).split())
    assert "Edited files of modules were restored" in said
    for name in ("a", "b"):
        assert f"- .terraform/modules/{name}/sub/main.tf" in said
        assert f"- .terraform/modules/{name}/main.tf" in said
        assert f"- .terraform/modules/{name}/sub/debug.tf" in said
    assert "tried" not in edited.read_text()
    again = inside(command, *options)
    assert "restored" not in again.out + again.err


@needs_git
def test_edits_of_modules_that_have_moved_on(directory: Path, repository: Repository) -> None:
    write({"main.tf": call("a", repository.source)})
    assert init().code == 0
    Path(".terraform/modules/a/main.tf").write_text("# tried something\n")
    repository.commit({"main.tf": OUTPUT + "# newer\n"})
    assert "- .terraform/modules/a/main.tf" in init().out
    assert "newer" in Path(".terraform/modules/a/main.tf").read_text()
