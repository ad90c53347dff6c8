"""`nigari init` and `tofu init` by turns: what one has made ready, the other uses as it is."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from nigari.addrs.provider import default_provider
from nigari.diagnostics import Diagnostics
from nigari.lang.versions import Version
from nigari.packages.content.platforms import current_platform
from nigari.packages.providers.provider_package import unpacked_path
from nigari.workspace.configuration.directory import Workspace
from nigari.workspace.context.working_directory import WorkingDirectory
from nigari.workspace.states.backend import find_arguments, merged
from tests.cli.process import Done, nigari
from tests.packages.repositories import Repository, needs_git
from tests.real import program

pytestmark = [pytest.mark.real, needs_git]

MODULES = """
variable "ref" {
  default = "v1"
}
module "local" {
  source = "./mods/a"
}
module "plain" {
  source = "{source}"
}
module "part" {
  source = "{source}//sub?ref=${var.ref}"
}
module "many" {
  source   = "{source}//sub/deep"
  for_each = toset(["x", "y"])
}
output "paths" {
  value = [module.local.x, module.plain.x, module.part.x, module.many["x"].x]
}
"""
OUTPUT = 'output "x" {\n  value = path.module\n}\n'
BACKENDS = {
    "local": 'path = "a/\\"b\\" <&> ü.tfstate"',
    "s3": """
      bucket = "b"
      key    = "k"
      region = "r"
      assume_role = { role_arn = "r", tags = { a = "1" } }
      allowed_account_ids = ["2", "1"]
      max_retries = 12
      encrypt = true""",
    "gcs": 'bucket = "b"\nimpersonate_service_account_delegates = ["b", "a"]',
    "http": 'address = "http://127.0.0.1:1/x"\nretry_max = 2.5\nheaders = { b = "1", a = "2" }',
    "azurerm": 'storage_account_name = "a"\ncontainer_name = "b"\nkey = "k"\nuse_cli = false',
    "kubernetes": """
      secret_suffix = "s"
      exec {
        api_version = "v1"
        command     = "c"
        args        = ["x"]
      }""",
    "consul": 'path = "p"\ngzip = true',
    "pg": 'conn_str = "postgres://x"',
    "cos": """
      bucket = "b"
      region = "r"
      assume_role {
        role_arn         = "r"
        session_name     = "s"
        session_duration = 3
        policy           = "p"
      }""",
    "oss": 'bucket = "b"',
    "remote": 'organization = "o"\nworkspaces {\n  prefix = "p-"\n}',
}


class Tofu:
    """The real program in a directory."""

    def __init__(self, directory: Path, settings: Path) -> None:
        self._program = program("tofu")
        self._directory = directory
        self.settings = settings
        if not settings.exists():
            settings.write_text("")

    def __call__(self, *arguments: str, **settings: str) -> Done:
        environ = {**os.environ, "TF_CLI_CONFIG_FILE": str(self.settings), **settings}
        done = subprocess.run(
            [str(self._program), *arguments, "-no-color"],
            cwd=self._directory,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    repository = Repository(tmp_path / "repository")
    deep = 'module "deep" {\n  source = "./deep"\n}\n'
    up = 'module "up" {\n  source = "../"\n}\n'
    repository.commit(
        {"main.tf": OUTPUT, "sub/main.tf": OUTPUT + deep + up, "sub/deep/main.tf": OUTPUT}, tag="v1"
    )
    directory = tmp_path / "work"
    (directory / "mods" / "a").mkdir(parents=True)
    (directory / "mods" / "a" / "main.tf").write_text(OUTPUT)
    (directory / "main.tf").write_text(MODULES.replace("{source}", repository.source))
    return directory


@pytest.fixture
def tofu(work: Path, tmp_path: Path) -> Tofu:
    return Tofu(work, tmp_path / "tofurc")


def ours(work: Path, tofu: Tofu, *arguments: str) -> Done:
    return nigari(*arguments, cwd=work, settings={"TF_CLI_CONFIG_FILE": str(tofu.settings)})


def files(directory: Path) -> Mapping[str, bytes]:
    """The files below the modules directory, as they look through links."""
    found: dict[str, bytes] = {}
    for folder, subfolders, names in os.walk(directory, followlinks=True):
        subfolders[:] = [name for name in subfolders if name not in (".git", ".store")]
        for name in names:
            path = Path(folder, name)
            found[str(path.relative_to(directory))] = path.read_bytes()
    return found


def test_the_same_modules(work: Path, tofu: Tofu) -> None:
    modules = work / ".terraform" / "modules"
    assert tofu("init").code == 0
    theirs = files(modules)
    shutil.rmtree(work / ".terraform")
    done = ours(work, tofu, "init")
    assert done.code == 0, done.err
    assert files(modules) == theirs


def test_tofu_works_after_our_init(work: Path, tofu: Tofu) -> None:
    assert ours(work, tofu, "init").code == 0
    plan = tofu("plan")
    assert plan.code == 0, plan.err
    assert '".terraform/modules/part/sub"' in plan.out
    again = tofu("init")
    assert again.code == 0
    assert "Downloading" not in again.out


def test_we_work_after_the_init_of_tofu(work: Path, tofu: Tofu) -> None:
    assert tofu("init").code == 0
    assert ours(work, tofu, "validate").code == 0
    again = ours(work, tofu, "init")
    assert again.code == 0, again.err
    assert "Downloading" not in again.out
    changed = ours(work, tofu, "validate", "-var", "ref=main")
    assert "Module source has changed" in changed.err
    assert ours(work, tofu, "init", "-var", "ref=main").code == 0
    assert tofu("validate", "-var", "ref=main").code == 0


@pytest.mark.parametrize("kind", BACKENDS)
def test_the_same_hash_of_a_backend(kind: str, tmp_path: Path) -> None:
    """The hash in the file that init keeps is the same, so that neither sees a change."""
    work = tmp_path / "work"
    work.mkdir()
    tofu = Tofu(work, tmp_path / "tofurc")
    text = f'terraform {{\n  backend "{kind}" {{\n{BACKENDS[kind]}\n  }}\n}}\n'
    (work / "main.tf").write_text(text)
    log = tofu("state", "list", TF_LOG="trace").err
    hashes = re.findall(r"backend with hash value (\d+)", log)
    where = WorkingDirectory({}, root=str(work))
    run, _ = Workspace(where).static({}, "default")
    assert run is not None
    arguments = find_arguments(run)
    assert arguments is not None
    wanted = merged(arguments, {}, Diagnostics())
    assert wanted is not None
    assert [wanted.hash] == [int(each) for each in hashes[:1]]


def test_the_same_memory_of_a_local_backend(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    tofu = Tofu(work, tmp_path / "tofurc")
    text = f'terraform {{\n  backend "local" {{\n{BACKENDS["local"]}\n  }}\n}}\n'
    (work / "main.tf").write_text(text)
    memory = work / ".terraform" / "terraform.tfstate"
    assert tofu("init").code == 0
    theirs = memory.read_text()
    shutil.rmtree(work / ".terraform")
    assert ours(work, tofu, "init").code == 0
    assert memory.read_text() == theirs


def test_a_local_backend_back_and_forth(work: Path, tofu: Tofu) -> None:
    block = 'terraform {\n  backend "local" {\n    path = "x-${var.ref}.tfstate"\n  }\n}\n'
    (work / "backend.tf").write_text(block)
    assert ours(work, tofu, "init").code == 0
    assert tofu("apply", "-auto-approve").code == 0
    assert (work / "x-v1.tfstate").is_file()
    assert ours(work, tofu, "init", "-var", "ref=main", "-force-copy").code == 0
    plan = tofu("plan", "-var", "ref=main")
    assert plan.code == 0, plan.err
    assert "No changes" in plan.out


def test_locations_of_a_backend_back_and_forth(work: Path, tofu: Tofu) -> None:
    """Using another location leaves to OpenTofu what init has set up."""
    block = 'terraform {\n  backend "local" {\n    path = "x-${var.env}.tfstate"\n  }\n}\n'
    (work / "backend.tf").write_text('variable "env" {\n  default = "v1"\n}\n' + block)
    assert ours(work, tofu, "init").code == 0
    assert "has changed" in ours(work, tofu, "apply", "-auto-approve", "-var", "env=main").err
    assert ours(work, tofu, "init", "-reconfigure", "-var", "env=main").code == 0
    assert ours(work, tofu, "init", "-reconfigure").code == 0
    assert ours(work, tofu, "apply", "-auto-approve", "-var", "env=main").code == 0
    assert tofu("apply", "-auto-approve").code == 0
    assert (work / "x-v1.tfstate").is_file()
    assert tofu("plan", "-var", "env=main").code == 1
    assert ours(work, tofu, "init", "-reconfigure", "-var", "env=main").code == 0
    plan = tofu("plan", "-var", "env=main")
    assert plan.code == 0, plan.err
    assert "No changes" in plan.out
    assert tofu("init", "-reconfigure").code == 0
    assert "has changed" in ours(work, tofu, "plan", "-var", "env=main").err


def test_the_same_providers_and_lock_file(tmp_path: Path) -> None:
    work, mirror = tmp_path / "work", tmp_path / "mirror"
    work.mkdir()
    tofu = Tofu(work, tmp_path / "tofurc")
    for name, version in (("random", (3, 9, 0)), ("time", (0, 14, 2))):
        place = unpacked_path(mirror, default_provider(name), Version(version), current_platform())
        place.mkdir(parents=True)
        shutil.copy2(program(f"terraform-provider-{name}"), place / f"terraform-provider-{name}")
    tofu.settings.write_text(
        f'provider_installation {{\n  filesystem_mirror {{\n    path = "{mirror}"\n  }}\n}}\n'
    )
    (work / "main.tf").write_text(
        """
        terraform {
          required_providers {
            time = {
              source  = "hashicorp/time"
              version = "~> 0.10"
            }
          }
        }
        resource "random_pet" "a" {}
        resource "time_static" "a" {}
        """
    )
    assert tofu("init").code == 0
    lock = (work / ".terraform.lock.hcl").read_text()
    layout = sorted(str(p.relative_to(work)) for p in (work / ".terraform").rglob("*"))
    for name in (".terraform.lock.hcl", ".terraform"):
        path = work / name
        path.unlink() if path.is_file() else shutil.rmtree(path)
    done = ours(work, tofu, "init")
    assert done.code == 0, done.err
    assert (work / ".terraform.lock.hcl").read_text() == lock
    mine = sorted(str(p.relative_to(work)) for p in (work / ".terraform").rglob("*"))
    assert [name for name in mine if not name.endswith(".lock")] == [
        name for name in layout if not name.endswith(".lock")
    ]
    plan = tofu("plan")
    assert plan.code == 0, plan.err
