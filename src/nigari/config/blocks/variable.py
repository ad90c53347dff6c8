"""Input variables: `variable` blocks.

Types and literal defaults are read here, since callers are checked against them. Values of
variables are in `nigari.eval.nodes.variable`.
"""

from __future__ import annotations

from nigari.config.core.declared import (
    MODULE_WORDS,
    CheckRule,
    Declared,
    check_name,
    check_rule,
    report_empty_deprecation,
    schema,
)
from nigari.config.core.literals import constant_flag, constant_text, is_written_out
from nigari.cty.errors import CtyError
from nigari.cty.paths import GetAttr
from nigari.cty.types import KIND_BOOL, KIND_NUMBER, KIND_STRING, Type
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.body import Attribute, Block
from nigari.hcl.evaluation import sentence
from nigari.hcl.expressions import Expression, Literal
from nigari.hcl.scope import Scope
from nigari.hcl.suggestion import did_you_mean
from nigari.hcl.type_expressions import ANY_TYPE, Defaults, NamedType, TypeConstraint
from nigari.lang.types import (
    DroppedAttribute,
    dropped_attributes,
    names_symbols,
    parse_variable_type,
)
from nigari.record import record, replace


@record
class Variable:
    """An input variable. Its default stays unevaluated until it is used."""

    name: str
    constraint: TypeConstraint
    default: Expression | None
    description: str
    sensitive: bool
    ephemeral: bool
    nullable: bool
    const: bool | None
    """True if static expressions may use it; None infers that from its uses."""
    deprecated: str
    validations: tuple[CheckRule, ...]
    literal_mode: bool
    """True if a value from the command line or environment is a plain string, not an expression."""
    block: Block
    open_type: Expression | None = None
    """The type, if it names types of symbol libraries; until they are known, it is `ANY_TYPE`."""

    @property
    def range(self) -> Range:
        """Range of the block header."""
        return self.block.def_range

    @property
    def is_reserved(self) -> bool:
        """True for a reserved name, which has been reported."""
        return self.name in MODULE_WORDS

    @property
    def type(self) -> Type:
        """The type constraint, which may have optional attributes."""
        return self.constraint.type

    @property
    def defaults(self) -> Defaults | None:
        """Defaults of optional attributes in the type constraint."""
        return self.constraint.defaults


_LITERAL_KINDS = (KIND_STRING, KIND_NUMBER, KIND_BOOL)
_SCHEMA = schema(
    "description",
    "default",
    "type",
    "sensitive",
    "ephemeral",
    "const",
    "deprecated",
    "nullable",
    blocks=("validation",),
)


def decode_variable(declared: Declared, diags: Diagnostics) -> Variable:
    name = declared.name
    check_name(declared.block, 0, "variable name", diags)
    if name in MODULE_WORDS:
        # Reserved names are reported here, so their missing values are not
        # (`Variable.is_reserved`).
        _report_reserved_name(declared.block, diags)
    content = declared.body.content(_SCHEMA, diags)
    given = content.attributes
    open_type = open_type_of(given.get("type"))
    constraint = ANY_TYPE if open_type is not None else _constraint(given.get("type"), diags)
    nullable = constant_flag(given.get("nullable"), diags, default=True)
    const = given.get("const")
    return Variable(
        name=name,
        constraint=constraint,
        default=_default(given.get("default"), constraint, nullable, declared, diags),
        description=constant_text(given.get("description"), diags),
        sensitive=constant_flag(given.get("sensitive"), diags),
        ephemeral=constant_flag(given.get("ephemeral"), diags),
        nullable=nullable,
        const=None if const is None else constant_flag(const, diags),
        deprecated=_deprecation(given.get("deprecated"), declared.block, diags),
        validations=_validations(name, content.blocks, diags),
        literal_mode=_is_literal_mode(given.get("type"), constraint),
        block=declared.block,
        open_type=open_type,
    )


def open_type_of(attribute: Attribute | None) -> Expression | None:
    """Return the expression of a type that names types of symbol libraries."""
    if attribute is None:
        return None
    expr = attribute.expr
    return expr if names_symbols(expr.source.slice(expr.start, expr.end)) else None


def with_type(variable: Variable, named: NamedType, diags: Diagnostics) -> Variable:
    """Complete a variable whose type names types of symbol libraries, now that they are known."""
    if variable.open_type is None:
        return variable
    constraint = parse_variable_type(variable.open_type, diags, named)
    default = variable.default
    if default is not None:
        for dropped in dropped_attributes(default, constraint.type):
            _report_dropped(dropped, diags)
        if is_written_out(default):
            # What is wrong with the expression itself has been reported.
            value = default.value(Scope(), Diagnostics())
            _check_default(value, constraint, variable.nullable, default.range, diags)
    is_literal = constraint.type.kind in _LITERAL_KINDS
    return replace(variable, constraint=constraint, literal_mode=is_literal, open_type=None)


