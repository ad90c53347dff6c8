"""Requests for lists of existing objects, from the values of `list` blocks.

The block wraps the configuration that the provider defines, so that paths in diagnostics are
translated, too.
"""

from __future__ import annotations

from nigari.cty.marks import unmark_deep_with_paths
from nigari.cty.paths import GetAttr
from nigari.cty.values import Value
from nigari.diagnostics import Severity
from nigari.providers.api import ListRequest, ProviderDiagnostic, ProviderDiagnostics
from nigari.record import replace
from nigari.schema.config_block import CONFIG
from nigari.schema.list_block import DEFAULT_LIMIT, INCLUDE_RESOURCE, LIMIT


def list_request(
    type_name: str, block: Value, includes_resource: bool = False
) -> ListRequest | ProviderDiagnostics:
    """Build the request of a block, or describe what is wrong with it.

    Unknown arguments have their defaults: such a request can be validated, not made.
    """
    plain, _ = unmark_deep_with_paths(block)
    limit, include = plain.attribute(LIMIT), plain.attribute(INCLUDE_RESOURCE)
    most: object = DEFAULT_LIMIT if limit.is_null or not limit.is_known else limit.as_number()
    if not isinstance(most, int) or most < 0:
        detail = "The limit of a list block is a whole number, and not less than 0."
        return (ProviderDiagnostic(Severity.ERROR, "Invalid limit", detail, (GetAttr(LIMIT),)),)
    wanted = include.is_known and not include.is_null and include.as_bool()
    return ListRequest(type_name, plain.attribute(CONFIG), most, includes_resource or wanted)


def about_block(reported: ProviderDiagnostics) -> ProviderDiagnostics:
    """Let paths into the provider's configuration start at the block."""
    return tuple(
        each if each.path is None else replace(each, path=(GetAttr(CONFIG), *each.path))
        for each in reported
    )
