"""`check` blocks."""

from __future__ import annotations

from nigari.config.blocks.resource import Resource, decode_resource, resource_addr
from nigari.config.core.declared import (
    CheckRule,
    Declared,
    check_name,
    check_rule,
    only_block,
)
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.body import Block, BlockSchema, BodySchema
from nigari.record import record


@record
class Check:
    """A `check` block. Its data source, if it has one, is only visible inside it."""

    name: str
    data: Resource | None
    asserts: tuple[CheckRule, ...]
    block: Block

    @property
    def range(self) -> Range:
        """Range of the block header."""
        return self.block.def_range


_SCHEMA = BodySchema((), (BlockSchema("data", ("type", "name")), BlockSchema("assert")))


def decode_check(declared: Declared, diags: Diagnostics) -> Check:
    check_name(declared.block, 0, "check name", diags)
    content = declared.body.content(_SCHEMA, diags)
    found = only_block(content, "data", diags)
    data = None
    if found is not None:
        nested = Declared(found, found.body)
        data = decode_resource(resource_addr(found), nested, diags, declared.name)
    asserts: list[CheckRule] = []
    blocks = content.blocks_of("assert")
    for block in blocks:
        rule = check_rule(block, diags)
        if rule is not None:
            asserts.append(rule)
    if not blocks:
        _report_no_assert(declared, diags)
    return Check(declared.name, data, tuple(asserts), declared.block)


def _report_no_assert(declared: Declared, diags: Diagnostics) -> None:
    diags.error(
        "Check without an assertion",
        "A check block checks nothing until it has an assert block with a condition. Add one.",
        declared.range,
    )
