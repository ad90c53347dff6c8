terraform {
  required_providers {
    files = {
      source                = "example.com/demo/files"
      configuration_aliases = [files.all]
    }
  }
}

variable "pages" {
  type        = map(string)
  description = "The checksums of pages, by region"
}

resource "files_text" "checksum" {
  for_each = var.pages
  provider = files.all[each.key]
  name     = "index.html.sha256"
  content  = each.value
}
