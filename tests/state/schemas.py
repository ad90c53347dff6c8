"""Schemas for states in tests."""

from nigari import cty
from nigari.addrs.provider import Provider
from nigari.addrs.resource import Resource
from nigari.schema.block import Attribute, Block
from nigari.schema.provider import Schema

TERRAFORM_DATA = Schema(
    Block(
        {
            "id": Attribute(cty.STRING, computed=True),
            "input": Attribute(cty.DYNAMIC, optional=True),
            "output": Attribute(cty.DYNAMIC, computed=True),
            "triggers_replace": Attribute(cty.DYNAMIC, optional=True),
        }
    )
)


def builtin_schemas(provider: Provider, resource: Resource) -> Schema | None:
    """The schema of `terraform_data` and of nothing else."""
    return TERRAFORM_DATA if provider.is_builtin and resource.type == "terraform_data" else None
