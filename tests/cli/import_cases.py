"""Import blocks that say enough, and those that do not."""

from __future__ import annotations

A = 'resource "terraform_data" "a" {}\n'


OTHER = 'resource "terraform_data" "b" {\n  %s\n}\n'


ENOUGH = {
    "an argument that does not exist": 'resource "terraform_data" "a" {\n  nope = 1\n}\n',
    "a reference to nothing": 'resource "terraform_data" "a" {\n  input = local.nope\n}\n',
    "another argument": A + OTHER % "nope = 1",
    "another reference": A + OTHER % "input = terraform_data.nope.id",
    "another attribute": A + OTHER % "input = terraform_data.a.nope",
    "another dependency": A + OTHER % "depends_on = [local.nope]",
    "another trigger": A + OTHER % "lifecycle {\n replace_triggered_by = [terraform_data.q]\n }",
    "a provisioner": A + OTHER % 'provisioner "local-exec" {\n nope = 1\n }',
    "an import block": A + "import {\n  to = terraform_data.z\n  id = local.nope\n}\n",
}


"""Configurations that an object can be imported to, although `validate` refuses them."""


NOT_ENOUGH = {
    "a missing variable": A + 'variable "v" {}\n',
    "a variable that is not valid": A + 'variable "v" {\n  default = 1\n  validation {\n'
    '    condition     = var.v > 2\n    error_message = "no"\n  }\n}\n',
    "a local value": A + "locals {\n  a = local.nope\n}\n",
    "an output": A + 'output "o" {\n  value = terraform_data.a.nope\n}\n',
    "data": A + 'data "terraform_remote_state" "d" {\n  nope = 1\n}\n',
    "how another is repeated": A + OTHER % 'count = "x"',
    "a condition": A + OTHER % "lifecycle {\n precondition {\n condition = local.nope\n"
    'error_message = "x"\n }\n }',
    "a type": A + 'resource "terraform_nope" "b" {}\n',
}


"""Configurations with mistakes that the import itself trips over."""
