"""Values that a schema implies: for an empty body, and for an unknown one."""

from nigari import cty
from nigari.schema.block import Block, NestedBlock, Nesting


def empty_block(block: Block) -> cty.Value:
    """Build the value of a body without any arguments and blocks."""
    values = {name: cty.null(a.implied_type) for name, a in block.attributes.items()}
    for name, nested in block.blocks.items():
        values.setdefault(name, empty_nested(nested))
    return cty.object_value(values)


def empty_nested(nested: NestedBlock) -> cty.Value:
    """Build the value for the absence of blocks of this type."""
    inner = nested.block.implied_type
    # configschema (EmptyValue): a group block always exists, so its attributes are null instead.
    if nested.nesting is Nesting.GROUP:
        return empty_block(nested.block)
    # Elements of open type may differ in type, which only tuples and objects can hold.
    if nested.nesting is Nesting.LIST:
        return cty.EMPTY_TUPLE if inner.has_dynamic else cty.list_value(inner, ())
    if nested.nesting is Nesting.SET:
        return cty.set_value(inner, ())
    if nested.nesting is Nesting.MAP:
        return cty.EMPTY_OBJECT if inner.has_dynamic else cty.map_value(inner, {})
    return cty.null(inner)


def unknown_block(block: Block) -> cty.Value:
    """Build an object of the block's type in which every attribute is unknown."""
    types = block.implied_type.attributes
    return cty.object_value({name: cty.unknown(type_) for name, type_ in types.items()})
