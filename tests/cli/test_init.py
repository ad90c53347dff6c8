"""`nigari init` and `nigari get`: what they install, what they refuse, what they leave behind."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from nigari.packages.base.platforms import current_platform
from tests.cli.process import Done, inside
from tests.packages.repositories import Repository, needs_git

OUTPUT = 'output "x" {\n  value = path.module\n}\n'


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return work


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "repository")
    made.commit(
        {
            "main.tf": OUTPUT,
            "sub/main.tf": OUTPUT + 'module "deep" {\n  source = "./deep"\n}\n',
            "sub/deep/main.tf": OUTPUT,
        },
        tag="v1",
    )
    return made


def init(*arguments: str, **settings: str) -> Done:
    return inside(
        "init", "-no-color", *arguments, settings={"PATH": os.environ["PATH"], **settings}
    )


def write(files: Mapping[str, str]) -> None:
    for name, content in files.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def call(name: str, source: str, more: str = "") -> str:
    return f'module "{name}" {{\n  source = "{source}"\n{more}}}\n'


def installed() -> dict[str, tuple[str, str]]:
    """The records of modules.json without the root's: key to source and directory."""
    records = json.loads(Path(".terraform/modules/modules.json").read_text())["Modules"]
    return {each["Key"]: (each["Source"], each["Dir"]) for each in records if each["Key"]}


def told(done: Done) -> str:
    return " ".join(done.err.split())


# -- modules ----------------------------------------------------------------------------------


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
        ("ftp::https://example.com/x.zip", 'no way to fetch packages with "ftp"'),
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
    assert [path.name for path in directory.iterdir()] == ["main.tf"]


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


# -- variables --------------------------------------------------------------------------------


def test_a_missing_variable_is_named_with_its_way(directory: Path) -> None:
    write({"main.tf": 'variable "s" {}\nlocals {\n  l = var.s\n}\n' + call("a", "${local.l}")})
    done = init()
    assert done.code == 1
    assert "depends on var.s, which has no value." in told(done)


def test_a_variable_that_is_not_used_is_not_needed(directory: Path) -> None:
    text = 'variable "git" {\n  default = false\n}\nvariable "url" {}\n'
    body = '  source = var.git ? var.url : "./x"\n'
    write({"main.tf": f'{text}module "a" {{\n{body}}}\n', "x/main.tf": ""})
    assert init().code == 0


def test_a_value_for_no_variable(directory: Path) -> None:
    write({"main.tf": 'variable "one" {}\n'})
    done = init("-var", "on=1")
    assert done.code == 0
    assert 'Did you mean "one"?' in done.out


def test_modules_that_only_tests_name(directory: Path) -> None:
    run = 'run "x" {\n  module {\n    source = "./t"\n  }\n  variables {\n    v = "n"\n  }\n}\n'
    write(
        {
            "main.tf": "",
            "a.tftest.hcl": run,
            "a.tofutest.json": '{"run": {"y": {"module": {"source": "./t/n"}}}}',
            "tests/b.tftest.hcl": run,
            "t/main.tf": 'variable "v" {}\nmodule "n" {\n  source = "./${var.v}"\n}\n',
            "t/n/main.tf": "",
        }
    )
    done = init()
    assert done.code == 0, done.err
    assert list(installed()) == [
        "test.a.tofutest.json.y",
        "test.a.x",
        "test.a.x.n",
        "test.tests.b.x",
        "test.tests.b.x.n",
    ]


def test_a_test_names_a_module_that_is_not_there(directory: Path) -> None:
    write({"main.tf": "", "a.tftest.hcl": 'run "x" {\n  module {\n    source = "./t"\n  }\n}\n'})
    done = init()
    assert done.code == 1
    assert "No such module directory" in told(done)
    assert not Path(".terraform").exists()


# -- the backend ------------------------------------------------------------------------------

BACKEND = """
variable "env" {
  default = "one"
}
locals {
  path = "states/${var.env}.tfstate"
}
terraform {
  backend "local" {
    path = local.path
  }
}
"""
STATE = json.dumps(
    {"version": 4, "serial": 1, "lineage": "x", "outputs": {"a": {"value": 1, "type": "number"}}}
)


def remembered() -> dict[str, object]:
    backend = json.loads(Path(".terraform/terraform.tfstate").read_text())["backend"]
    assert isinstance(backend, dict)
    return backend


