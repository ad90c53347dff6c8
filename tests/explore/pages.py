"""The configurations that pages are made of, for tests in a browser and for pictures."""

from __future__ import annotations

import random
from typing import Final

_MAIN: Final = """\
terraform {
  required_version = ">= 1.8"
}
variable "env" {
  description = "The stage"
  default     = "prod"
}
variable "password" {
  type      = string
  sensitive = true
}
variable "sizes" {
  type    = map(number)
  default = { web = 3, db = 1 }
}
locals {
  prefix = "${var.env}-acme"
  labels = { app = "shop", env = var.env }
  secret = sensitive("planted-literal-9431")
}
module "net" {
  for_each = toset(["eu", "us"])
  source   = "./net"
  name     = "${local.prefix}-${each.key}"
  zones    = 3
}
module "app" {
  source   = "./app"
  prefix   = local.prefix
  networks = { for k, n in module.net : k => n.id }
  password = var.password
}
resource "terraform_data" "release" {
  count            = var.sizes["web"]
  input            = { name = "${local.prefix}-${count.index}", labels = local.labels, password = var.password }
  triggers_replace = [var.env]
}
resource "terraform_data" "policy" {
  input = jsonencode({ version = "2012-10-17", statement = [{ effect = "Allow", action = ["s3:Get*", "s3:List*"], resource = "*" }] })
}
check "labelled" {
  assert {
    condition     = local.labels.app == "shop"
    error_message = "The app must be the shop."
  }
}
output "networks" {
  value = { for k, n in module.net : k => n.id }
}
output "password" {
  value     = var.password
  sensitive = true
}
output "prefix" { value = local.prefix }
"""
_NET: Final = """\
variable "name" { type = string }
variable "zones" { type = number }
resource "terraform_data" "vpc" {
  input = var.name
}
resource "terraform_data" "subnet" {
  count = var.zones
  input = { vpc = terraform_data.vpc.id, cidr = cidrsubnet("10.0.0.0/16", 8, count.index), script = "#!/bin/sh\\nset -e\\necho ${var.name}\\n" }
}
output "id" { value = terraform_data.vpc.id }
output "subnets" { value = terraform_data.subnet[*].id }
"""
_APP: Final = """\
variable "prefix" {}
variable "networks" { type = map(string) }
variable "password" {
  sensitive = true
}
locals {
  names = [for k in keys(var.networks) : "${var.prefix}-${k}"]
}
resource "terraform_data" "server" {
  for_each = toset(["api", "web"])
  input    = { name = "${var.prefix}-${each.key}", networks = var.networks, password = var.password }
}
output "names" { value = local.names }
"""
_MODULES: Final = {"net/main.tf": _NET, "app/main.tf": _APP}

STAGES: Final = (
    {"main.tf": _MAIN, "terraform.tfvars": 'password = "hunter2-planted"\n', **_MODULES},
    {
        "main.tf": _MAIN.replace('= "prod"', '= "stage"')
        .replace("zones    = 3", "zones    = 2")
        .replace("s3:List*", "s3:Put*"),
        "terraform.tfvars": 'password = "hunter3-planted"\n',
        **_MODULES,
    },
)
"""A shop with a secret, as it was applied, and as it is to become."""

ALIKE: Final = {
    "main.tf": 'resource "terraform_data" "same" {\n  count = 40\n  input = "same"\n}\n'
}
"""Instances that all change alike."""

_UNIT: Final = """\
resource "terraform_data" "r{number}" {{
  count = 100
  input = {{
    name = "${{var.name}}-r{number}-${{count.index}}"
    tags = {{
      owner = "team-${{count.index % 7}}"
      stage = "prod"
      note  = "something to read in tag ${{count.index}}"
    }}
  }}
  triggers_replace = [var.name, {number}]
}}
"""
LARGE: Final = {
    "main.tf": "".join(
        f'module "m{number}" {{\n  source = "./m"\n  name   = "unit-{number}"\n}}\n'
        for number in range(20)
    ),
    "m/main.tf": 'variable "name" {}\n' + "".join(_UNIT.format(number=at) for at in range(5)),
}
"""Ten thousand changes, all different."""


