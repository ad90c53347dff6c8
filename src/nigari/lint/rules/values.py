"""Rules about values: conditions that never change, comparisons that never hold, variables that have
one value.
"""

from __future__ import annotations

from collections.abc import Iterator

from nigari.cty.types import BOOL, Type
from nigari.cty.values import Value
from nigari.hcl.expressions import Expression, Literal, Parentheses, Reference
from nigari.hcl.operators import EQUAL, NOT_EQUAL, Conditional, Operation, UnaryOperation
from nigari.hcl.traversal import TraverseRoot
from nigari.lint.influences import Influence
from nigari.lint.model import Instance, LintedModule, LintedTree
from nigari.lint.rule import Fix, Hit, Rule, replacement
from nigari.lint.written import SPLAT_ITEM, WrittenExpression, expressions_within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_CHANGING: Final = (
    Influence.INSTANCE | Influence.WORKSPACE | Influence.OBJECT | Influence.FILE | Influence.IMPURE
)
_VALUE_BLOCKS: Final = ("locals", "output", "resource", "data", "ephemeral", "module", "provider")


def _free_parts(written: WrittenExpression) -> Iterator[Expression]:
    """The parts of an expression that use no name which only it or a `dynamic` block knows."""
    for part, bound in expressions_within(written.expr):
        names = bound | written.bound
        if not names or not _uses(part, names):
            yield part


def _uses(expr: Expression, names: frozenset[str]) -> bool:
    if SPLAT_ITEM in names:
        return True
    return any(each.root_name in names for each in expr.variables())


def _evaluated(module: LintedModule) -> Iterator[tuple[WrittenExpression, Expression]]:
    """The parts of expressions that have values in the module itself."""
    for written in module.written.expressions:
        if written.is_in(*_VALUE_BLOCKS):
            for part in _free_parts(written):
                yield written, part


def _resource(written: WrittenExpression) -> str:
    """The address of the resource that an expression belongs to; empty for others."""
    block = written.block
    if block is None or block.type not in ("resource", "data", "ephemeral"):
        return ""
    prefix = () if block.type == "resource" else (block.type,)
    return ".".join((*prefix, *block.labels))


# -- conditions -----------------------------------------------------------------------------------


def constant_conditions(tree: LintedTree) -> Iterator[Hit]:
    """Conditions that are always true or always false, whatever is left to choose."""
    for _, condition, truth, influence in _constants(tree):
        if not influence & Influence.ARGUMENT:
            reason = "in every environment" if influence & Influence.INPUT else "as it is written"
            yield Hit(
                f"This condition is always {truth} {reason}, so one of the results is never used. "
                "Write the other one alone.",
                condition.range,
            )


def unused_branches(tree: LintedTree) -> Iterator[Hit]:
    """Conditions that come out alike for all callers of a module."""
    for module, condition, truth, influence in _constants(tree):
        if influence & Influence.ARGUMENT and _has_several_callers(tree, module):
            yield Hit(
                f"This condition is {truth} for all {len(module.calls)} calls of the module, so one of "
                "the results is never used. Unless other callers need it, write the other one alone.",
                condition.range,
            )


def _constants(tree: LintedTree) -> Iterator[tuple[LintedModule, Expression, str, Influence]]:
    """The conditions of conditionals that come out alike in all evaluations."""
    for module in tree.modules:
        for _, part in _evaluated(module):
            for condition in part.conditions if isinstance(part, Conditional) else ():
                if isinstance(condition, Literal) or _is_switch(condition):
                    continue
                influence = _common_influence(tree, module, condition)
                truth = None if influence is None else _common_truth(tree, module, condition)
                if influence is not None and truth is not None:
                    yield module, condition, "true" if truth else "false", influence


def _common_influence(
    tree: LintedTree, module: LintedModule, condition: Expression
) -> Influence | None:
    """Return a condition's influences in all instances; None if it may change by itself."""
    found = Influence.NOTHING
    for instance in module.instances:
        influence = tree.influence(instance, condition)
        is_open = influence & Influence.INPUT and instance.root.path not in tree.is_closed
        if influence & _CHANGING or is_open:
            return None
        found |= influence
    return found


def _common_truth(tree: LintedTree, module: LintedModule, condition: Expression) -> bool | None:
    """Return a condition's value in all instances; None if it differs or is unknown."""
    found: bool | None = None
    for instance in module.instances:
        value = tree.value(instance, condition).unmark()[0]
        if not value.is_known or value.type is not BOOL or value.data is None:
            return None
        truth = value.data is True
        if found is not None and found is not truth:
            return None
        found = truth
    return found


def _is_switch(condition: Expression) -> bool:
    """Return whether a condition only reads a local, which serves as a switch in the source."""
    while True:
        if isinstance(condition, Parentheses):
            condition = condition.inner
        elif isinstance(condition, UnaryOperation):
            condition = condition.operand
        else:
            break
    if not isinstance(condition, Reference):
        return False
    root = condition.steps[0]
    return isinstance(root, TraverseRoot) and root.name == "local"


def _has_several_callers(tree: LintedTree, module: LintedModule) -> bool:
    return len(module.calls) > 1 and not module.is_root and tree.has_all_callers(module)


# -- comparisons ----------------------------------------------------------------------------------


