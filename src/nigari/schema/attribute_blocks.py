"""Attributes that may be written as nested blocks, as in configurations for old providers.

Providers built on the old SDK have attributes that are lists or sets of objects, such as the rules
of a firewall, whose elements are usually written as blocks. The schema does not mark them: as in
OpenTofu, the block form is allowed unless the schema shows that its provider is of a newer kind.
Deliberately unknown here: how bodies are decoded.
"""

from nigari import cty
from nigari.schema.block import Attribute, Block

_PRIMITIVE = (cty.STRING, cty.NUMBER, cty.BOOL)


def are_allowed(block: Block) -> bool:
    """Check whether attributes in bodies of this block may be written as nested blocks."""
    return all(map(_is_of_old_kind, block.attributes.values())) and all(
        are_allowed(nested.block) for nested in block.blocks.values()
    )


def element_block(type_: cty.Type | None) -> Block | None:
    """Build the schema of a block that represents one element of an attribute; None if there is
    none.

    A type does not mark required attributes, so all are optional.
    """
    if not isinstance(type_, cty.ListType | cty.SetType):
        return None
    element = type_.element
    if not isinstance(element, cty.ObjectType):
        return None
    return Block({name: Attribute(t, optional=True) for name, t in element.attributes.items()})


def _is_of_old_kind(attribute: Attribute) -> bool:
    """Check that the old SDK could have such an attribute."""
    type_ = attribute.type
    if type_ is None or isinstance(type_, cty.TupleType | cty.ObjectType):
        return False
    if not isinstance(type_, cty.ListType | cty.SetType | cty.MapType):
        return True
    element = type_.element
    if isinstance(element, cty.ObjectType):
        return not isinstance(type_, cty.MapType)
    if isinstance(element, cty.ListType | cty.SetType | cty.MapType):
        return element.element in _PRIMITIVE
    return True