def woven(count: int, layers: int) -> dict[str, str]:
    """Resources of which each but the first needs some of the layers before: all of them connected."""
    chance = random.Random(count)
    high = count // layers
    blocks = []
    for number in range(count):
        layer = number // high
        needs = (
            {chance.randrange(max(0, layer - 3) * high, layer * high) for _ in range(2)}
            if layer
            else ()
        )
        inputs = ", ".join(f"terraform_data.r{each}.id" for each in sorted(needs))
        blocks.append(f'resource "terraform_data" "r{number}" {{\n  input = [{inputs}]\n}}\n')
    return {"main.tf": "".join(blocks)}


LIVE: Final = {
    "main.tf": """\
variable "token" {
  default   = "planted-token"
  sensitive = true
}
resource "terraform_data" "first" {
  input = var.token
  provisioner "local-exec" {
    command = "${local.wait} first.go; echo first is made"
  }
}
resource "terraform_data" "second" {
  input = terraform_data.first.id
  provisioner "local-exec" {
    command = "${local.wait} second.go"
  }
}
resource "terraform_data" "other" {}
locals {
  wait = "wait() { until [ -e $1 ]; do sleep 0.1; done; }; wait"
}
"""
}
"""An apply that waits for files, so that somebody can look on."""


ROUNDS: Final = {
    "main.tf": """\
resource "terraform_data" "first" {
  provisioner "local-exec" {
    command = "${local.wait} first.go"
  }
}
resource "terraform_data" "later" {
  count = terraform_data.first.id == "" ? 0 : 2
  input = count.index
  provisioner "local-exec" {
    command = "${local.wait} second.go"
  }
}
resource "terraform_data" "last" {
  input = terraform_data.later[*].id
}
locals {
  wait = "wait() { until [ -e $1 ]; do sleep 0.1; done; }; wait"
}
"""
}
"""An apply in two rounds that wait for files, so that somebody can look on."""


def _timed(name: str, seconds: float, *needs: str) -> str:
    inputs = ", ".join(f"terraform_data.{each}.id" for each in needs)
    return (
        f'resource "terraform_data" "{name}" {{\n  input = [{inputs}]\n'
        f'  provisioner "local-exec" {{\n    command = "sleep {seconds}"\n  }}\n}}\n'
    )


TIMED: Final = {
    "main.tf": "".join(
        (
            _timed("network", 0.8),
            _timed("registry", 0.5),
            _timed("subnet_a", 0.4, "network"),
            _timed("subnet_b", 0.6, "network"),
            _timed("database", 2.2, "subnet_a", "subnet_b"),
            _timed("cache", 0.9, "subnet_a"),
            _timed("image", 1.4, "registry"),
            _timed("service", 0.7, "database", "cache", "image"),
            _timed("records", 0.3, "service"),
        )
    )
}
"""An apply in which one thing waits for another."""

TESTED: Final = {
    "main.tf": """\
variable "name" {
  default = "a"
}
resource "terraform_data" "x" {
  input = upper(var.name)
}
output "o" {
  value = terraform_data.x.output
}
output "unused" {
  value = "never"
}
""",
    "tests/names.tftest.hcl": """\
run "upper" {
  assert {
    condition     = output.o == "A"
    error_message = "It is not A."
  }
}
run "another" {
  variables {
    name = "b"
  }
  assert {
    condition     = output.o == "A"
    error_message = "It is ${output.o}, not A."
  }
}
""",
}
"""Tests of which one fails."""