def test_a_backend_is_remembered(directory: Path) -> None:
    write({"main.tf": BACKEND})
    assert init().code == 0
    assert remembered()["config"] == {"path": "states/one.tfstate", "workspace_dir": None}
    assert init().code == 0


def test_a_changed_variable_changes_the_backend(directory: Path) -> None:
    write({"main.tf": BACKEND})
    assert init().code == 0
    write({"states/one.tfstate": STATE})
    done = init("-var", "env=two")
    assert done.code == 1
    wanted = 'path was "states/one.tfstate" and is "states/two.tfstate" now, because of var.env'
    assert wanted in told(done)
    assert "-migrate-state" in done.err
    assert init("-var", "env=two", "-migrate-state").code == 1
    assert init("-var", "env=two", "-force-copy").code == 0
    assert Path("states/two.tfstate").read_text() == STATE
    assert init("-var", "env=three", "-reconfigure").code == 0
    assert not Path("states/three.tfstate").exists()


def test_other_commands_see_a_changed_backend(directory: Path) -> None:
    write({"main.tf": BACKEND})
    done = inside("state", "list")
    assert done.code == 1
    assert "Backend not set up" in done.err
    assert init().code == 0
    write({"states/one.tfstate": STATE})
    assert inside("state", "list").code == 0
    done = inside("output", "-var", "env=two")
    assert done.code == 1
    assert 'is "states/two.tfstate" now, because of var.env' in told(done)


def test_the_first_backend_takes_the_state_along(directory: Path) -> None:
    write({"main.tf": BACKEND, "terraform.tfstate": STATE})
    done = init("-input=false")
    assert done.code == 1
    assert "-force-copy" in done.err
    assert not Path(".terraform").exists()
    assert init("-force-copy").code == 0
    assert Path("states/one.tfstate").read_text() == STATE
    assert Path("terraform.tfstate").read_text() == ""
    assert Path("terraform.tfstate.backup").read_text() == STATE


def test_a_backend_that_is_gone(directory: Path) -> None:
    write({"main.tf": BACKEND})
    assert init().code == 0
    write({"main.tf": "", "states/one.tfstate": STATE})
    assert "no longer has a backend" in told(init())
    assert init("-migrate-state", "-force-copy").code == 0
    assert Path("terraform.tfstate").read_text() == STATE
    assert not Path(".terraform/terraform.tfstate").exists()


def test_settings_of_the_command_line(directory: Path) -> None:
    write({"main.tf": BACKEND, "more.tfbackend": 'workspace_dir = "w"\n'})
    assert init("-backend-config=path=p", "-backend-config=more.tfbackend").code == 0
    assert remembered()["config"] == {"path": "p", "workspace_dir": "w"}
    assert init().code == 0, "the hash is of the file alone"
    assert init("-backend-config=path=q").code == 1


def test_a_backend_that_stays_as_it_is(directory: Path) -> None:
    write({"main.tf": BACKEND})
    assert init("-backend=false").code == 0
    assert not Path(".terraform").exists()


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ('backend "lokal" {}', 'There is no backend "lokal". Did you mean "local"?'),
        ('backend "etcd" {}', "was removed"),
        ('backend "local" {\n    paht = "x"\n  }', "paht"),
        ('backend "s3" {\n    key = "x"\n  }', 'requires the argument "bucket"'),
        ('backend "local" {\n    path = var.secret\n  }', "sensitive"),
        ('backend "local" {\n    path = terraform_data.a.id\n  }', "terraform_data.a"),
        ('backend "local" {\n    path = timestamp()\n  }', "result differs at every call"),
        ('backend "http" {\n    address = "x"\n    retry_max = "many"\n  }', "retry_max"),
        ('backend "local" {\n    path = var.none\n  }', "var.none, which has no value"),
        ('backend "local" {\n    path = var.nome\n  }', 'Did you mean "none"?'),
        (
            'backend "kubernetes" {\n    secret_suffix = "s"\n    exec {\n    }\n  }',
            "exec.api_version is required",
        ),
    ],
)
def test_backends_that_are_refused(block: str, said: str, directory: Path) -> None:
    variables = 'variable "none" {}\nvariable "secret" {\n  default = "x"\n  sensitive = true\n}\n'
    resource = 'resource "terraform_data" "a" {}\n'
    write({"main.tf": f"{variables}{resource}terraform {{\n  {block}\n}}\n"})
    done = init()
    assert done.code == 1
    assert said in told(done)
    assert done.err.count("Error:") == 1
    assert not Path(".terraform").exists()


