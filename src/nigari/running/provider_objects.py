"""Objects that providers have read or opened: whether they can be, and which parts are secret."""

from __future__ import annotations

from typing import Final

from nigari.addrs.absolute import AbsResourceInstance
from nigari.cty.conform import conformance_errors
from nigari.cty.marks import mark_with_paths
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.lang.marks import SENSITIVE
from nigari.schema.block import Block
from nigari.schema.marked_paths import sensitive_paths
from nigari.schema.provider import Schema

_SECRET: Final = frozenset((SENSITIVE,))


def is_sound(
    value: Value, schema: Schema, address: AbsResourceInstance, verb: str, diags: Diagnostics
) -> bool:
    """Whether an object can be one that exists; it is reported if not. The verb is what the
    provider did to get it.
    """
    fault = _object_fault(schema.block, value)
    if fault:
        diags.error(
            "Invalid object from the provider",
            f"What the provider {verb} for {address} {fault}. This is a bug in the provider.",
            address=str(address),
        )
    return not fault


def with_schema_marks(value: Value, schema: Schema) -> Value:
    """The value with marks where the schema says that something is sensitive."""
    if not schema.block.has_sensitive:
        return value
    paths = sensitive_paths(schema.block, value.unmark_deep()[0])
    return mark_with_paths(value, [(path, _SECRET) for path in paths])


def _object_fault(block: Block, value: Value) -> str:
    """What is wrong with an object that was read or opened, as the end of a sentence."""
    errors = conformance_errors(value.type, block.implied_type)
    if errors:
        return f"does not match its schema: {errors[0].message}"
    if value.is_null:
        return "is null"
    return "" if value.is_wholly_known else "is wholly unknown"
