terraform {
  required_providers {
    files = {
      source = "example.com/demo/files"
    }
  }
}

provider "files" {
  directory = "out"
}

resource "files_text" "hello" {
  name    = "hello.txt"
  content = provider::files::shout("hello")
}

data "files_listing" "all" {
  depends_on = [files_text.hello]
}

output "names" {
  value = data.files_listing.all.names
}
