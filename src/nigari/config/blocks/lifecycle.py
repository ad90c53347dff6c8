"""`lifecycle` blocks of resources.

Arguments may be literal or static expressions; `nigari.eval.nodes.lifecycle` evaluates these.
Conditions are part of the block.
"""

from __future__ import annotations

from nigari.addrs.resource import DATA, MANAGED, ResourceInstance
from nigari.addrs.resource import Resource as ResourceAddr
from nigari.config.core.declared import CheckRule, check_rule, expression, schema
from nigari.config.core.literals import (
    is_quoted,
    is_written_out,
    native,
    unquoted,
    written_value,
)
from nigari.cty.types import BOOL
from nigari.diagnostics import Diagnostics
from nigari.hcl.body import Attribute, Block
from nigari.hcl.expressions import Expression, Index, Reference, RelativeTraversal, SyntaxFault
from nigari.hcl.quoting import at_the_start, with_article
from nigari.hcl.scope import Scope
from nigari.hcl.static import expr_as_keyword, expr_list, rel_traversal_for_expr
from nigari.hcl.suggestion import did_you_mean
from nigari.hcl.traversal import Traversal
from nigari.record import record

TYPE_CHECKING = False
# Loading triggers costs start-up time, and few resources have any.
if TYPE_CHECKING:
    from nigari.config.blocks.action_trigger import ActionTrigger


@record
class Lifecycle:
    """Unevaluated arguments of a `lifecycle` block."""

    create_before_destroy: Expression | None = None
    prevent_destroy: Expression | None = None
    destroy: Expression | None = None
    ignore_changes: Expression | tuple[Traversal, ...] | None = None
    """Relative traversals for a literal list, otherwise the expression."""
    ignore_all_changes: bool = False
    replace_triggered_by: tuple[Expression, ...] = ()
    """Elements that name a resource or a part of it: a planned change of that replaces the object."""
    replacing_values: tuple[Expression, ...] = ()
    """All other elements: the object is replaced if their values are not those that it was made with."""
    preconditions: tuple[CheckRule, ...] = ()
    postconditions: tuple[CheckRule, ...] = ()
    action_triggers: tuple[ActionTrigger, ...] = ()


NO_LIFECYCLE = Lifecycle()

_MANAGED_ARGUMENTS = (
    "create_before_destroy",
    "prevent_destroy",
    "destroy",
    "ignore_changes",
    "replace_triggered_by",
)
_SCHEMA = schema(
    *_MANAGED_ARGUMENTS, "enabled", blocks=("precondition", "postcondition", "action_trigger")
)


def decode_lifecycle(
    block: Block, addr: ResourceAddr, diags: Diagnostics
) -> tuple[Lifecycle, Attribute | None]:
    """Decode the `lifecycle` block of a resource, and its `enabled` argument."""
    content = block.body.content(_SCHEMA, diags)
    given = content.attributes
    enabled = given.get("enabled")
    preconditions = _conditions(content.blocks_of("precondition"), addr, diags)
    postconditions = _conditions(content.blocks_of("postcondition"), addr, diags)
    if addr.mode is not MANAGED:
        for name in _MANAGED_ARGUMENTS:
            if name in given:
                _report_unmanaged(given[name], block, addr, diags)
        for trigger in content.blocks_of("action_trigger"):
            _report_trigger_of_unmanaged(trigger, addr, diags)
        lifecycle = Lifecycle(preconditions=preconditions, postconditions=postconditions)
        return lifecycle, enabled
    before = expression(given, "create_before_destroy")
    if before is not None and is_written_out(before):
        errors = diags.error_count
        written_value(before, BOOL, "create_before_destroy", diags)
        before = before if diags.error_count == errors else None
    ignored, ignores_all = _ignored(given.get("ignore_changes"), diags)
    triggers, values = _triggers(given.get("replace_triggered_by"), diags)
    lifecycle = Lifecycle(
        create_before_destroy=before,
        prevent_destroy=expression(given, "prevent_destroy"),
        destroy=expression(given, "destroy"),
        ignore_changes=ignored,
        ignore_all_changes=ignores_all,
        replace_triggered_by=triggers,
        replacing_values=values,
        preconditions=preconditions,
        postconditions=postconditions,
        action_triggers=_action_triggers(content.blocks_of("action_trigger"), addr, diags),
    )
    return lifecycle, enabled


