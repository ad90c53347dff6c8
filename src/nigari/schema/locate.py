"""Source ranges of parts of a value in a configuration body.

Used for diagnostics of providers, which only know values. A path is followed as far as the source
is literal: within an object constructor it ends at the entry, within a reference at the reference.
A path that no value of an argument could have does not refer to that argument.
"""

from nigari import cty
from nigari.cty.errors import Step
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.body import AttributeSchema, BlockSchema, Body, BodySchema
from nigari.hcl.static import expr_part, plain_key
from nigari.schema.attribute_blocks import element_block
from nigari.schema.block import Block, NestedBlock, Nesting


def locate(block: Block, body: Body, path: cty.Path | None) -> Range:
    """Return the tightest range for `path`; by default that of the body."""
    if not path or not isinstance(path[0], cty.GetAttr):
        return body.missing_item_range
    name = path[0].name
    if name in block.attributes:
        # Mistakes in the body were already reported when it was decoded.
        content, _ = body.partial_content(BodySchema((AttributeSchema(name),)), Diagnostics())
        attribute = content.attributes.get(name)
        if attribute is not None:
            if not _can_lead(block.attributes[name].implied_type, path[1:]):
                return body.missing_item_range
            return expr_part(attribute.expr, path[1:]).range
        element = element_block(block.attributes[name].type)
        if element is not None:
            return _in_blocks(NestedBlock(element, Nesting.LIST), body, name, path[1:])
    elif name in block.blocks:
        return _in_blocks(block.blocks[name], body, name, path[1:])
    return body.missing_item_range


def _in_blocks(nested: NestedBlock, body: Body, name: str, rest: cty.Path) -> Range:
    labels = ("key",) if nested.nesting is Nesting.MAP else ()
    schema = BodySchema(blocks=(BlockSchema(name, labels),))
    content, _ = body.partial_content(schema, Diagnostics())
    found = content.blocks_of(name)
    if nested.nesting not in (Nesting.SINGLE, Nesting.GROUP):
        if not rest or not isinstance(rest[0], cty.Index):
            return found[0].def_range if found else body.missing_item_range
        key = plain_key(rest[0])
        if nested.nesting is Nesting.MAP:
            found = [one for one in found if one.labels[:1] == [key]]
        elif isinstance(key, int) and 0 <= key < len(found):
            found = found[key : key + 1]
        elif len(found) != 1:
            # Set elements have no index, so with several blocks it could be any.
            return found[0].def_range if found else body.missing_item_range
        rest = rest[1:]
    if not found:
        return body.missing_item_range
    if not rest:
        return found[0].def_range
    return locate(nested.block, found[0].body, rest)


def _can_lead(type_: cty.Type, steps: cty.Path) -> bool:
    """Check whether values of a type can have the part that steps lead to."""
    for step in steps:
        if type_ is cty.DYNAMIC:
            return True
        inner = _part(type_, step)
        if inner is None:
            return False
        type_ = inner
    return True


def _part(type_: cty.Type, step: Step) -> cty.Type | None:
    if isinstance(type_, cty.ObjectType):
        # Providers that treat objects as maps address attributes by keys.
        name = step.name if isinstance(step, cty.GetAttr) else plain_key(step)
        return type_.attributes.get(name) if isinstance(name, str) else None
    if isinstance(step, cty.GetAttr):
        return None
    if isinstance(type_, cty.TupleType):
        at = plain_key(step)
        is_there = isinstance(at, int) and 0 <= at < len(type_.elements)
        return type_.elements[at] if isinstance(at, int) and is_there else None
    return type_.element if isinstance(type_, cty.CollectionType) else None
