"""Search for existing objects without planning: for `import`, and to generate missing blocks."""

from __future__ import annotations

from collections.abc import Iterable

from nigari.addrs.absolute import resource_of
from nigari.addrs.resource import DATA
from nigari.diagnostics import Diagnostics
from nigari.plan.engine import PlanInputs, evaluate, validate
from nigari.plan.model.check_results import declared_checks
from nigari.plan.model.plan_options import PlanOptions
from nigari.plan.nodes.import_lookup import DeclaredTarget, ImportLookup, named_provider
from nigari.plan.nodes.imports import ImportTarget
from nigari.plan.nodes.plan_run import PlanRun
from nigari.plan.order.block_graph import BlockGraph
from nigari.plan.order.block_references import Block
from nigari.plan.order.block_settings import BlockSettings
from nigari.plan.order.removed_blocks import RemoveStatements
from nigari.plan.order.selection import Selection


async def find_objects(
    inputs: PlanInputs, target: ImportTarget | None, parallelism: int, diags: Diagnostics
) -> list[ImportLookup] | None:
    """Find an existing object; without a target, those of all import blocks to undeclared
    addresses. None after an error.
    """
    options = PlanOptions(parallelism=parallelism, follows_imports=target is None)
    if not await inputs.load_schemas(diags) or not await validate(inputs, options, diags):
        return None
    blocks = inputs.block_graph()
    before = _evaluated_before(inputs, blocks, target)
    run = PlanRun(
        run_settings=inputs.run_settings,
        pool=inputs.pool,
        prior=inputs.state,
        settings=BlockSettings(inputs.static, blocks, RemoveStatements(blocks.variants)),
        blocks=blocks,
        options=options,
        moved={},
        selected=Selection(blocks.variants, before, frozenset(), (), ()),
    )
    driver = await evaluate(run, parallelism)
    nodes: list[ImportLookup] = []
    try:
        if target is not None:
            declared = DeclaredTarget(run, target)
            nodes.append(ImportLookup(run, target, declared.provider, declared.config))
        elif not run.diags.has_errors:
            missing = _without_block(run)
            nodes += [ImportLookup(run, each, named_provider(run, each)) for each in missing]
        run.work.want(nodes)
        await driver.run()
    finally:
        await run.ephemeral.close_all()
    diags.extend(run.diags)
    return None if diags.has_errors else nodes


def _evaluated_before(
    inputs: PlanInputs, blocks: BlockGraph, target: ImportTarget | None
) -> frozenset[Block]:
    """Return the data sources that a provider configuration depends on, and the variables whose
    validations OpenTofu checks in its import walk.
    """
    validated = frozenset(
        (each.module, each.item)
        for each in declared_checks(inputs.run_settings.root)
        if each.kind == "var" and each.module.is_root
    )
    resources = blocks.resources()
    found: Iterable[Block] = resources
    if target is not None:
        found = blocks.resource_blocks_before(blocks.resource_block(resource_of(target.address)))
    return validated.union(each for each in found if resources[each].item.mode is DATA)


def _without_block(run: PlanRun) -> list[ImportTarget]:
    declared = run.root.module.resources
    return [
        each
        for each in run.imports.targets.values()
        if not each.is_empty
        and each.address.module.is_root
        and each.address.item.key is None
        and each.address.item.resource not in declared
    ]
