"""Iterated providers, run by both programs."""

from __future__ import annotations

from tests.cli.process import nigari
from tests.real import program
from tests.real.beside import Place

CONFIGURATION = """\
terraform {
  required_providers {
    files = { source = "hashicorp/files" }
  }
}
variable "regions" {
  type    = map(string)
  default = { asia = "a", eu = "e", us = "u" }
}
variable "pages" {
  type    = set(string)
  default = ["asia", "eu", "us"]
}
provider "files" {
  alias     = "by_region"
  for_each  = var.regions
  directory = "out/${each.value}"
}
resource "files_text" "page" {
  for_each = var.pages
  provider = files.by_region[each.key]
  name     = "page.txt"
}
"""


def ours(place: Place, *args: str, code: int = 0) -> str:
    done = nigari(*args, cwd=place.path, settings=place.environ)
    assert done.code == code, done.out + done.err
    return done.out + done.err


def theirs(place: Place, *args: str, code: int = 0) -> str:
    status, said = place.run(program("tofu"), *args)
    assert status == code, said
    return said


def pages(place: Place) -> list[str]:
    return sorted(path.parent.name for path in place.path.glob("out/*/page.txt"))
