"""`removed` blocks, for objects that are no longer declared."""

from __future__ import annotations

from nigari.addrs.module import ModuleAddr
from nigari.addrs.moves import RemoveEndpoint
from nigari.addrs.parse import parse_remove_endpoint
from nigari.config.blocks.provisioner import Provisioner, decode_provisioner
from nigari.config.core.declared import Declared, only_block, schema
from nigari.config.core.literals import constant, is_written_out
from nigari.config.core.written_address import WrittenAddress, decode_address
from nigari.cty.types import BOOL
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.body import Attribute, Block, BlockSchema, BodySchema
from nigari.hcl.expressions import Expression
from nigari.hcl.static import expr_as_keyword
from nigari.hcl.traversal import Traversal
from nigari.record import record


@record
class Removed:
    """A `removed` block: an object that leaves the configuration, and whether it is destroyed."""

    source: WrittenAddress
    destroy: Expression | None
    provisioners: tuple[Provisioner, ...]
    block: Block

    @property
    def range(self) -> Range:
        """Range of the block header."""
        return self.block.def_range


_SCHEMA = BodySchema(
    schema(required=("from",)).attributes,
    (BlockSchema("lifecycle"), BlockSchema("provisioner", ("type",))),
)
_LIFECYCLE = schema("destroy")


def decode_removed(declared: Declared, diags: Diagnostics) -> Removed | None:
    """Decode a `removed` block; None if its address is invalid."""
    errors = diags.error_count
    content = declared.body.content(_SCHEMA, diags)
    found = _endpoint(content.attributes.get("from"), diags)
    destroy: Attribute | None = None
    lifecycle = only_block(content, "lifecycle", diags)
    if lifecycle is not None:
        destroy = lifecycle.body.content(_LIFECYCLE, diags).attributes.get("destroy")
    destroys: Value | None = None
    if destroy is not None and is_written_out(destroy.expr):
        destroys = constant(destroy, BOOL, diags)
    provisioners: list[Provisioner] = []
    for block in content.blocks_of("provisioner"):
        provisioner = decode_provisioner(block, diags)
        if provisioner is not None and _is_allowed(provisioner, found, declared, diags):
            provisioners.append(provisioner)
    if diags.error_count > errors or found is None:
        return None
    if destroy is None:
        _report_no_lifecycle(declared, diags)
    elif destroys is not None and not destroys.as_bool() and provisioners:
        _report_idle_provisioners(declared, diags)
    expr = None if destroy is None else destroy.expr
    return Removed(found[0], expr, tuple(provisioners), declared.block)


def _endpoint(
    attribute: Attribute | None, diags: Diagnostics
) -> tuple[WrittenAddress, RemoveEndpoint] | None:
    """Parse the address, also by its form.

    As in OpenTofu, a literal key is rejected; a key that is an expression stays for evaluation.
    """
    address = None if attribute is None else decode_address(attribute.expr, diags)
    if address is None:
        return None
    places = set(address.places)
    steps = [step for place, step in enumerate(address.steps) if place not in places]
    endpoint = parse_remove_endpoint(Traversal(address.source, steps), diags)
    return None if endpoint is None else (address, endpoint)


def _is_allowed(
    provisioner: Provisioner,
    found: tuple[WrittenAddress, RemoveEndpoint] | None,
    declared: Declared,
    diags: Diagnostics,
) -> bool:
    """Check that a provisioner is allowed in this block."""
    when = provisioner.when
    if when is None or expr_as_keyword(when) == "create":
        _report_not_destroy(provisioner, diags)
        return False
    if found is not None and isinstance(found[1].subject, ModuleAddr):
        _report_provisioner_of_module(declared, diags)
        return False
    return True


def _report_no_lifecycle(declared: Declared, diags: Diagnostics) -> None:
    diags.warning(
        "Removed block without lifecycle",
        "The block does not specify whether to destroy the object or only to forget it. It "
        "will be forgotten; to destroy it, add a lifecycle block with destroy = true. Say which "
        "one you want.",
        declared.range,
    )


def _report_idle_provisioners(declared: Declared, diags: Diagnostics) -> None:
    diags.warning(
        "Provisioners of a removed block never run",
        "With destroy = false the object is forgotten, not destroyed, so its provisioners never "
        "run. Remove them, or set destroy = true.",
        declared.range,
    )


def _report_not_destroy(provisioner: Provisioner, diags: Diagnostics) -> None:
    diags.error(
        "Provisioner of a removed block",
        "A removed resource is not created again, so only provisioners with when = destroy can "
        "be used here. Add that argument.",
        provisioner.range,
    )


def _report_provisioner_of_module(declared: Declared, diags: Diagnostics) -> None:
    diags.error(
        "Provisioner for a removed module",
        "Provisioners run for resources, and this block removes a module. Write a removed block "
        "for the resource.",
        declared.range,
    )
