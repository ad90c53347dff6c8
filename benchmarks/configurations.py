"""Makes whole configurations of a wanted size, in directories that are made anew each time."""

from __future__ import annotations

from pathlib import Path

_MODULE = """\
variable "name" {
  type = string
}
variable "size" {
  type = number
}
locals {
  title = "${var.name}-${var.size}"
}
resource "terraform_data" "a" {
  input = local.title
}
resource "terraform_data" "b" {
  input = terraform_data.a.output
}
output "id" {
  value = terraform_data.b.id
}
"""


def module_calls(directory: Path, count: int) -> Path:
    """That many calls of one local module with two inputs, a local, two resources, an output."""
    (directory / "m").mkdir(parents=True)
    (directory / "m" / "main.tf").write_text(_MODULE)
    calls = [
        f'module "c{n}" {{\n  source = "./m"\n  name   = "n{n}"\n  size   = {n}\n}}\n'
        for n in range(count)
    ]
    (directory / "main.tf").write_text("\n".join(calls))
    return directory


def resource_chains(directory: Path, count: int) -> Path:
    """That many resource blocks, in chains of ten that use each other."""
    directory.mkdir(parents=True)
    blocks = []
    for n in range(count):
        given = f'"v{n}"' if n % 10 == 0 else f"terraform_data.r{n - 1}.output"
        blocks.append(f'resource "terraform_data" "r{n}" {{\n  input = {given}\n}}\n')
    (directory / "main.tf").write_text("\n".join(blocks))
    return directory


def instances(directory: Path, count: int) -> Path:
    """One resource block with that many instances."""
    directory.mkdir(parents=True)
    (directory / "main.tf").write_text(
        f'resource "terraform_data" "a" {{\n  count = {count}\n  input = count.index\n}}\n'
    )
    return directory


def null_resources(directory: Path, count: int) -> Path:
    """That many instances of a resource of a real plugin."""
    directory.mkdir(parents=True)
    (directory / "main.tf").write_text(
        f'resource "null_resource" "a" {{\n  count = {count}\n'
        "  triggers = { index = count.index }\n}\n"
    )
    return directory
