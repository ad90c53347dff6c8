# One provider block and one configured provider for each region. The provider is the one in
# ../python-provider: a region is a directory to it.

terraform {
  required_providers {
    files = {
      source = "example.com/demo/files"
    }
  }
}

variable "regions" {
  type    = set(string)
  default = ["asia", "eu", "us"]
}

locals {
  places = { asia = "ap-east-1", eu = "eu-west-1", us = "us-east-1" }
}

provider "files" {
  alias     = "by_region"
  for_each  = { for region in var.regions : region => local.places[region] }
  directory = "cloud/${each.value}"
}

# Each page is made by the provider of its region.
resource "files_text" "page" {
  for_each = var.regions
  provider = files.by_region[each.key]
  name     = "index.html"
  content  = "Hello from ${local.places[each.key]}"
}

# This module gets the providers of all regions at once, and selects among them itself.
module "audit" {
  source    = "./audit"
  providers = { files.all = files.by_region }
  pages     = { for region, page in files_text.page : region => page.sha256 }
}

output "pages" {
  value = sort(keys(files_text.page))
}
