"""What depends on something, over modules."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nigari.cli.commands import uses
from tests.cli.in_process import ran
from tests.explore.explored import write

MAIN = """
variable "region" {
  default = "eu"
}

variable "lonely" {
  default = 1
}

locals {
  place = "in ${var.region}"
}

provider "cloud" {
  region = var.region
}

module "net" {
  source   = "./net"
  for_each = toset([local.place])
  name     = each.key
}

resource "cloud_machine" "web" {
  disk {
    network = values(module.net)[0].id
  }
}

output "address" {
  value = cloud_machine.web.address
}
"""
NET = """
terraform {
  required_providers {
    cloud = { source = "example/cloud" }
  }
}

variable "name" {}

resource "cloud_network" "this" {
  name = var.name
}

output "id" {
  value = cloud_network.this.id
}
"""


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("main.tf").write_text(
        MAIN
        + 'terraform {\n  required_providers {\n    cloud = { source = "example/cloud" }\n  }\n}\n'
    )
    Path("net").mkdir()
    Path("net/main.tf").write_text(NET)


def test_the_tree() -> None:
    status, text = ran(uses.COMMAND, ["local.place"], {})
    assert status == 0
    assert (
        text
        == """local.place
└── module.net
    ├── module.net.cloud_network.this
    ├── module.net.var.name
    └── module.net.id
        └── cloud_machine.web
            └── output.address
"""
    )


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("var.lonely", set()),
        ("cloud_machine.web", {"output.address"}),
        ("module.net.id", {"cloud_machine.web", "output.address"}),
        (
            "module.net.cloud_network.this",
            {"module.net.id", "cloud_machine.web", "output.address"},
        ),
    ],
)
def test_the_list(address: str, found: set[str]) -> None:
    status, text = ran(uses.COMMAND, ["-list", address], {})
    assert status == 0
    assert set(text.splitlines()) == found


def test_a_variable_reaches_provider_and_modules() -> None:
    _, text = ran(uses.COMMAND, ["-json", "var.region"], {})
    users = {each["address"]: each["distance"] for each in json.loads(text)["users"]}
    assert users["local.place"] == 1
    assert any(name.startswith("provider[") for name in users)
    assert users["output.address"] > users["cloud_machine.web"] > users["local.place"]


def test_nothing_uses_it() -> None:
    assert ran(uses.COMMAND, ["var.lonely"], {}) == (0, "Nothing uses var.lonely.\n")


def test_no_such_address() -> None:
    status, text = ran(uses.COMMAND, ["var.regoin"], {})
    assert status == 1
    assert 'Did you mean "var.region"?' in text


READING = """
variable "names" {
  default = ["a", "b"]
}
variable "late" {}
locals {
  script = templatefile("${path.module}/scripts/start.sh", { name = "x" })
}
resource "terraform_data" "each" {
  for_each = toset(var.names)
  input    = file("texts/${each.key}.txt")
}
resource "terraform_data" "listed" {
  input = fileset("texts", "*.txt")
}
resource "terraform_data" "later" {
  input = file("late/${terraform_data.listed.id}")
}
resource "terraform_data" "started" {
  input = local.script
}
module "inner" {
  source = "./inner"
  text   = filesha256("texts/b.txt")
}
output "inner" {
  value = module.inner.out
}
"""
INNER = """
variable "text" {}
resource "terraform_data" "kept" {
  input = [var.text, file("${path.module}/own.txt")]
}
output "out" {
  value = terraform_data.kept.id
}
"""


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("scripts/start.sh", {"local.script", "terraform_data.started"}),
        ("./scripts/../scripts/start.sh", {"local.script", "terraform_data.started"}),
        ("texts/a.txt", {"terraform_data.each", "terraform_data.listed", "terraform_data.later"}),
        (
            "texts/b.txt",
            {
                "terraform_data.each",
                "terraform_data.listed",
                "terraform_data.later",
                "module.inner.var.text",
                "module.inner.terraform_data.kept",
                "module.inner.out",
                "output.inner",
            },
        ),
        ("late/c", {"terraform_data.later"}),
        ("inner/own.txt", {"module.inner.terraform_data.kept", "module.inner.out", "output.inner"}),
        (
            "inner/main.tf",
            {
                "module.inner.var.text",
                "module.inner.terraform_data.kept",
                "module.inner.out",
                "output.inner",
            },
        ),
        ("terraform.tfvars", {"var.late"}),
        ("elsewhere", set()),
    ],
)
def test_a_file(path: str, found: set[str]) -> None:
    write(
        Path(),
        {
            "main.tf": READING,
            "inner/main.tf": INNER,
            "inner/own.txt": "",
            "scripts/start.sh": "${name}",
            "texts/a.txt": "",
            "texts/b.txt": "",
            "late/c": "",
            "terraform.tfvars": "late = 1\n",
            "elsewhere": "",
        },
    )
    status, text = ran(uses.COMMAND, ["-list", path], {})
    assert status == 0
    assert set(text.splitlines()) == found


def test_the_tree_of_a_file() -> None:
    write(Path(), {"main.tf": 'output "o" {\n  value = file("t")\n}\n', "t": ""})
    assert ran(uses.COMMAND, ["t"], {}) == (0, "t\n└── output.o\n")
