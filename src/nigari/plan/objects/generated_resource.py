"""Generated configuration: the block that describes an imported object as it is.

Results of the provider and what is deprecated are left out. Secrets are not written down: null
stands for them, with a comment.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from nigari.addrs.resource import Resource
from nigari.cty.errors import CtyError
from nigari.cty.json import implied_type, value_from_json
from nigari.cty.paths import unknown_as_null
from nigari.cty.values import Value
from nigari.hcl.formatter import format as formatted
from nigari.hcl.render import render_key, render_value
from nigari.lang.marks import SENSITIVE
from nigari.schema.block import Attribute, Block, NestedAttributes, NestedBlock, Nesting

_SECRET = "# sensitive"


def written_resource(address: Resource, provider: str, block: Block, value: Value) -> str:
    """The block, formatted; the provider is named where it is not the usual one."""
    lines = [f'resource "{address.type}" "{address.name}" {{']
    if provider:
        lines.append(f"provider = {provider}")
    lines += _contents(block, unknown_as_null(value), is_top=True)
    lines.append("}\n")
    return formatted("\n".join(lines))


def written_import(address: Resource, provider: str, identity: Value) -> str:
    """The import block of an object, which its identity names."""
    lines = ["import {", f"to = {address}"]
    if provider:
        lines.append(f"provider = {provider}")
    parts = sorted(identity.mapping().items())
    lines.append("identity = {")
    lines += [f"{name} = {_expression(part)}" for name, part in parts if not part.is_null]
    lines.append("}\n}\n")
    return formatted("\n".join(lines))


def _contents(block: Block, value: Value, is_top: bool = False) -> Iterator[str]:
    yield from _attributes(block.attributes, value, is_top)
    members = value.unmark()[0].mapping()
    for name, nested in sorted(block.blocks.items()):
        if not nested.block.deprecated and name in members:
            yield from _blocks(name, nested, members[name])


def _attributes(
    attributes: Mapping[str, Attribute], value: Value, is_top: bool = False
) -> Iterator[str]:
    members = value.unmark()[0].mapping()
    for name, attribute in sorted(attributes.items()):
        if attribute.deprecated or not (attribute.required or attribute.optional):
            continue
        if is_top and name == "id" and attribute.computed and attribute.optional:
            # Old libraries of providers declare it where there is none.
            continue
        yield from _attribute(name, attribute, members[name])


def _attribute(name: str, attribute: Attribute, value: Value) -> Iterator[str]:
    comment = " # write-only" if attribute.write_only else ""
    if attribute.sensitive or SENSITIVE in value.marks:
        empty = "null" if attribute.nested is None else _empty(attribute.nested)
        yield f"{name} = {empty} {_SECRET}{' write-only' if comment else ''}"
    elif attribute.nested is None or value.unmark()[0].is_null:
        yield f"{name} = {_expression(value)}{comment}"
    else:
        yield from _nested(name, attribute.nested, value.unmark()[0])


def _empty(nested: NestedAttributes) -> str:
    return "{}" if nested.nesting in (Nesting.SINGLE, Nesting.MAP) else "[]"


def _nested(name: str, nested: NestedAttributes, value: Value) -> Iterator[str]:
    if nested.nesting is Nesting.SINGLE:
        yield f"{name} = {{"
        yield from _attributes(nested.attributes, value)
        yield "}"
        return
    if nested.nesting is Nesting.MAP:
        yield f"{name} = {{"
        for key, each in sorted(value.mapping().items()):
            yield from _element(f"{render_key(key)} = ", "", nested, each)
        yield "}"
        return
    yield f"{name} = ["
    for each in value.elements():
        yield from _element("", ",", nested, each)
    yield "]"


def _element(before: str, after: str, nested: NestedAttributes, value: Value) -> Iterator[str]:
    if SENSITIVE in value.marks:
        yield f"{before}{{}}{after} {_SECRET}"
        return
    yield f"{before}{{"
    yield from _attributes(nested.attributes, value)
    yield f"}}{after}"


def _blocks(name: str, nested: NestedBlock, value: Value) -> Iterator[str]:
    plain, marks = value.unmark()
    if plain.is_null:
        return
    if SENSITIVE in marks:
        yield f"{name} {{}} {_SECRET}"
        return
    if nested.nesting in (Nesting.SINGLE, Nesting.GROUP):
        yield from _block(name, nested.block, plain)
    elif nested.nesting is Nesting.MAP:
        for key, each in sorted(plain.mapping().items()):
            yield from _block(f'{name} "{key}"', nested.block, each)
    else:
        for each in plain.elements():
            yield from _block(name, nested.block, each)


def _block(header: str, block: Block, value: Value) -> Iterator[str]:
    if SENSITIVE in value.marks:
        yield f"{header} {{}} {_SECRET}"
        return
    yield f"{header} {{"
    yield from _contents(block, value)
    yield "}"


def _expression(value: Value) -> str:
    """A value as it would be written; a JSON document in a string as the call that makes it."""
    plain, _ = value.unmark_deep()
    text = plain.data.strip() if isinstance(plain.data, str) else ""
    if text[:1] in ("{", "["):
        try:
            return f"jsonencode({render_value(value_from_json(text, implied_type(text)))})"
        except CtyError:
            return render_value(plain)
    return render_value(plain)
