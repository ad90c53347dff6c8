"""Text output of a state: `show` and `state show`.

Resembles configuration, aligned as in OpenTofu. Sensitive values are not shown. Deliberately
unknown here: colours and terminals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from nigari.addrs.absolute import instance_of
from nigari.addrs.keys import InstanceKey
from nigari.addrs.module import ModuleAddr
from nigari.addrs.resource import DATA
from nigari.cty import DYNAMIC, KIND_MAP, CtyError, Type, Value, numbers
from nigari.cty import json as cty_json
from nigari.cty.go_text import go_quote
from nigari.diagnostics import Diagnostics
from nigari.hcl.quoting import visible
from nigari.lang.marks import SENSITIVE
from nigari.lazy import lazy_pattern
from nigari.schema.block import Attribute, Block, NestedBlock, Nesting
from nigari.state.model import ObjectStatus, OutputState, ResourceState, State, StoredObject
from nigari.state.objects import SchemaLookup
from nigari.state.show.shown_object import shown_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_HIDDEN: Final = "(sensitive value)"
_IDENTIFIER: Final = lazy_pattern(r"[^\W\d][\w-]*")


def state_to_text(
    state: State, schemas: SchemaLookup, diags: Diagnostics, reveal: bool = False
) -> str:
    """Write the whole state, each module followed by those it calls.

    With `reveal`, sensitive values are shown.
    """
    modules: dict[ModuleAddr, list[str]] = {}
    for resource in state.in_order():
        shown = modules.setdefault(resource.address.module, [])
        for key, _ in resource.in_order():
            shown += instance_to_text(resource, key, schemas, diags, reveal)
    in_order = sorted(modules, key=_reading_order)
    text = "\n\n\n".join("\n\n".join(modules[module]) for module in in_order if modules[module])
    text += "\n" if text else ""
    if state.outputs:
        text += "\n\nOutputs:\n\n" + "".join(
            f"{name} = {output_to_text(state.outputs[name], reveal)}\n"
            for name in sorted(state.outputs)
        )
    return text


def _reading_order(module: ModuleAddr) -> tuple[str, ...]:
    texts = []
    while module.parent is not None:
        texts.append(module.text)
        module = module.parent
    return tuple(reversed(texts))


def instance_to_text(
    resource: ResourceState,
    key: InstanceKey,
    schemas: SchemaLookup,
    diags: Diagnostics,
    reveal: bool = False,
) -> list[str]:
    """Write the objects of one resource instance."""
    instance = resource.instances[key]
    objects = [] if instance.current is None else [("", instance.current)]
    objects += sorted(instance.deposed.items())
    return [
        text
        for deposed, stored in objects
        if (text := _object_to_text(resource, key, deposed, stored, schemas, diags, reveal))
        is not None
    ]


def output_to_text(output: OutputState, reveal: bool = False) -> str:
    """Write the value of an output."""
    if output.sensitive and not reveal:
        return _HIDDEN
    return value_to_text(output.value, output.value.type, 0)


def _object_to_text(
    resource: ResourceState,
    key: InstanceKey,
    deposed: str,
    stored: StoredObject,
    schemas: SchemaLookup,
    diags: Diagnostics,
    reveal: bool,
) -> str | None:
    item = resource.address.item
    address = instance_of(resource.address, key)
    schema = schemas(resource.provider.item.provider, item)
    value = shown_object(resource, address, stored, schema, diags)
    if schema is None or value is None:
        return None
    if reveal:
        value, _ = value.unmark_deep()
    note = ""
    if deposed:
        note = f" (deposed object {deposed})"
    elif stored.status is ObjectStatus.TAINTED:
        note = " (tainted)"
    keyword = "data" if item.mode is DATA else "resource"
    body = _block(schema.block, value, 0)
    return f'# {address}:{note}\n{keyword} "{item.type}" "{item.name}" {body}'


def _block(block: Block, value: Value, depth: int) -> str:
    if value.has_mark(SENSITIVE):
        return _braces([f"{_pad(depth + 1)}# {_HIDDEN}"], "{}", depth)
    parts = value.mapping()
    lines = _aligned(
        {
            name: _attribute(block.attributes[name], parts[name], depth + 1)
            for name in sorted(block.attributes)
            if not parts[name].is_null
        },
        depth + 1,
    )
    for name in sorted(block.blocks):
        nested = [
            f"{_pad(depth + 1)}{name}{label} {_block(block.blocks[name].block, each, depth + 1)}"
            for label, each in _nested(block.blocks[name], parts[name])
        ]
        if nested and lines:
            lines.append("")
        lines += nested
    return _braces(lines, "{}", depth)


def _nested(nested: NestedBlock, value: Value) -> Iterable[tuple[str, Value]]:
    if value.is_null:
        return []
    if nested.nesting in (Nesting.SINGLE, Nesting.GROUP):
        return [("", value)]
    if nested.nesting is Nesting.MAP:
        return [(f" {go_quote(key.as_string())}", each) for key, each in value.items()]
    return [("", each) for each in value.elements()]


def _attribute(attribute: Attribute, value: Value, depth: int) -> str:
    if attribute.nested is not None:
        return value_to_text(value, attribute.nested.implied_type, depth)
    return value_to_text(value, attribute.type or DYNAMIC, depth)


def value_to_text(value: Value, declared: Type, depth: int) -> str:
    """A value on a line at `depth`; where no type is declared, maps look like objects."""
    if value.has_mark(SENSITIVE):
        return _HIDDEN
    if value.is_null:
        return "null"
    data = value.data
    if isinstance(data, bool):
        return "true" if data else "false"
    if isinstance(data, str):
        return _string(data, depth)
    if isinstance(data, dict):
        is_map = value.type.kind == KIND_MAP and declared is not DYNAMIC
        shown = {
            name if not is_map and _IDENTIFIER.fullmatch(name) else go_quote(name): value_to_text(
                data[name], declared if declared is DYNAMIC else value.type, depth + 1
            )
            for name in sorted(data)
        }
        return _braces(_aligned(shown, depth + 1), "{}", depth)
    if isinstance(data, tuple):
        lines = [
            f"{_pad(depth + 1)}{value_to_text(each, declared, depth + 1)},"
            for each in value.elements()
        ]
        return _braces(lines, "[]", depth)
    return numbers.to_text(value.as_number())


def _string(text: str, depth: int) -> str:
    if text.lstrip()[:1] in ("{", "["):
        parsed = _json(text)
        if parsed is not None:
            inner = value_to_text(parsed, DYNAMIC, depth + 1)
            if "\n" not in inner:
                return f"jsonencode({inner})"
            return f"jsonencode(\n{_pad(depth + 1)}{inner}\n{_pad(depth)})"
    if "\n" in text:
        lines = visible(text).removesuffix("\n").split("\n")
        body = "".join(f"{_pad(depth + 1)}{line}\n" for line in lines)
        return f"<<-EOT\n{body}{_pad(depth)}EOT"
    return go_quote(text)


def _json(text: str) -> Value | None:
    try:
        return cty_json.implied_value_from_json(text)
    except CtyError:
        return None


def _aligned(shown: Mapping[str, str], depth: int) -> list[str]:
    width = max((len(name) for name in shown), default=0)
    return [f"{_pad(depth)}{name:<{width}} = {text}" for name, text in shown.items()]


def _braces(lines: list[str], pair: str, depth: int) -> str:
    if not lines:
        return pair
    return pair[0] + "\n" + "\n".join(lines) + "\n" + _pad(depth) + pair[1]


def _pad(depth: int) -> str:
    return "    " * depth
