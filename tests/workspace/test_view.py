"""A configuration as Python programs see it."""

from __future__ import annotations

from pathlib import Path

import pytest

import nigari
from nigari.cty.errors import CtyError

CONFIGURATION = {
    "main.tf": """\
variable "env" {
  default = "prod"
}
variable "key" {
  type = number
}
resource "terraform_data" "x" {
  count = 2
  input = "${var.env}-${count.index}"
  provisioner "local-exec" {
    command = "echo ${var.env}"
  }
}
module "m" {
  source = "./m"
  name   = upper(var.env)
}
output "id" {
  value = terraform_data.x[0].id
}
""",
    "m/main.tf": 'variable "name" {}\ndata "aws_ami" "a" {\n  owners = [var.name]\n  filter {\n'
    '    name = "x-${var.name}"\n  }\n}\n',
}


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    for name, text in CONFIGURATION.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_variables_have_their_values(directory: Path) -> None:
    root = nigari.load(directory, {"key": "5"}).root
    assert {name: each.to_python() for name, each in root.variables.items()} == {
        "env": "prod",
        "key": 5,
    }


def test_what_is_not_known_says_why(directory: Path) -> None:
    root = nigari.load(directory).root
    key = root.variables["key"]
    assert not key.is_known
    assert key.reasons == ["var.key, which has no value"]
    with pytest.raises(CtyError):
        key.to_python()
    assert root.outputs["id"].reasons == [
        "output.id ← terraform_data.x, which is known only after planning or applying"
    ]


def test_resources_are_told_by_what_is_written(directory: Path) -> None:
    configuration = nigari.load(directory)
    resource = configuration.root.resources["terraform_data.x"]
    assert (resource.address, resource.mode, resource.type) == (
        "terraform_data.x",
        "resource",
        "terraform_data",
    )
    assert not resource.arguments["input"].is_known
    (module,) = configuration.root.children
    data = module.resources["data.aws_ami.a"]
    assert data.address == "module.m.data.aws_ami.a"
    assert data.arguments["owners"].to_python() == ["PROD"]
    (block,) = data.blocks
    assert (block.type, block.arguments["name"].to_python()) == ("filter", "x-PROD")
    assert data.range.start.line == 2


def test_modules_in_order(directory: Path) -> None:
    found = [(each.address, Path(each.directory).name) for each in nigari.load(directory).modules()]
    assert found == [("", directory.name), ("module.m", "m")]


def test_mistakes_are_diagnostics(directory: Path) -> None:
    (directory / "more.tf").write_text("locals {\n  a = local.nope\n}\n")
    configuration = nigari.load(directory, {"nope": 1})
    assert [each.summary for each in configuration.diagnostics] == [
        "Value for an undeclared variable"
    ]
    assert not configuration.root.locals["a"].is_known
    assert [each.summary for each in configuration.diagnostics.in_order()] == [
        "Value for an undeclared variable",
        "Reference to undeclared local value",
    ]


def test_a_directory_that_is_not_there(tmp_path: Path) -> None:
    configuration = nigari.load(tmp_path / "nowhere")
    assert configuration.diagnostics.has_errors
    with pytest.raises(ValueError, match="could not be read"):
        _ = configuration.root


def test_instances_have_their_own_values(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "main.tf").write_text('variable "v" {}\n')
    (tmp_path / "main.tf").write_text(
        'module "m" {\n  source = "./m"\n  for_each = { a = 1, b = 2 }\n  v = each.value\n}\n'
        'resource "terraform_data" "x" {\n  count = 2\n  input = count.index\n}\n'
        'resource "terraform_data" "none" {\n  count = 0\n  input = [][0]\n}\n'
    )
    configuration = nigari.load(tmp_path)
    modules = {each.address: each for each in configuration.modules()}
    assert list(modules) == ["", 'module.m["a"]', 'module.m["b"]']
    assert modules['module.m["b"]'].variables["v"].to_python() == 2
    resources = configuration.root.resources
    found = resources["terraform_data.x"].instances
    assert [each.address for each in found.values()] == [
        "terraform_data.x[0]",
        "terraform_data.x[1]",
    ]
    assert found[1].arguments["input"].to_python() == 1
    assert not resources["terraform_data.none"].instances
    missing = resources["terraform_data.none"].arguments["input"]
    assert missing.reasons == [
        "terraform_data.none.input ← terraform_data.none, which has no instances"
    ]
    assert not configuration.diagnostics


def test_reasons_of_a_mistake(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text("locals {\n  a = [][0]\n  b = local.a\n}\n")
    configuration = nigari.load(tmp_path)
    assert configuration.root.locals["b"].reasons == [
        "local.b ← local.a ← an error, which has been reported"
    ]