FLEET: Final = {
    "fleet.hcl": """\
unit "network" {
  directory = "network"
  labels    = ["shared"]
}
unit "app" {
  for_each  = { dev = 1, prod = 3 }
  directory = "app"
  variables = { network = unit.network.outputs.id, size = each.value }
  labels    = [each.key]
}
""",
    "network/main.tf": """\
resource "terraform_data" "net" {
  input = 1
  provisioner "local-exec" {
    command = "sleep 2"
  }
}
output "id" {
  value = terraform_data.net.output
}
""",
    "app/main.tf": """\
variable "network" {}
variable "size" {
  type = number
}
resource "terraform_data" "server" {
  count = var.size
  input = var.network
  lifecycle {
    postcondition {
      condition     = var.size < 3 || self.id == ""
      error_message = "That is too large."
    }
  }
}
""",
}
"""Three units of two root modules."""

DEFERRED: Final = {
    "main.tf": """\
resource "terraform_data" "a" {
  input = "x"
}
resource "terraform_data" "later" {
  count = length(terraform_data.a.id)
  input = count.index
}
"""
}
"""A count that is known only after apply."""

OUTSIDE: Final = {
    "main.tf": """\
terraform {
  required_providers {
    files = { source = "example.com/demo/files" }
  }
}
provider "files" {
  directory = "out"
}
resource "files_text" "edited" {
  name    = "edited.txt"
  content = "as it was applied"
}
variable "secret" {
  default   = "planted-before"
  sensitive = true
}
resource "files_text" "secret" {
  name    = "secret.txt"
  content = var.secret
}
resource "files_text" "deleted" {
  name    = "deleted.txt"
  content = "nobody knows"
}
resource "files_text" "kept" {
  name    = "kept.txt"
  content = "the same"
  lifecycle {
    postcondition {
      condition     = self.content != ""
      error_message = "There must be something in it."
    }
  }
}
check "length" {
  assert {
    condition     = length(files_text.kept.content) > 100
    error_message = "It has only ${length(files_text.kept.content)} characters."
  }
}
check "later" {
  assert {
    condition     = files_text.deleted.sha256 != ""
    error_message = "It has no checksum."
  }
}
output "sum" {
  value = files_text.deleted.sha256
}
output "edited" {
  value = files_text.edited.content
}
"""
}
"""Files that somebody changes outside, and conditions."""

_REVIEWED: Final = """\
variable "release" {
  default = 1
}
variable "password" {
  default   = "planted-review"
  sensitive = true
}
locals {
  names = [for number in range(14) : "node-${number}-r${var.release}"]
  least = 20
}
module "pool" {
  for_each = { eu = 2, us = 1 }
  source   = "./pool"
  size     = each.value
  release  = var.release
}
resource "terraform_data" "script" {
  input            = <<-EOT
    #!/bin/sh
    set -e
    deploy --release ${var.release}
    echo done
  EOT
  triggers_replace = [var.release]
}
resource "terraform_data" "node" {
  count            = 14
  input            = { name = local.names[count.index], password = var.password }
  triggers_replace = [var.release]
}
check "enough" {
  assert {
    condition     = length(local.names) >= local.least && var.password != "never"
    error_message = "There are too few names."
  }
}
output "ids" {
  value = terraform_data.node[*].id
}
output "names" {
  value = local.names
}
output "nodes" {
  value = terraform_data.script.output == "" ? {} : { for name in local.names : name => "up" }
}
"""
_POOL: Final = """\
variable "size" {}
variable "release" {}
module "disk" {
  source  = "./disk"
  release = var.release
}
resource "terraform_data" "machine" {
  count = var.size
  input = [module.disk.id, var.release]
}
"""
_DISK: Final = """\
variable "release" {}
resource "terraform_data" "disk" {
  input = var.release
}
output "id" {
  value = terraform_data.disk.id
}
"""
_POOLS: Final = {"pool/main.tf": _POOL, "pool/disk/main.tf": _DISK}
REVIEWED: Final = (
    {"main.tf": f'{_REVIEWED}resource "terraform_data" "former" {{}}\n', **_POOLS},
    {"main.tf": _REVIEWED.replace("default = 1\n", "default = 2\n"), **_POOLS},
)
"""Much that is replaced, something that is destroyed and a check that fails, after an apply."""
