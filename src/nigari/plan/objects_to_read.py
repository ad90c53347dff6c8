"""Which stored objects have to be read before a plan can be trusted: minimal refresh.

An object that would change is read, and so is what its new value comes from: of a reference with a
key, one instance; of blocks in the same module instance, those there. Everything is followed through
local values, variables and outputs, block by block.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from nigari.addrs.absolute import Abs, AbsResourceInstance, resource_of
from nigari.addrs.module import ROOT_MODULE, ModuleAddr
from nigari.addrs.resource import MANAGED, Resource, ResourceInstance
from nigari.eval.core.instances import Frame, Origin
from nigari.eval.core.keyed_references import indexed_references
from nigari.hcl.expressions import Expression
from nigari.lang.references import Reference
from nigari.plan.model.changes import Action, Change
from nigari.plan.model.plan_options import PlacedBlock, ReadObjects
from nigari.plan.nodes.instances import InstanceNode
from nigari.plan.nodes.plan_run import PlanRun
from nigari.plan.order.block_graph import BlockGraph, expansion_block, is_given_by_call, work_out
from nigari.plan.order.block_references import Block
from nigari.record import replace
from nigari.running.deferrals import Written


def objects_to_read(run: PlanRun, changes: Iterable[Change]) -> ReadObjects | None:
    """Return what a plan has to read so that all its changes are based on objects that were read;
    None if it has read that.
    """
    known = run.options.only_reads
    if known is None:
        return None
    changed = frozenset(
        each.address
        for each in changes
        if each.action is not Action.NO_OP and each.address.item.resource.mode is MANAGED
    )
    instances, blocks = set(changed), set[PlacedBlock]()
    if known.reads_dependencies and not known.reads_others:
        _follow(run, instances, blocks)
    wanted = replace(
        known, instances=known.instances | instances, blocks=known.blocks | frozenset(blocks)
    )
    return None if wanted == known else wanted


def edited_blocks(
    blocks: BlockGraph, changed: Collection[tuple[str, str]]
) -> frozenset[PlacedBlock]:
    """Return the resources that were edited, and those that depend on what was edited."""
    edited = {
        expansion_block(path.child(name.removeprefix("module.")))
        if name.startswith("module.")
        else (path, name)
        for path, instance in blocks.variants.representatives.items()
        for directory, name in changed
        if instance.module.directory == directory
    }
    known: dict[Block, bool] = {}

    def is_concerned(block: Block) -> bool:
        return block in edited or any(known.get(need, False) for need in blocks.needs(block))

    return frozenset(
        (ROOT_MODULE, block)
        for block in blocks.resources()
        if work_out(block, known, blocks.needs, is_concerned)
    )


def _follow(run: PlanRun, instances: set[AbsResourceInstance], blocks: set[PlacedBlock]) -> None:
    """Add everything that the instances depend on."""
    pending: list[AbsResourceInstance | PlacedBlock] = list(instances)
    while pending:
        current = pending.pop()
        if isinstance(current, tuple):
            found: Iterable[AbsResourceInstance | PlacedBlock] = _needs_of_block(
                run.blocks, current
            )
        else:
            found = _needs_of_instance(run, current)
        for each in found:
            if isinstance(each, tuple) and each not in blocks:
                blocks.add(each)
                pending.append(each)
            elif not isinstance(each, tuple) and each not in instances:
                instances.add(each)
                pending.append(each)


def _needs_of_block(graph: BlockGraph, placed: PlacedBlock) -> Iterator[PlacedBlock]:
    module, block = placed
    for need in graph.needs(block):
        yield _placed(module, block, need)


def _placed(module: ModuleAddr, block: Block, need: Block) -> PlacedBlock:
    """The module instance within which something in another one needs a block."""
    depth = need[0].depth - is_given_by_call(block, need)
    while module.depth > depth and module.parent is not None:
        module = module.parent
    return module, need


def _needs_of_instance(
    run: PlanRun, address: AbsResourceInstance
) -> Iterator[AbsResourceInstance | PlacedBlock]:
    graph = run.blocks
    block = graph.resource_block(resource_of(address))
    node = run.declared.node(address)
    exact = {} if node is None else _exact_references(node)
    for need in graph.needs(block):
        found = graph.resource(need)
        if found is not None and need[0] == block[0] and found.item in exact:
            for each in exact[found.item]:
                yield Abs(address.module, each)
        else:
            yield _placed(address.module, block, need)


def _exact_references(node: InstanceNode) -> dict[Resource, set[ResourceInstance]]:
    """The resources of which the arguments of an instance, and nothing else in its block, name only
    single instances.
    """
    owner = node.owner
    resource, frame = owner.resource, node.frame
    lifecycle = resource.lifecycle
    if owner.body is None or resource.provisioners or resource.depends_on:
        return {}
    if lifecycle.preconditions or lifecycle.postconditions or lifecycle.replacing_values:
        return {}
    if lifecycle.replace_triggered_by or lifecycle.prevent_destroy is not None:
        return {}
    if lifecycle.action_triggers or (resource.provider and resource.provider.key is not None):
        return {}
    place = Written(frame, owner.body, node.data)
    found: dict[Resource, set[ResourceInstance]] = {}
    whole: set[Resource] = set()
    named = [each for expr in place.expressions() for each in _named_in(frame, expr, node)]
    repetition = resource.repetition
    for expr in (repetition.count, repetition.for_each, repetition.enabled):
        if expr is not None:
            whole.update(_resources(frame.instance.compiled.expression(expr).references))
    for reference in named:
        subject = reference.subject
        if isinstance(subject, ResourceInstance) and _is_one(frame, subject):
            found.setdefault(subject.resource, set()).add(subject)
        else:
            whole.update(_resources((reference,)))
    whole.update(_in_nested_blocks(place))
    return {each: keys for each, keys in found.items() if each not in whole}


def _in_nested_blocks(place: Written) -> Iterator[Resource]:
    """The resources that are referred to more often than in the arguments of the outermost block."""
    compiled = place.frame.instance.compiled.expression
    count = Counter(_resources(place.references))
    count.subtract(
        each for expr in place.expressions() for each in _resources(compiled(expr).references)
    )
    return (each for each, more in count.items() if more > 0)


def _named_in(frame: Frame, expr: Expression, node: InstanceNode) -> list[Reference]:
    compiled = frame.instance.compiled.expression(expr)
    return indexed_references(Origin(frame, compiled, node.data), list(compiled.references))


def _resources(references: Iterable[Reference]) -> Iterator[Resource]:
    for reference in references:
        subject = reference.subject
        if isinstance(subject, ResourceInstance):
            yield subject.resource
        elif isinstance(subject, Resource):
            yield subject


def _is_one(frame: Frame, subject: ResourceInstance) -> bool:
    """Return whether a reference names one instance, and not all of a repeated resource."""
    node = frame.resources.get(subject.resource)
    return node is not None and (node.resource.repetition.has_one_value or subject.key is not None)
