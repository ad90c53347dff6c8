"""Commands in environments: `-env`, `NIGARI_ENV` and `nigari environments`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.init_world import directory, init, write
from tests.cli.process import Done, inside

__all__ = ["directory"]

MAIN = """
variable "region" {
  default = "none"
}
terraform {
  backend "local" {
    path = "states/default.tfstate"
  }
}
resource "terraform_data" "a" {
  input = "${var.region} ${terraform.workspace}"
}
output "region" {
  value = var.region
}
"""
ENVIRONMENTS = """
environment "dev" {
  variables = { region = "eu" }
  backend   = { path = "states/dev.tfstate" }
}
environment "prod" {
  workspace = "production"
  var_files = ["prod.tfvars"]
  backend   = { workspace_dir = "prod" }
}
"""
FILES = {"main.tf": MAIN, "environments.hcl": ENVIRONMENTS, "prod.tfvars": 'region = "us"\n'}


def said(done: Done) -> str:
    return " ".join(done.err.split())


def region(*options: str, **settings: str) -> str:
    return inside(*options, "output", "-raw", "region", settings=settings).out


def ready(*names: str) -> None:
    """The environments of these names, applied."""
    write(FILES)
    for name in names:
        assert inside(f"-env={name}", "init").code == 0
        assert inside(f"-env={name}", "apply", "-auto-approve").code == 0


def test_environments_stand_side_by_side(directory: Path) -> None:
    ready("dev", "prod")
    assert region("-env=dev") == "eu"
    assert region("-env=prod") == "us"
    assert region(NIGARI_ENV="dev") == "eu"
    assert region("-env=prod", NIGARI_ENV="dev") == "us"
    assert Path("states/dev.tfstate").exists()
    assert Path("prod/production/terraform.tfstate").exists()
    for name in ("dev", "prod"):
        assert Path(f".terraform/environments/{name}/terraform.tfstate").exists()
    assert not Path(".terraform/terraform.tfstate").exists()
    assert init().code == 0, "what is outside of environments stays as it is"
    assert inside("apply", "-auto-approve").code == 0
    assert region() == "none"
    assert region("-env=dev") == "eu"


def test_the_data_directory_of_the_process(directory: Path) -> None:
    write(FILES)
    settings = {"TF_DATA_DIR": "data"}
    assert inside("-env=dev", "init", settings=settings).code == 0
    assert Path("data/environments/dev/terraform.tfstate").exists()
    assert not Path(".terraform").exists()


@pytest.mark.parametrize(
    ("options", "value"),
    [
        ((), "eu"),
        (("-var", "region=x"), "x"),
        (("-var-file=prod.tfvars",), "us"),
    ],
)
def test_what_is_stronger(directory: Path, options: tuple[str, ...], value: str) -> None:
    write({**FILES, "terraform.tfvars": 'region = "auto"\n'})
    settings = {"TF_VAR_region": "process"}
    done = inside("-env=dev", "eval", *options, "var.region", settings=settings)
    assert done.out == f'"{value}"\n', done.err


def test_workspaces_of_environments(directory: Path) -> None:
    ready("dev", "prod")
    assert inside("-env=prod", "workspace", "show").out == "production\n"
    refused = inside("-env=prod", "workspace", "select", "default")
    assert refused.code == 1
    assert 'The environment "prod" sets the workspace' in said(refused)
    assert 'The environment "prod" sets the workspace.' in (
        inside("-env=prod", "workspace", "list").out
    )
    assert inside("-env=dev", "workspace", "new", "mine").code == 0
    assert inside("-env=dev", "workspace", "show").out == "mine\n"
    assert not Path(".terraform/environment").exists()
    two = inside("-env=prod", "plan", settings={"TF_WORKSPACE": "other"})
    assert two.code == 1
    assert 'selects "other"' in said(two)
    assert inside("-env=prod", "plan", settings={"TF_WORKSPACE": "production"}).code == 0


@pytest.mark.parametrize(
    ("environments", "command", "words"),
    [
        ('environment "prod" {}', ["plan"], 'Did you mean "prod"?'),
        ('environment "pord" { worksp = 1 }', ["plan"], "line 1"),
        ('environment "pord" {}\nenvironment "x y" {}', ["state", "list"], "line 2"),
        ('environment "pord" { var_files = ["no.tfvars"] }', ["plan"], "no.tfvars cannot be read"),
        (
            'environment "pord" { variables = { regoin = 1 } }',
            ["plan"],
            'environments.hcl sets "regoin"',
        ),
        ('environment "pord" { backend = { paht = "x" } }', ["init"], 'Did you mean "path"?'),
        ('environment "pord" { backend = { path = {} } }', ["init"], "path"),
    ],
)
def test_mistakes_are_reported(
    directory: Path, environments: str, command: list[str], words: str
) -> None:
    text = MAIN.replace('backend "local" {\n    path = "states/default.tfstate"\n  }', "")
    write({"main.tf": MAIN if command == ["init"] else text, "environments.hcl": environments})
    done = inside("-env=pord", *command)
    assert done.code == 1
    assert words in said(done)
    assert not Path(".terraform").exists()


def test_no_file(directory: Path) -> None:
    write({"main.tf": MAIN})
    done = inside("plan", settings={"NIGARI_ENV": "prod"})
    assert done.code == 1
    assert "has no environments.hcl" in said(done)
    assert inside("version", settings={"NIGARI_ENV": "prod"}).code == 0
    assert inside("fmt", "-check", settings={"NIGARI_ENV": "prod"}).code == 0
    listed = inside("environments")
    assert (listed.code, listed.out) == (0, "")
    assert "-env needs a name" in inside("-env", "plan").err


def test_programs_hear_of_mistakes(directory: Path) -> None:
    write(FILES)
    done = inside("-env=pord", "plan", "-json")
    assert (done.code, done.err) == (1, "")
    event = json.loads(done.out.splitlines()[-1])
    assert event["diagnostic"]["summary"] == "No such environment"


def test_changed_settings_of_the_backend_are_guarded(directory: Path) -> None:
    ready("dev")
    write({"environments.hcl": ENVIRONMENTS.replace("states/dev", "states/other")})
    done = inside("-env=dev", "plan")
    assert done.code == 1
    assert 'path was "states/dev.tfstate" and is "states/other.tfstate" now' in said(done)
    assert inside("-env=dev", "init").code == 1
    assert inside("-env=dev", "init", "-force-copy").code == 0
    assert region("-env=dev") == "eu"
    assert Path("states/other.tfstate").exists()


def test_settings_of_the_command_line_are_stronger(directory: Path) -> None:
    write(FILES)
    for _ in range(2):
        assert inside("-env=dev", "init", "-backend-config=path=mine.tfstate").code == 0
    assert inside("-env=dev", "init").code == 0
    assert inside("-env=dev", "apply", "-auto-approve").code == 0
    assert Path("mine.tfstate").exists()


def test_settings_without_a_backend(directory: Path) -> None:
    write({**FILES, "main.tf": ""})
    done = inside("-env=dev", "init")
    assert done.code == 0
    assert "no backend block" in " ".join(done.out.split())


def test_the_question_names_the_environment(directory: Path) -> None:
    write(FILES)
    for name, words in (("dev", '"dev"?'), ("prod", '"prod" (workspace "production")?')):
        assert inside(f"-env={name}", "init").code == 0
        done = inside(f"-env={name}", "apply", stdin="no\n")
        assert done.code == 1
        assert f"in the environment {words}" in " ".join(done.out.split())


def test_a_saved_plan_belongs_to_its_environment(directory: Path) -> None:
    ready("dev")
    write({"terraform.tfvars": 'region = "auto"\n'})
    assert inside("-env=prod", "init").code == 0
    assert inside("-env=prod", "plan", "-out=plan.out").code == 0
    refused = inside("-env=dev", "apply", "plan.out")
    assert refused.code == 1
    assert 'it was made in the environment "prod"' in said(refused)
    done = inside("apply", "plan.out")
    assert done.code == 0, done.err
    assert region("-env=prod") == "us"
    assert inside("plan", "-out=plan.out").code == 1
    listed = json.loads(inside("environments", "-json").out)["environments"]
    assert [bool(each["last_apply"]) for each in listed] == [True, True]


def test_a_plan_of_an_environment_that_is_gone(directory: Path) -> None:
    write(FILES)
    assert inside("-env=prod", "init").code == 0
    assert inside("-env=prod", "plan", "-out=plan.out").code == 0
    Path("environments.hcl").unlink()
    Path("prod.tfvars").unlink()
    done = inside("apply", "plan.out")
    assert done.code == 0, done.err
    assert Path("prod/production/terraform.tfstate").exists()


def test_the_list(directory: Path) -> None:
    ready("prod")
    out = inside("-env=dev", "environments").out
    lines = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "TIME", out).splitlines()
    assert lines == [
        "* dev   default     never applied from here",
        "  prod  production  applied TIME UTC, serial 1",
    ]
    assert inside("-env=prod", "destroy", "-auto-approve").code == 0
    assert "prod  production  destroyed " in inside("environments").out
    document = json.loads(inside("-env=dev", "environments", "-json").out)
    dev, prod = document["environments"]
    assert (dev["name"], dev["selected"], dev["last_apply"]) == ("dev", True, None)
    assert dev["variables"] == ["region"]
    assert dev["backend"] == {"path": "states/dev.tfstate"}
    assert prod["workspace"] == "production"
    assert prod["var_files"] == ["prod.tfvars"]
    assert prod["data_directory"] == ".terraform/environments/prod"
    assert (prod["last_apply"]["mode"], prod["last_apply"]["complete"]) == ("destroy", True)


def test_an_apply_that_fails(directory: Path) -> None:
    failing = 'provisioner "local-exec" {\n    command = "exit 1"\n  }'
    write({**FILES, "main.tf": MAIN.replace("input =", f"{failing}\n  input =")})
    assert inside("-env=dev", "init").code == 0
    assert inside("-env=dev", "apply", "-auto-approve").code == 1
    assert ", incomplete" in inside("environments").out


def test_objects_move_within_an_environment(directory: Path) -> None:
    ready("dev")
    assert inside("-env=dev", "workspace", "new", "other").code == 0
    assert inside("-env=dev", "workspace", "select", "default").code == 0
    done = inside("-env=dev", "state", "mv", "-to-workspace=other", "terraform_data.a")
    assert done.code == 0, done.err
    assert inside("-env=dev", "state", "list").out == ""


def test_suggested_commands_work_where_this_one_does(directory: Path) -> None:
    write(FILES)
    assert 'Run "nigari -env=dev init" first.' in said(inside("-env=dev", "plan"))
    assert 'Run "nigari init" first.' in said(inside("plan", settings={"NIGARI_ENV": "dev"}))
    event = json.loads(inside("-env=dev", "plan", "-json").out.splitlines()[-1])
    assert '"nigari -env=dev init"' in event["diagnostic"]["detail"]
    assert '"nigari -env=dev plan"' in " ".join(inside("-env=dev", "init").out.split())
    planned = inside("-env=dev", "plan", "-out=saved.plan")
    assert 'run: nigari -env=dev apply "saved.plan"' in " ".join(planned.out.split())
    (directory / "a b").mkdir()
    (directory / "a b" / "main.tf").write_text(MAIN)
    assert "Run \"nigari '-chdir=a b' init\" first." in said(inside("-chdir=a b", "plan"))
