"""Schemas of one provider: its resources, and the signatures of its functions.

A schema is a block with a version, so that stored state can be upgraded. Deliberately unknown here:
how a schema is obtained, and how to call the provider.
"""

from __future__ import annotations

from collections.abc import Mapping

from nigari import cty
from nigari.record import record
from nigari.schema.block import Block

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, Never


_NONE: Final[Mapping[str, Never]] = {}


@record
class IdentitySchema:
    """Identity of a remote object, in addition to the resource's attributes."""

    version: int
    attributes: Mapping[str, cty.Type]
    required_for_import: frozenset[str] = frozenset()
    optional_for_import: frozenset[str] = frozenset()
    descriptions: Mapping[str, str] = _NONE

    @property
    def implied_type(self) -> cty.Type:
        return cty.ObjectType(self.attributes)

    @property
    def import_type(self) -> cty.Type:
        """Type of an identity in an import block, which may omit attributes."""
        return cty.ObjectType(dict(self.attributes), self.optional_for_import)


@record
class Schema:
    """A block and its schema version."""

    block: Block
    version: int = 0
    identity: IdentitySchema | None = None


@record
class FunctionParameter:
    """One parameter of a provider-defined function."""

    name: str
    type: cty.Type
    allow_null: bool = False
    allow_unknown: bool = False
    description: str = ""
    markdown: bool = False


@record
class FunctionSignature:
    """Parameters and result of a provider-defined function."""

    parameters: tuple[FunctionParameter, ...]
    returns: cty.Type
    variadic: FunctionParameter | None = None
    summary: str = ""
    description: str = ""
    markdown: bool = False
    deprecation_message: str = ""

    def parameter(self, index: int) -> FunctionParameter | None:
        """Return the parameter that receives the argument at `index`, if any."""
        if index < len(self.parameters):
            return self.parameters[index]
        return self.variadic


@record
class ProviderSchema:
    """All schemas of a provider."""

    provider: Schema
    resources: Mapping[str, Schema] = _NONE
    data_sources: Mapping[str, Schema] = _NONE
    ephemeral_resources: Mapping[str, Schema] = _NONE
    list_resources: Mapping[str, Schema] = _NONE
    """Configurations of queries, by the type of the resources that they list."""
    actions: Mapping[str, Schema] = _NONE
    """Configurations of actions, by their type."""
    functions: Mapping[str, FunctionSignature] = _NONE
    provider_meta: Schema | None = None
    plans_destroy: bool = False
    """True if the provider wants to plan the destruction of its resources."""
    moves_state: bool = False
    """True if the provider can take over state of another resource type."""
    faults: Mapping[str, str] = _NONE
    """Reasons why types named by the provider are unusable, for each requested type."""
    schema_call_optional: bool = False
    """True if a new provider process works before it is asked for its schema."""
    is_configurable: bool = True
    """True if `provider` blocks have a schema, even an empty one."""
