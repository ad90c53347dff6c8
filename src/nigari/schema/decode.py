"""Decoding of configuration bodies by a provider schema.

The schema is converted to a specification for `nigari.hcl.decode` once per block; that module
decodes and reports mistakes.
"""

from nigari import cty
from nigari.diagnostics import Diagnostics
from nigari.hcl import decode as hcl_decode
from nigari.hcl import decode_blocks
from nigari.hcl.body import Body
from nigari.hcl.decode_either import ArgumentOrBlocks
from nigari.hcl.scope import Scope
from nigari.schema import attribute_blocks
from nigari.schema.block import Attribute, Block, NestedBlock, Nesting
from nigari.schema.placeholders import empty_nested


def decode(block: Block, body: Body, scope: Scope, diags: Diagnostics) -> cty.Value:
    """Decode a body. The value has the block's implied type even after errors."""
    return hcl_decode.decode(body, decoder_spec(block), scope, diags)


def decoder_spec(block: Block) -> hcl_decode.Object:
    """Build the specification that decodes bodies of this block, and cache it with the block."""
    found = block.cache.get("decoder")
    if isinstance(found, hcl_decode.Object):
        return found
    spec = hcl_decode.Object(_pieces(block, attribute_blocks.are_allowed(block)))
    block.cache["decoder"] = spec
    return spec


def _pieces(block: Block, either_form: bool) -> dict[str, hcl_decode.Spec]:
    """Build the pieces; with `either_form`, attributes of suitable type may be written as blocks."""
    pieces = {
        name: _attribute_spec(name, attribute, either_form)
        for name, attribute in block.attributes.items()
    }
    for name, nested in block.blocks.items():
        pieces.setdefault(name, _nested_spec(name, nested, either_form))
    return pieces


def _attribute_spec(name: str, attribute: Attribute, either_form: bool) -> hcl_decode.Spec:
    element = attribute_blocks.element_block(attribute.type) if either_form else None
    type_ = attribute.spec_type
    if element is None or not isinstance(type_, cty.ListType | cty.SetType):
        return hcl_decode.Attr(name, type_, attribute.required)
    # An absent block may be intentional, so the provider decides whether the attribute is required.
    return ArgumentOrBlocks(name, type_, decoder_spec(element))


def _nested_spec(name: str, nested: NestedBlock, either_form: bool) -> hcl_decode.Spec:
    pieces = _pieces(nested.block, either_form)
    # Repeated blocks are as sensitive as the collection that produces them. If they may also be
    # written as arguments, only their content is marked.
    is_one = nested.nesting in (Nesting.SINGLE, Nesting.GROUP)
    kind_of_object = hcl_decode.Object if either_form or is_one else hcl_decode.MarkedObject
    inner = kind_of_object(pieces)
    least, most = nested.min_items, nested.max_items
    # Elements of open type may differ in type, which only tuples and objects can hold.
    is_loose = nested.block.implied_type.has_dynamic
    match nested.nesting:
        case Nesting.SINGLE:
            return decode_blocks.SingleBlock(name, inner, least == 1)
        case Nesting.GROUP:
            group = decode_blocks.SingleBlock(name, inner, least == 1)
            return hcl_decode.Default(group, hcl_decode.LiteralValue(empty_nested(nested)))
        case Nesting.LIST:
            kind = decode_blocks.BlockTuple if is_loose else decode_blocks.BlockList
            return kind(name, inner, least, most)
        case Nesting.SET:
            return decode_blocks.BlockSet(name, inner, least, most)
        case Nesting.MAP:
            by_label = decode_blocks.BlockObject if is_loose else decode_blocks.BlockMap
            return by_label(name, ("key",), inner)
