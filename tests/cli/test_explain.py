"""`explain`, `eval` and `config` in a real process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.process import inside, nigari

SCHEMA = Path(__file__).parents[2] / "docs" / "reference" / "resolved-configuration.schema.json"

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


INSTANCES = {
    "main.tf": """\
module "cat" {
  source   = "./cat"
  for_each = { x = "a", y.z = "b" }
  which    = each.value
}
resource "terraform_data" "a" {
  for_each = { x = "a", "y.z" = "b" }
  input    = each.value
}
resource "terraform_data" "none" {
  count = 0
  input = [][0]
}
resource "terraform_data" "alone" {
}
locals {
  broken = [][0]
}
""".replace("y.z = ", '"y.z" = '),
    "cat/main.tf": """\
variable "which" {}
output "p" { value = "cat ${var.which}" }
module "deep" {
  source = "./deep"
  count  = var.which == "a" ? 1 : 0
  v      = var.which
}
""",
    "cat/deep/main.tf": 'variable "v" {}\noutput "v" { value = var.v }\n',
}


@pytest.fixture
def instances(tmp_path: Path) -> Path:
    for name, text in INSTANCES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ('module.cat["x"].p', 'module.cat["x"].p = "cat a"\n  known before anything runs'),
        ('module.cat["y.z"].var.which', '= "b"'),
        ('module.cat["x"].module.deep[0].v', '= "a"'),
        ('terraform_data.a["y.z"].input', 'terraform_data.a["y.z"].input = "b"'),
        ("terraform_data.a.input", "terraform_data.a.input = (known when planning)"),
        ("terraform_data.none.input", "← terraform_data.none, which has no instances"),
    ],
)
def test_explain_an_instance(instances: Path, address: str, says: str) -> None:
    done = nigari("explain", address, cwd=instances)
    assert (done.code, done.err) == (0, "")
    assert says in done.out


@pytest.mark.parametrize(
    ("address", "keys"),
    [
        ('module.cat["zzz"].p', 'The instances are ["x"] and ["y.z"].'),
        ('module.cat["y.z"].module.deep[0].v', "It is declared, but has no instances."),
        ('terraform_data.a["zzz"].input', 'The instances are ["x"] and ["y.z"].'),
        ('terraform_data.alone["x"].input', "It has one instance, without a key."),
        ('module.cat["x"].pp', 'Did you mean the output "p"?'),
    ],
)
def test_explain_an_instance_that_is_not_there(instances: Path, address: str, keys: str) -> None:
    done = nigari("explain", address, cwd=instances)
    assert done.code == 1
    assert keys in " ".join(done.err.split())


def test_eval_of_instances(instances: Path) -> None:
    done = nigari("eval", 'module.cat["x"].p', cwd=instances)
    assert (done.code, done.out) == (0, '"cat a"\n')
    done = nigari("eval", '-module=module.cat["y.z"]', "var.which", cwd=instances)
    assert (done.code, done.out) == (0, '"b"\n')
    assert nigari("eval", 'module.cat["zzz"].p', cwd=instances).code == 1


def test_config_has_all_instances_and_goes_on_after_errors(instances: Path) -> None:
    done = nigari("config", "-json", cwd=instances)
    assert done.code == 1
    modules = {each["address"]: each for each in json.loads(done.out)["modules"]}
    assert list(modules) == [
        "",
        'module.cat["x"]',
        'module.cat["y.z"]',
        'module.cat["x"].module.deep[0]',
    ]
    assert modules['module.cat["x"]']["outputs"]["p"] == {"static": True, "value": "cat a"}
    assert modules[""]["calls"]["cat"]["instances"] == ["x", "y.z"]
    assert modules[""]["locals"]["broken"] == {
        "static": False,
        "reasons": ["local.broken ← an error, which has been reported"],
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
        ("var.key", "not known: a variable that it depends on has no value"),
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
    assert (done.code, done.out) == (1, "")
    assert "   1: local.naem\n      ^^^^^^^^^^\n" in done.err
    assert 'Did you mean "name"?' in done.err


def test_a_mistake_in_an_expression_is_shown(directory: Path) -> None:
    done = nigari("eval", "1 + local.naem", cwd=directory)
    assert "   1: 1 + local.naem\n          ^^^^^^^^^^\n" in done.err


def test_explain_for_programs(directory: Path) -> None:
    done = nigari("explain", "-json", "local.tags.name", cwd=directory)
    tree = json.loads(done.out)
    assert (tree["phase"], tree["value"]) == ("static", "prod-app")
    assert tree["range"]["start"]["line"] == 14
    assert tree["snippet"]["context"] == "locals"
    (name,) = tree["from"]
    assert name["name"] == "local.name"
    assert name["snippet"]["code"] == '  name = "${var.env}-app"'


@pytest.mark.parametrize(
    ("expression", "status", "out"),
    [
        ("upper(local.name)", 0, '"PROD-APP"'),
        ("terraform_data.x.id", 2, "(known after apply)"),
        ("upper(var.key)", 2, "(no value)"),
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


PROVIDERS = {
    "main.tf": """\
