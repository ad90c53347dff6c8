"""Directories of fleets, written from texts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from nigari.fleet.units.graph_loader import Survey, survey


def write_tree(root: Path, files: Mapping[str, str]) -> Path:
    """Write files below a directory."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def surveyed(root: Path, files: Mapping[str, str] | None = None, **environ: str) -> Survey:
    """The fleet of these files."""
    return survey(str(write_tree(root, files or {})), environ)


def reading(name: str, path: str) -> str:
    """A data source that reads the state in a local file."""
    return (
        f'data "terraform_remote_state" "{name}" {{\n  backend = "local"\n'
        f'  config  = {{ path = "{path}" }}\n}}\n'
    )


NETWORK = """
variable "region" { default = "eu" }
resource "terraform_data" "vpc" { input = "vpc-${var.region}" }
output "vpc_id" { value = terraform_data.vpc.output }
output "region" { value = var.region }
"""
"""A unit with an output that is known while planning, and one that is not."""

ISSUE = """
locals { environments = { dev = "eu-west-1", prod = "us-east-1" } }

unit "network" {
  for_each  = local.environments
  directory = "network"
  var_files = ["env/${each.key}.tfvars"]
  variables = { region = each.value }
}

unit "app" {
  for_each  = local.environments
  directory = "app"
  variables = { vpc_id = unit.network[each.key].outputs.vpc_id }
  labels    = [each.key]
}
"""
APP = """
variable "vpc_id" { type = string }
resource "terraform_data" "app" { input = var.vpc_id }
output "app" { value = terraform_data.app.output }
"""
DECLARED = {
    "fleet.hcl": ISSUE,
    "network/main.tf": NETWORK,
    "network/env/dev.tfvars": "",
    "network/env/prod.tfvars": "",
    "app/main.tf": APP,
}
"""Two directories, each for two environments."""
