"""A fleet whose units pass outputs on, as plain configurations with the states of the original."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from tests.cli.process import inside

FLEET: Final = {
    "network/main.tf": """
variable "name" {}
resource "terraform_data" "it" {
  input = "network ${var.name}"
}
output "id" {
  value = terraform_data.it.output
}
output "key" {
  value     = "hidden"
  sensitive = true
}
""",
    "app/main.tf": """
# What a network is called.
variable "network" {
  type = string
  validation {
    condition     = length(var.network) > 3
    error_message = "Too short: ${var.network}"
  }
}

variable "ids" {
  type    = map(string)
  default = {}
}
variable "size" {
  type = number
}
variable "key" {
  sensitive = true
}
resource "terraform_data" "it" {
  count            = length(var.ids)
  input            = "${var.network} ${var.size}"
  triggers_replace = [for name, id in var.ids : "${name} ${id}"]
}
output "text" {
  value = "in ${var.network}"
}
output "key" {
  value     = var.key
  sensitive = true
}
""",
    "last/main.tf": """
variable "given" {
  type = object({ text = string, size = optional(number, 3) })
}
output "given" {
  value = var.given
}
terraform {
  backend "local" {
    path = "states/last.tfstate"
  }
}
""",
    "fleet.hcl": """
locals {
  names  = { dev = 1, prod = 2 }
  shared = { size = 3 }
}
unit "network" {
  for_each  = local.names
  directory = "network"
  variables = { name = each.key }
}
unit "app" {
  for_each  = local.names
  directory = "app"
  variables = merge(local.shared, {
    network = unit.network[each.key].outputs.id
    key     = unit.network["prod"].outputs.key
    ids     = { for name, each in unit.network : name => upper(each.outputs.id) }
  })
}
unit "last" {
  directory = "last"
  variables = {
    for name in ["given"] : name => { text = "${local.shared.size} ${unit.app["dev"].outputs.text}" }
  }
}
""",
}


def applied_fleet(root: Path) -> None:
    """Write the fleet and apply it."""
    for name, text in FLEET.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    for command in (["init"], ["apply", "-auto-approve"]):
        done = inside(f"-chdir={root}", "fleet", *command)
        assert done.code == 0, done.err


def plain_units(root: Path, out: Path) -> list[Path]:
    """Write the plain configurations with the states of the units, each in its workspace."""
    done = inside(f"-chdir={root}", "fleet", "config", "-plain", f"-out={out}", "-no-color")
    assert done.code == 0, done.err
    found = [out / "last"]
    shutil.copytree(root / "last" / "states", out / "last" / "states", dirs_exist_ok=True)
    for name in ("network", "app"):
        for workspace in ("dev", "prod"):
            place = Path("terraform.tfstate.d", workspace)
            written = out / f"{name}-{workspace}"
            shutil.copytree(root / name / place, written / place)
            (written / ".terraform").mkdir()
            (written / ".terraform" / "environment").write_text(workspace)
            found.append(written)
    return found
