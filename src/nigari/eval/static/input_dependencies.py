"""Deciding variables: those of the root module that an expression may depend on.

Values do not matter: this serves messages that name variables to set on the command line.
"""

from __future__ import annotations

from nigari.diagnostics import Cause
from nigari.eval.core.module_tree import ModuleInstance
from nigari.hcl.expressions import Expression
from nigari.hcl.traversal import Traversal, TraverseAttr

_MOST_SOURCES = 8


def deciding_variables(instance: ModuleInstance, expr: Expression) -> list[str]:
    """The names of the root module's variables that lead to an expression of a module."""
    return sorted(
        {name for place, name in variables_behind(instance, expr) if place.parent is None}
    )


def variables_behind(
    instance: ModuleInstance, expr: Expression
) -> list[tuple[ModuleInstance, str]]:
    """The variables that lead to an expression of a module, each with the module it belongs to."""
    found: list[tuple[ModuleInstance, str]] = []
    seen: set[tuple[str, str, str]] = set()
    pending: list[tuple[ModuleInstance, Traversal]] = [(instance, t) for t in expr.variables()]
    while pending:
        place, traversal = pending.pop()
        root, name = traversal.root_name, _first_name(traversal)
        if (str(place.addr), root, name) in seen:
            continue
        seen.add((str(place.addr), root, name))
        if root == "var":
            found.append((place, name))
        source = _source(place, root, name)
        if source is not None:
            pending.extend((source[0], each) for each in source[1].variables())
    return found


def leading_to(instance: ModuleInstance, expr: Expression) -> list[Cause]:
    """The names that an expression of a module was made from and where each got its value, the
    farthest first; at most `_MOST_SOURCES`.
    """
    found: list[Cause] = []
    seen: set[tuple[str, str, str]] = set()
    pending: list[tuple[ModuleInstance, Traversal]] = [(instance, t) for t in expr.variables()]
    while pending and len(found) < _MOST_SOURCES:
        place, traversal = pending.pop(0)
        root, name = traversal.root_name, _first_name(traversal)
        source = _source(place, root, name)
        if source is None or (str(place.addr), root, name) in seen:
            continue
        seen.add((str(place.addr), root, name))
        within = "" if place.parent is None else f" of {place.addr}"
        text = f"{root}.{name}{within} is set here"
        found.append(Cause(text, source[1].range))
        pending.extend((source[0], each) for each in source[1].variables())
    return found[::-1]


def _first_name(traversal: Traversal) -> str:
    step = traversal[1] if len(traversal) > 1 else None
    return step.name if isinstance(step, TraverseAttr) else ""


def _source(
    place: ModuleInstance, root: str, name: str
) -> tuple[ModuleInstance, Expression] | None:
    """The expression that a name of a module stands for, and the module it is in."""
    if root == "local":
        local = place.module.locals.get(name)
        return None if local is None else (place, local.expr)
    if root == "each" or root == "count":
        expr = place.data.expr
        return None if expr is None or place.parent is None else (place.parent, expr)
    if root == "var" and place.parent is not None and place.call is not None:
        from nigari.diagnostics import Diagnostics

        arguments = place.parent.compiled.arguments(place.call, Diagnostics())
        argument = arguments.get(name)
        return None if argument is None else (place.parent, argument.expr)
    return None
