"""OpenTofu's rules. `nigari lint` runs them over the whole tree, `-lint` of other commands over the root
module only, as OpenTofu 1.13 does.
"""

from __future__ import annotations

from collections.abc import Iterator

from nigari.config.blocks.local import Local
from nigari.cty.types import KIND_DYNAMIC, KIND_NUMBER
from nigari.hcl.calls import FunctionCall
from nigari.hcl.expressions import Expression, Literal, Parentheses
from nigari.hcl.operators import Conditional
from nigari.lang.functions.table import CORE
from nigari.lazy import lazy_pattern
from nigari.lint.model import LintedTree
from nigari.lint.rule import Hit, Rule, removal
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_ASSERTION = lazy_pattern(r"(?:^|[_-])(?:assert|validat)")
"""What the names of assertions have in common."""


def untyped_variables(tree: LintedTree) -> Iterator[Hit]:
    # RootVariableWithNoType: `type = any` is no type either.
    for module in tree.modules:
        for variable in module.module.variables.values():
            if variable.type.kind == KIND_DYNAMIC:
                yield Hit(
                    f"The variable {variable.name} accepts values of any type, so a wrong value is "
                    "found only where it is used. Add the argument type.",
                    variable.range,
                )


def unused_variables(tree: LintedTree) -> Iterator[Hit]:
    # As in OpenTofu, a variable whose own validation checks it is used. Unlike there, so is one that
    # only a module source or another static position refers to.
    for module in tree.modules:
        for variable in module.module.variables.values():
            if f"var.{variable.name}" not in module.written.used:
                yield Hit(
                    f"Nothing in the module refers to var.{variable.name}, so its value has no "
                    "effect. Remove the variable and the values that are given for it.",
                    variable.range,
                )


def unused_locals(tree: LintedTree) -> Iterator[Hit]:
    # Unlike in OpenTofu, one that is there to fail is used.
    for module in tree.modules:
        for local in module.module.locals.values():
            if f"local.{local.name}" not in module.written.used and not _is_assertion(local):
                attribute = local.attribute
                title = f"Remove local.{local.name}"
                yield Hit(
                    f"Nothing in the module refers to local.{local.name}. Remove it.",
                    local.range,
                    fix=removal(title, attribute.source, attribute.start, attribute.end),
                )


def _is_assertion(local: Local) -> bool:
    """Return whether a local value checks something, as was usual before there were preconditions: by
    its name, or because it is no more than a match that must succeed.
    """
    expr = local.expr
    is_match = isinstance(expr, FunctionCall) and expr.name.removeprefix(CORE) == "regex"
    return is_match or _ASSERTION.search(local.name) is not None


@record
class _Choice:
    """The conditions of a conditional from one on."""

    conditional: Conditional
    position: int


def toggled_counts(tree: LintedTree) -> Iterator[Hit]:
    for module in tree.modules:
        for addr, resource in module.module.resources.items():
            count = resource.repetition.count
            if count is not None and (_chooses(count, 1) or _chooses(count, 0)):
                yield Hit(
                    f"The argument count of {addr} chooses between no instance and one. With "
                    "enabled in a lifecycle block the resource is referred to without a key.",
                    count.range,
                    resource.range,
                )


def _chooses(expr: Expression | _Choice, wanted: int) -> bool:
    """canLifecycleEnabledReplaceCountExpr: a literal, or a conditional between 0 and 1."""
    if isinstance(expr, Parentheses):
        return _chooses(expr.inner, wanted)
    if isinstance(expr, Literal):
        value = expr.literal
        return value.type.kind == KIND_NUMBER and value.data == wanted
    if isinstance(expr, Conditional):
        expr = _Choice(expr, 0)
    if not isinstance(expr, _Choice):
        return False
    # Chained conditionals are one flat node here.
    conditional, position = expr.conditional, expr.position
    yes = conditional.results[position]
    is_last = position + 1 == len(conditional.results)
    no = conditional.otherwise if is_last else _Choice(conditional, position + 1)
    return (_chooses(yes, 1) and _chooses(no, 0)) or (_chooses(yes, 0) and _chooses(no, 1))


CORE_RULES: Final = (
    Rule(
        "core:no-type-variable",
        ("confusing", "recommended"),
        "Variable with no type",
        untyped_variables,
    ),
    Rule(
        "core:count-instead-enabled",
        ("improvement",),
        "Could use enabled instead of count",
        toggled_counts,
    ),
    Rule(
        "core:unused-variable",
        ("improvement", "recommended"),
        "Input variable not used",
        unused_variables,
    ),
    Rule(
        "core:unused-local", ("improvement", "recommended"), "Local value not used", unused_locals
    ),
)
