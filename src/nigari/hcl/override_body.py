"""Override bodies: a base body whose items a second body replaces, as in override files.

Arguments are replaced by name, nested blocks by type: one block in the override replaces all blocks
of its type in the base. A `dynamic` block counts as the type that it produces. Blocks of the types
in `merged_types` are merged argument by argument instead. An item that can be an argument or blocks
is replaced in either form. Only the base must have the required items.
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
    """A base body and an override, which takes precedence."""

    __slots__ = ("base", "merged_types", "override")

    base: Body
    override: Body
    merged_types: frozenset[str]

    def __init__(
        self, base: Body, override: Body, merged_types: frozenset[str] = frozenset()
    ) -> None:
        self.base = base
        self.override = override
        self.merged_types = merged_types

    def __reduce__(self) -> tuple[object, ...]:
        return reduced(self, ("base", "override", "merged_types"))

    @property
    def missing_item_range(self) -> Range:
        return self.base.missing_item_range

    def content(self, schema: BodySchema, diags: Diagnostics) -> Content:
        override = self.override.content(_all_optional(schema), diags)
        return self._merge(schema, self.base.content(schema, diags), override)

    def partial_content(self, schema: BodySchema, diags: Diagnostics) -> tuple[Content, Body]:
        base, base_rest = self.base.partial_content(schema, diags)
        override, override_rest = self.override.partial_content(_all_optional(schema), diags)
        content = self._merge(schema, base, override)
        return content, OverrideBody(base_rest, override_rest, self.merged_types)

    def just_attributes(self, diags: Diagnostics) -> dict[str, Attribute]:
        return {**self.base.just_attributes(diags), **self.override.just_attributes(diags)}

    def _merge(self, schema: BodySchema, base: Content, override: Content) -> Content:
        # Override files: one nested block replaces all blocks of its type, since they
        # cannot be matched to each other.
        replaced = {_made_type(block) for block in override.blocks}
        attributes = {**base.attributes, **override.attributes}
        # Some names can be arguments or blocks: the override wins in either form.
        for name in _either_form(schema):
            if name in override.attributes:
                replaced.add(name)
            elif name in replaced:
                attributes.pop(name, None)
        kept = [block for block in base.blocks if _made_type(block) not in replaced]
        below = {block.type: block for block in base.blocks if block.type in self.merged_types}
        above = [_over(below.get(block.type), block) for block in override.blocks]
        return Content(attributes, kept + above, self)


def _over(base: Block | None, block: Block) -> Block:
    """Put a block over a base block, which provides the items that the override lacks."""
    if base is None:
        return block
    return block.with_body(OverrideBody(base.body, block.body))


def _all_optional(schema: BodySchema) -> BodySchema:
    """Make everything optional for the override: only the base must be complete."""
    return BodySchema(
        tuple([AttributeSchema(wanted.name) for wanted in schema.attributes]), schema.blocks
    )


def _either_form(schema: BodySchema) -> set[str]:
    names = {wanted.name for wanted in schema.attributes}
    return names.intersection([wanted.type for wanted in schema.blocks])


def _made_type(block: Block) -> str:
    return block.labels[0] if block.type == "dynamic" and block.labels else block.type
