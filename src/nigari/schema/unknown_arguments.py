"""Detection of required arguments with unknown values."""

from nigari import cty
from nigari.schema.block import Block, Nesting


def lacks_required(block: Block, value: cty.Value) -> bool:
    """Check for an unknown required argument in a block or in its nested blocks."""
    if value.is_wholly_known:
        return False
    if not value.is_known:
        return True
    if value.is_null:
        return False
    parts = value.mapping()
    if any(
        each.required and not parts[name].is_wholly_known for name, each in block.attributes.items()
    ):
        return True
    for name, nested in block.blocks.items():
        found = parts[name]
        is_one = nested.nesting in (Nesting.SINGLE, Nesting.GROUP)
        if not found.is_known:
            if nested.min_items > 0:
                return True
            continue
        for each in (found,) if is_one else () if found.is_null else found.elements():
            if lacks_required(nested.block, each):
                return True
    return False