def test_other_backends_are_only_set_up(directory: Path) -> None:
    write({"main.tf": 'terraform {\n  backend "oss" {\n    bucket = "b"\n  }\n}\n'})
    assert init().code == 0
    assert remembered()["type"] == "oss"


@pytest.mark.parametrize(
    ("kind", "body", "says"),
    [
        ("local", 'path = ""', "The path is empty"),
        ("s3", 'bucket = "b"\nkey = "/k"\nregion = "r"', "must not begin or end with a slash"),
        ("s3", 'bucket = "b"\nkey = "k"', "The region is not set"),
        (
            "s3",
            'bucket = "b"\nkey = "k"\nregion = "r"\nassume_role = { role_arn = "r" }\nrole_arn = "r"',
            "role_arn cannot be set together with assume_role",
        ),
        ("remote", 'organization = "o"', "either name or prefix, and none is set"),
    ],
)
def test_arguments_that_a_backend_refuses(
    directory: Path, kind: str, body: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    write({"main.tf": f'terraform {{\n  backend "{kind}" {{\n{body}\n  }}\n}}\n'})
    done = init()
    assert done.code == 1
    assert says in told(done)


def test_settings_of_the_command_line_given_again(directory: Path) -> None:
    """Nothing has changed, whatever the types of the arguments."""
    body = 'region = "r"\n    assume_role {\n      role_arn = "r"\n      session_expiration = "3"\n    }'
    write({"main.tf": f'terraform {{\n  backend "oss" {{\n    {body}\n  }}\n}}\n'})
    for _ in range(2):
        done = init("-backend-config=bucket=b", "-backend-config=encrypt=true")
        assert done.code == 0, done.err
    assert init("-backend-config=bucket=c", "-backend-config=encrypt=true").code == 1


# -- providers --------------------------------------------------------------------------------


def mirror(*versions: str) -> None:
    """A directory with versions of a provider that does nothing."""
    for version in versions:
        base = Path(f"mirror/registry.opentofu.org/acme/thing/{version}/{current_platform()}")
        base.mkdir(parents=True)
        program = base / "terraform-provider-thing"
        program.write_text(version)
        program.chmod(0o755)


REQUIRED = """
variable "v" {
  default = "~> 1.0"
}
terraform {
  required_providers {
    thing = {
      source  = "acme/thing"
      version = var.v
    }
  }
}
"""


def test_providers_are_chosen_and_locked(directory: Path) -> None:
    mirror("1.0.0", "1.2.0", "2.0.0")
    write({"main.tf": REQUIRED})
    done = init("-plugin-dir=mirror")
    assert done.code == 0, done.err
    assert "acme/thing v1.2.0 is installed" in done.out
    text = Path(".terraform.lock.hcl").read_text()
    assert 'version     = "1.2.0"' in text
    base = ".terraform/providers/registry.opentofu.org/acme/thing/1.2.0"
    assert Path(base, current_platform(), "terraform-provider-thing").read_text() == "1.2.0"
    done = init("-plugin-dir=mirror", "-var", "v=2.0.0")
    assert done.code == 1
    assert "init -upgrade" in told(done)
    assert init("-plugin-dir=mirror", "-var", "v=2.0.0", "-upgrade").code == 0
    assert 'version     = "2.0.0"' in Path(".terraform.lock.hcl").read_text()


def test_checksums_of_one_platform_are_a_warning(directory: Path) -> None:
    mirror("1.0.0")
    write({"main.tf": REQUIRED})
    done = init("-plugin-dir=mirror")
    assert done.code == 0
    assert "Checksums for one platform only" in done.out
    assert "acme/thing" in done.out
    assert "Checksums" not in init("-plugin-dir=mirror").out


def test_the_backend_is_told_under_its_own_heading(directory: Path) -> None:
    write({"main.tf": 'terraform {\n  backend "local" {\n    path = "x.tfstate"\n  }\n}\n'})
    done = init()
    assert done.code == 0
    heading, told_, providers = (
        done.out.index(each)
        for each in ("Initializing the backend", "is now stored in the backend", "provider plugins")
    )
    assert heading < told_ < providers


def test_nothing_is_downloaded_from_where_nothing_can_be_asked(directory: Path) -> None:
    write({"main.tf": call("a", "acme/thing/aws")})
    done = init()
    assert done.code == 1
    assert "Downloading" not in done.out


@needs_git
def test_a_changed_source_is_told_with_the_variable(
    directory: Path, repository: Repository
) -> None:
    variable = 'variable "ref" {\n  default = "v1"\n}\nlocals {\n  r = var.ref\n}\n'
    write({"main.tf": variable + call("a", f"{repository.source}//sub?ref=${{local.r}}")})
    assert init("-var", "ref=v1").code == 0
    done = inside("plan", "-var", "ref=other")
    assert done.code == 1
    said = told(done)
    assert "ref=other" in said
    assert "is installed for it" in said
    assert "ref=v1" in said
    assert "depends on var.ref" in said
    assert "nigari init -var ref=..." in said


def test_directories_of_the_command_line_are_noted(directory: Path) -> None:
    mirror("1.0.0")
    write({"main.tf": REQUIRED})
    note = Path(".terraform/plugin_path")
    assert init("-plugin-dir=mirror").code == 0
    assert json.loads(note.read_text()) == ["mirror"]
    assert init().code == 0
    assert note.exists()
    assert init("-plugin-dir=").code == 0
    assert not note.exists()


def test_the_source_of_a_provider_from_a_variable(directory: Path) -> None:
    mirror("1.0.0")
    registry = Path("mirror/registry.opentofu.org")
    shutil.copytree(registry / "acme", registry / "other")
    source = 'variable "n" {}\n' + REQUIRED.replace("acme/thing", "${var.n}/thing")
    write({"main.tf": source})
    done = init("-plugin-dir=mirror", "-var=n=acme", "-remember")
    assert "acme/thing v1.0.0 is installed" in done.out
    resource = {
        "mode": "managed",
        "type": "thing_x",
        "name": "x",
        "provider": 'provider["registry.opentofu.org/acme/thing"]',
        "instances": [],
    }
    state = {"version": 4, "serial": 1, "lineage": "x", "outputs": {}, "resources": [resource]}
    write({"terraform.tfstate": json.dumps(state)})
    assert "State belongs to another provider" not in init("-plugin-dir=mirror").out
    done = init("-plugin-dir=mirror", "-var=n=other")
    assert done.code == 0, done.err
    assert "state replace-provider acme/thing other/thing" in " ".join(done.out.split())


def test_a_provider_that_cannot_be_had_leaves_nothing(directory: Path) -> None:
    mirror("1.0.0")
    other = 'resource "other_thing" "a" {}\n'
    write({"main.tf": REQUIRED + other + call("a", "./a"), "a/main.tf": ""})
    done = init("-plugin-dir=mirror")
    assert done.code == 1
    assert "hashicorp/other" in told(done)
    assert not Path(".terraform").exists()
    assert not Path(".terraform.lock.hcl").exists()


def test_modules_must_agree_on_a_version(directory: Path) -> None:
    mirror("1.0.0", "2.0.0")
    child = REQUIRED.replace("~> 1.0", "2.0.0")
    write({"main.tf": REQUIRED + call("a", "./a"), "a/main.tf": child})
    done = init("-plugin-dir=mirror")
    assert done.code == 1
    assert "module.a requires 2.0.0" in told(done)


def test_a_lock_file_that_is_not_to_be_changed(directory: Path) -> None:
    mirror("1.0.0")
    write({"main.tf": REQUIRED})
    assert init("-plugin-dir=mirror", "-lockfile=readonly").code == 1
    assert not Path(".terraform.lock.hcl").exists()
    assert init("-plugin-dir=mirror").code == 0
    assert init("-plugin-dir=mirror", "-lockfile=readonly").code == 0


# -- what is remembered -------------------------------------------------------------------------


def test_values_that_static_places_used_are_remembered(directory: Path) -> None:
    unused = 'variable "other" {\n  default = ""\n}\n'
    write({"main.tf": BACKEND + unused})
    assert init("-var", "env=two", "-var", "other=x", "-remember").code == 0
    assert inside("init", "-show").out == 'env = "two"\n'
    done = init()
    assert done.code == 0
    assert "Using remembered values for var.env" in done.err
    assert remembered()["config"] == {"path": "states/two.tfstate", "workspace_dir": None}
    assert "Using remembered values for var.env" in inside("validate").err
    assert init(TF_VAR_env="three").code == 1, "the environment ranks above what is remembered"


def test_secrets_are_not_remembered(directory: Path) -> None:
    text = (
        'variable "s" {\n  sensitive = true\n}\nmodule "a" {\n  source = nonsensitive(var.s)\n}\n'
    )
    write({"main.tf": text, "m/main.tf": ""})
    assert init("-var", "s=./m", "-remember").code == 0
    assert "Nothing is remembered" in inside("init", "-show").out
    assert "./m" not in Path(".terraform/nigari.variables.json").read_text()


def test_each_workspace_remembers_for_itself(directory: Path) -> None:
    write({"main.tf": BACKEND})
    assert init("-var", "env=two", "-remember").code == 0
    shown = inside("init", "-show", settings={"TF_WORKSPACE": "other"})
    assert 'Nothing is remembered for the workspace "other"' in shown.out


_TWO = """\
variable "env" {}
variable "region" {
  default = "none"
}
terraform {
  backend "local" {
    path = "states/${var.env}-${var.region}.tfstate"
  }
}
"""


def test_what_is_remembered_belongs_to_its_backend(directory: Path) -> None:
    write({"main.tf": _TWO})
    assert init("-var", "env=prod", "-var", "region=eu", "-remember").code == 0
    same = init("-var", "env=prod")
    assert (same.code, "belong to another" in same.out) == (0, False)
    shown = inside("init", "-show").out
    assert shown == 'env = "prod"\nregion = "eu"\n'
    refused = init("-var", "env=dev")
    assert refused.code == 1, (
        "the backend is another one, and nobody says what becomes of the state"
    )
    assert inside("init", "-show").out == shown, "nothing changes where init fails"
    other = init("-var", "env=dev", "-reconfigure")
    assert other.code == 0
    words = "The values remembered for var.region belong to another backend configuration."
    assert words in " ".join(other.out.split())
    assert remembered()["config"] == {"path": "states/dev-none.tfstate", "workspace_dir": None}
    assert "Nothing is remembered" in inside("init", "-show").out
    assert init("-var", "env=dev", "-var", "region=us", "-reconfigure", "-remember").code == 0
    assert init().code == 0
    assert remembered()["config"] == {"path": "states/dev-us.tfstate", "workspace_dir": None}


def test_options_of_the_backend_make_another_one(directory: Path) -> None:
    write({"main.tf": _TWO})
    assert init("-var", "env=prod", "-var", "region=eu", "-remember").code == 0
    done = init("-var", "env=prod", "-backend-config=path=other.tfstate", "-reconfigure")
    assert "belong to another backend" in " ".join(done.out.split())
    assert "Nothing is remembered" in inside("init", "-show").out


def test_forgetting(directory: Path) -> None:
    write({"main.tf": BACKEND})
    assert init("-var", "env=two", "-remember").code == 0
    assert inside("init", "-forget").out == (
        'The values remembered for the workspace "default" are forgotten.\n'
    )
    assert init().code == 1
    again = inside("init", "-forget").out
    assert again == 'Nothing was remembered for the workspace "default".\n'


# -- encryption -------------------------------------------------------------------------------


def _encryption(key_providers: str) -> str:
    return (
        'variable "pass" {\n  sensitive = true\n}\nterraform {\n  encryption {\n'
        f"{key_providers}"
        '    method "aes_gcm" "m" {\n      keys = key_provider.pbkdf2.a\n    }\n'
        "    state {\n      method = method.aes_gcm.m\n    }\n  }\n}\n"
    )


def _key_provider(name: str, argument: str) -> str:
    return f'    key_provider "pbkdf2" "{name}" {{\n      {argument}\n    }}\n'


@pytest.mark.parametrize(
    ("key_providers", "given", "said"),
    [
        (
            _key_provider("a", "passphrase = var.pass"),
            (),
            (
                "passphrase of key_provider.pbkdf2.a must be known before anything runs, but it depends on "
                "var.pass, which has no value"
            ),
        ),
        (_key_provider("a", "passphrase = var.pass"), ("-var=pass=short",), "at least 16 bytes"),
        (
            _key_provider("a", "chain = key_provider.pbkdf2.b")
            + _key_provider("b", "chain = key_provider.pbkdf2.a"),
            (),
            "key_provider.pbkdf2.a → key_provider.pbkdf2.b → key_provider.pbkdf2.a",
        ),
    ],
)
def test_encryption_that_is_refused(
    key_providers: str, given: tuple[str, ...], said: str, directory: Path
) -> None:
    write({"main.tf": _encryption(key_providers)})
    done = init(*given)
    assert done.code == 1
    assert said in told(done)
    assert done.err.count("Error:") == 1


def test_encryption_takes_secrets(directory: Path) -> None:
    write({"main.tf": _encryption(_key_provider("a", "passphrase = var.pass"))})
    assert init("-var=pass=a-long-enough-secret").code == 0
