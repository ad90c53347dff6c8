"""Reading a configuration body by a provider's schema.

The schema becomes a decoder specification of `nigari.hcl.decode`, once per block; decoding itself,
with its diagnostics, is done there.
"""

from nigari import cty
from nigari.diagnostics import Diagnostics
from nigari.hcl import decode as hcl_decode
from nigari.hcl import decode_blocks
from nigari.hcl.body import Body
from nigari.hcl.scope import Scope
from nigari.schema.block import Block, NestedBlock, Nesting
from nigari.schema.placeholders import empty_nested


def decode(block: Block, body: Body, scope: Scope, diags: Diagnostics) -> cty.Value:
    """The value of a body; of the block's implied type also after errors."""
    return hcl_decode.decode(body, decoder_spec(block), scope, diags)


def decoder_spec(block: Block) -> hcl_decode.Spec:
    """The specification that decodes bodies of this block."""
    found = block.remembered.get("decoder")
    if isinstance(found, hcl_decode.Spec):
        return found
    pieces: dict[str, hcl_decode.Spec] = {
        name: hcl_decode.Attr(name, attribute.spec_type, attribute.required)
        for name, attribute in block.attributes.items()
    }
    for name, nested in block.blocks.items():
        pieces.setdefault(name, _nested_spec(name, nested))
    spec = hcl_decode.Object(pieces)
    block.remembered["decoder"] = spec
    return spec


def _nested_spec(name: str, nested: NestedBlock) -> hcl_decode.Spec:
    inner = decoder_spec(nested.block)
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
