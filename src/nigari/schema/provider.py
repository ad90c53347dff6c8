"""Everything one provider offers: the schemas of its resources and the signatures of its functions.

A schema is a block with a version, so that stored state can be upgraded. Deliberately unknown: how
the schema was obtained, and how to call the provider.
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
    """What identifies a remote object, beside the resource's own attributes."""

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
        """What an identity that is written down may leave out."""
        return cty.ObjectType(dict(self.attributes), self.optional_for_import)


@record
class Schema:
    """A block and the version of its shape."""

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
    """What a provider-defined function takes and gives."""

    parameters: tuple[FunctionParameter, ...]
    returns: cty.Type
    variadic: FunctionParameter | None = None
    summary: str = ""
    description: str = ""
    markdown: bool = False
    deprecation_message: str = ""

    def parameter(self, index: int) -> FunctionParameter | None:
        """The parameter that takes the argument at `index`, if any does."""
        if index < len(self.parameters):
            return self.parameters[index]
        return self.variadic


@record
class ProviderSchema:
    """All that a provider can do."""

    provider: Schema
    resources: Mapping[str, Schema] = _NONE
    data_sources: Mapping[str, Schema] = _NONE
    ephemeral_resources: Mapping[str, Schema] = _NONE
    functions: Mapping[str, FunctionSignature] = _NONE
    provider_meta: Schema | None = None
    plans_destroy: bool = False
    """Whether the provider wants to be asked before one of its resources is destroyed."""
    moves_state: bool = False
    """Whether the provider says that it can take over state of another resource type."""
    faults: Mapping[str, str] = _NONE
    """Why a type that the provider names cannot be used, for each that somebody has asked for."""
    schema_call_optional: bool = False
    """Whether a new process of the provider works without having been asked for its schema."""
    is_configurable: bool = True
    """Whether there is a schema for `provider` blocks at all, be it an empty one."""
