"""Queries: the `list` blocks of query files, evaluated with whatever they depend on.

Resources that a query refers to are planned for their values; the plan itself is dropped.
"""

from __future__ import annotations

from nigari.addrs.absolute import Abs
from nigari.addrs.module import ROOT_MODULE
from nigari.addrs.resource import LIST
from nigari.addrs.targets import Target
from nigari.diagnostics import Diagnostics
from nigari.plan.engine import PlanInputs, evaluate, validate
from nigari.plan.model.plan_options import PlanOptions
from nigari.plan.nodes.lists import ListInstance, ListResource
from nigari.plan.nodes.plan_run import PlanRun
from nigari.plan.order.block_settings import BlockSettings
from nigari.plan.order.removed_blocks import RemoveStatements
from nigari.plan.order.selection import selection


async def find_listed(
    inputs: PlanInputs, lists_whole: bool, parallelism: int, diags: Diagnostics
) -> list[ListInstance] | None:
    """Run all queries, and return the instances of their blocks; None after an error."""
    lists = [each for each in inputs.static.root.module.resources if each.mode is LIST]
    if not lists:
        diags.error(
            "No queries",
            "There are no list blocks. Write some in a file whose name ends in .tfquery.hcl.",
        )
        return None
    targets = tuple(Target(Abs(ROOT_MODULE, each)) for each in lists)
    options = PlanOptions(
        is_for_apply=False,
        targets=targets,
        parallelism=parallelism,
        lists_whole=lists_whole,
        follows_imports=False,
    )
    if not await inputs.load_schemas(diags) or not await validate(inputs, options, diags):
        return None
    blocks = inputs.block_graph()
    run = PlanRun(
        run_settings=inputs.run_settings,
        pool=inputs.pool,
        prior=inputs.state,
        settings=BlockSettings(inputs.static, blocks, RemoveStatements(blocks.variants)),
        blocks=blocks,
        options=options,
        moved={},
        selected=selection(blocks, inputs.state, targets, ()),
    )
    await evaluate(run, parallelism)
    await run.ephemeral.close_all()
    diags.extend(run.diags)
    nodes = [run.root.resources[each] for each in lists]
    return [
        instance
        for node in nodes
        if isinstance(node, ListResource)
        for instance in node.instances.values()
        if isinstance(instance, ListInstance)
    ]
