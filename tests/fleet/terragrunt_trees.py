"""Trees of Terragrunt, with modules that need no provider but the built-in one."""

from __future__ import annotations

from collections.abc import Mapping

MODULES: Mapping[str, str] = {
    "modules/network/main.tf": """
variable "name" { type = string }
variable "tags" {
  type    = map(string)
  default = {}
}
variable "zones" {
  type    = list(string)
  default = []
}
module "naming" {
  source = "../naming"
  name   = var.name
}
resource "terraform_data" "network" { input = [module.naming.name, var.tags, var.zones] }
output "id" { value = terraform_data.network.id }
output "name" { value = module.naming.name }
""",
    "modules/naming/main.tf": """
variable "name" { type = string }
output "name" { value = "n-${var.name}" }
""",
    "modules/app/main.tf": """
variable "network_id" { type = string }
variable "script" { type = string }
variable "size" { type = number }
variable "settings" { type = any }
resource "terraform_data" "app" { input = [var.network_id, var.script, var.size, var.settings] }
output "size" { value = var.size }
""",
}
ROOT = """
locals {
  account = read_terragrunt_config(find_in_parent_folders("account.hcl"))
  region  = read_terragrunt_config(find_in_parent_folders("region.hcl", "none.hcl"), { locals = { region = "none" } })
}
remote_state {
  backend  = "local"
  generate = { path = "backend.tf", if_exists = "overwrite_terragrunt" }
  config   = { path = "${get_parent_terragrunt_dir()}/states/${path_relative_to_include()}.tfstate" }
}
generate "versions" {
  path      = "versions.tf"
  if_exists = "overwrite"
  contents  = <<EOF
terraform {
  required_version = ">= 1.${length(local.region.locals.region)}"
}
EOF
}
inputs = merge(local.account.locals, local.region.locals, { tags = { owner = "all" }, unused = 1 })
"""
"""The file that all units include."""
LIVE: Mapping[str, str] = {
    **MODULES,
    "live/root.hcl": ROOT,
    "live/_common/network.hcl": """
locals { zones = ["a"] }
inputs = { zones = local.zones, tags = { from = "common" } }
""",
    "live/prod/account.hcl": 'locals {\n  account = "prod"\n}\n',
    "live/prod/region.hcl": 'locals {\n  region = "eu"\n}\n',
    "live/prod/network/terragrunt.hcl": """
include "root" {
  path   = find_in_parent_folders("root.hcl")
  expose = true
}
include "common" {
  path           = "${dirname(find_in_parent_folders("root.hcl"))}/_common/network.hcl"
  merge_strategy = "deep"
  expose         = true
}
terraform { source = "${get_parent_terragrunt_dir("root")}/../modules//network" }
inputs = {
  name  = "${include.root.locals.account.locals.account}-${basename(get_terragrunt_dir())}"
  zones = ["b"]
  tags  = { own = "yes" }
}
""",
    "live/prod/app/terragrunt.hcl": """
include { path = find_in_parent_folders("root.hcl") }
terraform {
  source = "../../../modules//app"
  extra_arguments "size" {
    commands           = get_terraform_commands_that_need_vars()
    required_var_files = ["${get_terragrunt_dir()}/size.tfvars"]
    optional_var_files = ["none.tfvars"]
    env_vars           = { TF_IN_AUTOMATION = "1" }
  }
}
dependency "network" {
  config_path  = "../network"
  mock_outputs = { id = "mock", name = "mock" }
}
locals { name = upper("app") }
inputs = {
  network_id = dependency.network.outputs.id
  script     = templatefile("start.sh", { name = dependency.network.outputs.name })
  size       = 1
  settings = {
    zones = [for zone in ["a", "b"] : "${zone}-${dependency.network.outputs.name}"]
    name  = local.name
  }
}
""",
    "live/prod/app/start.sh": "start ${name}\n",
    "live/prod/app/size.tfvars": "size = 5\n",
    "live/dev/account.hcl": 'locals {\n  account = "dev"\n}\n',
    "live/dev/first/terragrunt.hcl": """
include "root" { path = find_in_parent_folders("root.hcl") }
dependencies { paths = ["../../prod/app"] }
inputs = { name = get_env("NOT_SET_ANYWHERE", "first") }
""",
    "live/dev/first/main.tf": """
variable "name" {}
variable "account" {}
resource "terraform_data" "first" { input = "${var.name} ${var.account}" }
""",
    "live/dev/services/terragrunt.stack.hcl": """
locals { names = ["one"] }
unit "network" {
  source = "../../../catalog/network"
  path   = "network"
  values = { name = "stack-${local.names[0]}" }
}
unit "app" {
  source = "../../../catalog/app"
  path   = "app"
  values = { network = "../network", size = 2 }
}
""",
    "catalog/network/terragrunt.hcl": """
include "root" { path = find_in_parent_folders("root.hcl") }
terraform { source = "${dirname(find_in_parent_folders("root.hcl"))}/../modules//network" }
inputs = { name = values.name }
""",
    "catalog/app/terragrunt.hcl": """
include "root" { path = find_in_parent_folders("root.hcl") }
terraform { source = "${dirname(find_in_parent_folders("root.hcl"))}/../modules//app" }
dependency "network" { config_path = values.network }
inputs = {
  network_id = dependency.network.outputs.id
  script     = file("${get_terragrunt_dir()}/run.sh")
  size       = try(values.size, 1)
  settings   = { more = try(values.more, null) }
}
""",
    "catalog/app/run.sh": "run\n",
}
"""A tree with what most trees have."""
