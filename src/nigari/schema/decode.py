"""Reading a configuration body by a provider's schema.

The schema becomes a decoder specification of `nigari.hcl.decode`, once per block; decoding itself,
with its diagnostics, is done there.
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
    """The value of a body; of the block's implied type also after errors."""
    return hcl_decode.decode(body, decoder_spec(block), scope, diags)


def decoder_spec(block: Block) -> hcl_decode.Object:
    """The specification that decodes bodies of this block."""
    found = block.remembered.get("decoder")
    if isinstance(found, hcl_decode.Object):
        return found
    spec = hcl_decode.Object(_pieces(block, attribute_blocks.are_allowed(block)))
    block.remembered["decoder"] = spec
    return spec


def _pieces(block: Block, either_form: bool) -> dict[str, hcl_decode.Spec]:
    """With `either_form`, attributes may be written as blocks where their types are suitable."""
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
    # No block at all may be what is meant, so whether that will do is for the provider to say.
    return ArgumentOrBlocks(name, type_, decoder_spec(element))


def _nested_spec(name: str, nested: NestedBlock, either_form: bool) -> hcl_decode.Spec:
    pieces = _pieces(nested.block, either_form)
    # Blocks of which there may be several are as secret as what makes them. Where they may also be
    # written as arguments, only what is in them is.
    is_one = nested.nesting in (Nesting.SINGLE, Nesting.GROUP)
    kind_of_object = hcl_decode.Object if either_form or is_one else hcl_decode.MarkedObject
    inner = kind_of_object(pieces)
    least, most = nested.min_items, nested.max_items
    # Elements of no fixed type may differ in type, which only tuples and objects can hold.
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
