"""JSON form of schemas, as in `providers schema -json`.

Other programs read this form, so it omits exactly the same empty members as `tofu`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from nigari import cty

TYPE_CHECKING = False
# Cached texts are combined without loading the schema classes.
if TYPE_CHECKING:
    from typing import Final

    from nigari.schema.block import Attribute, Block, NestedBlock
    from nigari.schema.provider import (
        FunctionParameter,
        FunctionSignature,
        IdentitySchema,
        ProviderSchema,
        Schema,
    )

Json = dict[str, object]

FORMAT_VERSION: Final = "1.0"
_TYPES_KEPT: Final = 4096
"""Size of the cache of type texts: a large provider has tens of thousands of attributes, but far
fewer types.
"""


def schemas_text(members: Mapping[str, str]) -> str:
    """Combine the members of `provider_member`, by provider address, to the whole document."""
    if not members:
        return f'{{"format_version":"{FORMAT_VERSION}"}}'
    schemas = ",".join(members[name] for name in sorted(members))
    return f'{{"format_version":"{FORMAT_VERSION}","provider_schemas":{{{schemas}}}}}'


def provider_member(name: str, schema: ProviderSchema) -> str:
    """Write one provider's schemas as a member of the document."""
    import json

    from nigari.cty.json_text import escape_like_go

    text = json.dumps({name: provider_json(schema)}, separators=(",", ":"), ensure_ascii=False)
    return escape_like_go(text[1:-1])


def provider_json(schema: ProviderSchema) -> Json:
    """Build the JSON object of one provider's schemas."""
    identities = {
        name: _identity(resource.identity)
        for name, resource in schema.resources.items()
        if resource.identity is not None
    }
    provider = schema_json(schema.provider)
    if not schema.is_configurable:
        del provider["block"]
    return {"provider": provider} | _filled(
        {
            "resource_schemas": _all(schema.resources),
            "data_source_schemas": _all(schema.data_sources),
            "ephemeral_resource_schemas": _all(schema.ephemeral_resources),
            "list_resource_schemas": _all(schema.list_resources),
            "functions": {n: _function(f) for n, f in sorted(schema.functions.items())},
            # Terraform gives the schemas of actions no version.
            "action_schemas": {
                n: {"block": _block(s.block)} for n, s in sorted(schema.actions.items())
            },
            "resource_identity_schemas": identities,
        }
    )


def schema_json(schema: Schema) -> Json:
    """Build the JSON object of a block and its version."""
    return {"version": schema.version, "block": _block(schema.block)}


def _all(schemas: Mapping[str, Schema]) -> Json:
    return {name: schema_json(schema) for name, schema in sorted(schemas.items())}


def _block(block: Block) -> Json:
    return _filled(
        {
            "attributes": {n: _attribute(a) for n, a in sorted(block.attributes.items())},
            "block_types": {n: _nested_block(b) for n, b in sorted(block.blocks.items())},
            "description": block.description,
            "description_kind": _kind(block.markdown),
            "deprecated": block.deprecated,
            "deprecation_message": block.deprecation_message,
        }
    )


def _nested_block(nested: NestedBlock) -> Json:
    return _filled(
        {
            "nesting_mode": nested.nesting.value,
            "block": _block(nested.block),
            "min_items": nested.min_items,
            "max_items": nested.max_items,
        }
    )


def _attribute(attribute: Attribute) -> Json:
    nested = attribute.nested
    return _filled(
        {
            "type": None if attribute.type is None else _type(attribute.type),
            "nested_type": None
            if nested is None
            else _filled(
                {
                    "attributes": {n: _attribute(a) for n, a in sorted(nested.attributes.items())},
                    "nesting_mode": nested.nesting.value,
                }
            ),
            "description": attribute.description,
            "description_kind": _kind(attribute.markdown),
            "deprecated": attribute.deprecated,
            "deprecation_message": attribute.deprecation_message,
            "required": attribute.required,
            "optional": attribute.optional,
            "computed": attribute.computed,
            "sensitive": attribute.sensitive,
            "write_only": attribute.write_only,
        }
    )


def _function(function: FunctionSignature) -> Json:
    result: Json = {
        "description": function.description,
        "summary": function.summary,
        "return_type": _type(function.returns),
    }
    if function.parameters:
        result["parameters"] = [_parameter(parameter) for parameter in function.parameters]
    if function.variadic is not None:
        result["variadic_parameter"] = _parameter(function.variadic)
    return result


def _parameter(parameter: FunctionParameter) -> Json:
    result: Json = {
        "name": parameter.name,
        "description": parameter.description,
        "type": _type(parameter.type),
    }
    if parameter.allow_null:
        result["is_nullable"] = True
    return result


def _identity(identity: IdentitySchema) -> Json:
    return {
        "version": identity.version,
        "attributes": {
            name: _filled(
                {
                    "type": _type(type_),
                    "description": identity.descriptions.get(name, ""),
                    "required_for_import": name in identity.required_for_import,
                    "optional_for_import": name in identity.optional_for_import,
                }
            )
            for name, type_ in sorted(identity.attributes.items())
        },
    }


@lru_cache(maxsize=_TYPES_KEPT)
def _type(type_: cty.Type) -> object:
    import json

    return json.loads(cty.type_to_json(type_))


def _kind(markdown: bool) -> str:
    return "markdown" if markdown else "plain"


def _filled(members: Json) -> Json:
    """Drop members that are empty, zero or false, as the form omits them."""
    return {name: value for name, value in members.items() if value}
