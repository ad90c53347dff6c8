"""Everything one provider offers: the schemas of its resources and the signatures of its functions.

A schema is a block with a version, so that stored state can be upgraded. Deliberately unknown: how
the schema was obtained, and how to call the provider.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from nigari import cty
from nigari.schema.block import Block


@dataclass(frozen=True)
class IdentitySchema:
    """What identifies a remote object, beside the resource's own attributes."""

    version: int
    attributes: Mapping[str, cty.Type]
    required_for_import: frozenset[str] = frozenset()
    optional_for_import: frozenset[str] = frozenset()
    descriptions: Mapping[str, str] = field(default_factory=dict)

    @property
    def implied_type(self) -> cty.Type:
        return cty.ObjectType(self.attributes)


@dataclass(frozen=True)
class Schema:
    """A block and the version of its shape."""

    block: Block
    version: int = 0
    identity: IdentitySchema | None = None


@dataclass(frozen=True, slots=True)
class FunctionParameter:
    """One parameter of a provider-defined function."""

    name: str
    type: cty.Type
    allow_null: bool = False
    allow_unknown: bool = False
    description: str = ""
    markdown: bool = False


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True)
class ProviderSchema:
    """All that a provider can do."""

    provider: Schema
    resources: Mapping[str, Schema] = field(default_factory=dict)
    data_sources: Mapping[str, Schema] = field(default_factory=dict)
    ephemeral_resources: Mapping[str, Schema] = field(default_factory=dict)
    functions: Mapping[str, FunctionSignature] = field(default_factory=dict)
    provider_meta: Schema | None = None
    plans_destroy: bool = False
    """Whether the provider wants to be asked before one of its resources is destroyed."""
    moves_state: bool = False
    """Whether the provider says that it can take over state of another resource type."""
    schema_call_optional: bool = False
    """Whether a new process of the provider works without having been asked for its schema."""
