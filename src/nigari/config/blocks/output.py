"""Output values: `output` blocks."""

from __future__ import annotations

from nigari.config.blocks.variable import open_type_of
from nigari.config.core.declared import (
    CheckRule,
    Declared,
    Dependencies,
    DependencyValue,
    check_name,
    check_rules,
    decode_depends_on,
    report_empty_deprecation,
    schema,
)
from nigari.config.core.literals import constant_flag, constant_text
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.body import Attribute, Block
from nigari.hcl.expressions import Expression
from nigari.hcl.type_expressions import ANY_TYPE, NamedType, TypeConstraint
from nigari.lang.types import parse_variable_type
from nigari.record import record, replace


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
    dependency_values: tuple[DependencyValue, ...]
    preconditions: tuple[CheckRule, ...]
    block: Block
    open_type: Expression | None = None
    """The type, if it names types of symbol libraries; until they are known, it is `ANY_TYPE`."""

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
    depends_on, dependency_values = decode_depends_on(given.get("depends_on"), diags)
    preconditions = check_rules(content.blocks_of("precondition"), diags)
    type_ = given.get("type")
    open_type = open_type_of(type_)
    constraint = ANY_TYPE
    if type_ is not None and open_type is None:
        constraint = parse_variable_type(type_.expr, diags)
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
        dependency_values=dependency_values,
        preconditions=preconditions,
        block=declared.block,
        open_type=open_type,
    )


def with_output_type(output: Output, named: NamedType, diags: Diagnostics) -> Output:
    """Complete an output whose type names types of symbol libraries, now that they are known."""
    if output.open_type is None:
        return output
    constraint = parse_variable_type(output.open_type, diags, named)
    return replace(output, constraint=constraint, open_type=None)


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
