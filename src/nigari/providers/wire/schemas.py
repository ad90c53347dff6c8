"""Conversion of schemas between wire messages and `nigari.schema`, in both directions.

Large providers have thousands of resource types of which a configuration uses a few, so that each
schema is converted on first use.
"""

from collections.abc import Callable, ItemsView, Iterator, Mapping
from functools import lru_cache
from typing import Final, Generic, TypeVar

from nigari import cty
from nigari.hcl.quoting import quoted
from nigari.providers.wire import protocol5_pb2 as pb5
from nigari.providers.wire import protocol6_pb2 as pb
from nigari.schema.block import Attribute, Block, NestedAttributes, NestedBlock, Nesting
from nigari.schema.provider import (
    FunctionParameter,
    FunctionSignature,
    IdentitySchema,
    ProviderSchema,
    Schema,
)

_TYPES_KEPT: Final = 4096
"""Size of the cache of types: a large provider has tens of thousands of attributes, but far fewer
types.
"""

_Wire = TypeVar("_Wire")
_Ours = TypeVar("_Ours")

_AnySchema = pb.Schema | pb5.Schema
_AnyActionSchema = pb.ActionSchema | pb5.ActionSchema
_AnyBlock = pb.Schema.Block | pb5.Schema.Block
_AnyAttribute = pb.Schema.Attribute | pb5.Schema.Attribute
_AnyProviderSchema = pb.GetProviderSchema.Response | pb5.GetProviderSchema.Response

_NESTINGS: Final = {
    pb.Schema.NestedBlock.SINGLE: Nesting.SINGLE,
    pb.Schema.NestedBlock.LIST: Nesting.LIST,
    pb.Schema.NestedBlock.SET: Nesting.SET,
    pb.Schema.NestedBlock.MAP: Nesting.MAP,
    pb.Schema.NestedBlock.GROUP: Nesting.GROUP,
}
_WIRE_NESTINGS: Final = {nesting: number for number, nesting in _NESTINGS.items()}
_OBJECT_NESTINGS: Final = {
    pb.Schema.Object.SINGLE: Nesting.SINGLE,
    pb.Schema.Object.LIST: Nesting.LIST,
    pb.Schema.Object.SET: Nesting.SET,
    pb.Schema.Object.MAP: Nesting.MAP,
}
_WIRE_OBJECT_NESTINGS: Final = {nesting: n for n, nesting in _OBJECT_NESTINGS.items()}


class LazyMapping(Mapping[str, _Ours], Generic[_Wire, _Ours]):
    """A mapping whose values are converted on first use.

    Invalid entries appear missing, and `faults` records the reason.
    """

    def __init__(
        self,
        source: Mapping[str, _Wire],
        translate: Callable[[str, _Wire], _Ours],
        faults: dict[str, str],
    ) -> None:
        self._source = source
        # Protobuf maps have no order.
        self._names = dict.fromkeys(sorted(source))
        self._translate = translate
        self._faults = faults
        self._known: dict[str, _Ours] = {}

    def __getitem__(self, name: str) -> _Ours:
        found = self._known.get(name)
        if found is None:
            # A protobuf map creates an entry for every requested key, hence the second check.
            if name not in self._names:
                raise KeyError(name)
            try:
                found = self._known[name] = self._translate(name, self._source[name])
            except cty.CtyError as error:
                self._faults[name] = error.message
                raise KeyError(name) from None
        return found

    def items(self) -> ItemsView[str, _Ours]:
        """Return all valid entries."""
        return {name: self[name] for name in self._names if self.get(name) is not None}.items()

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def provider_schema(
    message: _AnyProviderSchema, identities: Mapping[str, pb.ResourceIdentitySchema]
) -> ProviderSchema:
    """Convert the schemas of a provider."""

    def resource(name: str, schema: _AnySchema) -> Schema:
        identity = identities.get(name)
        return _schema(schema, None if identity is None else identity_schema(identity))

    def plain(_name: str, schema: _AnySchema) -> Schema:
        return _schema(schema)

    def action(_name: str, schema: _AnyActionSchema) -> Schema:
        return _schema(schema.schema)

    # A typed name for each, because mypy does not unify the two protocols.
    resources: Mapping[str, _AnySchema] = message.resource_schemas
    data_sources: Mapping[str, _AnySchema] = message.data_source_schemas
    ephemeral: Mapping[str, _AnySchema] = message.ephemeral_resource_schemas
    lists: Mapping[str, _AnySchema] = message.list_resource_schemas
    actions: Mapping[str, _AnyActionSchema] = message.action_schemas
    faults: dict[str, str] = {}
    # Without metadata, providers send no message, or one without a block.
    has_meta = message.HasField("provider_meta") and message.provider_meta.HasField("block")
    return ProviderSchema(
        provider=_schema(message.provider),
        resources=LazyMapping(resources, resource, faults),
        data_sources=LazyMapping(data_sources, plain, faults),
        ephemeral_resources=LazyMapping(ephemeral, plain, faults),
        list_resources=LazyMapping(lists, plain, faults),
        actions=LazyMapping(actions, action, faults),
        functions=functions(message.functions),
        provider_meta=_schema(message.provider_meta) if has_meta else None,
        plans_destroy=message.server_capabilities.plan_destroy,
        moves_state=message.server_capabilities.move_resource_state,
        faults=faults,
        schema_call_optional=message.server_capabilities.get_provider_schema_optional,
    )


