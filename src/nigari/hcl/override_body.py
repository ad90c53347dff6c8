"""A body with another laid over it: what the second has, it has instead of the first.

Arguments are replaced one by one, nested blocks by type: one block in the second body replaces
all blocks of its type in the first. A `dynamic` block counts as the type it makes. Blocks of types
named by the caller are not replaced but laid over in the same way, argument by argument. What can
be written as an argument or as blocks is replaced in whichever form. The first body has whatever is
required; what the second does not have, it leaves alone.
"""

from __future__ import annotations

from nigari.cty.copying import reduced
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.body import (
    Attribute,
    AttributeSchema,
    Block,
    Body,
    BodySchema,
    Content,
)


class OverrideBody(Body):
    """Two bodies, the second of which wins."""

    __slots__ = ("base", "laid_over", "override")

    base: Body
    override: Body
    laid_over: frozenset[str]

    def __init__(self, base: Body, override: Body, laid_over: frozenset[str] = frozenset()) -> None:
        self.base = base
        self.override = override
        self.laid_over = laid_over

    def __reduce__(self) -> tuple[object, ...]:
        return reduced(self, ("base", "override", "laid_over"))

    @property
    def missing_item_range(self) -> Range:
        return self.base.missing_item_range

    def content(self, schema: BodySchema, diags: Diagnostics) -> Content:
        override = self.override.content(_all_optional(schema), diags)
        return self._laid_over(schema, self.base.content(schema, diags), override)

    def partial_content(self, schema: BodySchema, diags: Diagnostics) -> tuple[Content, Body]:
        base, base_rest = self.base.partial_content(schema, diags)
        override, override_rest = self.override.partial_content(_all_optional(schema), diags)
        content = self._laid_over(schema, base, override)
        return content, OverrideBody(base_rest, override_rest, self.laid_over)

    def just_attributes(self, diags: Diagnostics) -> dict[str, Attribute]:
        return {**self.base.just_attributes(diags), **self.override.just_attributes(diags)}

    def _laid_over(self, schema: BodySchema, base: Content, override: Content) -> Content:
        replaced = {_made_type(block) for block in override.blocks}
        attributes = {**base.attributes, **override.attributes}
        # Some names can be arguments or blocks: what is written last counts, in either form.
        for name in _either_form(schema):
            if name in override.attributes:
                replaced.add(name)
            elif name in replaced:
                attributes.pop(name, None)
        kept = [block for block in base.blocks if _made_type(block) not in replaced]
        below = {block.type: block for block in base.blocks if block.type in self.laid_over}
        above = [_over(below.get(block.type), block) for block in override.blocks]
        return Content(attributes, kept + above, self)


def _over(base: Block | None, block: Block) -> Block:
    """The block, with a block below it that answers for what it does not have."""
    if base is None:
        return block
    return block.with_body(OverrideBody(base.body, block.body))


def _all_optional(schema: BodySchema) -> BodySchema:
    """The same schema with nothing required: the body below is complete by itself."""
    return BodySchema(
        tuple([AttributeSchema(wanted.name) for wanted in schema.attributes]), schema.blocks
    )


def _either_form(schema: BodySchema) -> set[str]:
    names = {wanted.name for wanted in schema.attributes}
    return names.intersection([wanted.type for wanted in schema.blocks])


def _made_type(block: Block) -> str:
    return block.labels[0] if block.type == "dynamic" and block.labels else block.type