def comparisons_of_types(tree: LintedTree) -> Iterator[Hit]:
    """`==` and `!=` between values whose types differ: they are never equal."""
    for module in tree.modules:
        for written, part in _evaluated(module):
            if isinstance(part, Operation) and part.operators in ([EQUAL], [NOT_EQUAL]):
                types = [_type(tree, module, written, each) for each in part.operands]
                left, right = types
                if left is None or right is None or left == right:
                    continue
                truth = "false" if part.operators == [EQUAL] else "true"
                yield Hit(
                    f"The comparison is always {truth}: on the left is {left.with_article()}, on the "
                    f"right {right.with_article()}, and values of different types are never equal. "
                    f"{_advice(part)}",
                    part.range,
                )


def _advice(comparison: Operation) -> str:
    for each in comparison.operands:
        if each.static_list() == [] or each.static_map() == []:
            return "To find out whether a collection is empty, compare its length with 0."
    return "Convert one side, or compare with a value of the same type."


def _type(
    tree: LintedTree, module: LintedModule, written: WrittenExpression, expr: Expression
) -> Type | None:
    """The type that an expression has in all instances; None if that cannot be said."""
    found: Type | None = None
    for instance in module.instances:
        if tree.influence(instance, expr) & (Influence.UNTYPED | Influence.FILE):
            return None
        value = tree.value_in_block(instance, expr, _resource(written))
        if value.is_null or value.type.has_dynamic or found not in (None, value.type):
            return None
        found = value.type
    return found


# -- redundant conditionals -----------------------------------------------------------------------


def redundant_booleans(tree: LintedTree) -> Iterator[Hit]:
    """`x ? true : false` and `x == true` where `x` is a bool anyway."""
    for module in tree.modules:
        for written, part in _evaluated(module):
            plain = _plain(part)
            if plain is None:
                continue
            expr, is_inverted = plain
            if _type(tree, module, written, expr) is BOOL and _is_never_null(tree, module, expr):
                yield Hit(
                    "The condition is a bool already, so the constants beside it change nothing. "
                    "Write the condition alone.",
                    part.range,
                    fix=_simplified(part, expr, is_inverted),
                )


def _plain(expr: Expression) -> tuple[Expression, bool] | None:
    """The bool that an expression only repeats, and whether it is the opposite."""
    if isinstance(expr, Conditional) and len(expr.conditions) == 1:
        pair = _truth(expr.results[0]), _truth(expr.otherwise)
        if pair in ((True, False), (False, True)):
            return expr.conditions[0], pair[1] is True
    if isinstance(expr, Operation) and expr.operators in ([EQUAL], [NOT_EQUAL]):
        left, right = expr.operands
        for one, other in ((left, right), (right, left)):
            truth = _truth(other)
            if truth is not None and _truth(one) is None:
                return one, truth == (expr.operators == [NOT_EQUAL])
    return None


def _truth(expr: Expression) -> bool | None:
    if isinstance(expr, Literal) and expr.literal.type is BOOL:
        return expr.literal.data is True
    return None


def _is_never_null(tree: LintedTree, module: LintedModule, expr: Expression) -> bool:
    """Return whether a value cannot be null: `null == true` is false, and null alone is an error."""
    if isinstance(expr, Operation | UnaryOperation):
        return True
    if not isinstance(expr, Reference) or len(expr.steps) != 2:
        return False
    name = str(expr.traversal)
    variable = module.module.variables.get(name.removeprefix("var."))
    return name.startswith("var.") and variable is not None and not variable.nullable


def _simplified(whole: Expression, expr: Expression, is_inverted: bool) -> Fix:
    text = expr.source.slice(expr.start, expr.end)
    if is_inverted:
        is_simple = isinstance(expr, Reference | Parentheses)
        text = f"!{text}" if is_simple else f"!({text})"
    elif isinstance(expr, Operation):
        text = f"({text})"
    return replacement("Use the bool itself", whole.source, whole.start, whole.end, text)


# -- variables with one value ---------------------------------------------------------------------


def same_arguments(tree: LintedTree) -> Iterator[Hit]:
    """Variables of a module that all calls set to the same literal."""
    for module in tree.modules:
        if not _has_several_callers(tree, module):
            continue
        for variable in module.module.variables.values():
            if _has_one_value(tree, module, variable.name):
                count = len(module.calls)
                calls = "Both" if count == 2 else f"All {count}"
                yield Hit(
                    f"{calls} calls of the module set {variable.name} to the same value. Make it "
                    "the default, or a local value of the module.",
                    variable.range,
                )


def _has_one_value(tree: LintedTree, module: LintedModule, name: str) -> bool:
    found: Value | None = None
    for calls in module.calls:
        for each in calls:
            argument = each.arguments.get(name)
            caller = Instance(each.instance.root, each.caller)
            if argument is None or tree.influence(caller, argument.expr):
                return False
            value = tree.value(caller, argument.expr)
            if not value.is_wholly_known or value.contains_marked or value.is_null:
                return False
            if found is not None and found != value:
                return False
            found = value
    return found is not None


VALUE_RULES: Final = (
    Rule(
        "nigari:constant-condition",
        ("confusing", "recommended"),
        "Condition that never changes",
        constant_conditions,
    ),
    Rule(
        "nigari:unused-branch",
        ("unused",),
        "Branch that no caller uses",
        unused_branches,
    ),
    Rule(
        "nigari:type-comparison",
        ("confusing", "recommended"),
        "Comparison of different types",
        comparisons_of_types,
    ),
    Rule(
        "nigari:redundant-bool",
        ("improvement", "recommended"),
        "Redundant comparison",
        redundant_booleans,
    ),
    Rule("nigari:same-argument", ("improvement",), "Variable with only one value", same_arguments),
)
