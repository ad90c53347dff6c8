"""Backends whose location depends on variables or on the workspace: no init for each of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.backends.world import moto
from tests.backends.world.state_server import StateServer
from tests.cli.init_world import directory, init, write
from tests.cli.process import Done, inside

__all__ = ["directory"]

BY_VARIABLE = """
variable "env" {
  default = "dev"
}
locals {
  path = "states/${var.env}.tfstate"
}
terraform {
  backend "local" {
    path = local.path
  }
}
resource "terraform_data" "a" {
  input = var.env
}
output "env" {
  value = var.env
}
"""
BY_WORKSPACE = """
terraform {
  backend "local" {
    workspace_dir = "states-${terraform.workspace}"
  }
}
output "workspace" {
  value = terraform.workspace
}
"""
ELSEWHERE = "The state is in another location than at init:"
PROD = f'{ELSEWHERE} path = "states/prod.tfstate" (var.env).'


def said(done: Done) -> str:
    return " ".join(done.err.split())


def apply(*options: str) -> Done:
    return inside("apply", "-auto-approve", *options)


def ready(*others: str) -> None:
    """Set up the locations of some values, and at last that of the default."""
    for env in others:
        assert init("-reconfigure", "-var", f"env={env}").code == 0
    assert init("-reconfigure").code == 0


def memory() -> bytes:
    return Path(".terraform/terraform.tfstate").read_bytes()


# -- variables --------------------------------------------------------------------------------


def test_each_value_has_its_location(directory: Path) -> None:
    write({"main.tf": BY_VARIABLE})
    ready("prod")
    before = memory()
    assert ELSEWHERE not in said(apply())
    done = apply("-var", "env=prod")
    assert done.code == 0
    assert said(done) == PROD
    assert memory() == before, "what OpenTofu reads is what init has set up"
    for env in ("dev", "prod"):
        state = json.loads(Path(f"states/{env}.tfstate").read_text())
        assert state["outputs"]["env"]["value"] == env


@pytest.mark.parametrize(
    "command",
    [
        ["output", "-raw", "env"],
        ["output", "-json"],
        ["show"],
        ["show", "-json"],
        ["state", "list"],
        ["state", "pull"],
        ["state", "show", "terraform_data.a"],
        ["workspace", "list"],
        ["plan", "-detailed-exitcode"],
        ["plan", "-detailed-exitcode", "-input=false"],
        ["refresh"],
        ["taint", "terraform_data.a"],
        ["providers"],
        ["graph"],
    ],
)
def test_every_command_uses_it(directory: Path, command: list[str]) -> None:
    write({"main.tf": BY_VARIABLE})
    ready("prod")
    assert apply("-var", "env=prod").code == 0
    words = 2 if command[0] in ("state", "workspace") else 1
    given = [*command[:words], "-var", "env=prod", *command[words:]]
    done = inside(*given)
    assert done.code == 0, done.err
    assert PROD in said(done)
    assert ELSEWHERE not in done.out


def test_programs_hear_of_it(directory: Path) -> None:
    write({"main.tf": BY_VARIABLE})
    ready("prod")
    done = inside("plan", "-json", "-var", "env=prod")
    assert done.err == ""
    events = [json.loads(line) for line in done.out.splitlines()]
    (event,) = [each for each in events if each.get("type") == "backend_location"]
    assert event["@message"] == PROD.removesuffix(".")


def test_a_saved_plan_has_its_backend(directory: Path) -> None:
    needy = BY_VARIABLE.replace('default = "dev"', "")
    write({"main.tf": needy})
    assert init("-var", "env=dev").code == 0
    assert init("-reconfigure", "-var", "env=prod").code == 0
    assert inside("plan", "-out=plan.out", "-var", "env=prod").code == 0
    assert init("-var", "env=dev").code == 0
    done = inside("apply", "-input=false", "plan.out")
    assert (done.code, done.err) == (0, "")
    assert Path("states/prod.tfstate").exists()
    assert not Path("states/dev.tfstate").exists()
    shown = inside("show", "plan.out")
    assert shown.code == 0


def test_a_missing_value_is_said(directory: Path) -> None:
    write({"main.tf": BY_VARIABLE.replace('default = "dev"', "")})
    assert init("-var", "env=dev").code == 0
    done = inside("state", "list")
    assert done.code == 1
    assert "var.env, which has no value" in said(done)


@pytest.mark.parametrize(
    ("old", "new", "options"),
    [
        # The argument, what it comes from, its kind, and the default that is used.
        ("path = local.path", 'path = "x/${local.path}"', ("-var", "env=prod")),
        ("states/", "other/", ("-var", "env=prod")),
        ("path = local.path", 'path = "fixed"', ()),
        ('default = "dev"', 'default = "prod"', ()),
        ("path = local.path", 'path = local.path\n    workspace_dir = "w"', ("-var", "env=prod")),
    ],
)
def test_what_is_written_is_guarded(
    directory: Path, old: str, new: str, options: tuple[str, ...]
) -> None:
    write({"main.tf": BY_VARIABLE})
    assert init().code == 0
    write({"main.tf": BY_VARIABLE.replace(old, new)})
    for command in (("plan",), ("init",)):
        done = inside(*command, *options)
        assert done.code == 1
        assert "Backend configuration has changed" in done.err


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # Layout, comments, and a default that is not used.
        ("path = local.path", "path     =     local.path # where it is"),
        ('"states/${var.env}.tfstate"', '"states/${ var.env }.tfstate"'),
        ('default = "dev"', 'default = "test"'),
        ('output "env"', 'output "other"'),
    ],
)
def test_other_changes_do_not_matter(directory: Path, old: str, new: str) -> None:
    write({"main.tf": BY_VARIABLE})
    ready("prod")
    write({"main.tf": BY_VARIABLE.replace(old, new)})
    done = inside("plan", "-var", "env=prod")
    assert done.code == 0, done.err
    assert said(done) == PROD


def test_a_file_that_has_a_say_is_guarded(directory: Path) -> None:
    text = BY_VARIABLE.replace("states/", '${trimspace(file("name.txt"))}/')
    write({"main.tf": text, "name.txt": "one"})
    ready("prod")
    assert inside("plan", "-var", "env=prod").code == 0
    write({"name.txt": "two"})
    done = inside("plan")
    assert done.code == 1
    assert 'path was "one/dev.tfstate" and is "two/dev.tfstate" now' in said(done)


def test_settings_of_the_command_line_stay(directory: Path) -> None:
    write({"main.tf": BY_VARIABLE})
    assert init("-backend-config=workspace_dir=w").code == 0
    assert init("-reconfigure", "-var", "env=prod", "-backend-config=workspace_dir=w").code == 0
    assert init().code == 0
    assert inside("workspace", "new", "-var", "env=prod", "one").code == 0
    assert Path("w/one").is_dir()
    assert apply("-var", "env=prod").code == 0
    assert Path("w/one/terraform.tfstate").exists()
    assert init("-var", "env=prod").code == 0
    backend = json.loads(memory())["backend"]
    assert backend["config"] == {"path": "states/prod.tfstate", "workspace_dir": "w"}


def test_an_argument_of_the_command_line_follows_no_variable(directory: Path) -> None:
    write({"main.tf": BY_VARIABLE})
    assert init("-backend-config=path=fixed.tfstate").code == 0
    done = apply("-var", "env=prod")
    assert (done.code, done.err) == (0, "")
    assert Path("fixed.tfstate").exists()


def test_arguments_are_checked_as_init_does(directory: Path) -> None:
    write({"main.tf": BY_VARIABLE.replace('"states/${var.env}.tfstate"', "var.env")})
    assert init().code == 0
    done = inside("plan", "-var", "env=")
    assert done.code == 1
    assert "The path is empty" in said(done)


def test_a_directory_that_opentofu_has_set_up(directory: Path) -> None:
    """It does not tell what the configuration was, so that every change is one."""
    write({"main.tf": BY_VARIABLE})
    assert init().code == 0
    Path(".terraform/nigari.backend.json").unlink()
    assert inside("plan").code == 0
    assert "Backend configuration has changed" in inside("plan", "-var", "env=prod").err
    assert init("-reconfigure", "-var", "env=prod").code == 0
    assert inside("plan").code == 0, "its location counts as one that was set up"


def test_what_is_remembered_is_not_for_other_locations(directory: Path) -> None:
    text = 'variable "region" {\n  default = "none"\n}\n' + BY_VARIABLE
    write({"main.tf": text.replace("${var.env}", "${var.env}-${var.region}")})
    assert init("-var", "env=prod").code == 0
    assert init("-var", "region=eu", "-remember", "-reconfigure").code == 0
    done = apply("-var", "env=prod")
    assert done.code == 0
    assert "Remembered values are not used there: var.region." in said(done)
    assert Path("states/prod-none.tfstate").exists()
    assert apply().code == 0
    assert Path("states/dev-eu.tfstate").exists()


# -- workspaces -------------------------------------------------------------------------------


def test_each_workspace_has_its_location(directory: Path) -> None:
    write({"main.tf": BY_WORKSPACE})
    assert init().code == 0
    done = inside("workspace", "new", "prod")
    assert done.code == 0, done.err
    assert said(done) == f'{ELSEWHERE} workspace_dir = "states-prod" (terraform.workspace).'
    assert Path("states-prod/prod").is_dir()
    assert apply().code == 0
    assert inside("output", "-raw", "workspace").out == "prod"
    assert inside("workspace", "new", "test").code == 0
    assert inside("workspace", "list").out == "  default\n  prod\n* test\n\n"
    assert inside("workspace", "select", "prod").out == 'Switched to workspace "prod".\n'
    assert inside("output", "-raw", "workspace").out == "prod"
    assert inside("workspace", "select", "default").code == 0
    assert inside("workspace", "list").out == "* default\n  prod\n  test\n\n"
    assert inside("workspace", "delete", "test").code == 0
    assert not Path("states-test/test").exists()
    assert inside("workspace", "list").out == "* default\n  prod\n\n"


def test_a_workspace_that_is_not_there(directory: Path) -> None:
    write({"main.tf": BY_WORKSPACE})
    assert init().code == 0
    assert inside("workspace", "new", "prod").code == 0
    assert inside("workspace", "new", "prod").code == 1
    done = inside("workspace", "select", "pord")
    assert done.code == 1
    assert 'Did you mean "prod"?' in done.err
    assert inside("workspace", "select", "-or-create", "other").code == 0


def test_a_state_to_start_with(directory: Path) -> None:
    write({"main.tf": BY_WORKSPACE})
    assert init().code == 0
    assert apply().code == 0
    assert inside("workspace", "new", "-state=terraform.tfstate", "prod").code == 0
    assert Path("states-prod/prod/terraform.tfstate").exists()
    assert inside("output", "-raw", "workspace").out == "default"


def test_keys_of_workspaces(directory: Path) -> None:
    """A workspace is made with its own encryption."""
    text = """
    terraform {
      encryption {
        key_provider "pbkdf2" "k" {
          passphrase = "a long passphrase of ${terraform.workspace}"
        }
        method "aes_gcm" "m" {
          keys = key_provider.pbkdf2.k
        }
        state {
          method = method.aes_gcm.m
        }
      }
    }
    output "a" {
      value = 1
    }
    """
    write({"main.tf": text})
    assert inside("workspace", "new", "prod").code == 0
    assert apply().code == 0
    assert inside("workspace", "select", "default").code == 0
    assert inside("workspace", "delete", "prod").code == 0


# -- remote backends --------------------------------------------------------------------------


def test_a_server_for_each_value(directory: Path) -> None:
    text = BY_VARIABLE.replace('backend "local"', 'backend "http"')
    with StateServer() as server:
        address = f'"{server.server.url}/${{var.env}}"'
        block = f"address = {address}\n    lock_address = {address}\n    unlock_address = {address}"
        write({"main.tf": text.replace("path = local.path", block)})
        ready("prod")
        assert inside("plan", "-out=plan.out", "-var", "env=prod").code == 0
        assert inside("apply", "plan.out").code == 0
        assert apply().code == 0
        assert sorted(server.states) == ["/dev", "/prod"]
        assert not server.locks
        assert inside("output", "-raw", "-var", "env=prod", "env").out == "prod"


def test_a_bucket_for_each_workspace(directory: Path) -> None:
    with moto.running() as server:
        buckets = {name: server.bucket() for name in ("default", "prod")}
        block = server.block("BUCKET", use_lockfile=True)
        chosen = f"{json.dumps(buckets)}[terraform.workspace]".replace(":", " =")
        text = (
            block.replace('"BUCKET"', chosen) + 'output "a" {\n  value = terraform.workspace\n}\n'
        )
        write({"main.tf": text})
        for command in (
            ["init"],
            ["apply", "-auto-approve"],
            ["workspace", "new", "prod"],
            ["apply", "-auto-approve"],
            ["workspace", "select", "default"],
        ):
            done = inside(*command, settings=moto.KEYS)
            assert done.code == 0, done.err
        assert inside("workspace", "list", settings=moto.KEYS).out == "* default\n  prod\n\n"
        for name, bucket in buckets.items():
            settings = {**moto.KEYS, "TF_WORKSPACE": name}
            assert inside("output", "-raw", "a", settings=settings).out == name
            listing = server.ask("GET", f"/{bucket}?list-type=2").decode()
            assert ("env:/prod/a/state" in listing) is (name == "prod")
        wrong = inside("workspace", "new", "test", settings=moto.KEYS)
        assert wrong.code == 1, "the configuration has no bucket for it"


# -- other ways to write it -------------------------------------------------------------------

JSON = """{
  "variable": {"env": {"default": "dev"}},
  "terraform": {"backend": {"local": {"path": "states/${var.env}.tfstate"}}}
}
"""
BY_MODULE = """
variable "env" {
  default = "dev"
}
module "names" {
  source = "./names"
  env    = var.env
}
terraform {
  backend "local" {
    path = module.names.path
  }
}
"""
NAMES = """
variable "env" {}
output "path" {
  value = "states/${var.env}.tfstate"
}
"""
BY_DEFAULT = """
variable "env" {
  default = "dev"
}
variable "path" {
  default = "states/${var.env}.tfstate"
}
terraform {
  backend "local" {
    path = var.path
  }
}
"""


@pytest.mark.parametrize(
    ("files", "changed"),
    [
        ({"main.tf.json": JSON}, ("main.tf.json", "states/", "other/")),
        (
            {"main.tf": BY_MODULE, "names/main.tf": NAMES},
            ("names/main.tf", "states/", "other/"),
        ),
        ({"main.tf": BY_DEFAULT}, ("main.tf", "states/", "other/")),
    ],
)
def test_wherever_it_is_written(
    files: dict[str, str], changed: tuple[str, str, str], directory: Path
) -> None:
    write(files)
    ready("prod")
    done = inside("plan", "-var", "env=prod")
    assert done.code == 0, done.err
    assert 'path = "states/prod.tfstate"' in said(done)
    name, old, new = changed
    write({name: files[name].replace(old, new)})
    assert "Backend configuration has changed" in inside("plan", "-var", "env=prod").err
    assert "Backend configuration has changed" in inside("plan").err


def test_values_from_anywhere(directory: Path) -> None:
    write({"main.tf": BY_VARIABLE, "prod.tfvars": 'env = "prod"\n'})
    ready("prod")
    assert said(inside("plan", "-var-file=prod.tfvars")) == PROD
    assert said(inside("plan", settings={"TF_VAR_env": "prod"})) == PROD
    write({"terraform.tfvars": 'env = "prod"\n'})
    assert said(inside("plan")) == PROD


def test_another_name_of_the_workspace(directory: Path) -> None:
    write({"main.tf": BY_WORKSPACE.replace("terraform.workspace", "tofu.workspace")})
    assert init().code == 0
    assert inside("workspace", "new", "prod").code == 0
    assert Path("states-prod/prod").is_dir()
