"""The schema of `list` blocks: the configuration that a provider defines, with what every query has.

A query returns objects of a resource type that has an identity, as data with their names.
"""

from __future__ import annotations

from nigari import cty
from nigari.schema.block import Attribute, Block
from nigari.schema.config_block import CONFIG, config_block
from nigari.schema.provider import ProviderSchema, Schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


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
    return Schema(Block(attributes, {CONFIG: config_block(config.block)}), config.version)


def result_type(listed: Schema) -> cty.Type:
    """Return the type of one object that a query finds."""
    identity = cty.DYNAMIC if listed.identity is None else listed.identity.implied_type
    return cty.ObjectType(
        {"display_name": cty.STRING, "identity": identity, "state": listed.block.implied_type}
    )
