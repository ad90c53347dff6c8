"""The ephemeral objects that operations of a plan use, instance by instance of their modules.

What is destroyed is not evaluated again, so it uses none. In which order they are opened and closed
is `nigari.plan.order.operation_order`'s business.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from nigari.addrs.absolute import Abs, resource_of
from nigari.addrs.module import ModuleAddr
from nigari.plan.model.changes import Action, Change, EphemeralInstance, Plan, PlanMode
from nigari.plan.model.invocations import Invocation
from nigari.plan.order.block_graph import BlockGraph, is_given_by_call
from nigari.plan.order.block_references import Block
from nigari.plan.order.operations_of import Placed, ancestor


def used_ephemeral(
    plan: Plan, blocks: BlockGraph, changes: Iterable[Change]
) -> Iterator[tuple[EphemeralInstance, Block]]:
    """The ephemeral objects of a plan that anything uses, each with the block that declares it."""
    if not plan.ephemeral:
        return
    found = [(each, blocks.resource_block(resource_of(each.address))) for each in plan.ephemeral]
    final = set[Block]()
    if plan.mode is not PlanMode.DESTROY:
        final.update(*map(blocks.ephemeral_before, blocks.final_values()))
    used = _Use(blocks, plan.ephemeral).of((*changes, *plan.invocations))
    for each, block in found:
        if block in final or (each.address.module, block) in used:
            yield each, block


class _Use:
    """The search for all that the values of changed instances come from."""

    def __init__(self, blocks: BlockGraph, ephemeral: Iterable[EphemeralInstance]) -> None:
        self._blocks = blocks
        self._calls: dict[tuple[ModuleAddr, ModuleAddr], dict[ModuleAddr, None]] = {}
        """The module instances with ephemeral objects, by where they are called and their variant."""
        self._given: set[Placed] = set()
        """Arguments of module calls that have been followed."""
        for each in ephemeral:
            module = each.address.module
            while module.parent is not None:
                called = module.parent, blocks.variants.of(module)
                self._calls.setdefault(called, {})[module] = None
                module = module.parent

    def of(self, changes: Iterable[Change | Invocation]) -> set[Placed]:
        """Return the blocks that changes and actions need, each in the module instances concerned.

        A resource needs what the actions need that it triggers.
        """
        found = set[Placed]()
        for each in changes:
            provider = each.provider
            block = self._blocks.provider_block(Abs(provider.module, provider.item.config))
            found.add((provider.module, block))
            is_evaluated = (
                each.trigger is None
                if isinstance(each, Invocation)
                else each.action is not Action.DELETE
            )
            if is_evaluated:
                block = self._blocks.resource_block(resource_of(each.address))
                found.add((each.address.module, block))
        pending = [*found]
        while pending:
            fresh = [need for need in self._needed(pending.pop()) if need not in found]
            found.update(fresh)
            pending += fresh
        return found

    def _needed(self, placed: Placed) -> Iterator[Placed]:
        """The blocks that the value of a block comes from, in the instances of their modules."""
        module, block = placed
        for need in self._blocks.value_needs(block):
            path = need[0]
            is_given = is_given_by_call(block, need)
            at = ancestor(module, path.depth - 1 if is_given else path.depth)
            if not is_given:
                yield at, need
            elif (at, need) not in self._given:
                self._given.add((at, need))
                # One stands for all that have no ephemeral objects.
                for child in (*self._calls.get((at, path), ()), at.child(path.name, path.key)):
                    yield child, need
