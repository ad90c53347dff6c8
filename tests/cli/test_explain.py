"""`explain`, `eval` and `config` in a real process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.process import nigari

CONFIGURATION = {
    "main.tf": """\
variable "env" {
  default = "prod"
}
variable "key" {}
variable "token" {
  default   = "s3cret"
  sensitive = true
}
resource "terraform_data" "x" {
  input = local.name
}
locals {
  name = "${var.env}-app"
  tags = { name = local.name, id = terraform_data.x.id }
}
module "m" {
  for_each = { a = "one", b = "two" }
  source   = "./m-${each.value}"
  name     = local.name
}
""",
    "m-one/main.tf": 'variable "name" {}\noutput "title" { value = upper(var.name) }\n',
    "m-two/main.tf": 'variable "name" {}\noutput "title" { value = upper(var.name) }\n',
}


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    for name, text in CONFIGURATION.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("local.name", 'local.name = "prod-app"\n  known before anything runs'),
        ("var.key", "not known: a variable that it comes from has no value"),
        ('module.m["a"].source', 'module.m["a"].source = "./m-one"'),
        ('module.m["b"].var.name', 'module.m["b"].var.name = "prod-app"'),
        ("terraform_data.x.input", 'terraform_data.x.input = "prod-app"'),
        ("local.tags.id", "local.tags.id ← terraform_data.x, which is known only after"),
        ("var.token", "(sensitive value)"),
        ("local.name", 'main.tf line 13: name = "${var.env}-app"'),
        ('module.m["b"].name', 'module.m["b"].name = "prod-app"'),
        ('module.m["b"].title', 'module.m["b"].title = "PROD-APP"'),
    ],
)
def test_explain(directory: Path, address: str, says: str) -> None:
    done = nigari("explain", address, cwd=directory)
    assert done.code == 0, done.err
    assert says in done.out


def test_explain_what_is_not_there(directory: Path) -> None:
    done = nigari("explain", "local.naem", cwd=directory)
    assert done.code == 1
    assert 'Did you mean "name"?' in done.err


def test_explain_for_programs(directory: Path) -> None:
    done = nigari("explain", "-json", "local.tags.name", cwd=directory)
    tree = json.loads(done.out)
    assert (tree["phase"], tree["value"]) == ("static", "prod-app")
    assert [part["name"] for part in tree["from"]] == ["local.tags.name"]


@pytest.mark.parametrize(
    ("expression", "status", "out"),
    [
        ("upper(local.name)", 0, '"PROD-APP"'),
        ("terraform_data.x.id", 2, "(known after apply)"),
        ("local.naem", 1, ""),
        ("1 +", 1, ""),
    ],
)
def test_eval(directory: Path, expression: str, status: int, out: str) -> None:
    done = nigari("eval", expression, cwd=directory)
    assert (done.code, done.out.strip()) == (status, out)


def test_eval_in_a_module(directory: Path) -> None:
    done = nigari("eval", '-module=module.m["b"]', "var.name", cwd=directory)
    assert (done.code, done.out.strip()) == (0, '"prod-app"')


def test_config(directory: Path) -> None:
    done = nigari("config", "-json", "-var", "key=5", cwd=directory)
    document = json.loads(done.out)
    root = document["modules"][0]
    assert root["variables"]["key"] == {"static": True, "value": "5", "origin": "the option -var"}
    assert root["variables"]["token"] == {"static": True, "sensitive": True, "origin": "default"}
    assert root["calls"]["m"]["instances"] == ["a", "b"]
    assert "s3cret" not in done.out
