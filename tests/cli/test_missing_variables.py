"""Variables without a value, or with one that was refused: one error, and no prompt to a program."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.init_world import directory, write
from tests.cli.process import Done, inside

__all__ = ["directory"]

DESCRIBED = """
variable "region" {
  description = "Where the servers are,\\nsuch as eu."
}
output "region" {
  value = var.region
}
"""
SOURCE = """
variable "name" {
  description = "Which module to use."
  validation {
    condition     = var.name != "x"
    error_message = "Not x."
  }
}
module "m" {
  source = "./m-${var.name}"
}
"""
ENVIRONMENTS = """
environment "dev" {
  variables = { region = "eu" }
}
environment "prod" {
  for_each  = { eu = "eu", us = "us" }
  variables = { region = each.value }
}
"""


def said(done: Done) -> str:
    return " ".join((done.out + done.err).split())


@pytest.mark.parametrize("command", [["plan"], ["apply", "-auto-approve"], ["refresh"]])
def test_the_description_is_shown(directory: Path, command: list[str]) -> None:
    write({"main.tf": DESCRIBED})
    done = inside(*command)
    assert done.code == 1
    assert "The description of region: Where the servers are, such as eu." in said(done)
    assert "-env" not in said(done)


def test_the_description_in_a_static_place(directory: Path) -> None:
    write({"main.tf": SOURCE})
    for command in ("init", "validate"):
        assert "The description of name: Which module to use." in said(inside(command))


@pytest.mark.parametrize("command", ["plan", "apply", "refresh"])
def test_environments_that_give_it(directory: Path, command: str) -> None:
    write({"main.tf": DESCRIBED, "environments.hcl": ENVIRONMENTS})
    done = inside(command)
    assert done.code == 1
    words = "or select an environment with -env=NAME before the command (dev, prod-eu, prod-us)"
    assert words in said(done)
    assert words not in said(inside("-env=dev", command, "-no-such-option"))
    assert inside("-env=dev", "plan").code == 0


def test_environments_in_a_static_place(directory: Path) -> None:
    write({"main.tf": SOURCE.replace("name", "region"), "environments.hcl": ENVIRONMENTS})
    assert "-env=NAME before the command (dev," in said(inside("init", "-input=false"))


def test_environments_that_cannot_be_read(directory: Path) -> None:
    write({"main.tf": DESCRIBED, "environments.hcl": "environment {"})
    done = inside("plan")
    assert done.code == 1
    assert "-env" not in said(done)


@pytest.mark.parametrize("command", ["plan", "apply", "destroy", "refresh", "init", "console"])
def test_no_prompt_without_a_terminal(directory: Path, command: str) -> None:
    write({"main.tf": SOURCE})
    done = inside(command)
    assert done.code == 1
    assert "Enter a value" not in said(done)


def test_no_question_without_a_terminal(directory: Path) -> None:
    write({"main.tf": 'output "a" {\n  value = 1\n}\n'})
    done = inside("apply")
    assert done.code == 1
    assert "Enter a value" not in said(done)
    assert "Only 'yes'" not in said(done)
    assert "-auto-approve" in said(done)
    answered = inside("apply", stdin="yes\n")
    assert answered.code == 0
    assert "Only 'yes'" in answered.out


def test_an_answer_through_a_pipe(directory: Path) -> None:
    write({"main.tf": DESCRIBED})
    done = inside("plan", stdin="eu\n")
    assert done.code == 0, done.err
    assert "var.region" in done.out


@pytest.mark.parametrize("command", ["init", "validate", "plan", "get"])
def test_a_refused_value_is_one_error(directory: Path, command: str) -> None:
    write({"main.tf": SOURCE})
    done = inside(command, "-var", "name=x")
    assert done.code == 1
    assert "Not x." in done.err
    assert done.err.count("Error:") == 1


def test_a_refused_value_deeper_down(directory: Path) -> None:
    call = 'module "a" {\n  source = "./a"\n  name   = "x"\n}\nmodule "b" {\n  source = "./b"\n}\n'
    write({"main.tf": call, "a/main.tf": SOURCE})
    done = inside("init")
    assert done.err.count("Error:") == 2, "the other module is missing in any case"
    assert "Not x." in done.err
    assert "./b" in done.err


@pytest.mark.parametrize("command", ["init", "validate", "plan", "apply"])
def test_a_reserved_name_is_one_error(directory: Path, command: str) -> None:
    write({"main.tf": SOURCE.replace("var.name", "var.version").replace('"name"', '"version"')})
    done = inside(command)
    assert done.code == 1
    assert done.err.count("Error:") == 1
    assert "Reserved variable name" in done.err
    assert "Enter a value" not in done.out


def test_explain_that_has_answered(directory: Path) -> None:
    write({"main.tf": 'locals {\n  a = 1\n}\nmodule "m" {\n  source = "./none"\n}\n'})
    done = inside("explain", "local.a")
    assert done.code == 0
    assert "local.a" in done.out
    assert "none" in done.err
    assert inside("explain", "local.b").code == 1


REGISTRY = """
variable "wanted" {
  default = "1.0.0"
}
module "m" {
  source  = "ns/m/aws"
  version = var.wanted
}
"""
RECORDS = """{"Modules": [
  {"Key": "", "Source": "", "Dir": "."},
  {"Key": "m", "Source": "registry.opentofu.org/ns/m/aws", "Version": "1.0.0",
   "Dir": ".terraform/modules/m"}
]}
"""


@pytest.mark.parametrize("command", ["validate", "plan"])
def test_another_version_of_a_module(directory: Path, command: str) -> None:
    write({"main.tf": REGISTRY, ".terraform/modules/m/main.tf": ""})
    write({".terraform/modules/modules.json": RECORDS})
    assert inside(command).code == 0
    done = inside(command, "-var", "wanted=2.0.0")
    assert done.code == 1
    assert "Module source has changed" in done.err
    assert "version = var.wanted" in done.err
    assert "This depends on var.wanted" in said(done)
    assert '"nigari init -var wanted=..."' in said(done)