terraform {
  required_providers {
    terraform = { source = "terraform.io/builtin/terraform" }
  }
}
provider "terraform" {
  alias    = "by_region"
  for_each = { eu = 1, us = 2 }
}
module "app" {
  source    = "./app"
  providers = { terraform.all = terraform.by_region }
}
""",
    "app/main.tf": """\
terraform {
  required_providers {
    terraform = {
      source                = "terraform.io/builtin/terraform"
      configuration_aliases = [terraform.all]
    }
  }
}
resource "terraform_data" "x" {
  for_each = toset(["eu"])
  provider = terraform.all[each.key]
}
""",
}


def test_all_instances_of_a_provider_in_a_module(tmp_path: Path) -> None:
    for name, text in PROVIDERS.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert nigari("validate", cwd=tmp_path).code == 0
    done = nigari("explain", "module.app.provider.terraform.all", cwd=tmp_path)
    assert "main.tf line 8: for_each = { eu = 1, us = 2 }" in done.out
    document = json.loads(nigari("config", "-json", cwd=tmp_path).out)
    root, app = document["modules"]
    assert root["calls"]["app"]["providers"] == {"terraform.all": "terraform.by_region"}
    assert app["providers"]["terraform.all"]["passed"] == "terraform.by_region"
    assert app["providers"]["terraform.all"]["instances"] == ["eu", "us"]


def test_the_schema_has_all_that_config_prints(directory: Path) -> None:
    schema = json.loads(SCHEMA.read_text())
    document = json.loads(nigari("config", "-json", cwd=directory).out)
    assert document.keys() == schema["properties"].keys()
    for module in document["modules"]:
        assert module.keys() == schema["$defs"]["module"]["properties"].keys()
        assert sorted(module) == sorted(schema["$defs"]["module"]["required"])


def test_explain_goes_on_after_other_errors(directory: Path) -> None:
    (directory / "more.tf").write_text('module "n" {\n  source = var.key\n}\n')
    done = nigari("explain", "local.name", cwd=directory)
    assert done.code == 0
    assert done.out.startswith('local.name = "prod-app"')
    assert "No value for variable" in done.err


def test_explain_says_who_gives_a_variable_its_value(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "main.tf").write_text('variable "v" {}\nvariable "w" { default = 1 }\n')
    (tmp_path / "main.tf").write_text(
        'variable "option" {}\nvariable "file" {}\nvariable "automatic" {}\nvariable "named" {}\n'
        'variable "usual" { default = "u" }\nvariable "missing" {}\n'
        'variable "late" {\n  const = false\n}\nvariable "kept" {}\n'
        'terraform {\n  backend "local" {\n    path = var.kept\n  }\n}\n'
        'module "m" {\n  source = "./m"\n  v = var.option\n}\n'
    )
    (tmp_path / "terraform.tfvars").write_text('file = "f"\nlate = "l"\n')
    (tmp_path / "x.auto.tfvars").write_text('automatic = "a"\n')
    (tmp_path / "named.tfvars").write_text('named = "n"\n')
    assert nigari("init", "-var=kept=k", "-remember", cwd=tmp_path).code == 0
    options = ["-var=option=o", "-var-file=named.tfvars"]
    for address, says in {
        "var.option": "comes from the option -var",
        "var.file": "comes from terraform.tfvars",
        "var.automatic": "comes from x.auto.tfvars",
        "var.named": "comes from named.tfvars",
        "var.usual": "comes from its default",
        "var.late": "comes from terraform.tfvars",
        "var.missing": "no value is given",
        "var.kept": "comes from the values that init remembers",
        "module.m.var.v": "comes from the argument of the call",
        "module.m.var.w": "comes from its default",
        "backend.path": "comes from the values that init remembers",
    }.items():
        done = nigari("explain", *options, address, cwd=tmp_path)
        assert says in done.out, address
    settings = {"TF_VAR_missing": "m"}
    done = nigari("explain", "-json", *options, "var.missing", cwd=tmp_path, settings=settings)
    assert json.loads(done.out)["origin"] == "the environment variable TF_VAR_missing"


REPEATED = """
resource "terraform_data" "f" {
  for_each = toset(["a", "b"])
  input    = each.key
}
resource "terraform_data" "c" {
  count = 2
}
resource "terraform_data" "u" {
  for_each = terraform_data.f["a"].output
}
"""


@pytest.mark.parametrize(
    ("expression", "summary"),
    [
        ("terraform_data.f.id", "Missing instance key"),
        ('terraform_data.f["z"].id', "Invalid index"),
        ("terraform_data.c[5].id", "Invalid index"),
        ('terraform_data.f["a"].nope', "Unsupported attribute"),
        ("[for each in terraform_data.f : each.nope]", "Unsupported attribute"),
        ('terraform_data.f["a"].id', ""),
        ('try(terraform_data.f["z"].id, "x")', ""),
        ('false ? terraform_data.f["z"].id : terraform_data.c[1].id', ""),
        ("terraform_data.c[*].id", ""),
        ('terraform_data.u["any"].id', ""),
    ],
)
def test_references_that_validation_refuses(
    expression: str, summary: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "main.tf").write_text(REPEATED)
    done = inside("eval", expression)
    assert done.code == (1 if summary else 2), done.err
    assert summary in done.err
    if "(" not in expression and "?" not in expression:
        assert (inside("explain", expression).code == 1) is bool(summary)


BEHIND = {
    "main.tf": """\
