"""The files of a configuration.

A reference is written anew each time, in a form that suits how its target is repeated by then, and
becomes a literal where the target is gone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

from fuzz.story.configuration import (
    EACH,
    EPHEMERAL_OUTPUT,
    KEYS_OUTPUT,
    ROOT,
    SECOND,
    Block,
    Configuration,
    Module,
    Output,
    Part,
    Reference,
    Repetition,
    Value,
)
from tests.real.case_files import MAIN, Files

_LABELS: Final = {"world_thing": "result", "terraform_data": "id", "world_fact": "value"}
_MODULES: Final = ".terraform/modules/modules.json"


def files(configuration: Configuration) -> Files:
    """The files of a working directory that needs no `init`."""
    return {
        **{
            MAIN if name == ROOT else f"{name}/{MAIN}": _module_text(configuration, module)
            for name, module in configuration.modules.items()
        },
        _MODULES: _installed(configuration),
    }


def _installed(configuration: Configuration) -> str:
    entries = [{"Key": "", "Source": "", "Dir": "."}]
    pending = [("", configuration.root)]
    while pending:
        prefix, module = pending.pop()
        for call in module.calls():
            used = configuration.source(call)
            way = "./" if module is configuration.root else "../"
            key = f"{prefix}{call.name}"
            found = {"Key": key, "Source": f"{way}{used.directory}", "Dir": used.directory}
            entries.append(found)
            pending.append((f"{key}.", used))
    return json.dumps({"Modules": entries})


def _module_text(configuration: Configuration, module: Module) -> str:
    is_root = module.directory == ROOT
    own = _root_parts(configuration) if is_root else _child_parts(configuration, module)
    parts = [_required(configuration, module), *own]
    parts.append(f"locals {{\n  l = {rendered(module, module.local)}\n}}\n")
    parts += [_block_text(configuration, module, block) for block in module.blocks]
    for output in module.outputs:
        is_sensitive = output.sensitive or Secrets(configuration).has(module, output.value)
        sensitive = "  sensitive = true\n" if is_sensitive else ""
        parts.append(
            f'output "{output.name}" {{\n  value = {rendered(module, output.value)}\n{sensitive}'
            f"{_output_rest(module, output)}}}\n"
        )
    for check, value, fact in module.checks:
        data = f'  data "world_fact" "{check}" {{\n    key = "{fact}"\n  }}\n' if fact else ""
        seen = f'data.world_fact.{check}.value != "w1"' if fact else 'var.p != "w2"'
        parts.append(
            f'check "{check}" {{\n{data}  assert {{\n    condition     = ({rendered(module, value)})'
            f' != "w1" && {seen}\n    error_message = "no"\n  }}\n}}\n'
        )
    return "\n".join(parts)


def _output_rest(module: Module, output: Output) -> str:
    """What an output has besides its value."""
    needed = _addresses(module, output.depends_on)
    text = f"  depends_on = [{', '.join(needed)}]\n" if needed else ""
    if output.condition:
        text += (
            "  precondition {\n"
            f'    condition     = ({rendered(module, output.condition)}) != "w2"\n'
            '    error_message = "no"\n  }\n'
        )
    return text


def _variable(module: Module, default: str) -> str:
    """The variable `v`."""
    null = "" if module.nullable else "  nullable = false\n"
    validation = (
        f"  validation {{\n    condition     = var.v != {module.refused}\n"
        '    error_message = "no"\n  }\n'
    )
    return (
        f'variable "v" {{\n  default = {default}\n{null}{validation if module.refused else ""}}}\n'
    )


def _required(configuration: Configuration, module: Module) -> str:
    has_second = configuration.has_second and module.directory != ROOT
    aliases = f", configuration_aliases = [{SECOND}]" if has_second else ""
    return (
        "terraform {\n  required_providers {\n"
        f'    world = {{ source = "hashicorp/world"{aliases} }}\n  }}\n}}\n'
    )


def _child_parts(configuration: Configuration, module: Module) -> Iterator[str]:
    yield (
        f'variable "p" {{\n  type = string\n}}\n{_variable(module, chr(34) + "d" + chr(34))}'
        'variable "s" {\n  default   = "s"\n  sensitive = true\n}\n'
    )
    yield _common_variables("true", '{ a = {}, c = { value = "w1" } }')
    likes = [
        each for each in module.blocks if each.is_managed and each.repetition.kind == "for_each"
    ]
    keys = f"{likes[0].address} : k => k" if likes else "var.many : k => o.value"
    yield f'output "{KEYS_OUTPUT}" {{\n  value = {{ for k, o in {keys} }}\n}}\n'
    if configuration.has_ephemeral:
        yield f'output "{EPHEMERAL_OUTPUT}" {{\n  value     = var.e\n  ephemeral = true\n}}\n'
    yield from _moved(module.moves)


def _common_variables(on: str, many: str) -> str:
    return (
        f'variable "on" {{\n  type    = bool\n  default = {on}\n}}\n'
        'variable "many" {\n  type = map(object({ value = optional(string, "d"), '
        f"force = optional(string) }}))\n  default = {many}\n}}\n"
        'variable "e" {\n  default   = "e"\n  ephemeral = true\n}\n'
    )


def _moved(moves: list[tuple[str, str]]) -> Iterator[str]:
    for old, new in moves:
        yield f"moved {{\n  from = {old}\n  to   = {new}\n}}\n"


def _root_parts(configuration: Configuration) -> Iterator[str]:
    keys = ", ".join(f'"{key}"' for key in configuration.provider_keys)
    yield (
        'provider "world" {\n  label = "root"\n}\n'
        f'provider "world" {{\n  alias = "other"\n  label = {_label(configuration)}\n}}\n'
        f'provider "world" {{\n  alias    = "by"\n  for_each = toset([{keys}])\n'
        "  label    = each.key\n}\n"
    )
    given = configuration.variables
    yield f'variable "p" {{\n  default = ""\n}}\n{_variable(configuration.root, given["v"])}'
    yield configuration.mistake
    yield f'variable "s" {{\n  default   = {given["s"]}\n  sensitive = true\n}}\n'
    yield _common_variables(given["on"], given["many"])
    yield from _moved(configuration.moves)
    for address, destroy, command in configuration.removals:
        run = f'  provisioner "local-exec" {{\n    when    = destroy\n    command = "{command}"\n  }}\n'
        yield (
            f"removed {{\n  from = {address}\n  lifecycle {{\n    destroy = {destroy}\n  }}\n"
            f"{run if command else ''}}}\n"
        )
    for identifier, address, repeated in configuration.imports:
        several = f"  for_each = {repeated}\n" if repeated else ""
        yield f'import {{\n{several}  to = {address}\n  id = "{identifier}"\n}}\n'


def _label(configuration: Configuration) -> str:
    """What a provider is configured with: the first block, which needs no other and not that one."""
    first = next(iter(configuration.root.blocks), None)
    if not configuration.label or first is None or first.provider or first.type not in _LABELS:
        return "var.v"
    return rendered(
        configuration.root, Reference(first.tag, _LABELS[first.type], configuration.label)
    )


def _block_text(configuration: Configuration, module: Module, block: Block) -> str:
    labels = f'"{block.name}"' if block.mode == "module" else f'"{block.type}" "{block.name}"'
    lines = [f"{block.mode} {labels} {{", *_providers(configuration, block)]
    if block.repetition.kind in ("count", "for_each"):
        lines.append(f"  {block.repetition.kind} = {_repeated(module, block.repetition)}")
    for argument, given in block.arguments.items():
        lines.append(f"  {argument} = {_inside(module, block, given)}")
    lines += [_part(module, block, each, at) for at, each in enumerate(block.parts)]
    if needed := _addresses(module, block.depends_on):
        lines.append(f"  depends_on = [{', '.join(needed)}]")
    lines += _lifecycle(module, block)
    lines += [f'  provisioner "local-exec" {{\n{text}  }}' for text in block.provisioners]
    return "\n".join([*lines, "}", ""])


def _providers(configuration: Configuration, block: Block) -> Iterator[str]:
    if block.mode != "module":
        if block.provider:
            yield f"  provider = {block.provider}"
    elif configuration.has_second:
        passed = f"    world = {block.provider or 'world'}\n    {SECOND} = {block.second}"
        yield f"  providers = {{\n{passed}\n  }}"
    elif block.provider:
        yield f"  providers = {{\n    world = {block.provider}\n  }}"


def _inside(module: Module, block: Block, value: Value) -> str:
    """The text of a value inside a block."""
    return block.repetition.each if value == EACH else rendered(module, value)


def _part(module: Module, block: Block, part: Part, at: int) -> str:
    if part.repeated is None:
        return f'  part {{\n    key   = "k{at}"\n    value = {_inside(module, block, part.value)}\n  }}'
    repeated = part.repeated
    if isinstance(repeated, Reference):
        repeated = _written(module, repeated, _COLLECTIONS, "[]")
    name = part.iterator or "part"
    iterator = f"    iterator = {name}\n" if part.iterator else ""
    return (
        f'  dynamic "part" {{\n    for_each = {repeated}\n{iterator}    content {{\n'
        f'      key   = "${{{name}.key}}"\n'
        f"      value = try({name}.value.value, {name}.value)\n    }}\n  }}"
    )


def _lifecycle(module: Module, block: Block) -> list[str]:
    lines = [f"    {name} = {text}" for name, text in block.lifecycle.items()]
    if block.repetition.kind == "enabled":
        lines.append(f"    enabled = {block.repetition.expression}")
    if triggers := _addresses(module, block.triggers):
        lines.append(f"    replace_triggered_by = [{', '.join(triggers)}]")
    for kind, value in block.conditions.items():
        seen = "self.value" if kind == "postcondition" else _inside(module, block, value)
        refused = "w2" if kind == "postcondition" else "w1"
        lines.append(
            f'    {kind} {{\n      condition     = ({seen}) != "{refused}" && var.p != "w2"\n      error_message = "no"\n    }}'
        )
    return ["  lifecycle {", *lines, "  }"] if lines else []


def _addresses(module: Module, tags: list[str]) -> list[str]:
    blocks = [module.block(tag) for tag in tags]
    return [block.address for block in blocks if block is not None]


def _repeated(module: Module, repetition: Repetition) -> str:
    target = module.block(repetition.like) if repetition.like else None
    if target is None:
        return repetition.expression
    kind = target.repetition.kind
    if repetition.kind == "count":
        return f"length({target.address})" if kind == "count" else "1"
    if kind == "for_each":
        forms = (
            "toset(keys(@))",
            "@",
            "{ for k, o in @ : k => k }",
            'toset([for k, o in @ : "${k}x"])',
        )
        return forms[repetition.form % len(forms)].replace("@", target.address)
    if target.mode != "module":
        return 'toset(["a"])'
    ways = {"": "@.%", "count": "try(@[0].%, {})", "enabled": "try(@.%, {})"}
    return ways[kind].replace("@", target.address).replace("%", KEYS_OUTPUT)


def rendered(module: Module, value: Value) -> str:
    """The text of a value inside a module."""
    if isinstance(value, str):
        return Repetition().each if value == EACH else value
    return _written(module, value, _FORMS, '"gone"')


def _written(
    module: Module, value: Reference, ways: Mapping[str, tuple[str, ...]], gone: str
) -> str:
    """A reference in a form that suits how its target is repeated by now."""
    target = module.block(value.tag)
    if target is None:
        return gone
    forms = ways[target.repetition.kind]
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
        'try(one(@[*].%), "many")',
        'element(concat(@[*].%, ["none"]), 0)',
        'var.on ? try(@[0].%, null) : "off"',
    ),
    "for_each": (
        'join(",", values(@)[*].%)',
        'try(@["a"].%, "none")',
        'contains(keys(@), "b") ? @["b"].% : "none"',
        "jsonencode({ for k, o in @ : k => o.% })",
        "jsonencode(@)",
        'join(",", keys(@))',
        'lookup({ for k, o in @ : k => o.% }, "c", "none")',
        "jsonencode(zipmap(keys(@), values(@)[*].%))",
        'jsonencode(flatten([for k, o in @ : [k, o.%] if k != "b"]))',
    ),
    "enabled": (
        'try(@.%, "none")',
        '@ != null ? @.% : "none"',
        'join(",", @[*].%)',
        "jsonencode(try(@.%, null))",
    ),
}
"""How a block is referred to, by how it is repeated; `@` is its address, `%` the attribute."""

_COLLECTIONS: Final = {
    "": ("[@.%]", "compact([@.%])"),
    "count": ("@[*].%", "[for o in @ : o.%]"),
    "for_each": ("{ for k, o in @ : k => o.% }", "values(@)[*].%"),
    "enabled": ("@[*].%",),
}
"""How a block is written where it repeats a nested block."""


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
