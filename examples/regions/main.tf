# Where each part comes from is decided by values: variables, locals, the outputs of a module of
# constants. All of it is known before anything runs.

variable "environment" {
  type    = string
  default = "prod"

  validation {
    condition     = contains(["dev", "prod"], var.environment)
    error_message = "The environment is dev or prod."
  }
}

variable "owner" {
  type        = string
  description = "Has no value unless someone gives it one"
}

locals {
  regions = {
    eu = { name = "eu-west-1", rules = "strict" }
    us = { name = "us-east-1", rules = "plain" }
  }
  # Only the part that is used must be known: the id is not, and does no harm.
  release = {
    app = module.sources.app
    id  = terraform_data.release.id
  }
}

# A module that holds nothing but constants.
module "sources" {
  source = "./sources"
}

# Each region has a source of its own.
module "region" {
  for_each = local.regions
  source   = "./region-${each.value.rules}"

  name        = each.value.name
  environment = var.environment
}

module "app" {
  source  = local.release.app
  regions = [for region in module.region : region.title]
  owner   = var.owner
}

resource "terraform_data" "release" {
  input = module.app.summary
  lifecycle {
    create_before_destroy = var.environment == "prod"
  }
}

output "summary" {
  value = module.app.summary
}
