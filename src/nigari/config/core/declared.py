"""Parts shared by several types of block, and their decoding.

A `Declared` is a block after overrides. Names, repetition (`count`, `for_each`, `enabled`),
`depends_on`, conditions and escaped bodies are decoded from it. Deliberately unknown here: which
block has which of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nigari.addrs.values import CountAttr, EachAttr, PathAttr, Self, TerraformAttr, TofuAttr
from nigari.config.core.literals import native, unquoted
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.body import (
    Attribute,
    AttributeSchema,
    Block,
    BlockSchema,
    Body,
    BodySchema,
    Content,
    merge_bodies,
)
from nigari.hcl.expressions import Expression, SyntaxFault
from nigari.hcl.scanner import is_identifier
from nigari.hcl.static import abs_traversal_for_expr, expr_list
from nigari.hcl.templates import Template, TemplateWrap
from nigari.hcl.traversal import Traversal, TraverseIndex, TraverseRoot
from nigari.record import record


@record
class Declared:
    """A block of the configuration, with its body after overrides."""

    block: Block
    body: Body
    override: Block | None = None
    """The last block that overrides it."""

    @property
    def range(self) -> Range:
        """Range of the block header."""
        return self.block.def_range

    @property
    def name(self) -> str:
        """The last label."""
        return self.block.labels[-1]


@record
class CheckRule:
    """A condition, and the message if it fails.

    `validation`, `precondition`, `postcondition` and `assert` blocks are such rules.
    """

    condition: Expression
    error_message: Expression
    block: Block

    @property
    def range(self) -> Range:
        """Range of the block header."""
        return self.block.def_range


@record
class Repetition:
    """Expansion of a block into instances. At most one of the three is set."""

    count: Expression | None = None
    for_each: Expression | None = None
    enabled: Expression | None = None

    @property
    def is_single(self) -> bool:
        """True if the block always has exactly one instance, without a key."""
        return self.has_one_value and self.enabled is None

    @property
    def has_one_value(self) -> bool:
        """True if the block is referred to without keys: it has one instance, or none."""
        return self.count is None and self.for_each is None


SINGLE = Repetition()

Dependencies = tuple[Traversal, ...]
"""Addresses of a `depends_on` argument."""


@record
class DependencyValue:
    """An element of `depends_on` that is not an address, but any other expression."""

    expr: Expression
    addresses: Dependencies
    """Everything that it refers to, each as a whole."""
    names: tuple[str, ...]
    """The same references as they are written."""


_WITHOUT_DEPENDENCIES = (CountAttr, EachAttr, PathAttr, Self, TerraformAttr, TofuAttr)

MODULE_ARGUMENTS = ("version", "count", "for_each", "depends_on", "providers")
MODULE_BLOCKS = ("_", "lifecycle", "locals", "provider")
MODULE_WORDS = frozenset(("source", *MODULE_ARGUMENTS, *MODULE_BLOCKS))
"""Names with a special meaning in a `module` block."""

_CHECK_RULE = BodySchema(
    (AttributeSchema("condition", required=True), AttributeSchema("error_message", required=True))
)


def schema(
    *attributes: str, required: Sequence[str] = (), blocks: Sequence[str] = ()
) -> BodySchema:
    """Build a schema of arguments, and of blocks without labels."""
    return BodySchema(
        tuple(
            [AttributeSchema(name) for name in attributes]
            + [AttributeSchema(name, required=True) for name in required]
        ),
        tuple([BlockSchema(type_) for type_ in blocks]),
    )


def expression(attributes: Mapping[str, Attribute], name: str) -> Expression | None:
    """Return the expression of an optional argument."""
    attribute = attributes.get(name)
    return None if attribute is None else attribute.expr


def check_name(block: Block, label: int, what: str, diags: Diagnostics) -> None:
    """Report a label that is not a valid name."""
    name = block.labels[label]
    if not is_identifier(name):
        report_bad_name(name, what, block.label_ranges[label], diags)


def report_bad_name(name: str, what: str, where: Range, diags: Diagnostics) -> None:
    """Report a text that is not a valid name."""
    diags.error(
        f"Invalid {what}",
        f'"{name}" is not a valid name. A name must begin with a letter or an underscore, and '
        "can contain letters, digits, underscores and dashes.",
        where,
    )


def dependencies(attribute: Attribute | None, diags: Diagnostics) -> Dependencies:
    """Decode an argument with a list of addresses."""
    if attribute is None:
        return ()
    found: list[Traversal] = []
    for element in expr_list(attribute.expr, diags) or ():
        traversal = abs_traversal_for_expr(unquoted(element, "reference", diags), diags)
        if traversal is not None:
            found.append(traversal)
    return tuple(found)


def decode_depends_on(
    attribute: Attribute | None, diags: Diagnostics
) -> tuple[Dependencies, tuple[DependencyValue, ...]]:
    """Decode a `depends_on` argument: all addresses in it, and the elements that are values. The
    addresses in these come last.
    """
    found: list[Traversal] = []
    values: list[DependencyValue] = []
    elements = None if attribute is None else expr_list(attribute.expr, diags)
    for element in elements or ():
        expr = unquoted(element, "reference", diags)
        value = dependency_value(expr)
        if value is not None:
            values.append(value)
            continue
        traversal = abs_traversal_for_expr(expr, diags)
        if traversal is not None:
            found.append(traversal)
    return (*found, *[each for value in values for each in value.addresses]), tuple(values)


def dependency_value(expr: Expression) -> DependencyValue | None:
    """Decode an element that is more than an address; None for addresses and for mistakes."""
    traversal, unreported = expr.static_traversal(), Diagnostics()
    # A text depends on nothing: a template is a computed address, which needs no quotes.
    if isinstance(expr, Template | TemplateWrap) or (
        traversal is not None and _is_short(traversal)
    ):
        return None
    from nigari.lang.references import parse_reference

    if traversal is not None:
        reference = parse_reference(traversal, unreported)
        if reference is None or not reference.remaining.steps:
            return None
        expr = native(expr, unreported)
    addresses: list[Traversal] = []
    names: list[str] = []
    for each in expr.variables():
        reference = parse_reference(each, unreported)
        if reference is not None and not isinstance(reference.subject, _WITHOUT_DEPENDENCIES):
            count = len(each.steps) - len(reference.remaining.steps)
            addresses.append(Traversal(each.source, each.steps[:count]))
            names.append(str(reference))
    if not addresses:
        return None
    return DependencyValue(expr, tuple(addresses), tuple(names))


def _is_short(traversal: Traversal) -> bool:
    """Return whether an address has no room for more than an object, as most have."""
    names = [step for step in traversal.steps if not isinstance(step, TraverseIndex)]
    root = traversal.steps[0]
    has_mode = isinstance(root, TraverseRoot) and root.name in ("data", "ephemeral", "resource")
    return len(names) <= (3 if has_mode else 2)


def check_rule(block: Block, diags: Diagnostics, takes_constants: bool = False) -> CheckRule | None:
    """Decode a rule block with its two arguments; None if one is missing.

    A condition without references is an error, except where OpenTofu `takes_constants`.
    """
    content = block.body.content(_CHECK_RULE, diags)
    condition = content.attributes.get("condition")
    message = content.attributes.get("error_message")
    if condition is not None and not takes_constants and not condition.expr.variables():
        _report_idle_condition(block, condition, diags)
    if condition is None or message is None:
        return None
    return CheckRule(condition.expr, message.expr, block)


def check_rules(blocks: Sequence[Block], diags: Diagnostics) -> tuple[CheckRule, ...]:
    """Decode rule blocks, dropping incomplete ones."""
    rules = [check_rule(block, diags) for block in blocks]
    return tuple([rule for rule in rules if rule is not None])


def repetition(
    attributes: Mapping[str, Attribute], enabled: Attribute | None, diags: Diagnostics
) -> Repetition:
    """Decode the repetition of a block; several of its arguments are an error.

    As in OpenTofu, if an override file adds another one, the first of count, for_each and enabled
    wins.
    """
    count, for_each = attributes.get("count"), attributes.get("for_each")
    if count is None and for_each is None and enabled is None:
        return SINGLE
    given = [each for each in (count, for_each, enabled) if each is not None]
    if len({each.source for each in given}) < len(given):
        _report_repetitions(given, diags)
    if count is not None:
        return Repetition(count=count.expr)
    if for_each is not None:
        return Repetition(for_each=for_each.expr)
    return Repetition(enabled=None if enabled is None else enabled.expr)


def only_block(content: Content, type_: str, diags: Diagnostics) -> Block | None:
    """Return the only block of a type; report further ones."""
    first: Block | None = None
    for block in content.blocks:
        if block.type == type_:
            if first is None:
                first = block
            else:
                report_second_block(block, first, diags)
    return first


def with_escaped(content: Content, rest: Body, diags: Diagnostics) -> Body:
    """Add the arguments of an escaping `_` block to the rest of a body."""
    if not content.blocks:
        return rest
    escaped = only_block(content, "_", diags)
    return rest if escaped is None else merge_bodies([rest, escaped.body])


def report_reserved_blocks(content: Content, reserved: frozenset[str], diags: Diagnostics) -> None:
    """Report blocks of types that are reserved for later versions of the language."""
    for block in content.blocks:
        if block.type in reserved:
            _report_reserved_block(block, diags)


def report_second_block(block: Block, first: Block, diags: Diagnostics) -> None:
    """Report a second block where only one is allowed."""
    diags.error(
        f"Duplicate {block.type} block",
        f"Only one {block.type} block is allowed here, and there is already one at "
        f"{first.def_range}.",
        block.def_range,
    )


def report_empty_deprecation(where: Range, diags: Diagnostics) -> None:
    """Report an empty `deprecated` message."""
    diags.error(
        "Empty deprecation message",
        'The "deprecated" message is shown to everyone who still uses this. Say what they should '
        "use instead.",
        where,
    )


def _report_reserved_block(block: Block, diags: Diagnostics) -> None:
    diags.error(
        "Reserved block type",
        f'Blocks of type "{block.type}" are reserved for later versions of the language. If the '
        'provider has such a block, put it inside a block of type "_".',
        block.type_range,
    )


def _report_idle_condition(block: Block, condition: Attribute, diags: Diagnostics) -> None:
    if isinstance(condition.expr, SyntaxFault):
        return
    diags.error(
        "Condition that never changes",
        f"The condition of this {block.type} does not depend on anything in the configuration, "
        "so it checks nothing. Refer to the value that should be checked.",
        condition.expr.range,
    )


def _report_repetitions(given: list[Attribute], diags: Diagnostics) -> None:
    names = " and ".join(each.name for each in given)
    given = sorted(given, key=_name_start)
    first, last = given[0], given[-1]
    is_one_file = first.source is last.source
    diags.error(
        "Conflicting repetition arguments",
        f"The arguments {names} each decide how many instances there are, so only one of them "
        "can be used.",
        first.source.range(first.name_start, last.name_end) if is_one_file else last.name_range,
    )


def _name_start(attribute: Attribute) -> int:
    return attribute.name_start