def _deprecation(attribute: Attribute | None, block: Block, diags: Diagnostics) -> str:
    errors = diags.error_count
    text = constant_text(attribute, diags)
    if attribute is not None and not text.strip() and diags.error_count == errors:
        report_empty_deprecation(block.label_ranges[0], diags)
    return text


def _constraint(attribute: Attribute | None, diags: Diagnostics) -> TypeConstraint:
    return ANY_TYPE if attribute is None else parse_variable_type(attribute.expr, diags)


def _is_literal_mode(attribute: Attribute | None, constraint: TypeConstraint) -> bool:
    if attribute is None:
        return True
    return constraint.type.kind in _LITERAL_KINDS


def _default(
    attribute: Attribute | None,
    constraint: TypeConstraint,
    nullable: bool,
    declared: Declared,
    diags: Diagnostics,
) -> Expression | None:
    """Decode the default, which may be any static expression; a literal must match the type."""
    if attribute is None:
        return None
    expr = attribute.expr
    for dropped in dropped_attributes(expr, constraint.type):
        _report_dropped(dropped, diags)
    is_data = expr.is_json
    if not is_data and not is_written_out(expr):
        return expr
    errors = diags.error_count
    value = expr.value(Scope(), diags)
    if diags.error_count > errors:
        return expr
    where = expr.range if declared.override is None else declared.override.def_range
    _check_default(value, constraint, nullable, where, diags)
    # As in OpenTofu, a JSON default is plain data: no string in it is a template.
    return Literal(expr.source, expr.start, expr.end, value) if is_data else expr


def _check_default(
    value: Value, constraint: TypeConstraint, nullable: bool, where: Range, diags: Diagnostics
) -> None:
    if value.is_null:
        if not nullable:
            _report_null_default(where, diags)
        return
    try:
        constraint.convert(value)
    except CtyError as error:
        _report_default(error, where, diags)


def _validations(name: str, blocks: list[Block], diags: Diagnostics) -> tuple[CheckRule, ...]:
    rules: list[CheckRule] = []
    for block in blocks:
        errors = diags.error_count
        rule = check_rule(block, diags)
        if rule is None:
            continue
        rules.append(rule)
        if diags.error_count == errors and not _refers_to(rule.condition, name):
            _report_other_subject(name, rule, diags)
    return tuple(rules)


def _refers_to(expr: Expression, name: str) -> bool:
    from nigari.addrs.values import InputVariable
    from nigari.lang.references import parse_reference

    for traversal in expr.variables():
        if traversal.root_name == "var":
            reference = parse_reference(traversal, Diagnostics())
            if reference is not None and reference.subject == InputVariable(name):
                return True
    return False


def _report_reserved_name(block: Block, diags: Diagnostics) -> None:
    name = block.labels[0]
    diags.error(
        "Reserved variable name",
        f'A variable cannot be named "{name}": that argument has a special meaning in a module '
        f'block, so no caller could set the variable. Choose another name, such as "module_{name}'
        '".',
        block.label_ranges[0],
    )


def _report_default(error: CtyError, where: Range, diags: Diagnostics) -> None:
    diags.error(
        "Invalid default value for variable",
        f"The default value cannot be converted to the type of the variable: {sentence(error)}",
        where,
    )


def _report_null_default(where: Range, diags: Diagnostics) -> None:
    diags.error(
        "Null default",
        "The variable is declared with nullable = false, so its default cannot be null.",
        where,
    )


def _report_dropped(dropped: DroppedAttribute, diags: Diagnostics) -> None:
    step = dropped.path[-1]
    name = step.name if isinstance(step, GetAttr) else ""
    diags.warning(
        "Unused object attribute",
        f'The variable\'s type has no attribute named "{name}" here, so the value is dropped.'
        f"{did_you_mean(name, dropped.wanted.attributes)}",
        dropped.name_range,
        dropped.object_range,
    )


def _report_other_subject(name: str, rule: CheckRule, diags: Diagnostics) -> None:
    diags.error(
        "Validation of something else",
        f"The condition does not refer to var.{name}, so it cannot validate its value. Refer to "
        f"var.{name} in the condition.",
        rule.condition.range,
    )
