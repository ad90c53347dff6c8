"""Attributes that people may write as nested blocks, because they were blocks once.

Providers of the old kind have attributes that are lists or sets of objects, such as the rules of a
firewall, whose elements are mostly written as blocks. A schema does not say so: it is allowed
wherever nothing in the schema shows that its provider is of a newer kind.
Deliberately unknown: how bodies are read.
"""

from nigari import cty
from nigari.schema.block import Attribute, Block

_PRIMITIVE = (cty.STRING, cty.NUMBER, cty.BOOL)


def are_allowed(block: Block) -> bool:
    """Whether attributes anywhere in bodies of this block may be written as nested blocks."""
    return all(map(_is_of_old_kind, block.attributes.values())) and all(
        are_allowed(nested.block) for nested in block.blocks.values()
    )


def element_block(type_: cty.Type | None) -> Block | None:
    """What one block may hold that stands for an element of an attribute; None if none may.

    A type does not say what is required, so nothing is.
    """
    if not isinstance(type_, cty.ListType | cty.SetType):
        return None
    element = type_.element
    if not isinstance(element, cty.ObjectType):
        return None
    return Block({name: Attribute(t, optional=True) for name, t in element.attributes.items()})


def _is_of_old_kind(attribute: Attribute) -> bool:
    """Whether a provider of the old kind could have such an attribute."""
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
