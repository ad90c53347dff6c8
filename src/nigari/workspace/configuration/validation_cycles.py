"""Cycles that only the references of a whole configuration show: validations that need themselves."""

from __future__ import annotations

from collections.abc import Iterator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.config.blocks.variable import Variable
    from nigari.diagnostics import Diagnostics
    from nigari.eval.core.module_tree import ModuleInstance
    from nigari.eval.nodes.resource import Schemas


def report_cycles(root: ModuleInstance, schemas: Schemas, diags: Diagnostics) -> None:
    """Report validations that need themselves, if there are validations at all."""
    if not any(each.validations for each in _variables(root)):
        return
    from nigari.plan.order.block_graph import BlockGraph
    from nigari.plan.order.cycles import report_validation_cycles

    report_validation_cycles(BlockGraph(root, schemas), diags)


def _variables(instance: ModuleInstance) -> Iterator[Variable]:
    """The variables of a module and of those that it calls."""
    yield from instance.module.variables.values()
    for children in instance.children.values():
        for child in children.values():
            yield from _variables(child)
