"""Validation and marking of objects that providers have read or opened."""

from __future__ import annotations

from nigari.addrs.absolute import AbsResourceInstance
from nigari.cty.conform import conformance_errors
from nigari.cty.marks import mark_with_paths
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.lang.marks import SENSITIVE
from nigari.schema.block import Block
from nigari.schema.marked_paths import sensitive_paths
from nigari.schema.provider import Schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_SECRET: Final = frozenset((SENSITIVE,))


def is_sound(
    value: Value, schema: Schema, address: AbsResourceInstance, verb: str, diags: Diagnostics
) -> bool:
    """Check an object from a provider, and report a faulty one. The verb describes the provider's
    operation.
    """
    fault = _object_fault(schema.block, value)
    if fault:
        diags.error(
            "Invalid object from the provider",
            f"The object that the provider {verb} for {address} {fault}. This is a bug in the provider.",
            address=str(address),
        )
    return not fault


def with_schema_marks(value: Value, schema: Schema) -> Value:
    """Mark the parts of a value that the schema declares sensitive."""
    if not schema.block.has_sensitive:
        return value
    paths = sensitive_paths(schema.block, value.unmark_deep()[0])
    return mark_with_paths(value, [(path, _SECRET) for path in paths])


def _object_fault(block: Block, value: Value) -> str:
    """Describe the fault of an object that was read or opened, as the end of a sentence."""
    errors = conformance_errors(value.type, block.implied_type)
    if errors:
        return f"does not match its schema: {errors[0].message}"
    if value.is_null:
        return "is null"
    return "" if value.is_wholly_known else "is wholly unknown"