def _action_triggers(
    blocks: list[Block], addr: ResourceAddr, diags: Diagnostics
) -> tuple[ActionTrigger, ...]:
    if not blocks:
        return ()
    from nigari.config.blocks.action_trigger import decode_trigger

    decoded = [decode_trigger(block, diags) for block in blocks]
    for each in decoded:
        if each is not None and each.condition is not None and _refers_to(each.condition, addr):
            _report_self_reference(each.condition, each.block, addr, diags)
    return tuple([each for each in decoded if each is not None])


def _conditions(
    blocks: list[Block], addr: ResourceAddr, diags: Diagnostics
) -> tuple[CheckRule, ...]:
    rules: list[CheckRule] = []
    for block in blocks:
        rule = check_rule(block, diags)
        if rule is None:
            continue
        rules.append(rule)
        for expr in (rule.condition, rule.error_message):
            if _refers_to(expr, addr):
                _report_self_reference(expr, block, addr, diags)
    return tuple(rules)


def _refers_to(expr: Expression, addr: ResourceAddr) -> bool:
    from nigari.lang.references import references_in_expression

    for reference in references_in_expression(expr, Diagnostics()):
        subject = reference.subject
        if subject == addr:
            return True
        if isinstance(subject, ResourceInstance) and subject.resource == addr:
            return True
    return False


# -- ignore_changes ---------------------------------------------------------------------------


def _ignored(
    attribute: Attribute | None, diags: Diagnostics
) -> tuple[Expression | tuple[Traversal, ...] | None, bool]:
    """Decode `ignore_changes`; also return whether it covers everything."""
    if attribute is None:
        return None, False
    expr = attribute.expr
    keyword = expr_as_keyword(expr)
    if keyword == "all":
        return None, True
    if keyword is not None:
        _report_ignored_word(keyword, expr, diags)
        return None, False
    elements = expr.static_list()
    if elements is not None:
        return _ignored_paths(attribute, elements, diags), False
    if is_written_out(expr) and not _can_be_ignored(expr):
        _report_ignored_value(expr, diags)
        return None, False
    return expr, False


def _ignored_paths(
    attribute: Attribute, elements: list[Expression], diags: Diagnostics
) -> tuple[Traversal, ...]:
    paths: list[Traversal] = []
    for element in elements:
        if _is_star(element):
            _report_star(attribute, diags)
            continue
        path = rel_traversal_for_expr(unquoted(element, "reference", diags), diags)
        if path is not None:
            paths.append(path)
    return tuple(paths)


def _is_star(expr: Expression) -> bool:
    unreported = Diagnostics()
    return is_written_out(expr) and expr.value(Scope(), unreported).data == "*"


def _can_be_ignored(expr: Expression) -> bool:
    """Check whether a literal could be a list of paths, or the word for everything."""
    unreported = Diagnostics()
    value = expr.value(Scope(), unreported)
    return unreported.has_errors or value.data == "all" or isinstance(value.data, tuple)


# -- replace_triggered_by ---------------------------------------------------------------------


def _triggers(
    attribute: Attribute | None, diags: Diagnostics
) -> tuple[tuple[Expression, ...], tuple[Expression, ...]]:
    """Decode `replace_triggered_by`: elements that name a resource, and those that are values."""
    named: list[Expression] = []
    values: list[Expression] = []
    elements = None if attribute is None else expr_list(attribute.expr, diags)
    for element in elements or ():
        errors = diags.error_count
        expr = native(element, diags)
        if is_quoted(expr) and is_written_out(expr):
            _report_quoted_trigger(expr, diags)
        elif diags.error_count == errors and _refers(expr, diags):
            (named if _names_resource(expr) else values).append(expr)
    return tuple(named), tuple(values)