def functions(source: Mapping[str, pb.Function]) -> Mapping[str, FunctionSignature]:
    """Convert signatures of provider-defined functions."""
    return {name: _function(source[name]) for name in sorted(source)}


def identity_schema(message: pb.ResourceIdentitySchema) -> IdentitySchema:
    """Convert an identity schema."""
    attributes = message.identity_attributes
    return IdentitySchema(
        version=message.version,
        attributes={a.name: _type(a.type) for a in attributes},
        required_for_import=frozenset(a.name for a in attributes if a.required_for_import),
        optional_for_import=frozenset(a.name for a in attributes if a.optional_for_import),
        descriptions={a.name: a.description for a in attributes if a.description},
    )


def _schema(message: _AnySchema, identity: IdentitySchema | None = None) -> Schema:
    return Schema(_block(message.block), message.version, identity)


def _block(message: _AnyBlock) -> Block:
    attributes: dict[str, Attribute] = {}
    for attribute in message.attributes:
        attributes[attribute.name] = _attribute(attribute)
    blocks: dict[str, NestedBlock] = {}
    for nested in message.block_types:
        nesting = _NESTINGS.get(nested.nesting)
        # Nesting mode 0 is INVALID, the default of the field.
        if nesting is None:
            raise cty.CtyError(f"nested block {quoted(nested.type_name)} has no nesting mode")
        blocks[nested.type_name] = NestedBlock(
            _block(nested.block),
            nesting,
            nested.min_items,
            nested.max_items,
            # Protocol 6.11 has computed blocks; protocol 5 has not.
            isinstance(nested.block, pb.Schema.Block) and nested.block.computed,
        )
    return Block(
        attributes,
        blocks,
        message.description,
        message.description_kind == pb.MARKDOWN,
        message.deprecated,
        message.deprecation_message,
    )


def _attribute(message: _AnyAttribute) -> Attribute:
    nested: NestedAttributes | None = None
    # Protocol 5 has no nested attributes.
    if isinstance(message, pb.Schema.Attribute) and message.HasField("nested_type"):
        nesting = _OBJECT_NESTINGS.get(message.nested_type.nesting)
        if nesting is None:
            raise cty.CtyError(f"attribute {quoted(message.name)} has no nesting mode")
        inner = {a.name: _attribute(a) for a in message.nested_type.attributes}
        nested = NestedAttributes(inner, nesting)
    return Attribute(
        type=_type(message.type) if nested is None else None,
        nested=nested,
        required=message.required,
        optional=message.optional,
        computed=message.computed,
        sensitive=message.sensitive,
        write_only=message.write_only,
        description=message.description,
        markdown=message.description_kind == pb.MARKDOWN,
        deprecated=message.deprecated,
        deprecation_message=message.deprecation_message,
    )


def _function(message: pb.Function) -> FunctionSignature:
    returns = getattr(message, "return")
    has_variadic = message.HasField("variadic_parameter")
    return FunctionSignature(
        parameters=tuple(_parameter(p) for p in message.parameters),
        returns=_type(returns.type),
        variadic=_parameter(message.variadic_parameter) if has_variadic else None,
        summary=message.summary,
        description=message.description,
        markdown=message.description_kind == pb.MARKDOWN,
        deprecation_message=message.deprecation_message,
    )


def _parameter(message: pb.Function.Parameter) -> FunctionParameter:
    return FunctionParameter(
        message.name,
        _type(message.type),
        message.allow_null_value,
        message.allow_unknown_values,
        message.description,
        message.description_kind == pb.MARKDOWN,
    )


