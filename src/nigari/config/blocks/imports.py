"""`import` blocks, which import existing objects."""

from __future__ import annotations

from nigari.addrs.absolute import AbsResourceInstance
from nigari.addrs.parse import parse_resource_instance
from nigari.config.core.declared import Declared, expression, schema
from nigari.config.core.provider_ref import ProviderRef, decode_provider_ref
from nigari.config.core.written_address import WrittenAddress, decode_address
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.body import Attribute, Block
from nigari.hcl.expressions import Expression
from nigari.record import record


@record
class Import:
    """An `import` block: an existing object and the instance it becomes."""

    target: WrittenAddress
    shape: AbsResourceInstance
    """The target, with placeholders for keys to evaluate."""
    id: Expression | None
    identity: Expression | None
    for_each: Expression | None
    provider: ProviderRef | None
    block: Block

    @property
    def range(self) -> Range:
        """Range of the block header."""
        return self.block.def_range


_SCHEMA = schema("provider", "id", "identity", "for_each", required=("to",))


def decode_import(declared: Declared, diags: Diagnostics) -> Import | None:
    """Decode an `import` block; None if its address is invalid."""
    given = declared.body.content(_SCHEMA, diags).attributes
    target = None
    if "to" in given:
        target = decode_address(given["to"].expr, diags)
    shape = None if target is None else parse_resource_instance(target.shape, diags)
    provider = None
    if "provider" in given:
        if shape is not None and not shape.module.is_root:
            _report_provider(given["provider"], diags)
        provider = decode_provider_ref(given["provider"].expr, "provider", diags)
    if "to" in given and shape is None:
        return None
    if "id" not in given and "identity" not in given:
        _report_no_id(declared, diags)
    elif "id" in given and "identity" in given:
        _report_two_ids(given["id"], given["identity"], diags)
    if target is None or shape is None:
        return None
    return Import(
        target=target,
        shape=shape,
        id=expression(given, "id"),
        identity=expression(given, "identity"),
        for_each=expression(given, "for_each"),
        provider=provider,
        block=declared.block,
    )


def _report_provider(attribute: Attribute, diags: Diagnostics) -> None:
    diags.error(
        "Provider in an import into a module",
        "The module call selects the provider of a resource in a module, with its providers "
        "argument. Remove the provider argument here.",
        attribute.range,
    )


def _report_no_id(declared: Declared, diags: Diagnostics) -> None:
    diags.error(
        "Nothing to import",
        "An import block must say which existing object to import: add id or identity.",
        declared.range,
    )


def _report_two_ids(id_: Attribute, identity: Attribute, diags: Diagnostics) -> None:
    first = min(id_, identity, key=lambda attribute: attribute.start)
    diags.error(
        "Conflicting id and identity",
        "The arguments id and identity both identify the object to import. Use only one of them.",
        first.range,
    )
