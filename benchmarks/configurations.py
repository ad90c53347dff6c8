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


def whole_references(directory: Path, count: int) -> Path:
    """Two resources with that many instances, of which each of the second refers to all of the
    first: to how many there are, and to another one than its own.
    """
    directory.mkdir(parents=True)
    (directory / "main.tf").write_text(
        f'resource "terraform_data" "a" {{\n  count = {count}\n  input = count.index\n}}\n'
        f'resource "terraform_data" "b" {{\n  count = {count}\n  input = [\n'
        '    length(terraform_data.a),\n    join(",", terraform_data.a[*].input) == "",\n'
        "    element(terraform_data.a[*].input, count.index + 1),\n  ]\n}\n"
    )
    return directory


def module_references(directory: Path, count: int) -> Path:
    """A module call with that many instances, and as many instances of a resource that each refer
    to all of them.
    """
    (directory / "m").mkdir(parents=True)
    (directory / "m" / "main.tf").write_text('variable "v" {}\noutput "o" {\n  value = var.v\n}\n')
    (directory / "main.tf").write_text(
        f'module "m" {{\n  source = "./m"\n  count  = {count}\n  v      = count.index\n}}\n'
        f'resource "terraform_data" "b" {{\n  count = {count}\n'
        "  input = length(module.m[*].o)\n}\n"
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


SLOW_PROVIDER = """\
import asyncio
from dataclasses import dataclass

from nigari.providers.python import Computed, Provider

provider = Provider("slow")


@provider.resource("thing")
@dataclass
class Thing:
    name: str
    id: Computed[str] = ""

    def create(self, config): self.id = self.name

    async def read(self, config):
        await asyncio.sleep(0.02)
        return True


provider.serve()
"""
"""A plugin that takes 20 ms to read an object."""


def slow_things(directory: Path, count: int) -> Path:
    """That many instances of a resource that is slow to read."""
    directory.mkdir(parents=True)
    (directory / "main.tf").write_text(
        'terraform {\n  required_providers {\n    slow = { source = "example.com/test/slow" }\n  }\n}\n'
        f'resource "slow_thing" "a" {{\n  count = {count}\n  name  = "a${{count.index}}"\n}}\n'
    )
    return directory


def module_instances(directory: Path, size: int, sources: int) -> Path:
    """One call with so many instances, from so many sources in turn."""
    for number in range(sources):
        inner = directory / f"m{number}"
        inner.mkdir(parents=True, exist_ok=True)
        (inner / "main.tf").write_text(
            'variable "v" {}\n'
            'resource "terraform_data" "x" {\n  input = var.v\n}\n'
            'resource "terraform_data" "y" {\n  input = terraform_data.x.output\n}\n'
            'output "o" {\n  value = terraform_data.y.output\n}\n'
        )
    keys = ",".join(map(str, range(size)))
    (directory / "main.tf").write_text(
        f'module "m" {{\n  for_each = toset(split(",", "{keys}"))\n'
        f'  source   = "./m${{tonumber(each.key) % {sources}}}"\n  v        = each.key\n}}\n'
        'resource "terraform_data" "z" {\n  input = length(module.m)\n}\n'
    )
    return directory