resource "terraform_data" "f" {
  for_each = toset(["a", "b"])
}
resource "terraform_data" "s" {
}
resource "terraform_data" "c" {
  count = 2
}
locals {
  keyless = terraform_data.f.id
  single  = terraform_data.s
  parts   = { wrong = terraform_data.f["z"].id, right = 1 }
  length  = length([terraform_data.f.id])
  deeper  = { a = [local.keyless] }
  each    = [for each in module.m : each.wrong]
}
module "m" {
  source   = "./m"
  for_each = toset(["k"])
  v        = terraform_data.c[7].id
}
check "c" {
  data "terraform_remote_state" "scoped" {
    backend = "local"
  }
  assert {
    condition     = terraform_data.s.id != ""
    error_message = "no"
  }
}
""",
    "m/main.tf": """\
variable "v" {}
resource "terraform_data" "f" {
  for_each = toset(["a"])
}
output "v" {
  value = var.v
}
output "right" {
  value = terraform_data.f["a"].id
}
output "wrong" {
  value = terraform_data.f["q"].id
}
""",
}


@pytest.mark.parametrize(
    ("expression", "summary"),
    [
        ("local.keyless", "Missing instance key"),
        ("local.deeper", "Missing instance key"),
        ("local.length", "Missing instance key"),
        ("local.parts.wrong", "Invalid index"),
        ("local.parts.right", ""),
        ("local.single.nope", "Unsupported attribute"),
        ("local.single.id", ""),
        ("local.each", "Invalid index"),
        ('module.m["k"].v', "Invalid index"),
        ('module.m["k"].wrong', "Invalid index"),
        ('module.m["k"].right', ""),
        ("data.terraform_remote_state.scoped.outputs", "Reference to the data source of a check"),
        ('terraform_data.c["1"].id', ""),
        ("each.key", "Reference to each outside of for_each"),
    ],
)
def test_mistakes_in_what_a_value_comes_from(
    expression: str, summary: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in BEHIND.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    for command in ("eval", "explain"):
        done = inside(command, expression)
        assert (done.code == 1) is bool(summary), done.err
        assert summary in done.err


def test_eval_names_the_command_that_uses_the_state(directory: Path) -> None:
    hint = "use nigari console"
    (directory / "more.tf").write_text(
        'variable "none" {}\nresource "terraform_data" "there" {\n  input = "x"\n}\n'
    )
    assert hint in nigari("eval", "terraform_data.there.output", cwd=directory).err
    assert hint not in nigari("eval", "var.none", cwd=directory).err
    assert hint not in nigari("eval", "1 + 1", cwd=directory).err
    assert hint in nigari("explain", "terraform_data.there.output", cwd=directory).out
    assert hint not in nigari("explain", "terraform_data.there.input", cwd=directory).out


_SPLATS = {
    "main.tf": """\
locals {
  l = [{ id = 1 }, { id = 2 }]
}
resource "terraform_data" "a" {
  count = 2
}
module "c" {
  count  = 2
  source = "./c"
}
""",
    "c/main.tf": 'output "ids" {\n  value = [{ id = "z" }]\n}\nlocals {\n  l = [{ id = 3 }]\n}\n',
}


@pytest.mark.parametrize(
    ("address", "value"),
    [
        ("local.l[*].id", [1, 2]),
        ("local.l.*.id", [1, 2]),
        ("[for each in local.l : each.id]", [1, 2]),
        ("sum(local.l[*].id)", 3),
        ("module.c[*].ids[0].id", ["z", "z"]),
        ("module.c.*.ids", [[{"id": "z"}]] * 2),
        ("module.c[1].ids[*].id", ["z"]),
        ("module.c[1].ids[0].id", "z"),
        ("module.c[0].local.l[*].id", [3]),
    ],
)
def test_splats_and_other_expressions(
    address: str, value: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in _SPLATS.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    inside("init")
    done = inside("explain", "-json", address)
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert (found["name"], found["phase"], found["value"]) == (address, "static", value)


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("terraform_data.b[*].id", "terraform_data.b is not declared"),
        ("terraform_data.a[*].nope", 'no attribute named "nope"'),
        ("module.d[*].ids", 'no module call named "d"'),
        ("1", "nothing named"),
        ("a b", "nothing named"),
    ],
)
def test_mistakes_in_splats(
    address: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "main.tf").write_text(_SPLATS["main.tf"].partition("module")[0])
    done = inside("explain", address)
    assert done.code == 1
    assert problem in " ".join(done.err.split())
