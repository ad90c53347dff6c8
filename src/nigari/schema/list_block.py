"""The schema of `list` blocks: the configuration that a provider defines, with what every query has.

A query returns objects of a resource type that has an identity, as data with their names.
"""

from __future__ import annotations

from nigari import cty
from nigari.schema.block import Attribute, Block, NestedBlock, Nesting
from nigari.schema.provider import ProviderSchema, Schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


CONFIG: Final = "config"
LIMIT: Final = "limit"
INCLUDE_RESOURCE: Final = "include_resource"
DEFAULT_LIMIT: Final = 100
"""Terraform's limit for a query without one."""


def list_schema(offered: ProviderSchema, type_name: str) -> Schema | None:
    """Wrap the configuration of a query; None if the provider has no such query."""
    config = offered.list_resources.get(type_name)
    if config is None:
        return None
    attributes = {
        LIMIT: Attribute(cty.NUMBER, optional=True),
        INCLUDE_RESOURCE: Attribute(cty.BOOL, optional=True),
    }
    if any(each.required for each in config.block.attributes.values()):
        nested = NestedBlock(config.block, Nesting.SINGLE, 1, 1)
    else:
        # Without the block, the provider gets an object without values.
        nested = NestedBlock(config.block, Nesting.GROUP)
    return Schema(Block(attributes, {CONFIG: nested}), config.version)


def result_type(listed: Schema) -> cty.Type:
    """Return the type of one object that a query finds."""
    identity = cty.DYNAMIC if listed.identity is None else listed.identity.implied_type
    return cty.ObjectType(
        {"display_name": cty.STRING, "identity": identity, "state": listed.block.implied_type}
    )
