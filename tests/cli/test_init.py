"""`nigari init`: variables and providers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from nigari.packages.content.platforms import current_platform
from tests.backends.world.state_server import StateServer
from tests.cli.init_world import call, directory, init, installed, repository, told, write
from tests.cli.process import inside
from tests.packages.repositories import Repository, needs_git

__all__ = ["directory", "repository"]


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


def test_a_backend_that_cannot_be_read_is_not_set_up(directory: Path) -> None:
    block = 'terraform {\n  backend "http" {\n    address = "%s"\n    retry_max = "0"\n  }\n}\n'
    write({"main.tf": block % "http://127.0.0.1:1/state"})
    done = init()
    assert done.code == 1
    assert "is now stored in the backend" not in done.out
    with StateServer() as server:
        write({"main.tf": block % f"{server.server.url}/state"})
        done = init("-input=false")
    assert done.code == 0, done.err
    assert "is now stored in the backend" in done.out


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
