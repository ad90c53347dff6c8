"""Validation of provider schemas, before anything else uses them.

A provider with a contradictory schema is reported by name, instead of failing later in odd ways.
Problems are plain sentences, which the caller turns into diagnostics.
"""

from collections.abc import Iterator

from nigari.lazy import lazy_pattern
from nigari.schema.block import Attribute, Block, NestedBlock, Nesting

_BLOCK_NAME = lazy_pattern(r"[a-z0-9_]+")


def problems(block: Block, prefix: str = "") -> Iterator[str]:
    """Yield the problems of a block, one sentence each."""
    for name, attribute in block.attributes.items():
        yield from _attribute_problems(attribute, prefix + name)
    for name, nested in block.blocks.items():
        where = prefix + name
        if name in block.attributes:
            yield f"{where}: the name is used for both an attribute and a nested block"
        if not _BLOCK_NAME.fullmatch(name):
            yield f"{where}: a name can contain only lowercase letters, digits and underscores"
        yield from _nested_problems(nested, where)
        yield from problems(nested.block, where + ".")


def _attribute_problems(attribute: Attribute, where: str) -> Iterator[str]:
    if not (attribute.optional or attribute.required or attribute.computed):
        yield f"{where}: must be required, optional or computed"
    if attribute.required and (attribute.optional or attribute.computed):
        yield f"{where}: a required attribute cannot be optional or computed as well"
    if attribute.write_only and attribute.computed:
        yield f"{where}: a write-only attribute cannot be computed"
    nested = attribute.nested
    if (attribute.type is None) == (nested is None):
        yield f"{where}: must have either a type or nested attributes"
    if nested is None:
        return
    if nested.nesting is Nesting.GROUP:
        yield f"{where}: nested attributes cannot form a group"
    if nested.nesting is Nesting.SET and nested.implied_type.has_dynamic:
        yield f"{where}: elements of a set must have a fixed type"
    for name, inner in nested.attributes.items():
        yield from _attribute_problems(inner, f"{where}.{name}")


def _nested_problems(nested: NestedBlock, where: str) -> Iterator[str]:
    least, most = nested.min_items, nested.max_items
    if least < 0 or most < 0:
        yield f"{where}: limits cannot be negative"
    if nested.nesting is Nesting.SINGLE:
        if least != most or least > 1:
            yield f"{where}: limits of a single block must both be 0 or both be 1"
    elif nested.nesting in (Nesting.GROUP, Nesting.MAP):
        if least or most:
            yield f"{where}: a {nested.nesting.value} of blocks cannot have limits"
    elif most and least > most:
        yield f"{where}: the lower limit is above the upper limit"
    if nested.nesting is Nesting.SET and nested.block.implied_type.has_dynamic:
        yield f"{where}: elements of a set must have a fixed type"