def _refers(expr: Expression, diags: Diagnostics) -> bool:
    """Check that an address is a valid reference; other expressions report that on evaluation."""
    if not _is_address(expr):
        return True
    from nigari.lang.references import references_in_expression

    errors = diags.error_count
    for _ in references_in_expression(expr, diags):
        pass
    return diags.error_count == errors


def _names_resource(expr: Expression) -> bool:
    """Check for an address that OpenTofu accepts, too: of a resource, with keys that only repetition
    decides. The value of a data source counts, since nothing changes it.
    """
    from nigari.addrs.values import CountAttr, EachAttr
    from nigari.lang.references import references_in_expression

    resources = 0
    for reference in references_in_expression(expr, Diagnostics()):
        subject = reference.subject
        if isinstance(subject, ResourceInstance):
            subject = subject.resource
        if isinstance(subject, ResourceAddr):
            resources += subject.mode is not DATA
        elif isinstance(subject, EachAttr):
            resources += 0 if subject.name == "key" else 2
        elif not isinstance(subject, CountAttr):
            return False
    return resources == 1 and _is_address(expr)


def _is_address(expr: Expression) -> bool:
    """Check for an expression that only refers to an object, with any keys."""
    while isinstance(expr, Index | RelativeTraversal):
        expr = expr.collection if isinstance(expr, Index) else expr.base
    return isinstance(expr, Reference)


# -- what can be wrong ------------------------------------------------------------------------


def _report_unmanaged(
    attribute: Attribute, block: Block, addr: ResourceAddr, diags: Diagnostics
) -> None:
    kind = with_article(addr.mode.noun)
    diags.error(
        "Unsupported lifecycle argument",
        f'The argument "{attribute.name}" controls how objects are created and destroyed, so it '
        f"can be used only in resource blocks, and this is {kind}.",
        attribute.name_range if addr.mode is DATA else block.def_range,
    )


def _report_trigger_of_unmanaged(block: Block, addr: ResourceAddr, diags: Diagnostics) -> None:
    diags.error(
        "Unsupported lifecycle block",
        "Actions are triggered by the changes of an object, so an action_trigger block can be used "
        f"only in resource blocks, and this is {with_article(addr.mode.noun)}.",
        block.def_range,
    )


def _report_self_reference(
    expr: Expression, block: Block, addr: ResourceAddr, diags: Diagnostics
) -> None:
    hint = "" if block.type == "precondition" else ' Use "self" instead.'
    diags.error(
        "Condition that refers to its own resource",
        f"{at_the_start(with_article(block.type))} of {addr} cannot refer to {addr} by its address.{hint}",
        expr.range,
    )


def _report_ignored_word(word: str, expr: Expression, diags: Diagnostics) -> None:
    hint = did_you_mean(word, ("all",)) or f" To ignore one attribute, write [{word}]."
    diags.error(
        "Invalid ignore_changes",
        f'"{word}" is not valid by itself: the only keyword here is all.{hint}',
        expr.range,
    )


def _report_ignored_value(expr: Expression, diags: Diagnostics) -> None:
    if isinstance(expr, SyntaxFault):
        return
    diags.error(
        "Invalid ignore_changes",
        "The value must be the keyword all, a list of attributes in brackets, or an expression "
        'that evaluates to a list of strings or "all".',
        expr.start_range,
    )


def _report_star(attribute: Attribute, diags: Diagnostics) -> None:
    diags.error(
        "Invalid ignore_changes",
        'A list containing "*" is an outdated way to ignore all changes. Write ignore_changes = '
        "all.",
        attribute.expr.range,
    )


def _report_quoted_trigger(expr: Expression, diags: Diagnostics) -> None:
    diags.error(
        "Invalid replace_triggered_by",
        "This text never changes. To name a resource, remove the quotes; to have the object replaced "
        "whenever you edit a text here, put it into a local value.",
        expr.range,
    )