@lru_cache(maxsize=_TYPES_KEPT)
def _type(json: bytes) -> cty.Type:
    return cty.type_from_json(json)


def provider_schema_message(schema: ProviderSchema) -> pb.GetProviderSchema.Response:
    """Encode the schema of a provider in this process."""
    message = pb.GetProviderSchema.Response(
        provider=_schema_message(schema.provider),
        server_capabilities=pb.ServerCapabilities(
            plan_destroy=schema.plans_destroy,
            move_resource_state=schema.moves_state,
            get_provider_schema_optional=schema.schema_call_optional,
        ),
    )
    for name, resource in schema.resources.items():
        message.resource_schemas[name].CopyFrom(_schema_message(resource))
    for name, source in schema.data_sources.items():
        message.data_source_schemas[name].CopyFrom(_schema_message(source))
    for name, ephemeral in schema.ephemeral_resources.items():
        message.ephemeral_resource_schemas[name].CopyFrom(_schema_message(ephemeral))
    for name, listed in schema.list_resources.items():
        message.list_resource_schemas[name].CopyFrom(_schema_message(listed))
    for name, action in schema.actions.items():
        message.action_schemas[name].CopyFrom(pb.ActionSchema(schema=_schema_message(action)))
    for name, function in schema.functions.items():
        message.functions[name].CopyFrom(function_message(function))
    if schema.provider_meta is not None:
        message.provider_meta.CopyFrom(_schema_message(schema.provider_meta))
    return message


def function_message(signature: FunctionSignature) -> pb.Function:
    """Encode a function's signature."""
    message = pb.Function(
        parameters=[_parameter_message(p) for p in signature.parameters],
        summary=signature.summary,
        description=signature.description,
        description_kind=_kind(signature.markdown),
        deprecation_message=signature.deprecation_message,
    )
    # The field's name is a Python keyword, so it cannot be passed as an argument.
    getattr(message, "return").type = _type_json(signature.returns)
    if signature.variadic is not None:
        message.variadic_parameter.CopyFrom(_parameter_message(signature.variadic))
    return message


def _parameter_message(parameter: FunctionParameter) -> pb.Function.Parameter:
    return pb.Function.Parameter(
        name=parameter.name,
        type=_type_json(parameter.type),
        allow_null_value=parameter.allow_null,
        allow_unknown_values=parameter.allow_unknown,
        description=parameter.description,
        description_kind=_kind(parameter.markdown),
    )


def _schema_message(schema: Schema) -> pb.Schema:
    return pb.Schema(version=schema.version, block=_block_message(schema.block))


def _block_message(block: Block, computed: bool = False) -> pb.Schema.Block:
    return pb.Schema.Block(
        computed=computed,
        attributes=[_attribute_message(n, a) for n, a in sorted(block.attributes.items())],
        block_types=[
            pb.Schema.NestedBlock(
                type_name=name,
                block=_block_message(nested.block, nested.computed),
                nesting=_WIRE_NESTINGS[nested.nesting],
                min_items=nested.min_items,
                max_items=nested.max_items,
            )
            for name, nested in sorted(block.blocks.items())
        ],
        description=block.description,
        description_kind=_kind(block.markdown),
        deprecated=block.deprecated,
        deprecation_message=block.deprecation_message,
    )


def _attribute_message(name: str, attribute: Attribute) -> pb.Schema.Attribute:
    message = pb.Schema.Attribute(
        name=name,
        required=attribute.required,
        optional=attribute.optional,
        computed=attribute.computed,
        sensitive=attribute.sensitive,
        write_only=attribute.write_only,
        description=attribute.description,
        description_kind=_kind(attribute.markdown),
        deprecated=attribute.deprecated,
        deprecation_message=attribute.deprecation_message,
    )
    if attribute.nested is None:
        message.type = _type_json(attribute.implied_type)
        return message
    for inner_name, inner in sorted(attribute.nested.attributes.items()):
        message.nested_type.attributes.append(_attribute_message(inner_name, inner))
    message.nested_type.nesting = _WIRE_OBJECT_NESTINGS[attribute.nested.nesting]
    return message


def _kind(markdown: bool) -> pb.StringKind:
    return pb.MARKDOWN if markdown else pb.PLAIN


def _type_json(type_: cty.Type) -> bytes:
    return cty.type_to_json(type_).encode()
