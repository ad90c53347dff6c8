"""A configuration as data, so that it can change from step to step, and as files.

Blocks refer to each other by what they are, not by text: a reference is written anew, in a form
that suits how its target is repeated by then, and becomes a literal where the target is gone.
Deliberately unknown: chance, and what the programs make of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from tests.real.case_files import MAIN, Files

ROOT: Final = "."
MODULES: Final = ".terraform/modules/modules.json"
LOG: Final = "provisioned"
"""The file that provisioners write to, in the working directory."""
ATTRIBUTES: Final = {
    "world_thing": ("id", "value", "result", "name", "note"),
    "terraform_data": ("id", "output", "input"),
    "world_fact": ("value", "key"),
    "world_token": ("value",),
}
_REQUIRED: Final = """\
terraform {
  required_providers {
    world = { source = "hashicorp/world" }
  }
}
"""


@dataclass
class Repetition:
    """How often a block is there: `count`, `for_each`, `enabled`, or once."""

    kind: str = ""
    expression: str = ""
    like: str = ""
    """The tag of a block before it with whose instances these go."""

    @property
    def key(self) -> str:
        """What tells the instances apart, inside the block."""
        return {"count": "-${count.index}", "for_each": "-${each.key}"}.get(self.kind, "")


@dataclass
class Reference:
    """A value of another block of the module, by its tag, in one of several forms."""

    tag: str
    attribute: str
    form: int


Value = str | Reference
"""An expression as text, or a reference."""


@dataclass
class Block:
    """A resource, a data source, an ephemeral resource or a module call."""

    mode: str
    type: str
    name: str
    tag: str
    """The name that the block was born with; names of objects are made of it."""
    repetition: Repetition = field(default_factory=Repetition)
    arguments: dict[str, Value] = field(default_factory=dict)
    depends_on: list[str] = field(default_factory=list)
    triggers: list[str] = field(default_factory=list)
    provider: str = ""
    lifecycle: dict[str, str] = field(default_factory=dict)
    conditions: dict[str, Value] = field(default_factory=dict)
    provisioners: list[str] = field(default_factory=list)

    @property
    def address(self) -> str:
        """What it is called inside its module."""
        if self.mode == "module":
            return f"module.{self.name}"
        prefix = "" if self.mode == "resource" else f"{self.mode}."
        return f"{prefix}{self.type}.{self.name}"

    @property
    def is_managed(self) -> bool:
        return self.mode == "resource"


@dataclass
class Output:
    """An output value."""

    name: str
    value: Value
    sensitive: bool = False


@dataclass
class Module:
    """What one directory declares."""

    directory: str
    blocks: list[Block] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    checks: list[tuple[str, Value, str]] = field(default_factory=list)
    """Name, what is looked at, and the fact that is read for it (or nothing)."""
    local: Value = '"l1"'

    def block(self, tag: str) -> Block | None:
        return next((each for each in self.blocks if each.tag == tag), None)

    def calls(self) -> list[Block]:
        return [each for each in self.blocks if each.mode == "module"]


@dataclass
class Configuration:
    """All directories, and what the root module says about the past."""

    modules: dict[str, Module]
    moves: list[tuple[str, str]] = field(default_factory=list)
    removals: list[tuple[str, str, str]] = field(default_factory=list)
    """What was removed, whether it is destroyed, and a command to run when it is."""
    imports: list[tuple[str, str]] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    provider_keys: list[str] = field(default_factory=lambda: ["a", "b"])

    @property
    def root(self) -> Module:
        return self.modules[ROOT]

    def files(self) -> Files:
        """The files of a working directory that needs no `init`."""
        return {
            **{
                MAIN if name == ROOT else f"{name}/{MAIN}": _module_text(self, module)
                for name, module in self.modules.items()
            },
            MODULES: self._installed(),
        }

    def source(self, call: Block) -> Module:
        """The module that a call uses."""
        return self.modules[str(call.arguments["source"]).strip('"./')]

    def _installed(self) -> str:
        entries = [{"Key": "", "Source": "", "Dir": "."}]
        pending = [("", self.root)]
        while pending:
            prefix, module = pending.pop()
            for call in module.calls():
                used = self.source(call)
                way = "./" if module is self.root else "../"
                key = f"{prefix}{call.name}"
                found = {"Key": key, "Source": f"{way}{used.directory}", "Dir": used.directory}
                entries.append(found)
                pending.append((f"{key}.", used))
        return json.dumps({"Modules": entries})


def _module_text(configuration: Configuration, module: Module) -> str:
    is_root = module.directory == ROOT
    parts = [_REQUIRED, *(_root_parts(configuration) if is_root else [_child_variables()])]
    parts.append(f"locals {{\n  l = {rendered(module, module.local)}\n}}\n")
    parts += [_block_text(module, block) for block in module.blocks]
    for output in module.outputs:
        is_sensitive = output.sensitive or Secrets(configuration).has(module, output.value)
        sensitive = "  sensitive = true\n" if is_sensitive else ""
        text = rendered(module, output.value)
        parts.append(f'output "{output.name}" {{\n  value = {text}\n{sensitive}}}\n')
    for check, value, fact in module.checks:
        data = f'  data "world_fact" "{check}" {{\n    key = "{fact}"\n  }}\n' if fact else ""
        seen = f'data.world_fact.{check}.value != "w1"' if fact else 'var.p != "w2"'
        parts.append(
            f'check "{check}" {{\n{data}  assert {{\n    condition     = ({rendered(module, value)})'
            f' != "w2" && {seen}\n    error_message = "no"\n  }}\n}}\n'
        )
    return "\n".join(parts)


def _child_variables() -> str:
    return (
        'variable "p" {\n  type = string\n}\nvariable "v" {\n  default = "d"\n}\n'
        'variable "s" {\n  default   = "s"\n  sensitive = true\n}\n'
    )


def _root_parts(configuration: Configuration) -> Iterator[str]:
    keys = ", ".join(f'"{key}"' for key in configuration.provider_keys)
    yield (
        'provider "world" {\n  label = "root"\n}\n'
        'provider "world" {\n  alias = "other"\n  label = var.v\n}\n'
        f'provider "world" {{\n  alias    = "by"\n  for_each = toset([{keys}])\n'
        "  label    = each.key\n}\n"
    )
    given = configuration.variables
    yield f'variable "p" {{\n  default = ""\n}}\nvariable "v" {{\n  default = {given["v"]}\n}}\n'
    yield f'variable "s" {{\n  default   = {given["s"]}\n  sensitive = true\n}}\n'
    yield 'variable "e" {\n  default   = "e"\n  ephemeral = true\n}\n'
    for old, new in configuration.moves:
        yield f"moved {{\n  from = {old}\n  to   = {new}\n}}\n"
    for address, destroy, command in configuration.removals:
        run = f'  provisioner "local-exec" {{\n    when    = destroy\n    command = "{command}"\n  }}\n'
        yield (
            f"removed {{\n  from = {address}\n  lifecycle {{\n    destroy = {destroy}\n  }}\n"
            f"{run if command else ''}}}\n"
        )
    for identifier, address in configuration.imports:
        yield f'import {{\n  to = {address}\n  id = "{identifier}"\n}}\n'


def _block_text(module: Module, block: Block) -> str:
    labels = f'"{block.name}"' if block.mode == "module" else f'"{block.type}" "{block.name}"'
    lines = [f"{block.mode} {labels} {{"]
    if block.provider and block.mode == "module":
        lines.append(f"  providers = {{\n    world = {block.provider}\n  }}")
    elif block.provider:
        lines.append(f"  provider = {block.provider}")
    if block.repetition.kind in ("count", "for_each"):
        lines.append(f"  {block.repetition.kind} = {_repeated(module, block.repetition)}")
    for argument, given in block.arguments.items():
        lines.append(f"  {argument} = {rendered(module, given)}")
    if needed := _addresses(module, block.depends_on):
        lines.append(f"  depends_on = [{', '.join(needed)}]")
    lines += _lifecycle(module, block)
    lines += [f'  provisioner "local-exec" {{\n{text}  }}' for text in block.provisioners]
    return "\n".join([*lines, "}", ""])


def _lifecycle(module: Module, block: Block) -> list[str]:
    lines = [f"    {name} = {text}" for name, text in block.lifecycle.items()]
    if block.repetition.kind == "enabled":
        lines.append(f"    enabled = {block.repetition.expression}")
    if triggers := _addresses(module, block.triggers):
        lines.append(f"    replace_triggered_by = [{', '.join(triggers)}]")
    for kind, value in block.conditions.items():
        seen = "self.value" if kind == "postcondition" else rendered(module, value)
        lines.append(
            f'    {kind} {{\n      condition     = ({seen}) != "w2" && var.p != "w2"\n      error_message = "no"\n    }}'
        )
    return ["  lifecycle {", *lines, "  }"] if lines else []


def _addresses(module: Module, tags: list[str]) -> list[str]:
    blocks = [module.block(tag) for tag in tags]
    return [block.address for block in blocks if block is not None]


def _repeated(module: Module, repetition: Repetition) -> str:
    target = module.block(repetition.like) if repetition.like else None
    if target is None:
        return repetition.expression
    if repetition.kind == "count":
        return f"length({target.address})" if target.repetition.kind == "count" else "1"
    if target.repetition.kind != "for_each":
        return 'toset(["a"])'
    return f"toset(keys({target.address}))"


def rendered(module: Module, value: Value) -> str:
    """The text of a value inside a module."""
    if isinstance(value, str):
        return value
    target = module.block(value.tag)
    if target is None:
        return '"gone"'
    forms = _FORMS[target.repetition.kind]
    form = forms[value.form % len(forms)]
    return form.replace("@", target.address).replace("%", value.attribute)


_FORMS: Final = {
    "": ("@.%", "@.%", '"${@.%}-x"', "jsonencode(@)", "jsonencode({ k = @.% })"),
    "count": (
        'join(",", @[*].%)',
        'try(@[0].%, "none")',
        'length(@) > 0 ? @[0].% : "none"',
        "jsonencode([for o in @ : o.%])",
        "jsonencode(@)",
        'join(",", @.*.%)',
        'try(@[1].%, "none")',
        "length(@)",
    ),
    "for_each": (
        'join(",", values(@)[*].%)',
        'try(@["a"].%, "none")',
        'contains(keys(@), "b") ? @["b"].% : "none"',
        "jsonencode({ for k, o in @ : k => o.% })",
        "jsonencode(@)",
        'join(",", keys(@))',
        'lookup({ for k, o in @ : k => o.% }, "c", "none")',
    ),
    "enabled": (
        'try(@.%, "none")',
        '@ != null ? @.% : "none"',
        'join(",", @[*].%)',
        "jsonencode(try(@.%, null))",
    ),
}
"""How a block is referred to, by how it is repeated; `@` is its address, `%` the attribute."""


class Secrets:
    """Finds what may be secret, so that outputs can say so as a person would have them say it."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self._seen: set[tuple[str, str]] = set()

    def has(self, module: Module, value: Value) -> bool:
        """Whether a value may have secret parts."""
        if isinstance(value, str):
            if "var.s" in value:
                return True
            if "local.l" in value and self._is_new(module, "local"):
                return self.has(module, module.local)
            if "var.v" in value and self._is_new(module, "v"):
                return any(self.has(*found) for found in self._given(module))
            return False
        target = module.block(value.tag)
        if target is None or not self._is_new(module, value.tag):
            return False
        if target.mode == "module":
            used = self._configuration.source(target)
            return any(each.sensitive or self.has(used, each.value) for each in used.outputs)
        # An attribute of the type is secret by its schema, and so is whatever holds all of them.
        if target.type == "world_thing" and f"({target.address})" in rendered(module, value):
            return True
        return any(self.has(module, each) for each in target.arguments.values())

    def _given(self, module: Module) -> Iterator[tuple[Module, Value]]:
        for other in self._configuration.modules.values():
            for call in other.calls():
                if self._configuration.source(call) is module:
                    yield other, call.arguments["v"]

    def _is_new(self, module: Module, name: str) -> bool:
        known = len(self._seen)
        self._seen.add((module.directory, name))
        return len(self._seen) > known
