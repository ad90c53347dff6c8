"""The scope of a destroy: the data sources and modules that it evaluates.

A destroy follows the state and evaluates of the configuration only what this needs.
"""

from __future__ import annotations

from nigari.addrs.absolute import AbsResource
from nigari.addrs.module import ModuleAddr
from nigari.addrs.provider import config_of
from nigari.addrs.resource import DATA, MANAGED
from nigari.plan.order.block_graph import BlockGraph
from nigari.plan.order.block_references import Block
from nigari.plan.order.selection import Selection
from nigari.plan.order.variants import with_callers
from nigari.state.model import State


def needed_data(blocks: BlockGraph, prior: State) -> frozenset[Block]:
    """Return the data sources that configurations of managing providers depend on."""
    managers = {
        blocks.provider_block(config_of(manager))
        for each in prior.resources.values()
        if each.address.item.mode is MANAGED
        for manager in each.managers()
    }
    resources = blocks.resources()
    return frozenset(
        each
        for block in managers
        for each in blocks.resource_blocks_before(block)
        if resources[each].item.mode is DATA
    )


def destroyed_modules(
    blocks: BlockGraph, prior: State, selection: Selection | None
) -> frozenset[ModuleAddr]:
    """Return the variants of modules, with their callers, that contain objects to destroy or the
    providers that manage them.
    """
    found: set[ModuleAddr] = set()
    for address, resource in prior.resources.items():
        if address.item.mode is not MANAGED and not _may_be_named(address, selection):
            continue
        if selection is None or blocks.resource_block(address) in selection.blocks:
            modules = (address.module, *(each.module for each in resource.managers()))
            found.update(map(blocks.variants.of, modules))
    return with_callers(found)


def _may_be_named(data: AbsResource, selection: Selection | None) -> bool:
    """Return whether a target names a data source, so that it matters which instances are declared."""
    targets = () if selection is None else selection.targets
    return any(target.touches_block(data.unkeyed) for target in targets)


def undeclared_modules(blocks: BlockGraph, prior: State) -> frozenset[ModuleAddr]:
    """Return the module instances in or below which the state has undeclared objects."""
    found: set[ModuleAddr] = set()
    for address in prior.resources:
        block = blocks.resource_block(address)
        if address.item.mode is MANAGED and not blocks.is_resource(block):
            at: ModuleAddr | None = address.module
            while at is not None and at not in found:
                found.add(at)
                at = at.parent
    return frozenset(found)
