"""The `config` block of queries and actions, which has the arguments that a provider defines."""

from __future__ import annotations

from nigari.schema.block import Block, NestedBlock, Nesting
from nigari.schema.provider import ProviderSchema, Schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


CONFIG: Final = "config"


def config_block(config: Block) -> NestedBlock:
    """Wrap a provider's configuration, so that the block is required if one of its arguments is."""
    if any(each.required for each in config.attributes.values()):
        return NestedBlock(config, Nesting.SINGLE, 1, 1)
    # Without the block, the provider gets an object without values.
    return NestedBlock(config, Nesting.GROUP)


def action_schema(offered: ProviderSchema, type_name: str) -> Schema | None:
    """Build the schema of an `action` block; None if the provider has no such action."""
    config = offered.actions.get(type_name)
    if config is None:
        return None
    return Schema(Block({}, {CONFIG: config_block(config.block)}), config.version)
