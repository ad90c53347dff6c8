"""Output values: `output` blocks."""

from __future__ import annotations

from nigari.config.core.declared import (
    CheckRule,
    Declared,
    Dependencies,
    check_name,
    check_rules,
    dependencies,
    report_empty_deprecation,
    schema,
)
from nigari.config.core.literals import constant_flag, constant_text
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.body import Attribute, Block
from nigari.hcl.expressions import Expression
from nigari.hcl.type_expressions import ANY_TYPE, TypeConstraint
from nigari.lang.types import parse_variable_type
from nigari.record import record


@record
class Output:
    """An `output` block, unevaluated."""

    name: str
    expr: Expression
    constraint: TypeConstraint
    """The type that the value is converted to; `ANY_TYPE` without one."""
    description: str
    sensitive: bool
    ephemeral: bool
    deprecated: str
    depends_on: Dependencies
    preconditions: tuple[CheckRule, ...]
    block: Block

    @property
    def range(self) -> Range:
        """Range of the block header."""
        return self.block.def_range


_SCHEMA = schema(
    "description",
    "type",
    "depends_on",
    "sensitive",
    "ephemeral",
    "deprecated",
    required=("value",),
    blocks=("precondition", "postcondition"),
)


def decode_output(declared: Declared, diags: Diagnostics) -> Output | None:
    """Decode an `output` block; None without a value."""
    check_name(declared.block, 0, "output name", diags)
    content = declared.body.content(_SCHEMA, diags)
    given = content.attributes
    for block in content.blocks_of("postcondition"):
        _report_postcondition(block, diags)
    description = constant_text(given.get("description"), diags)
    sensitive = constant_flag(given.get("sensitive"), diags)
    ephemeral = constant_flag(given.get("ephemeral"), diags)
    deprecated = _deprecation(given.get("deprecated"), diags)
    depends_on = dependencies(given.get("depends_on"), diags)
    preconditions = check_rules(content.blocks_of("precondition"), diags)
    type_ = given.get("type")
    constraint = ANY_TYPE if type_ is None else parse_variable_type(type_.expr, diags)
    value = given.get("value")
    if value is None:
        return None
    return Output(
        name=declared.name,
        expr=value.expr,
        constraint=constraint,
        description=description,
        sensitive=sensitive,
        ephemeral=ephemeral,
        deprecated=deprecated,
        depends_on=depends_on,
        preconditions=preconditions,
        block=declared.block,
    )


def _deprecation(attribute: Attribute | None, diags: Diagnostics) -> str:
    errors = diags.error_count
    text = constant_text(attribute, diags)
    if attribute is not None and not text.strip() and diags.error_count == errors:
        report_empty_deprecation(attribute.expr.range, diags)
    return text


def _report_postcondition(block: Block, diags: Diagnostics) -> None:
    diags.error(
        "Postcondition of an output",
        "An output value is checked before it is returned, so it can have preconditions only. "
        "Write precondition instead.",
        block.type_range,
    )
