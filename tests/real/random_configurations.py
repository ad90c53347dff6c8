"""Random configurations that change from step to step, as files for both programs."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from tests.real.case_files import MAIN, Files

_KEYS = ("a", "b", "c")
_PROVIDER = """\
provider "simple" {
  alias    = "by"
  for_each = toset(["a", "b", "c"])
}
"""
_MODULE = """\
variable "v" {}
resource "terraform_data" "x" { input = var.v }
resource "terraform_data" "y" {
  triggers_replace = terraform_data.x.id
  input            = "y"
}
output "id" { value = terraform_data.y.id }
output "v" { value = terraform_data.x.output }
"""


@dataclass
class Block:
    """A resource, data source or module call that may refer to those before it."""

    head: str
    name: str
    repetition: str = ""
    lines: list[str] = field(default_factory=list)
    lifecycle: list[str] = field(default_factory=list)
    attributes: tuple[str, ...] = ("id",)

    @property
    def is_empty(self) -> bool:
        return self.repetition == "count = 0" or "length" in self.repetition

    def reference(self, attribute: str) -> str:
        if self.repetition.startswith("count"):
            return f"{self.name}[*].{attribute}"
        if self.repetition:
            return f"values({self.name})[*].{attribute}"
        return f"{self.name}.{attribute}"

    def text(self) -> str:
        lines = [f"{self.head} {{", *(f"  {line}" for line in self.lines)]
        if self.repetition:
            lines.append(f"  {self.repetition}")
        if self.lifecycle:
            lines += ["  lifecycle {", *(f"    {line}" for line in self.lifecycle), "  }"]
        return "\n".join([*lines, "}"])


class Story:
    """One configuration after the other, from one seed."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._names = [f"r{number}" for number in range(5)]

    def next(self) -> Files:
        """The files of the next step."""
        chance, parts, blocks = self._chance, [_PROVIDER], list[Block]()
        for number, name in enumerate(self._names):
            if chance.random() < 0.8:
                if chance.random() < 0.15:
                    parts.append(self._renamed(number))
                    name = self._names[number]
                blocks.append(self._managed(name, blocks))
        makers = (self._keyed, self._module, self._data)
        blocks += [make(blocks) for make in makers if chance.random() < 0.6]
        parts += [block.text() for block in blocks]
        for number in range(2):
            if blocks:
                block = chance.choice(blocks)
                value = block.reference(chance.choice(block.attributes))
                parts.append(f'output "o{number}" {{ value = {value} }}')
        return {MAIN: "\n".join(parts) + "\n", "m/main.tf": _MODULE}

    def _renamed(self, number: int) -> str:
        old = self._names[number]
        new = self._names[number] = f"{old}n"
        return f"moved {{\n  from = terraform_data.{old}\n  to   = terraform_data.{new}\n}}"

    def _repetition(self, earlier: list[Block]) -> str:
        chance = self._chance
        repeated = [each for each in earlier if each.repetition]
        if repeated and chance.random() < 0.2:
            name = chance.choice(repeated).name
            return chance.choice(
                [
                    f"count = length({name})",
                    f'for_each = toset([for n in range(length({name})) : "k${{n}}"])',
                ]
            )
        keys = ", ".join(f'"{key}"' for key in chance.sample(_KEYS, chance.randint(1, 3)))
        return chance.choice(
            ["", "", "", f"count = {chance.randint(0, 3)}", f"for_each = toset([{keys}])"]
        )

    def _value(self, earlier: list[Block], likely: float) -> str:
        chance = self._chance
        if earlier and chance.random() < likely:
            block = chance.choice(earlier)
            return block.reference(chance.choice(block.attributes))
        return str(chance.randint(1, 3))

    def _managed(self, name: str, earlier: list[Block]) -> Block:
        chance = self._chance
        block = Block(f'resource "terraform_data" "{name}"', f"terraform_data.{name}")
        block.repetition = self._repetition(earlier)
        block.attributes = ("id", "output", "input")
        block.lines.append(f"input = {self._value(earlier, 0.6)}")
        if chance.random() < 0.5:
            block.lines.append(f"triggers_replace = {self._value(earlier, 0.5)}")
        if earlier and chance.random() < 0.2:
            block.lines.append(f"depends_on = [{chance.choice(earlier).name}]")
        if chance.random() < 0.08 and not block.is_empty:
            block.lifecycle.append("create_before_destroy = true")
        if chance.random() < 0.1:
            block.lifecycle.append("ignore_changes = [input]")
        # OpenTofu takes a trigger without instances for an error of its own.
        triggers = [each for each in earlier if not each.is_empty]
        if triggers and chance.random() < 0.15:
            block.lifecycle.append(f"replace_triggered_by = [{chance.choice(triggers).name}]")
        return block

    def _keyed(self, earlier: list[Block]) -> Block:
        """A resource with a provider instance for each of its instances."""
        chance = self._chance
        keys = chance.sample(_KEYS, chance.randint(1, 3))
        chosen = ", ".join(f'{key} = "{chance.choice(_KEYS)}"' for key in keys)
        block = Block('resource "simple_resource" "k"', "simple_resource.k")
        block.repetition = f"for_each = {{ {chosen} }}"
        block.lines += [
            "provider = simple.by[each.value]",
            f"value = jsonencode({self._value(earlier, 0.5)})",
        ]
        if chance.random() < 0.2:
            block.lifecycle.append("create_before_destroy = true")
        return block

    def _module(self, earlier: list[Block]) -> Block:
        block = Block('module "m"', "module.m")
        block.repetition = self._repetition(earlier)
        block.attributes = ("id", "v")
        block.lines += ['source = "./m"', f"v = {self._value(earlier, 0.5)}"]
        if earlier and self._chance.random() < 0.2:
            block.lines.append(f"depends_on = [{self._chance.choice(earlier).name}]")
        return block

    def _data(self, earlier: list[Block]) -> Block:
        chance = self._chance
        block = Block('data "simple_resource" "d"', "data.simple_resource.d")
        block.repetition = self._repetition(earlier)
        block.attributes = ("value",)
        block.lines += [
            'provider = simple.by["a"]',
            f"value = jsonencode({self._value(earlier, 0.5)})",
        ]
        if earlier and chance.random() < 0.2:
            block.lines.append(f"depends_on = [{chance.choice(earlier).name}]")
        return block
