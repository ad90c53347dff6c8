"""Advice about provider blocks that share their `for_each` with the resources that use them.

Nothing is wrong with such a configuration here, so only `validate` mentions it.
"""

from __future__ import annotations

from collections.abc import Iterator

from nigari.addrs.resource import MANAGED
from nigari.config.core.provider_ref import ProviderRef
from nigari.config.module import Module
from nigari.diagnostics import Diagnostics
from nigari.eval.core.module_tree import ModuleInstance
from nigari.eval.tree.placement_rules import each_module
from nigari.eval.tree.provider_scope import ProviderScope, provider_scope
from nigari.hcl.expressions import Expression, Parentheses
from nigari.hcl.scanner import scan_expression


def check_provider_iteration(root: ModuleInstance, diags: Diagnostics) -> None:
    """Warn once for each provider block whose instances are removed together with their users.

    OpenTofu needs the provider instance for one more apply, to destroy the objects with it.
    """
    known: dict[ModuleInstance, ProviderScope] = {}
    found: dict[Expression, list[tuple[str, Expression]]] = {}
    for node in each_module(root):
        scope = provider_scope(node, None if node.parent is None else known.get(node.parent))
        known[node] = scope
        for user, each, reference in _users(node.module):
            source = scope.expanded.get(str(reference.config))
            if source is None or reference.key is None or not is_same_iteration(each, source):
                continue
            address = user if node.parent is None else f"{node.addr.unkeyed}.{user}"
            found.setdefault(source, []).append((address, each))
    for users in found.values():
        _report(users, diags)


def _users(module: Module) -> Iterator[tuple[str, Expression, ProviderRef]]:
    """The repeated blocks of a module, with the provider references that they have."""
    for resource in module.resources.values():
        each = resource.repetition.for_each
        if each is not None and resource.provider is not None and resource.addr.mode is MANAGED:
            yield str(resource.addr), each, resource.provider
    for call in module.calls.values():
        each = call.repetition.for_each
        if each is not None:
            for passed in call.providers:
                yield f"module.{call.name}", each, passed.in_parent


def _report(users: list[tuple[str, Expression]], diags: Diagnostics) -> None:
    names = list(dict.fromkeys(name for name, _ in users))
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    diags.warning(
        "Provider with the same for_each as its resources",
        f"{names[0]}{more} would lose the provider instance together with the element. If you also "
        "use OpenTofu, which cannot destroy the objects then, give the provider a collection of "
        "its own.",
        users[0][1].range,
    )


def is_same_iteration(first: Expression | None, second: Expression | None) -> bool:
    """Check that two blocks iterate over the same variable collection.

    A collection without references cannot change, so two equal literals do not count.
    """
    if first is None or second is None:
        return False
    if not first.variables() or not second.variables():
        return False
    return _tokens(first) == _tokens(second)


def _tokens(expr: Expression) -> list[str]:
    while isinstance(expr, Parentheses):
        expr = expr.inner
    return scan_expression(expr.source.text[expr.start : expr.end]).texts
