"""Cycles that only the references of a whole configuration show: validations that need themselves,
and actions that depend on what triggers them.
"""

from __future__ import annotations

from collections.abc import Iterator

from nigari.addrs.resource import ACTION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.config.module import Module
    from nigari.diagnostics import Diagnostics
    from nigari.eval.core.module_tree import ModuleInstance
    from nigari.eval.nodes.resource import Schemas


def report_cycles(root: ModuleInstance, schemas: Schemas, diags: Diagnostics) -> None:
    """Report such cycles, if there are validations or actions at all."""
    if not any(map(_may_have_cycles, _modules(root))):
        return
    from nigari.plan.order.block_graph import BlockGraph
    from nigari.plan.order.cycles import report_action_cycles, report_validation_cycles

    graph = BlockGraph(root, schemas)
    report_validation_cycles(graph, diags)
    report_action_cycles(graph, diags)


def _may_have_cycles(module: Module) -> bool:
    has_validations = any(each.validations for each in module.variables.values())
    return has_validations or any(each.mode is ACTION for each in module.resources)


def _modules(instance: ModuleInstance) -> Iterator[Module]:
    """The module of an instance, and those that it calls."""
    yield instance.module
    for children in instance.children.values():
        for child in children.values():
            yield from _modules(child)
